//! The word that a piece of text breaks off in: its tokens so far, as they become final.
//!
//! Invariant: `text` begins with the first byte that no token given so far covers; `run` bytes of it are an
//! unknown run that may go on, the rest is what the window has not settled.

use trie_normalize::Track;

use super::tokens::{Tokens, Vocabulary};
use crate::segment::Window;
use crate::sequence::Sequence;
use crate::viterbi::{Double, UnkScore};

/// An open word.
#[derive(Debug, Default)]
pub(crate) struct OpenWord {
    text: Vec<u8>,
    run: usize,
    window: Window<f64>,
    /// Settled tokens, as the window gives them.
    path: Vec<(usize, usize, u32)>,
}

impl OpenWord {
    /// Begins a word.
    pub(super) fn begin(&mut self) {
        self.text.clear();
        self.run = 0;
        self.window.begin();
    }

    /// The word goes on with `start..end` of `text`, which `words` follows, and ends there if this is the
    /// `last` part of it. Tokens that are final are appended.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn push<T: Track, const SPANS: bool>(
        &mut self,
        vocabulary: &Vocabulary<'_, SPANS>,
        unk: UnkScore,
        text: &str,
        (start, end): (usize, usize),
        words: &T,
        track: &mut T,
        last: bool,
        out: &mut Sequence,
    ) {
        let part = text.get(start..end).unwrap_or_default();
        self.text.extend_from_slice(part.as_bytes());
        track.append(words, start, end);
        self.path.clear();
        let (run, path) = (self.run, &mut self.path);
        let rest = self.text.get(run..).unwrap_or_default();
        let settled =
            self.window
                .advance::<Double>(vocabulary.trie, unk, rest, last, |start, end, id| {
                    path.push((run + start, run + end, id));
                });
        let given = self.give(vocabulary, run + settled, track, last, out);
        self.run = run + settled - given;
        self.text.drain(..given);
        track.drop_front(given);
    }

    /// Appends the tokens of `path`, which covers the text from the open run up to `settled`. Returns how
    /// much of the text they cover: all but an unknown run that may go on.
    fn give<T: Track, const SPANS: bool>(
        &self,
        vocabulary: &Vocabulary<'_, SPANS>,
        settled: usize,
        track: &T,
        last: bool,
        out: &mut Sequence,
    ) -> usize {
        let known = self
            .path
            .iter()
            .rposition(|&(_, _, id)| !vocabulary.is_unknown(id));
        let given = match known.and_then(|known| self.path.get(known)) {
            _ if last => settled,
            Some(&(_, end, _)) => end,
            None => 0,
        };
        let base = out.normalized.len();
        let text = self.text.get(..given).unwrap_or_default();
        if SPANS {
            out.normalized.extend_from_slice(text);
        }
        let mut tokens = Tokens::<T, SPANS> {
            out,
            track,
            at: 0,
            base,
            backwards: false,
        };
        // What was open before begins the text.
        let mut run_start = 0;
        let mut run_end = self.run.min(given);
        for &(start, end, id) in self.path.iter().filter(|&&(_, end, _)| end <= given) {
            if vocabulary.is_unknown(id) {
                run_end = end;
                continue;
            }
            if run_start < run_end {
                vocabulary.push_unknown(&text[run_start..run_end], run_start, &mut tokens);
            }
            vocabulary.push_known(id, (start, end), &mut tokens);
            (run_start, run_end) = (end, end);
        }
        if run_start < run_end {
            vocabulary.push_unknown(&text[run_start..run_end], run_start, &mut tokens);
        }
        given
    }

    /// Bytes that the buffers hold.
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.text.capacity()
            + self.window.allocated_bytes()
            + self.path.capacity() * size_of::<(usize, usize, u32)>()
    }
}

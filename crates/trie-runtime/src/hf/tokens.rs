//! From a best path to tokens: unknown runs, and where everything goes.

use trie_format::{NO_ID, ValidImage};
use trie_normalize::Track;

use crate::sequence::Sequence;
use crate::trie::Trie;

/// What tokens are made with. With `SPANS`, words and spans are recorded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vocabulary<'a, const SPANS: bool> {
    pub(super) image: ValidImage<'a>,
    pub(super) trie: Trie<'a>,
    pub(super) unk_id: u32,
}

/// Where the tokens of a part of a word go.
pub(super) struct Tokens<'o, 't, T, const SPANS: bool> {
    pub(super) out: &'o mut Sequence,
    /// Follows the text that the part is at `at` of.
    pub(super) track: &'t T,
    pub(super) at: usize,
    /// Where the part is in the normalized text.
    pub(super) base: usize,
    /// Whether the last token comes first.
    pub(super) backwards: bool,
}

impl<T: Track, const SPANS: bool> Tokens<'_, '_, T, SPANS> {
    #[inline]
    fn push(&mut self, id: u32, start: usize, end: usize) {
        self.out.ids.push(id);
        if SPANS {
            self.out.spans.push((self.base + start, self.base + end));
        }
        let range = self.track.range(self.at + start, self.at + end);
        if let Some(range) = range {
            self.out.offsets.push(range);
        }
    }
}

impl<'a, const SPANS: bool> Vocabulary<'a, SPANS> {
    pub(super) fn new(image: &ValidImage<'a>) -> Self {
        Self {
            image: *image,
            trie: Trie::pieces(image),
            unk_id: image.metadata().unk_id.to_native(),
        }
    }

    /// Whether a token of a best path is part of an unknown run: literal unknown pieces are.
    #[inline]
    pub(super) fn is_unknown(&self, id: u32) -> bool {
        id == NO_ID || id == self.unk_id
    }

    /// Appends a path through `word`, which is given and appended last token first.
    pub(super) fn collect<T: Track>(
        &self,
        word: &[u8],
        path: impl Iterator<Item = (usize, usize, u32)>,
        tokens: &mut Tokens<'_, '_, T, SPANS>,
    ) {
        let mut run: Option<(usize, usize)> = None;
        // A run ends where its beginning is known.
        for (start, end, id) in path {
            if self.is_unknown(id) {
                run = Some((start, run.map_or(end, |(_, run_end)| run_end)));
                continue;
            }
            if let Some((start, end)) = run.take() {
                self.push_unknown(&word[start..end], start, tokens);
            }
            tokens.push(id, start, end);
        }
        if let Some((start, end)) = run {
            self.push_unknown(&word[start..end], start, tokens);
        }
    }

    /// Appends a token that is none of an unknown run.
    pub(super) fn push_known<T: Track>(
        &self,
        id: u32,
        (start, end): (usize, usize),
        tokens: &mut Tokens<'_, '_, T, SPANS>,
    ) {
        tokens.push(id, start, end);
    }

    /// Appends what a run of unknown characters, which begins at `start`, becomes: it is looked up as one
    /// text, else becomes its bytes' pieces or one unknown piece.
    pub(super) fn push_unknown<T: Track>(
        &self,
        text: &[u8],
        start: usize,
        tokens: &mut Tokens<'_, '_, T, SPANS>,
    ) {
        let end = start + text.len();
        if let Some(id) = self.trie.find(text) {
            tokens.push(id, start, end);
            return;
        }
        if let Some(byte_ids) = self.image.byte_ids() {
            let id_of = |byte: &u8| byte_ids[usize::from(*byte)];
            if text.iter().all(|byte| id_of(byte) != NO_ID) {
                let backwards = tokens.backwards;
                let mut push = |byte: &u8| tokens.push(id_of(byte), start, end);
                match backwards {
                    true => text.iter().rev().for_each(&mut push),
                    false => text.iter().for_each(&mut push),
                }
                return;
            }
        }
        tokens.push(self.unk_id, start, end);
    }
}

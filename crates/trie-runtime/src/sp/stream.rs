//! A text that arrives in chunks, or of which not all is wanted.
//!
//! Three things wait for what follows: input that may belong to a longer rule, symbol or character; spaces
//! that are dropped if the text ends with them; text whose segmentation is not settled (see
//! [`crate::segment`]). Everything else is handed on and forgotten.
//!
//! Invariant: for any chunks, the tokens handed on are the first of the whole text's.

use trie_format::ValidImage;

use super::model::{Model, Paths};
use super::tokens::{Count, Full, Fuse, Ids, Sink, Source};
use crate::normalize::{Normalizer, Progress};
use crate::origins::{Noted, Unnoted};
use crate::sequence::{Ask, Sequence};

/// So much input is normalized at a time.
const BLOCK: usize = 16 << 10;

/// What is kept between chunks.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// Input that waits for what follows it.
    waiting: Vec<u8>,
    /// How much input was normalized, in bytes.
    consumed: usize,
    progress: Progress,
    /// Normalized text that is not yet handed on, and some that is.
    text: Vec<u8>,
    /// Where each byte of it comes from, if offsets are asked for.
    origins: Vec<usize>,
    trailing: Trailing,
    /// Up to here tokens of `text` are known.
    settled: usize,
    paths: Paths,
    fuse: Fuse,
}

impl Stream {
    /// Begins a new text.
    pub(crate) fn begin(&mut self, model: &Model<'_>) {
        self.waiting.clear();
        self.consumed = 0;
        self.progress = Progress::new();
        self.text.clear();
        self.origins.clear();
        self.trailing = Trailing::default();
        self.settled = 0;
        model.begin(&mut self.paths);
        self.fuse = Fuse::default();
    }

    /// Takes the next `chunk` of the text and appends to `out` the tokens that are final now: all the rest, if
    /// it is the `last` chunk. Every call for one text must ask for the same spans and offsets; the limit
    /// is the caller's to keep. `out` may be emptied between calls.
    pub(crate) fn push(
        &mut self,
        model: &Model<'_>,
        chunk: &[u8],
        last: bool,
        ask: Ask,
        out: &mut Sequence,
    ) {
        if !ask.spans && !ask.offsets {
            self.push_to(model, chunk, last, false, &mut Ids(&mut out.ids));
            out.complete = last;
            return;
        }
        let mut full = Full {
            spans: ask.spans,
            offsets: ask.offsets,
            out,
        };
        self.push_to(model, chunk, last, ask.offsets, &mut full);
        out.complete = last;
    }

    fn push_to(
        &mut self,
        model: &Model<'_>,
        chunk: &[u8],
        last: bool,
        offsets: bool,
        sink: &mut impl Sink,
    ) {
        let mut rest = chunk;
        loop {
            let (block, after) = rest.split_at(rest.len().min(BLOCK));
            let is_end = last && after.is_empty();
            if self.waiting.is_empty() {
                let used = self.normalize(model, block, is_end, offsets);
                self.waiting.extend(block.get(used..).unwrap_or_default());
            } else {
                self.waiting.extend_from_slice(block);
                let mut waiting = std::mem::take(&mut self.waiting);
                let used = self.normalize(model, &waiting, is_end, offsets);
                waiting.drain(..used);
                self.waiting = waiting;
            }
            self.segment(model, is_end, sink);
            if after.is_empty() {
                return;
            }
            rest = after;
        }
    }

    /// Appends `input`, normalized, to the text; returns how much of it can be.
    fn normalize(&mut self, model: &Model<'_>, input: &[u8], last: bool, offsets: bool) -> usize {
        let Self {
            text,
            origins,
            progress,
            ..
        } = self;
        let normalizer = &model.normalizer;
        let base = self.consumed;
        let mut noted = Noted {
            list: origins,
            base,
        };
        let used = match (last, offsets) {
            (false, false) => normalizer.advance::<false>(input, progress, text, &mut Unnoted),
            (false, true) => normalizer.advance::<false>(input, progress, text, &mut noted),
            (true, false) => normalizer.advance::<true>(input, progress, text, &mut Unnoted),
            (true, true) => normalizer.advance::<true>(input, progress, text, &mut noted),
        };
        self.consumed += used;
        used
    }

    /// Segments the text as far as it is certain and hands on the tokens.
    fn segment(&mut self, model: &Model<'_>, last: bool, sink: &mut impl Sink) {
        let end = if last {
            self.finish_text(&model.normalizer);
            self.text.len()
        } else {
            self.trailing.certain(&model.normalizer, &self.text)
        };
        let source = Source {
            text: &self.text,
            origins: &self.origins,
        };
        let range = (self.settled, end);
        self.settled = model.segment(&mut self.paths, &mut self.fuse, source, range, last, sink);
        self.forget();
    }

    fn finish_text(&mut self, normalizer: &Normalizer<'_>) {
        let mut noted = Noted {
            list: &mut self.origins,
            base: 0,
        };
        let end = normalizer.finish(self.consumed, self.progress, &mut self.text, &mut noted);
        self.origins.push(end);
    }

    /// Drops text that has been handed on, once there is more of it than of the rest.
    fn forget(&mut self) {
        let done = self.fuse.run_start().unwrap_or(self.settled);
        if done <= self.text.len() / 2 {
            return;
        }
        self.text.drain(..done);
        self.origins.drain(..done.min(self.origins.len()));
        self.settled -= done;
        self.fuse.text_moved(done);
        self.trailing.text_moved(done);
    }

    /// Bytes that the buffers hold.
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.waiting.capacity()
            + self.text.capacity()
            + self.origins.capacity() * size_of::<usize>()
            + self.paths.allocated_bytes()
    }
}

/// The end of the text so far, which may be dropped: spaces, and bytes that one may begin with.
#[derive(Debug, Default, Clone, Copy)]
struct Trailing {
    /// Where it begins.
    start: usize,
    /// Where its spaces end; what follows is less than one.
    spaces_end: usize,
}

impl Trailing {
    /// How much of `text`, which has grown, is certain to stay.
    fn certain(&mut self, normalizer: &Normalizer<'_>, text: &[u8]) -> usize {
        if !normalizer.drops_spaces() {
            return text.len();
        }
        let space = normalizer.space();
        let begun = (1..space.len())
            .rev()
            .find(|&len| space.get(..len).is_some_and(|begin| text.ends_with(begin)));
        let spaces_end = text.len() - begun.unwrap_or(0);
        let mut start = spaces_end;
        // The spaces that were there before need not be looked at again.
        while start > self.spaces_end && text.get(..start).is_some_and(|t| t.ends_with(space)) {
            start -= space.len();
        }
        if start != self.spaces_end {
            self.start = start;
        }
        self.spaces_end = spaces_end;
        self.start
    }

    /// `bytes` have been dropped from the beginning of the text.
    fn text_moved(&mut self, bytes: usize) {
        self.start = self.start.saturating_sub(bytes);
        self.spaces_end = self.spaces_end.saturating_sub(bytes);
    }
}

/// How many tokens `input` has.
pub(crate) fn count(image: &ValidImage<'_>, input: &[u8], stream: &mut Stream) -> usize {
    let mut count = Count(0);
    let model = Model::new(image);
    stream.begin(&model);
    stream.push_to(&model, input, true, false, &mut count);
    count.0
}

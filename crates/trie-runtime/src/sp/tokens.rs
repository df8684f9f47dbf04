//! From the model's tokens to what SentencePiece gives out: unknown characters become their bytes' pieces if
//! the model has byte fallback, else a run of them becomes one unknown piece.
//!
//! Invariant: a token is handed on once nothing that follows can change it. An unknown run is therefore held
//! back until something else follows it.

use trie_format::{NO_ID, ValidImage};

use crate::sequence::Sequence;

/// Start and end in a text, in bytes.
pub(crate) type Span = (usize, usize);

/// What tokens are cut from: normalized text, and where in the input each byte of it, and its end, comes from
/// if that is recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) origins: &'t [usize],
}

/// Takes tokens, left to right.
pub(crate) trait Sink {
    /// A token that stands for `span` of the text, and in the input for what `origin` of the text comes from.
    fn token(&mut self, source: Source<'_>, id: u32, span: Span, origin: Span);
}

/// How many there are.
pub(crate) struct Count(pub(crate) usize);

impl Sink for Count {
    #[inline(always)]
    fn token(&mut self, _: Source<'_>, _: u32, _: Span, _: Span) {
        self.0 += 1;
    }
}

/// Their ids.
pub(crate) struct Ids<'o>(pub(crate) &'o mut Vec<u32>);

impl Sink for Ids<'_> {
    #[inline(always)]
    fn token(&mut self, _: Source<'_>, id: u32, _: Span, _: Span) {
        self.0.push(id);
    }
}

/// Everything that a sequence can hold.
pub(crate) struct Full<'o> {
    pub(crate) out: &'o mut Sequence,
    pub(crate) spans: bool,
    pub(crate) offsets: bool,
}

impl Sink for Full<'_> {
    #[inline(always)]
    fn token(&mut self, source: Source<'_>, id: u32, span: Span, origin: Span) {
        self.out.ids.push(id);
        if self.spans {
            let start = self.out.normalized.len();
            let text = source.text.get(span.0..span.1).unwrap_or_default();
            self.out.normalized.extend_from_slice(text);
            self.out.spans.push((start, self.out.normalized.len()));
        }
        if self.offsets {
            let at = |place: usize| source.origins.get(place).copied().unwrap_or_default();
            self.out.offsets.push((at(origin.0), at(origin.1)));
        }
    }
}

/// The pieces that stand for unknown characters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnknownPieces<'a> {
    unk: u32,
    byte_ids: Option<&'a [u32; 256]>,
}

impl<'a> UnknownPieces<'a> {
    pub(crate) fn new(image: &ValidImage<'a>) -> Self {
        Self {
            unk: image.metadata().unk_id.to_native(),
            byte_ids: image.byte_ids(),
        }
    }
}

/// Hands tokens on. Its state is the unknown run that has not ended yet.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Fuse {
    run: Option<Span>,
}

impl Fuse {
    /// The model's next token: a piece, or [`NO_ID`] for an unknown character.
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        unknown: UnknownPieces<'_>,
        source: Source<'_>,
        (start, end): Span,
        id: u32,
        sink: &mut impl Sink,
    ) {
        if id != NO_ID {
            self.end_run(unknown, source, sink);
            sink.token(source, id, (start, end), (start, end));
        } else if let Some(byte_ids) = unknown.byte_ids {
            let bytes = source.text.get(start..end).unwrap_or_default();
            for (at, &byte) in (start..end).zip(bytes) {
                // The last byte stands for the character.
                let origin = (start, if at + 1 == end { end } else { start });
                let id = byte_ids[usize::from(byte)];
                sink.token(source, id, (at, at + 1), origin);
            }
        } else {
            let run_start = self.run.map_or(start, |(run_start, _)| run_start);
            self.run = Some((run_start, end));
        }
    }

    /// Nothing follows, or no unknown character.
    #[inline(always)]
    pub(crate) fn end_run(
        &mut self,
        unknown: UnknownPieces<'_>,
        source: Source<'_>,
        sink: &mut impl Sink,
    ) {
        if let Some(run) = self.run {
            self.run = None;
            sink.token(source, unknown.unk, run, run);
        }
    }

    /// Where the unknown run begins.
    pub(crate) fn run_start(&self) -> Option<usize> {
        Some(self.run?.0)
    }

    /// `bytes` have been dropped from the beginning of the text.
    pub(crate) fn text_moved(&mut self, bytes: usize) {
        if let Some((start, end)) = &mut self.run {
            *start -= bytes;
            *end -= bytes;
        }
    }
}

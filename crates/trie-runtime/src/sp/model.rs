//! The parts of an image that the way from text to ids goes through.

use trie_format::{Reference, ValidImage};

use super::tokens::{Fuse, Sink, Source, UnknownPieces};
use crate::normalize::Normalizer;
use crate::parts::{Found, Parts, Segmenter};
use crate::segment::Window;
use crate::trie::Trie;
use crate::viterbi::{Mixed, Single, UnkScore};

/// How far the best paths are: of an image with parts, and of one without.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    parts: Segmenter<f32>,
    window: Window<f32>,
}

impl Paths {
    /// Bytes that are held.
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.parts.allocated_bytes() + self.window.allocated_bytes()
    }
}

/// Hands the tokens of a text on that begins at `start` of the source.
struct Tokens<'t, S> {
    unknown: UnknownPieces<'t>,
    source: Source<'t>,
    start: usize,
    fuse: &'t mut Fuse,
    sink: &'t mut S,
}

impl<S: Sink> Found for Tokens<'_, S> {
    #[inline(always)]
    fn token(&mut self, start: usize, end: usize, id: u32) {
        let span = (self.start + start, self.start + end);
        self.fuse
            .push(self.unknown, self.source, span, id, self.sink);
    }
}

/// A SentencePiece model. Made anew for each call, in constant time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Model<'a> {
    pub(crate) normalizer: Normalizer<'a>,
    trie: Trie<'a>,
    unk: UnkScore,
    parts: Option<Parts<'a>>,
    pub(crate) unknown: UnknownPieces<'a>,
    is_021: bool,
}

impl<'a> Model<'a> {
    pub(crate) fn new(image: &ValidImage<'a>) -> Self {
        Self {
            normalizer: Normalizer::new(image),
            trie: Trie::pieces(image),
            unk: UnkScore::new(image),
            parts: Parts::new(image),
            unknown: UnknownPieces::new(image),
            is_021: Reference::from(image.metadata().reference) == Reference::SentencePiece021,
        }
    }

    /// Whether text is segmented part by part.
    pub(crate) fn has_parts(&self) -> bool {
        self.parts.is_some()
    }

    /// Begins a new text.
    pub(crate) fn begin(&self, paths: &mut Paths) {
        match &self.parts {
            Some(parts) => paths.parts.begin(parts),
            None => paths.window.begin(),
        }
    }

    /// Segments what is in `source` from `start` on and hands the tokens on; returns where it is settled.
    #[inline(always)]
    pub(crate) fn segment(
        &self,
        paths: &mut Paths,
        fuse: &mut Fuse,
        source: Source<'_>,
        range: (usize, usize),
        last: bool,
        sink: &mut impl Sink,
    ) -> usize {
        let (start, end) = range;
        let text = source.text.get(start..end).unwrap_or_default();
        let mut tokens = Tokens {
            unknown: self.unknown,
            source,
            start,
            fuse,
            sink,
        };
        let Paths { parts, window } = paths;
        let (trie, unk) = (self.trie, self.unk);
        let settled = match (&self.parts, self.is_021) {
            (Some(model), false) => parts.advance::<Single>(model, text, last, &mut tokens),
            (Some(model), true) => parts.advance::<Mixed>(model, text, last, &mut tokens),
            (None, false) => window.advance::<Single>(trie, unk, text, last, |start, end, id| {
                tokens.token(start, end, id);
            }),
            (None, true) => window.advance::<Mixed>(trie, unk, text, last, |start, end, id| {
                tokens.token(start, end, id);
            }),
        };
        if last {
            fuse.end_run(self.unknown, source, sink);
        }
        start + settled
    }
}

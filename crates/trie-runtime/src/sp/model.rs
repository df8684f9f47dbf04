//! The parts of an image that the way from text to ids goes through.

use trie_format::{Reference, ValidImage};

use super::tokens::{Fuse, Sink, Source, UnknownPieces};
use crate::normalize::Normalizer;
use crate::plain::PlainAscii;
use crate::segment::Window;
use crate::trie::Trie;
use crate::viterbi::{Mixed, Single, UnkScore};

/// A SentencePiece model. Made anew for each call, in constant time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Model<'a> {
    pub(crate) normalizer: Normalizer<'a>,
    trie: Trie<'a>,
    unk: UnkScore,
    pub(crate) unknown: UnknownPieces<'a>,
    is_021: bool,
}

impl<'a> Model<'a> {
    pub(crate) fn new(image: &ValidImage<'a>, plain: PlainAscii) -> Self {
        Self {
            normalizer: Normalizer::new(image, plain),
            trie: Trie::pieces(image),
            unk: UnkScore::new(image),
            unknown: UnknownPieces::new(image),
            is_021: Reference::from(image.metadata().reference) == Reference::SentencePiece021,
        }
    }

    /// Segments what is in `source` from `start` on and hands the tokens on; returns where it is settled.
    #[inline(always)]
    pub(crate) fn segment(
        &self,
        window: &mut Window<f32>,
        fuse: &mut Fuse,
        source: Source<'_>,
        range: (usize, usize),
        last: bool,
        sink: &mut impl Sink,
    ) -> usize {
        let (start, end) = range;
        let text = source.text.get(start..end).unwrap_or_default();
        let mut push = |from: usize, to: usize, id: u32| {
            fuse.push(self.unknown, source, (start + from, start + to), id, sink);
        };
        let settled = if self.is_021 {
            window.advance::<Mixed>(self.trie, self.unk, text, last, &mut push)
        } else {
            window.advance::<Single>(self.trie, self.unk, text, last, &mut push)
        };
        if last {
            fuse.end_run(self.unknown, source, sink);
        }
        start + settled
    }
}

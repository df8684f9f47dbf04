//! What an encode gives: a view into the scratch, and its owned twin.

use std::fmt;

use trie_format::ValidImage;

use crate::output::{Output, Source};
use crate::sequence::Sequence;

/// An encoded text or pair, borrowed from the scratch it was made in: its tokens as equally long arrays.
///
/// What was not asked for in the [`EncodeOptions`](crate::EncodeOptions) is empty.
#[derive(Clone, Copy)]
pub struct Encoding<'s> {
    pub(crate) output: &'s Output,
    /// Which window of the output this is.
    pub(crate) window: usize,
    pub(crate) first: &'s Sequence,
    pub(crate) second: &'s Sequence,
    pub(crate) image: ValidImage<'s>,
}

/// What numbers the positions of a window's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Positions {
    /// 0, 1, 2, …: BERT, ALBERT, DeBERTa.
    FromZero,
    /// Padding has the number of the padding id, the others follow that: RoBERTa, XLM-RoBERTa, CamemBERT
    /// (`create_position_ids_from_input_ids` in `transformers`).
    AfterPadding {
        /// The padding id.
        pad_id: u32,
    },
}

impl fmt::Debug for Encoding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoding")
            .field("ids", &self.ids())
            .field("offsets", &self.offsets())
            .field("overflowing", &self.overflowing().len())
            .finish_non_exhaustive()
    }
}

impl<'s> Encoding<'s> {
    fn range(&self) -> (usize, usize) {
        let end_of = |window: usize| self.output.ends.get(window).copied().unwrap_or(0);
        let start = self.window.checked_sub(1).map_or(0, end_of);
        (start, end_of(self.window))
    }

    fn part<T>(&self, all: &'s [T]) -> &'s [T] {
        let (start, end) = self.range();
        all.get(start..end).unwrap_or_default()
    }

    /// The ids.
    #[must_use]
    pub fn ids(&self) -> &'s [u32] {
        self.part(&self.output.ids)
    }

    /// Number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids().len()
    }

    /// Whether there is no token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type ids, which tell the parts of a template apart. With
    /// [`masks`](crate::EncodeOptions::masks).
    #[must_use]
    pub fn type_ids(&self) -> &'s [u32] {
        self.part(&self.output.type_ids)
    }

    /// 0 for padding, 1 for everything else. With [`masks`](crate::EncodeOptions::masks).
    #[must_use]
    pub fn attention_mask(&self) -> &'s [u32] {
        self.part(&self.output.attention_mask)
    }

    /// 1 for special tokens of the template and padding, 0 for what comes from text. With
    /// [`masks`](crate::EncodeOptions::masks).
    #[must_use]
    pub fn special_tokens_mask(&self) -> &'s [u32] {
        self.part(&self.output.special_tokens_mask)
    }

    /// Where in its sequence's input each token comes from: first and one past the last unit; `(0, 0)` for
    /// special tokens and padding. With [`offsets`](crate::EncodeOptions::offsets).
    #[must_use]
    pub fn offsets(&self) -> &'s [(usize, usize)] {
        self.part(&self.output.offsets)
    }

    /// Which sequence each token comes from, 0 or 1; `None` for special tokens and padding. With
    /// [`masks`](crate::EncodeOptions::masks) or [`pieces`](crate::EncodeOptions::pieces).
    pub fn sequence_ids(&self) -> impl ExactSizeIterator<Item = Option<usize>> + use<'s> {
        self.part(&self.output.sources)
            .iter()
            .map(|source| match source {
                Source::First => Some(0),
                Source::Second => Some(1),
                Source::Added => None,
            })
    }

    /// The pieces: each id's text, or for the unknown piece the normalized text that it stands for. Not
    /// always UTF-8. With [`pieces`](crate::EncodeOptions::pieces).
    pub fn pieces(&self) -> impl ExactSizeIterator<Item = &'s [u8]> + use<'s> {
        let Self {
            first,
            second,
            image,
            ..
        } = *self;
        let unk = image.metadata().unk_id.to_native();
        let spans = self.part(&self.output.spans).iter();
        let sources = self.part(&self.output.sources).iter();
        let tokens = self.ids().iter().zip(sources);
        spans
            .zip(tokens)
            .map(move |(&(start, end), (&id, source))| {
                let text = match source {
                    Source::First => first.normalized.get(start..end),
                    Source::Second => second.normalized.get(start..end),
                    Source::Added => None,
                };
                match text {
                    // An added token that is the unknown piece stands for no normalized text.
                    Some(text) if id == unk && !text.is_empty() => text,
                    _ => image.pieces().text(id).unwrap_or_default(),
                }
            })
    }

    /// The position of each token.
    pub fn position_ids(&self, positions: Positions) -> impl Iterator<Item = u32> + use<'s> {
        let mut next = 0u32;
        self.ids().iter().map(move |&id| match positions {
            Positions::FromZero => {
                next = next.wrapping_add(1);
                next.wrapping_sub(1)
            }
            Positions::AfterPadding { pad_id } if id == pad_id => pad_id,
            Positions::AfterPadding { pad_id } => {
                next = next.wrapping_add(1);
                pad_id.wrapping_add(next)
            }
        })
    }

    /// What truncation cut off, as windows of at most the same length with special tokens and padding of
    /// their own, in the order of `tokenizers`; none for a window of this kind itself. With
    /// [`overflowing`](crate::EncodeOptions::overflowing).
    pub fn overflowing(&self) -> impl ExactSizeIterator<Item = Encoding<'s>> + use<'s> {
        let windows = if self.window == 0 {
            self.output.ends.len()
        } else {
            0
        };
        let main = *self;
        (1..windows.max(1)).map(move |window| Encoding { window, ..main })
    }

    /// The same, owned.
    #[must_use]
    pub fn to_buf(&self) -> EncodingBuf {
        EncodingBuf {
            ids: self.ids().to_vec(),
            type_ids: self.type_ids().to_vec(),
            attention_mask: self.attention_mask().to_vec(),
            special_tokens_mask: self.special_tokens_mask().to_vec(),
            offsets: self.offsets().to_vec(),
            sequence_ids: self.sequence_ids().collect(),
            pieces: self.pieces().map(<[u8]>::to_vec).collect(),
            overflowing: self.overflowing().map(|window| window.to_buf()).collect(),
        }
    }
}

/// An encoded text or pair that owns its arrays: see [`Encoding`], whose methods the fields are named for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EncodingBuf {
    /// The ids.
    pub ids: Vec<u32>,
    /// The type ids.
    pub type_ids: Vec<u32>,
    /// 0 for padding, 1 for everything else.
    pub attention_mask: Vec<u32>,
    /// 1 for special tokens of the template and padding, 0 for what comes from text.
    pub special_tokens_mask: Vec<u32>,
    /// Where in its sequence's input each token comes from.
    pub offsets: Vec<(usize, usize)>,
    /// Which sequence each token comes from.
    pub sequence_ids: Vec<Option<usize>>,
    /// The pieces.
    pub pieces: Vec<Vec<u8>>,
    /// What truncation cut off.
    pub overflowing: Vec<EncodingBuf>,
}

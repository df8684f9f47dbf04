//! Text to ids, ids to text, and look-ups: the API over an image.

use std::sync::Arc;

use trie_format::{NO_ID, PieceType, Reference, ValidImage};

use crate::decode::Decoder;
use crate::error::DecodeError;
use crate::hf;
use crate::image::Image;
use crate::normalize::{Normalizer, PlainAscii};
use crate::scratch::Scratch;
use crate::trie::Trie;
use crate::viterbi::{Mixed, Single, UnkScore, backtrack, segment};

/// A tokenizer over an [`Image`]. Immutable, `Send + Sync`; clones share the image.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    image: Arc<Image>,
    plain: PlainAscii,
}

/// How to encode, per call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EncodeOptions {
    /// Put the model's begin and end ids, those it has, around the text's; under the Hugging Face
    /// reference, its template for one sequence.
    pub add_special_tokens: bool,
    /// Under the Hugging Face reference: names of special tokens inside the text are text
    /// (`encode_special_tokens` in `tokenizers`). Under the others they always are.
    pub special_tokens_as_text: bool,
}

impl EncodeOptions {
    /// These options, with or without the model's begin and end ids.
    #[must_use]
    pub fn with_special_tokens(mut self, add: bool) -> Self {
        self.add_special_tokens = add;
        self
    }

    /// These options, with or without taking names of special tokens inside the text for text.
    #[must_use]
    pub fn with_special_tokens_as_text(mut self, as_text: bool) -> Self {
        self.special_tokens_as_text = as_text;
        self
    }
}

/// The ids of a model's special pieces, where it has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpecialIds {
    /// The unknown piece. Absent only in some models with byte fallback.
    pub unk: Option<u32>,
    /// Begin of sentence.
    pub bos: Option<u32>,
    /// End of sentence.
    pub eos: Option<u32>,
    /// Padding.
    pub pad: Option<u32>,
    /// Mask.
    pub mask: Option<u32>,
}

/// An encoded text, borrowed from the scratch it was made in.
#[derive(Debug, Clone, Copy)]
pub struct Encoding<'s> {
    ids: &'s [u32],
    spans: &'s [(usize, usize)],
    normalized: &'s [u8],
    image: ValidImage<'s>,
}

impl<'s> Encoding<'s> {
    /// The ids.
    #[must_use]
    pub fn ids(&self) -> &'s [u32] {
        self.ids
    }

    /// The pieces: each id's text, or for the unknown piece the normalized text that it stands for.
    /// Not always UTF-8.
    pub fn pieces(&self) -> impl ExactSizeIterator<Item = &'s [u8]> {
        let (image, normalized) = (self.image, self.normalized);
        let unk = image.metadata().unk_id.to_native();
        self.ids
            .iter()
            .zip(self.spans)
            .map(move |(&id, &(start, end))| {
                if id == unk {
                    &normalized[start..end]
                } else {
                    image.pieces().text(id).unwrap_or_default()
                }
            })
    }
}

impl Tokenizer {
    /// A tokenizer over `image`. Constant time.
    #[must_use]
    pub fn new(image: Image) -> Self {
        // The steps of the Hugging Face reference have no use for it.
        let plain = match image.view().pipeline() {
            Some(_) => PlainAscii::default(),
            None => PlainAscii::new(image.view()),
        };
        Self {
            image: Arc::new(image),
            plain,
        }
    }

    /// The image.
    #[must_use]
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// The ids of `input`, without special tokens, borrowed from `scratch`.
    ///
    /// Input may be any bytes: one that is not UTF-8 counts as U+FFFD, as in SentencePiece. After
    /// `scratch` has seen its largest input nothing is allocated.
    #[must_use]
    pub fn encode<'s>(&self, input: impl AsRef<[u8]>, scratch: &'s mut Scratch) -> &'s [u32] {
        let image = self.image.view();
        if let Some(pipeline) = image.pipeline() {
            let options = EncodeOptions::default();
            hf::encode::encode(image, &pipeline, input.as_ref(), &options, scratch);
            return &scratch.ids;
        }
        self.segment(input.as_ref(), scratch);
        self.collect_ids(scratch)
    }

    /// The ids of text that is normalized already, as [`Tokenizer::normalize`] gives it, borrowed from
    /// `scratch`: for callers that keep normalized text, and to measure segmentation alone. Under the
    /// Hugging Face reference it is segmented as one word, without added tokens.
    #[must_use]
    pub fn encode_normalized<'s>(
        &self,
        normalized: impl AsRef<[u8]>,
        scratch: &'s mut Scratch,
    ) -> &'s [u32] {
        let image = self.image.view();
        if let Some(pipeline) = image.pipeline() {
            hf::encode::encode_word(image, &pipeline, normalized.as_ref(), scratch);
            return &scratch.ids;
        }
        scratch.normalized.clear();
        scratch.normalized.extend_from_slice(normalized.as_ref());
        self.segment_normalized(scratch);
        self.collect_ids(scratch)
    }

    /// The ids and pieces of `input`, borrowed from `scratch` and the image.
    #[must_use]
    pub fn encode_with<'s>(
        &'s self,
        input: impl AsRef<[u8]>,
        options: &EncodeOptions,
        scratch: &'s mut Scratch,
    ) -> Encoding<'s> {
        match self.image.view().pipeline() {
            Some(pipeline) => {
                let image = self.image.view();
                hf::encode::encode(image, &pipeline, input.as_ref(), options, scratch);
            }
            None => self.encode_with_spans(input.as_ref(), options, scratch),
        }
        Encoding {
            ids: &scratch.ids,
            spans: &scratch.spans,
            normalized: &scratch.normalized,
            image: *self.image.view(),
        }
    }

    /// The ids and spans of `input` under a SentencePiece reference.
    fn encode_with_spans(&self, input: &[u8], options: &EncodeOptions, scratch: &mut Scratch) {
        self.segment(input, scratch);
        let special = self.special_ids();
        scratch.ids.clear();
        scratch.spans.clear();
        let push_special = |id: Option<u32>, scratch: &mut Scratch| {
            if let (true, Some(id)) = (options.add_special_tokens, id) {
                scratch.ids.push(id);
                scratch.spans.push((0, 0));
            }
        };
        // Ids are collected last first.
        push_special(special.eos, scratch);
        self.collect_onto::<true>(scratch);
        push_special(special.bos, scratch);
        scratch.ids.reverse();
        scratch.spans.reverse();
    }

    /// The ids of `input` in a vector of their own: [`Tokenizer::encode`] for callers without a scratch.
    #[must_use]
    pub fn encode_to_vec(&self, input: impl AsRef<[u8]>) -> Vec<u32> {
        let mut scratch = Scratch::new();
        let _ = self.encode(input, &mut scratch);
        scratch.ids
    }

    /// Normalizes `input` and fills the cells.
    fn segment(&self, input: &[u8], scratch: &mut Scratch) {
        let image = self.image.view();
        Normalizer::new(image, self.plain).normalize(input, &mut scratch.normalized);
        self.segment_normalized(scratch);
    }

    /// Fills the cells for the text that is in `scratch`.
    fn segment_normalized(&self, scratch: &mut Scratch) {
        let image = self.image.view();
        let trie = Trie::pieces(image);
        let unk = UnkScore::new(image);
        let (text, cells) = (&scratch.normalized, &mut scratch.cells);
        match image.metadata().reference.into() {
            Reference::SentencePiece021 => segment::<Mixed>(trie, unk, text, cells),
            _ => segment::<Single>(trie, unk, text, cells),
        }
    }

    /// The best path's ids.
    fn collect_ids<'s>(&self, scratch: &'s mut Scratch) -> &'s [u32] {
        scratch.ids.clear();
        self.collect_onto::<false>(scratch);
        scratch.ids.reverse();
        &scratch.ids
    }

    /// Appends the best path's ids, last first: unknown characters become their bytes' pieces if the
    /// model has byte fallback, else a run of them becomes one unknown piece.
    fn collect_onto<const SPANS: bool>(&self, scratch: &mut Scratch) {
        let image = self.image.view();
        let unk = image.metadata().unk_id.to_native();
        let byte_ids = image.byte_ids();
        let Scratch {
            normalized,
            cells,
            ids,
            spans,
            ..
        } = scratch;
        let mut after_unknown = false;
        for (start, end, id) in backtrack(cells) {
            let is_unknown = id == NO_ID;
            match byte_ids {
                Some(byte_ids) if is_unknown => {
                    for (at, &byte) in normalized[start..end].iter().enumerate().rev() {
                        ids.push(byte_ids[usize::from(byte)]);
                        if SPANS {
                            spans.push((start + at, start + at + 1));
                        }
                    }
                }
                _ if is_unknown && after_unknown => {
                    if let (true, Some(run)) = (SPANS, spans.last_mut()) {
                        run.0 = start;
                    }
                }
                _ => {
                    ids.push(if is_unknown { unk } else { id });
                    if SPANS {
                        spans.push((start, end));
                    }
                }
            }
            after_unknown = is_unknown;
        }
    }

    /// `input` as the model sees it, borrowed from `scratch`. Under the Hugging Face reference: what the
    /// normalizer makes of it, before added tokens are looked for and words are split.
    #[must_use]
    pub fn normalize<'s>(&self, input: impl AsRef<[u8]>, scratch: &'s mut Scratch) -> &'s [u8] {
        if let Some(pipeline) = self.image.view().pipeline() {
            return hf::encode::normalize_only(
                self.image.view(),
                &pipeline,
                input.as_ref(),
                scratch,
            );
        }
        Normalizer::new(self.image.view(), self.plain)
            .normalize(input.as_ref(), &mut scratch.normalized);
        &scratch.normalized
    }

    /// The text of `ids`, borrowed from `scratch`. Control pieces leave no trace; it is UTF-8 unless the
    /// vocabulary itself is not.
    ///
    /// # Errors
    /// The first id that is not in the vocabulary.
    pub fn decode<'s>(
        &self,
        ids: &[u32],
        scratch: &'s mut Scratch,
    ) -> Result<&'s [u8], DecodeError> {
        let image = self.image.view();
        if let Some(pipeline) = image.pipeline() {
            return hf::decode::decode_ids(image, &pipeline, ids, &mut scratch.raw);
        }
        let mut decoder = Decoder::new(*image, &mut scratch.raw);
        for &id in ids {
            decoder.push_id(id)?;
        }
        decoder.finish();
        Ok(self.denormalize(scratch))
    }

    /// The text of `pieces`, borrowed from `scratch`. A piece that is not in the vocabulary stands for
    /// itself.
    #[must_use]
    pub fn decode_pieces<'s, Piece: AsRef<[u8]>>(
        &self,
        pieces: impl IntoIterator<Item = Piece>,
        scratch: &'s mut Scratch,
    ) -> &'s [u8] {
        let image = self.image.view();
        if let Some(pipeline) = image.pipeline() {
            return hf::decode::decode_pieces(&pipeline, pieces, &mut scratch.raw);
        }
        let mut decoder = Decoder::new(*image, &mut scratch.raw);
        for piece in pieces {
            let piece = piece.as_ref();
            decoder.push_piece(piece, self.piece_to_id(piece));
        }
        decoder.finish();
        self.denormalize(scratch)
    }

    /// The text of `ids` as a string of its own; what is not UTF-8 becomes U+FFFD.
    ///
    /// # Errors
    /// The first id that is not in the vocabulary.
    pub fn decode_to_string(&self, ids: &[u32]) -> Result<String, DecodeError> {
        let mut scratch = Scratch::new();
        Ok(String::from_utf8_lossy(self.decode(ids, &mut scratch)?).into_owned())
    }

    fn denormalize<'s>(&self, scratch: &'s mut Scratch) -> &'s [u8] {
        match Normalizer::denormalizer(self.image.view()) {
            Some(denormalizer) => {
                denormalizer.normalize(&scratch.raw, &mut scratch.normalized);
                &scratch.normalized
            }
            None => &scratch.raw,
        }
    }

    /// Number of ids; ids are `0..piece_count()`.
    #[must_use]
    pub fn piece_count(&self) -> u32 {
        self.image.view().pieces().len()
    }

    /// The text of piece `id`; not always UTF-8.
    #[must_use]
    pub fn piece(&self, id: u32) -> Option<&[u8]> {
        self.image.view().pieces().text(id)
    }

    /// The score of piece `id` as the model states it.
    #[must_use]
    pub fn score(&self, id: u32) -> Option<f32> {
        self.image.view().pieces().score(id)
    }

    /// The type of piece `id`.
    #[must_use]
    pub fn piece_type(&self, id: u32) -> Option<PieceType> {
        self.image.view().pieces().piece_type(id)
    }

    /// The id of the piece with this text: a control, unknown or byte piece before all others, as in
    /// SentencePiece.
    #[must_use]
    pub fn piece_to_id(&self, text: impl AsRef<[u8]>) -> Option<u32> {
        let text = text.as_ref();
        let image = self.image.view();
        let pieces = image.pieces();
        pieces
            .find_named(text, true)
            .or_else(|| Trie::pieces(image).find(text))
            .or_else(|| pieces.find_named(text, false))
    }

    /// The ids of the model's special pieces.
    #[must_use]
    pub fn special_ids(&self) -> SpecialIds {
        let meta = self.image.view().metadata();
        let known = |id: u32| (id != NO_ID).then_some(id);
        SpecialIds {
            unk: known(meta.unk_id.to_native()),
            bos: known(meta.bos_id.to_native()),
            eos: known(meta.eos_id.to_native()),
            pad: known(meta.pad_id.to_native()),
            mask: known(meta.mask_id.to_native()),
        }
    }
}

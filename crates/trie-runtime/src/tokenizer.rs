//! Text to ids, ids to text, and look-ups: the API over an image.

use std::sync::Arc;

use trie_format::{NO_ID, PieceType};

use crate::assemble::{Around, Parts, room};
use crate::decode::Decoder;
use crate::encoding::Encoding;
use crate::error::{DecodeError, EncodeError, SelfTestError};
use crate::image::Image;
use crate::normalize::Normalizer;
use crate::options::{DecodeOptions, Direction, EncodeOptions, Padding, Truncation};
use crate::scratch::{Scratch, Work};
use crate::sequence::{Ask, Sequence};
use crate::trie::Trie;
use crate::truncate::{Kept, Length, Windows, keep};
use crate::units::convert;
use crate::{hf, sp};

/// A tokenizer over an [`Image`]. Immutable, `Send + Sync`; clones share the image.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    image: Arc<Image>,
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

impl Tokenizer {
    /// A tokenizer over `image`. Constant time.
    #[must_use]
    pub fn new(image: Image) -> Self {
        Self {
            image: Arc::new(image),
        }
    }

    /// The image.
    #[must_use]
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Encodes the texts that were put into the image with their ids, and compares: whether this build, on this
    /// machine, gives what was known when the image was compiled. Returns how many texts there are, which may be none.
    /// Takes less than a millisecond for those that `triec compile` puts in.
    ///
    /// # Errors
    /// The first text that has other ids.
    pub fn self_test(&self) -> Result<usize, SelfTestError> {
        let mut scratch = Scratch::new();
        let mut count = 0;
        for (index, (text, expected)) in self.image.view().self_test().enumerate() {
            let found = self.encode(text, &mut scratch);
            if found != expected {
                return Err(SelfTestError {
                    index,
                    text: String::from_utf8_lossy(text).into_owned(),
                    expected: expected.to_vec(),
                    found: found.to_vec(),
                });
            }
            count += 1;
        }
        Ok(count)
    }

    /// The ids of `input`, all of them, without special tokens, borrowed from `scratch`.
    ///
    /// Input may be any bytes: one that is not UTF-8 counts as U+FFFD, as in SentencePiece. After
    /// `scratch` has seen its largest input nothing is allocated.
    #[must_use]
    pub fn encode<'s>(&self, input: impl AsRef<[u8]>, scratch: &'s mut Scratch) -> &'s [u32] {
        let Scratch { work, first, .. } = scratch;
        self.sequence(input.as_ref(), Ask::IDS, work, first);
        &first.ids
    }

    /// Number of ids of `input`, all of them, without special tokens: the length of what
    /// [`Tokenizer::encode`] gives, which is not put together for it.
    #[must_use]
    pub fn count_tokens(&self, input: impl AsRef<[u8]>, scratch: &mut Scratch) -> usize {
        let (image, input) = (self.image.view(), input.as_ref());
        let Scratch { work, first, .. } = scratch;
        match image.pipeline() {
            Some(pipeline) => hf::flow::count(image, &pipeline, input, work, first),
            None => sp::stream::count(image, input, &mut work.stream),
        }
    }

    /// The ids of `input` in a vector of their own: [`Tokenizer::encode`] for callers without a scratch.
    #[must_use]
    pub fn encode_to_vec(&self, input: impl AsRef<[u8]>) -> Vec<u32> {
        let mut scratch = Scratch::new();
        let _ = self.encode(input, &mut scratch);
        scratch.first.ids
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
        let Scratch { work, first, .. } = scratch;
        if let Some(pipeline) = image.pipeline() {
            hf::encode::word(image, &pipeline, normalized.as_ref(), work, first);
        } else {
            first.clear();
            first.normalized.extend_from_slice(normalized.as_ref());
            sp::encode::segment_normalized(image, work, first);
        }
        &first.ids
    }

    /// `input` as `options` say, borrowed from `scratch` and the image.
    ///
    /// With a truncation that cuts at the right, and without overflowing windows, no more of the input is
    /// looked at than is needed.
    ///
    /// # Errors
    /// If truncation cannot be done.
    pub fn encode_with<'s>(
        &'s self,
        input: impl AsRef<[u8]>,
        options: &EncodeOptions,
        scratch: &'s mut Scratch,
    ) -> Result<Encoding<'s>, EncodeError> {
        self.encode_parts(input.as_ref(), None, options, scratch)
    }

    /// The pair `first` and `second` as `options` say, borrowed from `scratch` and the image: as
    /// [`Tokenizer::encode_with`], with the image's template for pairs.
    ///
    /// # Errors
    /// If truncation cannot be done.
    pub fn encode_pair<'s>(
        &'s self,
        first: impl AsRef<[u8]>,
        second: impl AsRef<[u8]>,
        options: &EncodeOptions,
        scratch: &'s mut Scratch,
    ) -> Result<Encoding<'s>, EncodeError> {
        self.encode_parts(first.as_ref(), Some(second.as_ref()), options, scratch)
    }

    fn encode_parts<'s>(
        &'s self,
        first: &[u8],
        second: Option<&[u8]>,
        options: &EncodeOptions,
        scratch: &'s mut Scratch,
    ) -> Result<Encoding<'s>, EncodeError> {
        let image = self.image.view();
        let around = Around::new(image.post_processor());
        let truncation = options.truncation.resolve(around.truncation());
        let padding = options.padding.resolve(around.padding());
        let specials = match options.add_special_tokens {
            true => around.special_count(second.is_some()),
            false => 0,
        };
        let limit = match truncation {
            Some(truncation) => Some((truncation, room(&truncation, specials)?)),
            None => None,
        };
        let kept = self.encode_kept(first, second, options, limit, scratch)?;
        let windows = |sequence: &Sequence, kept: Option<usize>| match (truncation, kept) {
            (Some(truncation), Some(kept)) if options.overflowing => {
                Windows::new(sequence.ids.len(), kept, &truncation)
            }
            (Some(truncation), Some(kept)) => {
                Windows::new(sequence.ids.len(), kept, &truncation.with_stride(0))
            }
            _ => Ok(Windows::whole(sequence.ids.len())),
        };
        let first_windows = windows(&scratch.first, kept.map(|kept| kept.0))?;
        let second_windows = windows(&scratch.second, kept.map(|kept| kept.1))?;
        if let Some(unit) = options.offsets {
            convert(first, unit, &mut scratch.first.offsets);
            convert(
                second.unwrap_or_default(),
                unit,
                &mut scratch.second.offsets,
            );
        }
        let Scratch {
            first: first_out,
            second: second_out,
            choice,
            output,
            ..
        } = &mut *scratch;
        let parts = Parts {
            first: (first_out, first_windows),
            second: second.map(|_| (&*second_out, second_windows)),
        };
        around.assemble(image, &parts, options, padding, choice, output);
        Ok(Encoding {
            output: &scratch.output,
            window: 0,
            first: &scratch.first,
            second: &scratch.second,
            image: *image,
        })
    }

    /// Encodes both sequences as far as is needed to cut them, and returns how much of each is kept, if not
    /// all.
    fn encode_kept(
        &self,
        first: &[u8],
        second: Option<&[u8]>,
        options: &EncodeOptions,
        limit: Option<(Truncation, usize)>,
        scratch: &mut Scratch,
    ) -> Result<Option<(usize, usize)>, EncodeError> {
        let Scratch {
            work,
            first: first_out,
            second: second_out,
            ..
        } = scratch;
        let mut ask = Ask {
            special_tokens_as_text: options.special_tokens_as_text,
            spans: options.pieces,
            offsets: options.offsets.is_some(),
            limit: match limit {
                Some((truncation, room))
                    if truncation.direction == Direction::Right && !options.overflowing =>
                {
                    room.saturating_add(1)
                }
                _ => usize::MAX,
            },
        };
        second_out.clear();
        self.sequence(first, ask, work, first_out);
        if let Some(second) = second {
            self.sequence(second, ask, work, second_out);
        }
        let Some((truncation, room)) = limit else {
            return Ok(None);
        };
        let length = |sequence: &Sequence| Length {
            known: sequence.ids.len(),
            complete: sequence.complete,
        };
        loop {
            let second_length = second.map(|_| length(second_out));
            match keep(&truncation, room, length(first_out), second_length)? {
                Kept::All => return Ok(None),
                Kept::Cut(first, second) => return Ok(Some((first, second))),
                Kept::Undecided => {}
            }
            // Which of two long sequences is the longer one decides over one token.
            ask.limit = first_out
                .ids
                .len()
                .max(second_out.ids.len())
                .saturating_mul(2);
            if !first_out.complete {
                self.sequence(first, ask, work, first_out);
            }
            if let (false, Some(second)) = (second_out.complete, second) {
                self.sequence(second, ask, work, second_out);
            }
        }
    }

    /// Encodes one sequence.
    fn sequence(&self, input: &[u8], ask: Ask, work: &mut Work, out: &mut Sequence) {
        let image = self.image.view();
        match image.pipeline() {
            Some(pipeline) => hf::encode::sequence(image, &pipeline, input, ask, work, out),
            None => sp::encode::sequence(image, input, ask, work, out),
        }
    }

    /// `input` as the model sees it, borrowed from `scratch`. Under the Hugging Face reference: what the
    /// normalizer makes of it, before added tokens are looked for and words are split.
    #[must_use]
    pub fn normalize<'s>(&self, input: impl AsRef<[u8]>, scratch: &'s mut Scratch) -> &'s [u8] {
        if let Some(pipeline) = self.image.view().pipeline() {
            let image = self.image.view();
            return hf::encode::normalize_only(image, &pipeline, input.as_ref(), &mut scratch.work);
        }
        Normalizer::new(self.image.view()).normalize(input.as_ref(), &mut scratch.text);
        &scratch.text
    }

    /// The text of `ids`, borrowed from `scratch`. Control pieces, or special tokens, leave no trace; it is
    /// UTF-8 unless the vocabulary itself is not.
    ///
    /// # Errors
    /// The first id that is not in the vocabulary.
    pub fn decode<'s>(
        &self,
        ids: &[u32],
        scratch: &'s mut Scratch,
    ) -> Result<&'s [u8], DecodeError> {
        self.decode_with(ids, &DecodeOptions::default(), scratch)
    }

    /// The text of `ids` as `options` say, borrowed from `scratch`. [`DecodeStream`](crate::DecodeStream)
    /// takes them one at a time.
    ///
    /// # Errors
    /// The first id that is not in the vocabulary.
    pub fn decode_with<'s>(
        &self,
        ids: &[u32],
        options: &DecodeOptions,
        scratch: &'s mut Scratch,
    ) -> Result<&'s [u8], DecodeError> {
        let image = self.image.view();
        if let Some(pipeline) = image.pipeline() {
            let (lists, out) = (&mut scratch.work.steps.decode, &mut scratch.raw);
            return hf::decode::decode_ids(image, &pipeline, ids, options, lists, out);
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
            let (lists, out) = (&mut scratch.work.steps.decode, &mut scratch.raw);
            return hf::decode::decode_pieces(&pipeline, pieces, lists, out);
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
                denormalizer.normalize(&scratch.raw, &mut scratch.text);
                &scratch.text
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

    /// The truncation that the image states: that of a `tokenizer.json` that has one.
    #[must_use]
    pub fn truncation(&self) -> Option<Truncation> {
        Around::new(self.image.view().post_processor()).truncation()
    }

    /// How texts are padded: as the image's `tokenizer.json` says, or, if asked for, as goes with the model's
    /// template: with its padding piece, and at its end. `None` if it has neither.
    #[must_use]
    pub fn padding(&self) -> Option<Padding> {
        Around::new(self.image.view().post_processor()).suggested_padding()
    }

    /// Whether texts are padded unasked.
    #[must_use]
    pub fn pads(&self) -> bool {
        self.compiled_padding().is_some()
    }

    /// The padding that is done unasked.
    pub(crate) fn compiled_padding(&self) -> Option<Padding> {
        Around::new(self.image.view().post_processor()).padding()
    }

    /// Number of special tokens around one text, or around and between two.
    #[must_use]
    pub fn special_token_count(&self, is_pair: bool) -> usize {
        Around::new(self.image.view().post_processor()).special_count(is_pair)
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

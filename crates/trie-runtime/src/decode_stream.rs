//! Decoding of ids that come one at a time, as a model generates them.
//!
//! Invariant: what all calls give, one after another, is what [`Tokenizer::decode_with`] gives for all ids.
//! So a text that is given out never changes, and what may still change is held back:
//!
//! * the bytes of byte pieces that are no whole character yet (at most three);
//! * under the Hugging Face reference, with a `ByteFallback` decoder, a run of byte tokens until it ends: it
//!   is text only if all of it is UTF-8 (once it is known not to be, nothing is held back);
//! * what may be the beginning of a text that a decoder step replaces or strips from the end (`Replace` and
//!   `Strip` behind `Fuse`): fewer characters than that step takes;
//! * with a denormalizer, what may be the beginning of one of its rules, and spaces that it drops at the end.
//!
//! Memory is bounded by what is held back; nothing grows with the number of ids.

use crate::decode::{Decoder, DecoderState};
use crate::error::DecodeError;
use crate::hf::decode_stream::HfDecoder;
use crate::normalize::{Normalizer, Progress};
use crate::options::DecodeOptions;
use crate::origins::Unnoted;
use crate::tokenizer::Tokenizer;

/// A text that grows id by id.
///
/// ```no_run
/// use trie_runtime::{DecodeOptions, DecodeStream, Image, LoadOptions, Tokenizer};
///
/// let image = Image::load("xlm-roberta.trie", &LoadOptions::default())?;
/// let mut stream = DecodeStream::new(&Tokenizer::new(image), &DecodeOptions::default());
/// let mut text = Vec::new();
/// for id in [35378, 6661, 38] {
///     text.extend_from_slice(stream.push(id)?);
/// }
/// text.extend_from_slice(stream.finish());
/// assert_eq!(text, b"Hello World!");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DecodeStream {
    tokenizer: Tokenizer,
    options: DecodeOptions,
    steps: Steps,
    /// What was given out by the last call, and behind it what is held back.
    text: Vec<u8>,
    given: usize,
    /// The last call was [`DecodeStream::finish`].
    has_ended: bool,
}

/// What the ids before have left behind.
#[derive(Debug)]
enum Steps {
    SentencePiece(DecoderState),
    Denormalized(DecoderState, Raw),
    HuggingFace(HfDecoder),
}

/// Text on its way through the denormalizer.
#[derive(Debug, Default)]
struct Raw {
    /// What has not been through it.
    text: Vec<u8>,
    progress: Progress,
}

impl Steps {
    fn new(tokenizer: &Tokenizer) -> Self {
        let image = tokenizer.image().view();
        match (image.pipeline(), image.denormalizer()) {
            (Some(pipeline), _) => Self::HuggingFace(HfDecoder::new(&pipeline)),
            (None, None) => Self::SentencePiece(DecoderState::new()),
            (None, Some(_)) => Self::Denormalized(DecoderState::new(), Raw::default()),
        }
    }
}

impl DecodeStream {
    /// A stream at the beginning of a text. It holds on to the tokenizer's image.
    #[must_use]
    pub fn new(tokenizer: &Tokenizer, options: &DecodeOptions) -> Self {
        Self {
            steps: Steps::new(tokenizer),
            tokenizer: tokenizer.clone(),
            options: *options,
            text: Vec::new(),
            given: 0,
            has_ended: false,
        }
    }

    /// The text that is final now and was not before `id`: perhaps empty. Whole characters, unless the
    /// vocabulary itself is not UTF-8.
    ///
    /// # Errors
    /// An id that is not in the vocabulary; it counts as not pushed.
    pub fn push(&mut self, id: u32) -> Result<&[u8], DecodeError> {
        self.forget_given();
        let image = self.tokenizer.image().view();
        match &mut self.steps {
            Steps::HuggingFace(steps) => {
                if let Some(pipeline) = image.pipeline() {
                    steps.push_id(image, &pipeline, id, &self.options, &mut self.text)?;
                }
                self.given = self.text.len();
            }
            Steps::SentencePiece(state) => {
                let mut decoder = Decoder::resume(*image, &mut self.text, *state);
                decoder.push_id(id)?;
                (*state, self.given) = decoder.pause();
            }
            Steps::Denormalized(state, raw) => {
                let mut decoder = Decoder::resume(*image, &mut raw.text, *state);
                decoder.push_id(id)?;
                let is_final;
                (*state, is_final) = decoder.pause();
                if let Some(denormalizer) = Normalizer::denormalizer(image) {
                    let done = raw.advance::<false>(denormalizer, is_final, &mut self.text);
                    state.take(done);
                    self.given = kept_len(denormalizer, &self.text);
                }
            }
        }
        Ok(&self.text[..self.given])
    }

    /// Ends the text: what has been held back. The stream is at the beginning of another text then.
    pub fn finish(&mut self) -> &[u8] {
        self.forget_given();
        let image = self.tokenizer.image().view();
        match &mut self.steps {
            Steps::HuggingFace(steps) => {
                if let Some(pipeline) = image.pipeline() {
                    steps.finish(&pipeline, &mut self.text);
                }
            }
            Steps::SentencePiece(state) => {
                Decoder::resume(*image, &mut self.text, *state).finish();
            }
            Steps::Denormalized(state, raw) => {
                Decoder::resume(*image, &mut raw.text, *state).finish();
                if let Some(denormalizer) = Normalizer::denormalizer(image) {
                    let all = raw.text.len();
                    raw.advance::<true>(denormalizer, all, &mut self.text);
                    denormalizer.finish(0, raw.progress, &mut self.text, &mut Unnoted);
                }
            }
        }
        self.has_ended = true;
        self.given = self.text.len();
        &self.text
    }

    /// Bytes of text that are held back, as far as it is known already.
    #[must_use]
    pub fn held_back(&self) -> usize {
        let raw = match &self.steps {
            Steps::Denormalized(_, raw) => raw.text.len(),
            _ => 0,
        };
        self.text.len() - self.given + raw
    }

    /// Forgets what the last call gave out.
    fn forget_given(&mut self) {
        let given = std::mem::take(&mut self.given);
        self.text.drain(..given);
        if std::mem::take(&mut self.has_ended) {
            self.steps = Steps::new(&self.tokenizer);
        } else if let Steps::SentencePiece(state) = &mut self.steps {
            state.take(given);
        }
    }
}

impl Raw {
    /// Leads the first `len` bytes through the denormalizer, as far as what follows cannot matter. Returns
    /// how many bytes that were.
    fn advance<const LAST: bool>(
        &mut self,
        denormalizer: Normalizer<'_>,
        len: usize,
        out: &mut Vec<u8>,
    ) -> usize {
        let input = &self.text[..len];
        let done = denormalizer.advance::<LAST>(input, &mut self.progress, out, &mut Unnoted);
        self.text.drain(..done);
        done
    }
}

/// The length of `text` without the spaces at its end that may still be dropped.
fn kept_len(denormalizer: Normalizer<'_>, text: &[u8]) -> usize {
    let mut kept = text;
    if denormalizer.drops_spaces() {
        while let Some(before) = kept.strip_suffix(denormalizer.space()) {
            kept = before;
        }
    }
    kept.len()
}

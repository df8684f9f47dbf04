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
use crate::normalize::Normalizer;
use crate::options::DecodeOptions;
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
    /// Denormalized text, if there is a denormalizer.
    denormalized: Vec<u8>,
}

/// What the pieces before have left behind.
#[derive(Debug)]
enum Steps {
    SentencePiece(DecoderState),
    HuggingFace(HfDecoder),
}

impl Steps {
    fn new(tokenizer: &Tokenizer) -> Self {
        match tokenizer.image().view().pipeline() {
            Some(pipeline) => Self::HuggingFace(HfDecoder::new(&pipeline)),
            None => Self::SentencePiece(DecoderState::new()),
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
            denormalized: Vec::new(),
        }
    }

    /// The text that is final now and was not before `id`: perhaps empty. Whole characters, unless the
    /// vocabulary itself is not UTF-8.
    ///
    /// # Errors
    /// An id that is not in the vocabulary; it counts as not pushed.
    pub fn push(&mut self, id: u32) -> Result<&[u8], DecodeError> {
        self.take_given();
        let image = self.tokenizer.image().view();
        match (&mut self.steps, image.pipeline()) {
            (Steps::HuggingFace(steps), Some(pipeline)) => {
                steps.push_id(image, &pipeline, id, &self.options, &mut self.text)?;
                self.given = self.text.len();
            }
            (Steps::SentencePiece(state), _) => {
                let mut decoder = Decoder::resume(*image, &mut self.text, *state);
                decoder.push_id(id)?;
                (*state, self.given) = decoder.pause();
                if Normalizer::denormalizer(image).is_some() {
                    self.given = 0;
                }
            }
            _ => {}
        }
        Ok(&self.text[..self.given])
    }

    /// Ends the text: what has been held back. The stream is at the beginning of another text then.
    pub fn finish(&mut self) -> &[u8] {
        self.take_given();
        let image = self.tokenizer.image().view();
        match (&mut self.steps, image.pipeline()) {
            (Steps::HuggingFace(steps), Some(pipeline)) => steps.finish(&pipeline, &mut self.text),
            (Steps::SentencePiece(state), _) => {
                Decoder::resume(*image, &mut self.text, *state).finish();
                if let Some(denormalizer) = Normalizer::denormalizer(image) {
                    denormalizer.normalize(&self.text, &mut self.denormalized);
                    std::mem::swap(&mut self.text, &mut self.denormalized);
                }
            }
            _ => {}
        }
        self.has_ended = true;
        self.given = self.text.len();
        &self.text
    }

    /// Bytes that are held back.
    #[must_use]
    pub fn held_back(&self) -> usize {
        self.text.len() - self.given
    }

    /// Forgets what the last call gave out.
    fn take_given(&mut self) {
        let given = std::mem::take(&mut self.given);
        self.text.drain(..given);
        if let Steps::SentencePiece(state) = &mut self.steps {
            state.take(given);
        }
        if std::mem::take(&mut self.has_ended) {
            self.steps = Steps::new(&self.tokenizer);
        }
    }
}

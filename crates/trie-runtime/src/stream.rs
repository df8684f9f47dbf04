//! Text that arrives in chunks.
//!
//! Invariant: for any chunks, what is given is what encoding the whole text at once gives. When a token is
//! final is in `EXACTNESS.md`, "When a prefix is settled".

use crate::assemble::Around;
use crate::hf::flow;
use crate::hf::offsets::trim;
use crate::options::EncodeOptions;
use crate::scratch::Work;
use crate::sequence::{Ask, Sequence};
use crate::sp;
use crate::tokenizer::Tokenizer;

/// Chunks are worked on in pieces of so many bytes, so that what waits is short.
const PIECE: usize = 16 << 10;

/// Encodes a text that arrives in chunks, which may end anywhere, also inside a character.
///
/// It keeps what may still depend on what follows: mostly the last word. Under the Hugging Face reference that is
/// everything since the last place where the text can be cut for certain, which ordinary text has every few
/// words. So memory does not depend on the text's length, and nothing is allocated once it has grown to the
/// largest chunk's needs.
///
/// ```no_run
/// # use std::io::Read;
/// # fn f(tokenizer: &trie_runtime::Tokenizer, mut file: std::fs::File) -> std::io::Result<()> {
/// use trie_runtime::{EncodeOptions, StreamEncoder};
///
/// let mut stream = StreamEncoder::new(tokenizer, &EncodeOptions::default());
/// let mut chunk = vec![0; 1 << 16];
/// loop {
///     let len = file.read(&mut chunk)?;
///     let ids = match len {
///         0 => stream.finish(),
///         _ => stream.push(&chunk[..len]),
///     };
///     println!("{ids:?}");
///     if len == 0 {
///         return Ok(());
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct StreamEncoder<'t> {
    tokenizer: &'t Tokenizer,
    ask: Ask,
    state: State,
    work: Work,
    /// The text has given a token before this chunk.
    has_tokens: bool,
    /// The tokens of the last chunk.
    out: Sequence,
}

/// What is kept between chunks, by reference.
#[derive(Debug)]
enum State {
    SentencePiece(Box<sp::stream::Stream>),
    HuggingFace(Box<flow::Stream>),
}

impl<'t> StreamEncoder<'t> {
    /// An encoder of one text after the other, without special tokens around them. Of the options,
    /// `special_tokens_as_text` counts, and whether there are offsets, which are in bytes of the whole text.
    #[must_use]
    pub fn new(tokenizer: &'t Tokenizer, options: &EncodeOptions) -> Self {
        let mut encoder = Self {
            tokenizer,
            ask: Ask {
                special_tokens_as_text: options.special_tokens_as_text,
                offsets: options.offsets.is_some(),
                ..Ask::IDS
            },
            state: match tokenizer.image().view().pipeline() {
                Some(_) => State::HuggingFace(Box::default()),
                None => State::SentencePiece(Box::default()),
            },
            work: Work::default(),
            has_tokens: false,
            out: Sequence::default(),
        };
        encoder.begin();
        encoder
    }

    fn begin(&mut self) {
        self.has_tokens = false;
        let image = self.tokenizer.image().view();
        match &mut self.state {
            State::SentencePiece(stream) => stream.begin(&sp::model::Model::new(image)),
            State::HuggingFace(stream) => stream.begin(),
        }
    }

    /// Takes the next chunk of the text, and returns the ids that are final now, after those returned before.
    pub fn push(&mut self, chunk: impl AsRef<[u8]>) -> &[u32] {
        self.out.clear();
        for piece in chunk.as_ref().chunks(PIECE) {
            self.feed(piece, false);
        }
        self.trim();
        &self.out.ids
    }

    /// Ends the text, and returns the rest of its ids. The next chunk begins another one.
    pub fn finish(&mut self) -> &[u32] {
        self.out.clear();
        self.feed(b"", true);
        self.trim();
        self.begin();
        &self.out.ids
    }

    /// Where in the text each of the ids comes from that were returned last, in bytes, if offsets were asked for.
    #[must_use]
    pub fn offsets(&self) -> &[(usize, usize)] {
        &self.out.offsets
    }

    /// Bytes that the buffers hold.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        let state = match &self.state {
            State::SentencePiece(stream) => stream.allocated_bytes(),
            State::HuggingFace(stream) => stream.allocated_bytes(),
        };
        state + self.work.allocated_bytes() + self.out.allocated_bytes()
    }

    /// Does what the image's post-processor does to offsets.
    fn trim(&mut self) {
        let image = self.tokenizer.image().view();
        let out = &mut self.out;
        if self.ask.offsets
            && let Some(keep_prefix) = Around::new(image.post_processor()).trims_offsets()
        {
            trim(
                image,
                &out.normalized,
                &out.ids,
                &out.spans,
                keep_prefix,
                !self.has_tokens,
                &mut out.offsets,
            );
        }
        self.has_tokens |= !out.ids.is_empty();
    }

    fn feed(&mut self, piece: &[u8], last: bool) {
        let image = self.tokenizer.image().view();
        let Self {
            ask,
            state,
            work,
            out,
            ..
        } = self;
        match (state, image.pipeline()) {
            (State::HuggingFace(stream), Some(pipeline)) => {
                stream.push(image, &pipeline, piece, last, *ask, work, out);
            }
            (State::SentencePiece(stream), _) => {
                let model = sp::model::Model::new(image);
                stream.push(&model, piece, last, *ask, out);
            }
            // The state was made for this very image.
            (State::HuggingFace(_), None) => {}
        }
    }
}

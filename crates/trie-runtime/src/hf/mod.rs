//! Text to ids as Hugging Face `tokenizers` does it: added tokens, normalizer steps, pre-tokenizer steps, a
//! segmentation per word. (The template around it is `assemble`'s.)
//!
//! ```text
//! repair     bytes -> text
//! added      added tokens, cut out in one pass
//! split      pre-tokenizer steps, text -> words
//! tokens     best paths -> tokens
//! encode     all of it, of a text or a piece of one
//! seam       where a text can be taken apart
//! open       the word that is open there
//! flow       a text piece by piece
//! words      the words and added tokens alone, for tools that explain
//! decode     decoder steps, tokens -> text (decode_stream: one token at a time)
//! ```
//!
//! Invariant: every buffer is in [`Buffers`], so that nothing is allocated once they have grown.

pub(crate) mod added;
pub(crate) mod decode;
pub(crate) mod decode_stream;
pub(crate) mod encode;
pub(crate) mod flow;
pub(crate) mod offsets;
mod open;
pub(crate) mod repair;
mod seam;
mod split;
mod tokens;
pub(crate) mod words;

use trie_normalize::{Alignments, Room};

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// Bytes `start..end` of the text at hand.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// What follows the texts at hand.
#[derive(Debug, Default)]
pub(crate) struct Tracks<T> {
    /// The normalized text that added tokens are cut from.
    pub(crate) text: T,
    /// What is between two of them, on its way to words.
    pub(crate) words: T,
    /// A word that is open.
    pub(crate) open: T,
}

impl Tracks<Alignments> {
    fn allocated_bytes(&self) -> usize {
        self.text.allocated_bytes() + self.words.allocated_bytes() + self.open.allocated_bytes()
    }
}

/// What the steps work in.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// Input that was not UTF-8, made so.
    pub(crate) repaired: repair::Repaired,
    /// Where texts come from, if that is asked for.
    pub(crate) alignments: Tracks<Alignments>,
    /// Tokens on their way to text.
    pub(crate) decode: decode::Lists,
    /// A text that is not encoded whole.
    pub(crate) flow: flow::Flow,
    /// What normalization works in.
    pub(crate) room: Room,
    /// The text at hand, and the one that a step is writing.
    pub(crate) text: String,
    pub(crate) next_text: String,
    /// Normalized text that added tokens are cut from.
    pub(crate) normalized: String,
    /// The parts at hand, and those that a step is writing.
    pub(crate) parts: Vec<Part>,
    pub(crate) next_parts: Vec<Part>,
    /// Added tokens found in the text as it is, and in normalized text.
    pub(crate) found: Vec<added::Found>,
    pub(crate) found_normalized: Vec<added::Found>,
}

impl Buffers {
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.repaired.allocated_bytes()
            + self.alignments.allocated_bytes()
            + self.flow.allocated_bytes()
            + self.decode.allocated_bytes()
            + self.room.allocated_bytes()
            + self.text.capacity()
            + self.next_text.capacity()
            + self.normalized.capacity()
            + (self.parts.capacity() + self.next_parts.capacity()) * size_of::<Part>()
            + (self.found.capacity() + self.found_normalized.capacity()) * size_of::<added::Found>()
    }
}

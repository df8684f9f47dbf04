//! Zero-copy runtime for Unigram tokenizers: from an offline-compiled image to token ids.
//!
//! ```text
//! image      where the bytes are: mapped, copied into huge or plain pages, or in the executable
//! memory     private memory for copies
//! trie       walks over 64-byte nodes, unchecked because the image is validated
//! normalize  the model's rules and whitespace switches, as SentencePiece applies them
//! viterbi    the best segmentation, in the arithmetic of the image's reference
//! hf         everything that Hugging Face `tokenizers` does around the model
//! lattice    other segmentations than the best: n-best, sampling, the whole lattice
//! tokenizer  text -> ids, ids -> text, look-ups
//! scratch    the caller's buffers
//! ```
//!
//! Data flows down that list. A [`Tokenizer`] is immutable, without locks or global state, and cheap to
//! clone; everything that changes during a call is in the caller's [`Scratch`], which stops allocating
//! once it has seen its largest input.
//!
//! ```no_run
//! use trie_runtime::{Image, LoadOptions, Scratch, Tokenizer};
//!
//! let image = Image::load("xlm-roberta.trie", &LoadOptions::default())?;
//! let tokenizer = Tokenizer::new(image);
//! let mut scratch = Scratch::new();
//! assert_eq!(tokenizer.encode("Hello World!", &mut scratch), [35378, 6661, 38]);
//! # Ok::<(), trie_runtime::LoadError>(())
//! ```
//!
//! What "exact" means, and against whom, is in `EXACTNESS.md` beside this crate's manifest.

#![deny(unsafe_code)]

mod decode;
mod embed;
mod error;
mod hf;
mod image;
mod lattice;
mod memory;
mod normalize;
mod report;
mod scratch;
mod tokenizer;
mod trie;
mod utf8;
mod viterbi;

#[doc(hidden)]
pub use embed::__const_check_header;
pub use error::{DecodeError, LoadError};
pub use image::{Backing, Image, LoadOptions};
pub use lattice::{
    Candidate, Explanation, LatticeError, LatticePiece, MAX_CANDIDATES, Replacement, Runner,
    SampleFrom, Segment, SplitMix64,
};
pub use report::{Fallback, LoadReport, Pages};
pub use scratch::Scratch;
pub use tokenizer::{EncodeOptions, Encoding, SpecialIds, Tokenizer};
pub use trie_format::{FormatError, IdMap, PieceType, Reference};

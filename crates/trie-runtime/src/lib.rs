//! Zero-copy runtime for Unigram tokenizers: from an offline-compiled image to token ids.
//!
//! ```text
//! image      where the bytes are: mapped, copied into huge or plain pages, or in the executable
//!            (backing: kinds of memory, memory: private copies, source: from a file in one pass, share: one copy
//!            for many processes, id, report)
//! ids        what the ids in a trie stand for, with the pieces' path scores
//! trie       walks over 64-byte nodes, unchecked because the image is validated
//! simd       sixteen bytes at a time
//! plain      text that normalization leaves as it is
//! normalize  the model's rules and whitespace switches, as SentencePiece applies them
//! origins    where in the input normalized text comes from
//! viterbi    the best segmentation, in the arithmetic of the image's reference
//! segment    the same in a moving window, of text that may still be arriving
//! parts      the same part by part, with answers that are known beforehand
//! sp         a text's tokens as SentencePiece finds them
//! hf         everything that Hugging Face `tokenizers` does around the model
//! sequence   one text's tokens, from either of the two
//! truncate   how much of them is kept
//! assemble   special tokens around them, padding: into `output`
//! units      offsets in bytes, characters, UTF-16
//! encoding   what the caller sees of it
//! lattice    other segmentations than the best: n-best, sampling, the whole lattice
//! tokenizer  text -> ids, ids -> text, look-ups
//! decode_stream  ids -> text, one id at a time
//! stream     text that arrives in chunks
//! batch      many texts at once, on several threads with the feature `rayon`
//! options    how to encode, per call
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
//! What "exact" means, and against whom, is in `EXACTNESS.md` beside this crate's manifest; what can go wrong around an
//! image, and what happens then, in `FAULTS.md`.

#![deny(unsafe_code)]

mod assemble;
mod backing;
mod batch;
mod decode;
mod decode_stream;
mod embed;
mod encoding;
mod error;
mod hf;
mod id;
mod ids;
mod image;
mod lattice;
mod memory;
mod normalize;
mod options;
mod origins;
mod output;
mod parts;
mod plain;
mod report;
mod scratch;
mod segment;
mod sequence;
#[cfg(target_os = "linux")]
mod share;
mod simd;
mod source;
mod sp;
mod stream;
mod tokenizer;
mod trie;
mod truncate;
mod units;
mod utf8;
mod viterbi;

pub use batch::{Batch, BatchEncoder, Row};
pub use decode_stream::DecodeStream;
#[doc(hidden)]
pub mod oracle;
pub use backing::{Backing, LoadOptions};
#[doc(hidden)]
pub use embed::__const_check_header;
pub use encoding::{Encoding, EncodingBuf, Positions};
pub use error::{BatchError, DecodeError, EncodeError, LoadError, SelfTestError};
pub use id::{ImageId, ParseImageIdError};
pub use image::Image;
pub use lattice::{
    Candidate, Explanation, LatticeError, LatticePiece, MAX_CANDIDATES, Replacement, Runner,
    SampleFrom, Segment, SplitMix64,
};
pub use options::{
    DecodeOptions, Direction, EncodeOptions, OffsetUnit, PadTo, Padding, Setting, Truncation,
    TruncationStrategy,
};
pub use report::{Fallback, LoadReport, LoadTimes, Pages};
pub use scratch::Scratch;
pub use stream::StreamEncoder;
pub use tokenizer::{SpecialIds, Tokenizer};
pub use trie_format::{FormatError, IdMap, PieceType, Reference};

//! What can go wrong: loading an image, truncation that cannot be done, decoding ids.

use std::io;
use std::path::PathBuf;

use trie_format::FormatError;

use crate::backing::Backing;
use crate::id::ImageId;

/// Why an image could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be opened or read.
    #[error("cannot read the image {}: {source}; check the path and its permissions", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file is not a usable image.
    #[error("{}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: FormatError,
    },
    /// Bytes in memory are not a usable image.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// No memory of the wanted kind, and falling back was not allowed or failed too.
    #[error("no {backing} memory for an image of {len} bytes: {reason}")]
    Memory {
        /// The kind of memory.
        backing: Backing,
        /// Bytes wanted.
        len: usize,
        /// Why not, and what to do.
        reason: String,
    },
    /// The image is another one than the caller vouched for.
    #[error("this is image {found} and not {expected}: it has been replaced since it was verified")]
    WrongImage {
        /// The id of the verified image.
        expected: ImageId,
        /// The id of this one.
        found: ImageId,
    },
    /// A file that could be changed by others while it is mapped.
    #[error(
        "the shared image is not sealed against writing and shrinking: pass on what `Image::to_shared` gives, or \
         map a file by its path"
    )]
    NotSealed,
    /// An image could not be put where other processes can map it.
    #[error("{}: {reason}", path.display())]
    Share {
        /// Which file.
        path: PathBuf,
        /// Why not, and what to do.
        reason: String,
    },
}

impl LoadError {
    /// Whether the image is sound but of a version this build cannot read.
    #[must_use]
    pub fn is_incompatible(&self) -> bool {
        match self {
            Self::File { source, .. } | Self::Format(source) => source.is_incompatible(),
            _ => false,
        }
    }
}

/// Why a text could not be encoded as asked: truncation that cannot be done. Encoding without truncation
/// never fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The special tokens alone are longer than the greatest length.
    #[error(
        "the greatest length is {max_length} tokens, but special tokens alone are {specials}: allow at least \
         that many, or leave special tokens out"
    )]
    NoRoom {
        /// The greatest length, in tokens.
        max_length: usize,
        /// Number of special tokens.
        specials: usize,
    },
    /// An overflowing window would have nothing of its own.
    #[error(
        "a stride of {stride} tokens leaves nothing new in windows of {room} tokens of text: choose a smaller \
         stride or a greater length"
    )]
    Stride {
        /// The stride, in tokens.
        stride: usize,
        /// Tokens of text in a window.
        room: usize,
    },
    /// The sequence that must be kept whole leaves nothing of the one to be cut.
    #[error(
        "one sequence is to be kept whole but has {kept_whole} tokens, and there is room for {room} in all: \
         choose another truncation strategy or a greater length"
    )]
    SequenceTooShort {
        /// Known tokens of the sequence to be kept whole.
        kept_whole: usize,
        /// Tokens of text that there is room for.
        room: usize,
    },
    /// The second sequence is to be cut, but there is none.
    #[error(
        "the second sequence is to be truncated, but there is none: give a pair, or choose another strategy"
    )]
    NoSecondSequence,
}

/// Why a batch could not be encoded as asked: its first text of which that is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("text {input} of the batch: {source}")]
#[non_exhaustive]
pub struct BatchError {
    /// Which text; from 0.
    pub input: usize,
    /// Why.
    pub source: EncodeError,
}

/// An image's self-test failed: this build on this machine does not give the ids that were known when the image was
/// compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "text {index} of the self-test, {text:?}, has the ids {found:?} here and should have {expected:?}: do not use this \
     image with this build; run `triec verify` on the image, and report what it says"
)]
#[non_exhaustive]
pub struct SelfTestError {
    /// Which text; from 0.
    pub index: usize,
    /// The text, with U+FFFD for what is not UTF-8.
    pub text: String,
    /// The ids in the image.
    pub expected: Vec<u32>,
    /// The ids found.
    pub found: Vec<u32>,
}

/// Why ids could not be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// An id that the vocabulary does not have.
    #[error("id {id} is not in the vocabulary: ids go from 0 to {}", count.saturating_sub(1))]
    UnknownId {
        /// The id.
        id: u32,
        /// Number of ids.
        count: u32,
    },
}

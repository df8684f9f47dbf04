//! What can go wrong: loading an image, decoding ids. Encoding cannot fail.

use std::io;
use std::path::PathBuf;

use trie_format::FormatError;

use crate::image::Backing;

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

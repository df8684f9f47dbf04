//! Mapping an image file: the command line's only `unsafe` block.

#![allow(unsafe_code)]

use std::path::Path;

use trie_runtime::{Image, LoadError};

/// The image file at `path`, mapped.
pub(crate) fn map(path: &Path) -> Result<Image, LoadError> {
    // SAFETY: the file must not change while it is mapped. `triec compile`, like every writer that
    // `Image::map` allows, replaces images by renaming, which leaves a mapped file as it is, and this
    // process ends with its one job. Who edits images in place chooses `--load copy`.
    unsafe { Image::map(path) }
}

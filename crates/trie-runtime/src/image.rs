//! Where an image's bytes are, and how they got there.
//!
//! One of this crate's two modules with `unsafe`, for two things: mapping a file, whose contents
//! somebody else could change, and keeping a view beside the bytes it borrows.
//!
//! Invariant: an [`Image`] holds bytes that passed [`ImageView::validate`] and cannot change: they are
//! the executable's, or a private read-only mapping, or a file whose stability the caller vouched for.

#![allow(unsafe_code)]

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memmap2::MmapOptions;
use trie_format::{FormatError, Header, ImageView, ValidImage};

use crate::error::LoadError;
use crate::memory::{Memory, Sealed};
use crate::report::{Fallback, LoadReport, kernel_pages};

/// What kind of memory holds an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backing {
    /// Not a kind: the best that is to be had, see [`Image::load`].
    Auto,
    /// A private copy in pages of the huge page pool (`vm.nr_hugepages`).
    HugeTlb,
    /// A private copy in transparent huge pages.
    TransparentHuge,
    /// A private copy in ordinary pages.
    Copy,
    /// The file itself, mapped: pages are shared with the page cache and with other processes.
    Mapped,
    /// Bytes of the executable.
    Static,
}

impl fmt::Display for Backing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::HugeTlb => "hugetlb",
            Self::TransparentHuge => "thp",
            Self::Copy => "copy",
            Self::Mapped => "map",
            Self::Static => "static",
        })
    }
}

/// How to load an image from a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// The kind of memory to try first. [`Backing::Mapped`] and [`Backing::Static`] have functions of
    /// their own and count as [`Backing::Auto`] here.
    pub backing: Backing,
    /// Whether to try the next kind where one cannot be had. On by default.
    pub fallback: bool,
    /// Whether to verify the sections' checksums (one more pass over the bytes). On by default.
    pub verify_checksums: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            backing: Backing::Auto,
            fallback: true,
            verify_checksums: true,
        }
    }
}

impl LoadOptions {
    /// These options with another kind of memory.
    #[must_use]
    pub fn with_backing(mut self, backing: Backing) -> Self {
        self.backing = backing;
        self
    }

    /// These options, with or without falling back to another kind of memory.
    #[must_use]
    pub fn with_fallback(mut self, fallback: bool) -> Self {
        self.fallback = fallback;
        self
    }

    /// These options, with or without verifying checksums.
    #[must_use]
    pub fn with_checksums(mut self, verify: bool) -> Self {
        self.verify_checksums = verify;
        self
    }
}

/// The owner of an image's bytes.
enum Bytes {
    Static(&'static [u8]),
    Map(Sealed),
}

impl Bytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Static(bytes) => bytes,
            Self::Map(Sealed { map, start, len }) => &map[*start..*start + *len],
        }
    }
}

/// A validated image and the memory it is in. `Send + Sync`; dropping it releases the memory.
pub struct Image {
    /// Borrows from `bytes`; handed out only with the lifetime of `&self`.
    view: ValidImage<'static>,
    bytes: Bytes,
    backing: Backing,
    fallbacks: Vec<Fallback>,
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("backing", &self.backing)
            .field("len", &self.bytes.as_slice().len())
            .finish_non_exhaustive()
    }
}

impl Image {
    /// Copies the image file at `path` into private memory, and validates it there.
    ///
    /// [`Backing::Auto`] tries huge pages from the pool, then transparent huge pages, then ordinary pages;
    /// for an image that is smaller than half a huge page it goes straight to ordinary pages. Starting
    /// from another kind, the kinds after it are tried. What was got, and why nothing better, is in
    /// [`Image::report`]. The copy is read-only, and huge pages are populated before they are used: a
    /// short pool is an error here and not a signal later.
    ///
    /// # Errors
    /// If the file cannot be read, is not a sound image, or no memory is to be had.
    pub fn load(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Self, LoadError> {
        let Source {
            path,
            mut file,
            prefix,
            len,
        } = Source::open(path.as_ref())?;
        let len = usize::try_from(len)
            .map_err(|_| read_error(path, io::ErrorKind::FileTooLarge.into()))?;
        let (mut memory, backing, fallbacks) = Memory::new(len, options)?;
        let target = memory.as_mut_slice();
        let (head, rest) = target.split_at_mut(prefix.1.min(len));
        head.copy_from_slice(&prefix.0[..head.len()]);
        file.read_exact(rest).map_err(|e| read_error(path, e))?;
        let sealed = memory.seal().map_err(|e| read_error(path, e))?;
        let bytes = Bytes::Map(sealed);
        Self::validated(bytes, backing, fallbacks, options.verify_checksums)
            .map_err(|e| format_error(path, e))
    }

    /// Maps the image file at `path`, without copying it, and validates its structure (one pass over the
    /// file). Checksums are left to [`Image::verify_checksums`].
    ///
    /// # Errors
    /// If the file cannot be mapped or is not a sound image.
    ///
    /// # Safety
    /// The file must not be modified or truncated while it is mapped: that could break what was validated
    /// (undefined behaviour) or end the process (`SIGBUS`). Replace images by renaming a new file over the
    /// old one, as `triec compile` does; the mapping then keeps the old file. [`Image::load`] has no such
    /// condition.
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let Source { path, file, .. } = Source::open(path.as_ref())?;
        let mut mapping = MmapOptions::new();
        // Validation reads every page anyway; populating maps them in one go.
        mapping.populate();
        // SAFETY: that the file does not change is the caller's promise.
        let map = unsafe { mapping.map(&file) }.map_err(|e| read_error(path, e))?;
        let bytes = Bytes::Map(Sealed {
            start: 0,
            len: map.len(),
            map,
        });
        Self::validated(bytes, Backing::Mapped, Vec::new(), false)
            .map_err(|e| format_error(path, e))
    }

    /// An image in the executable, as [`include_image!`](crate::include_image) embeds it. Validates its
    /// structure (one pass); checksums are left to [`Image::verify_checksums`].
    ///
    /// # Errors
    /// If `bytes` are not a sound image or do not start on a 64-byte boundary.
    pub fn from_static(bytes: &'static [u8]) -> Result<Self, FormatError> {
        Self::validated(Bytes::Static(bytes), Backing::Static, Vec::new(), false)
    }

    /// A private copy of the image in `bytes`, in ordinary pages, with its checksums verified.
    ///
    /// # Errors
    /// If `bytes` are not a sound image or no memory is to be had.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        Self::from_bytes_with(bytes, &LoadOptions::default().with_backing(Backing::Copy))
    }

    /// A private copy of the image in `bytes`, in the memory that `options` name: for an embedded image
    /// that is to be in huge pages.
    ///
    /// # Errors
    /// If `bytes` are not a sound image or no memory is to be had.
    pub fn from_bytes_with(bytes: &[u8], options: &LoadOptions) -> Result<Self, LoadError> {
        Header::parse(aligned_prefix(bytes).as_slice(), bytes.len() as u64)?;
        let (mut memory, backing, fallbacks) = Memory::new(bytes.len(), options)?;
        memory.as_mut_slice().copy_from_slice(bytes);
        let sealed = memory.seal().map_err(|source| LoadError::Memory {
            backing,
            len: bytes.len(),
            reason: source.to_string(),
        })?;
        Ok(Self::validated(
            Bytes::Map(sealed),
            backing,
            fallbacks,
            options.verify_checksums,
        )?)
    }

    fn validated(
        bytes: Bytes,
        backing: Backing,
        fallbacks: Vec<Fallback>,
        verify_checksums: bool,
    ) -> Result<Self, FormatError> {
        let slice = bytes.as_slice();
        // SAFETY: the memory is that of the executable or of a mapping, so it stays in place when `bytes`
        // moves, and it is released only when `bytes` is dropped, with or after the view beside it. The
        // view leaves this struct only through `view`, which ties it to `&self`.
        let slice: &'static [u8] =
            unsafe { std::slice::from_raw_parts(slice.as_ptr(), slice.len()) };
        let view = ImageView::parse(slice)?;
        if verify_checksums {
            view.verify_checksums()?;
        }
        Ok(Self {
            view: view.validate()?,
            bytes,
            backing,
            fallbacks,
        })
    }

    /// The validated view.
    #[must_use]
    pub fn view(&self) -> &ValidImage<'_> {
        &self.view
    }

    /// Verifies the checksums of all sections: one pass over the bytes.
    ///
    /// # Errors
    /// The first section that differs from what was written.
    pub fn verify_checksums(&self) -> Result<(), FormatError> {
        self.view.verify_checksums()
    }

    /// What memory the image is in, and why nothing better. Asks the kernel for the page size.
    #[must_use]
    pub fn report(&self) -> LoadReport {
        LoadReport {
            backing: self.backing,
            len: self.bytes.as_slice().len(),
            pages: kernel_pages(self.bytes.as_slice()),
            fallbacks: self.fallbacks.clone(),
        }
    }
}

/// An image file whose header is in order: nothing is allocated or mapped for any other file.
struct Source<'p> {
    path: &'p Path,
    /// Read up to the end of `prefix`.
    file: File,
    prefix: Prefix,
    len: u64,
}

impl<'p> Source<'p> {
    fn open(path: &'p Path) -> Result<Self, LoadError> {
        let mut file = File::open(path).map_err(|e| read_error(path, e))?;
        let len = file.metadata().map_err(|e| read_error(path, e))?.len();
        let prefix = read_prefix(&mut file).map_err(|e| read_error(path, e))?;
        Header::parse(prefix.as_slice(), len).map_err(|e| format_error(path, e))?;
        Ok(Self {
            path,
            file,
            prefix,
            len,
        })
    }
}

fn read_error(path: &Path, source: io::Error) -> LoadError {
    LoadError::Read {
        path: path.into(),
        source,
    }
}

fn format_error(path: &Path, source: FormatError) -> LoadError {
    LoadError::File {
        path: path.into(),
        source,
    }
}

/// The first bytes of an image on the boundary that the header needs.
#[repr(C, align(64))]
struct Prefix([u8; Header::PREFIX_LEN], usize);

impl Prefix {
    fn as_slice(&self) -> &[u8] {
        &self.0[..self.1]
    }
}

fn aligned_prefix(bytes: &[u8]) -> Prefix {
    let len = bytes.len().min(Header::PREFIX_LEN);
    let mut prefix = Prefix([0; Header::PREFIX_LEN], len);
    prefix.0[..len].copy_from_slice(&bytes[..len]);
    prefix
}

fn read_prefix(file: &mut File) -> io::Result<Prefix> {
    let mut prefix = Prefix([0; Header::PREFIX_LEN], 0);
    while prefix.1 < prefix.0.len() {
        match file.read(&mut prefix.0[prefix.1..]) {
            Ok(0) => break,
            Ok(read) => prefix.1 += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(prefix)
}

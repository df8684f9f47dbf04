//! Where an image's bytes are, and how they got there.
//!
//! One of this crate's modules with `unsafe`, for two things: mapping a file, whose contents somebody else could
//! change, and keeping a view beside the bytes it borrows. What is shared by descriptor, and files of huge pages, are
//! in `share`.
//!
//! What is checked when, and what it rests on:
//!
//! | | header, table, metadata | every index in bounds | checksums | so the bytes may come from |
//! |---|---|---|---|---|
//! | [`Image::load`], [`Image::from_bytes`] | at once | at once | at once, as they are copied | anywhere |
//! | [`Image::map`], [`Image::from_shared`], [`Image::from_static`] | at once | at once | [`Image::verify_checksums`], when you like | anywhere, if they do not change |
//! | [`Image::map_verified`], [`Image::from_shared_verified`] | at once | not: the caller vouches for it | as above | where this very image was verified before |
//!
//! Nothing is deferred that memory safety rests on: walks over an image index it unchecked, so a check at the first
//! touch would have to be paid at every touch. A checksum can wait, because it finds damage, and damage that gets
//! past the bounds gives wrong ids and nothing worse. Where a start of milliseconds is still too long, the check of
//! the bounds is done by another process, once for all: that is `unsafe` because only the caller can know it.
//!
//! Invariant: an [`Image`] holds bytes that passed [`ImageView::validate`], or that the caller vouched for, and that
//! cannot change: they are the executable's, or a private read-only mapping, or a sealed file, or a file whose
//! stability the caller vouched for.

#![allow(unsafe_code)]

use std::fmt;
use std::path::Path;
use std::time::Instant;

use memmap2::MmapOptions;
use trie_format::{FormatError, Header, ImageView, ValidImage};

use crate::backing::{Backing, LoadOptions};
use crate::error::LoadError;
use crate::id::ImageId;
use crate::memory::{Memory, Sealed};
use crate::report::{Fallback, LoadReport, LoadTimes, kernel_pages};
use crate::source::{Filled, Prefix, Source, fill, format_error, read_error};

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

/// An image's bytes, and how they were come by.
pub(crate) struct Held {
    bytes: Bytes,
    backing: Backing,
    fallbacks: Vec<Fallback>,
    times: LoadTimes,
}

/// A validated image and the memory it is in. `Send + Sync`; dropping it releases the memory.
pub struct Image {
    /// Borrows from `held`; handed out only with the lifetime of `&self`.
    view: ValidImage<'static>,
    held: Held,
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("backing", &self.held.backing)
            .field("len", &self.held.bytes.as_slice().len())
            .finish_non_exhaustive()
    }
}

impl Image {
    /// Copies the image file at `path` into private memory, with its checksums verified in the same pass, and
    /// validates it there.
    ///
    /// [`Backing::Auto`] tries huge pages from the pool, then transparent huge pages, then ordinary pages;
    /// for an image that is smaller than half a huge page it goes straight to ordinary pages. Starting
    /// from another kind, the kinds after it are tried. What was got, and why nothing better, is in
    /// [`Image::report`]. The copy is read-only, and its pages are populated before they are used: a
    /// short pool, or a cgroup's limit on huge pages, is an error here and not a signal later.
    ///
    /// # Errors
    /// If the file cannot be read, is not a sound image, or no memory is to be had.
    pub fn load(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let mut source = Source::open(path)?;
        let (held, filled) = copy(
            &source.prefix,
            &mut source.file,
            source.len,
            source.time,
            options,
            |error| read_error(path, error),
        )?;
        Self::checked(held, filled.checksums).map_err(|error| format_error(path, error))
    }

    /// Maps the image file at `path`, without copying it, and validates its structure (one pass over the
    /// file). Checksums are left to [`Image::verify_checksums`]. A file of huge pages, as
    /// [`Image::write_huge_file`] makes it, is mapped with them.
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
        // SAFETY: as above; nothing else is vouched for.
        unsafe { Self::map_file(path.as_ref(), None) }
    }

    /// [`Image::map`] without the pass over the file: microseconds, whatever its size. Pages are mapped as they are
    /// touched.
    ///
    /// # Errors
    /// If the file cannot be mapped, its header is not in order, or it is another image than `id`.
    ///
    /// # Safety
    /// As [`Image::map`], and: the image `id` passed validation before ([`Image::load`], [`Image::map`],
    /// `triec verify` or `triec load` took it), and the file's contents have not been changed since. Who may write
    /// to the file must be trusted as one who may write to the executable. The id shows only that the file was not
    /// replaced by another image: it covers the checksums that the file states, and no checksum is computed here.
    pub unsafe fn map_verified(path: impl AsRef<Path>, id: ImageId) -> Result<Self, LoadError> {
        // SAFETY: as above.
        unsafe { Self::map_file(path.as_ref(), Some(id)) }
    }

    /// # Safety
    /// As [`Image::map`]; with a `verified` image as [`Image::map_verified`].
    unsafe fn map_file(path: &Path, verified: Option<ImageId>) -> Result<Self, LoadError> {
        let source = Source::open(path)?;
        let start = Instant::now();
        // SAFETY: that the file does not change is the caller's promise.
        let map = unsafe { MmapOptions::new().map(&source.file) }
            .map_err(|error| not_mapped(Backing::Mapped, source.len, &error))?;
        if verified.is_none() {
            populate(&map).map_err(|error| read_error(path, error))?;
        }
        let held = Held::of(map, source.len, Backing::Mapped, source.time, start)
            .ok_or_else(|| read_error(path, std::io::ErrorKind::UnexpectedEof.into()))?;
        // SAFETY: the caller vouches for a verified image.
        unsafe { Self::mapped(held, path, verified) }
    }

    /// An image in the executable, as [`include_image!`](crate::include_image) embeds it. Validates its
    /// structure (one pass); checksums are left to [`Image::verify_checksums`].
    ///
    /// # Errors
    /// If `bytes` are not a sound image or do not start on a 64-byte boundary.
    pub fn from_static(bytes: &'static [u8]) -> Result<Self, FormatError> {
        let held = Held {
            bytes: Bytes::Static(bytes),
            backing: Backing::Static,
            fallbacks: Vec::new(),
            times: LoadTimes::default(),
        };
        Self::checked(held, Ok(()))
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
        let start = Instant::now();
        let mut rest = bytes;
        let no_memory = |error: std::io::Error| LoadError::Memory {
            backing: options.backing,
            len: bytes.len(),
            reason: error.to_string(),
        };
        let prefix = Prefix::read(&mut rest).map_err(no_memory)?;
        Header::parse(prefix.as_slice(), bytes.len() as u64)?;
        let header = start.elapsed();
        let (held, filled) = copy(&prefix, &mut rest, bytes.len(), header, options, no_memory)?;
        Ok(Self::checked(held, filled.checksums)?)
    }

    /// # Safety
    /// If an image is `verified`, it must have passed validation before.
    pub(crate) unsafe fn mapped(
        held: Held,
        path: &Path,
        verified: Option<ImageId>,
    ) -> Result<Self, LoadError> {
        let Some(expected) = verified else {
            return Self::checked(held, Ok(())).map_err(|error| format_error(path, error));
        };
        Self::new(held, |view| {
            let view = view.map_err(|error| format_error(path, error))?;
            let found = ImageId(view.header().image_id);
            if found != expected {
                return Err(LoadError::WrongImage { expected, found });
            }
            // SAFETY: the caller vouches for it.
            Ok(unsafe { ValidImage::assume_valid(view) })
        })
    }

    /// The image in `held` if its `checksums` were in order and its structure is.
    fn checked(held: Held, checksums: Result<(), FormatError>) -> Result<Self, FormatError> {
        Self::new(held, |view| {
            let view = view?;
            checksums?;
            view.validate()
        })
    }

    /// The image in `held` if `valid` accepts it, which must not keep the view.
    fn new<E>(
        mut held: Held,
        valid: impl FnOnce(Result<ImageView<'static>, FormatError>) -> Result<ValidImage<'static>, E>,
    ) -> Result<Self, E> {
        let start = Instant::now();
        let slice = held.bytes.as_slice();
        // SAFETY: the memory is that of the executable or of a mapping, so it stays in place when `held`
        // moves, and it is released only when `held` is dropped, with or after the view beside it. The
        // view leaves this struct only through `view`, which ties it to `&self`.
        let slice: &'static [u8] =
            unsafe { std::slice::from_raw_parts(slice.as_ptr(), slice.len()) };
        let view = valid(ImageView::parse(slice))?;
        held.times.structure = start.elapsed();
        Ok(Self { view, held })
    }

    /// The validated view.
    #[must_use]
    pub fn view(&self) -> &ValidImage<'_> {
        &self.view
    }

    /// Which image it is.
    #[must_use]
    pub fn id(&self) -> ImageId {
        ImageId(self.view.header().image_id)
    }

    /// Verifies the checksums of all sections: one pass over the bytes.
    ///
    /// # Errors
    /// The first section that differs from what was written.
    pub fn verify_checksums(&self) -> Result<(), FormatError> {
        self.view.verify_checksums()
    }

    /// What memory the image is in, why nothing better, and what each step of loading took. Asks the kernel for the
    /// page size.
    #[must_use]
    pub fn report(&self) -> LoadReport {
        let bytes = self.held.bytes.as_slice();
        LoadReport {
            backing: self.held.backing,
            len: bytes.len(),
            pages: kernel_pages(bytes),
            fallbacks: self.held.fallbacks.clone(),
            times: self.held.times,
        }
    }
}

impl Held {
    /// The first `len` bytes of `map`, which was made from `start` on; `None` if it has fewer.
    pub(crate) fn of(
        map: memmap2::Mmap,
        len: usize,
        backing: Backing,
        header: std::time::Duration,
        start: Instant,
    ) -> Option<Self> {
        (len <= map.len()).then(|| Self {
            bytes: Bytes::Map(Sealed { map, start: 0, len }),
            backing,
            fallbacks: Vec::new(),
            times: LoadTimes {
                header,
                memory: start.elapsed(),
                ..LoadTimes::default()
            },
        })
    }
}

/// Maps the pages of `map` in one go: validation reads all of them anyway. What cannot be read is an error then, and no
/// signal; older kernels than 5.14 leave that to single page faults.
pub(crate) fn populate(map: &memmap2::Mmap) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    if let Err(error) = map.advise(memmap2::Advice::PopulateRead)
        && error.kind() != std::io::ErrorKind::InvalidInput
    {
        return Err(error);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = map;
    Ok(())
}

/// Why a file could not be mapped.
pub(crate) fn not_mapped(backing: Backing, len: usize, error: &std::io::Error) -> LoadError {
    let reason = error.to_string();
    LoadError::Memory {
        backing,
        len,
        reason,
    }
}

/// Copies an image of `len` bytes into memory that `options` name.
fn copy(
    prefix: &Prefix,
    rest: &mut impl std::io::Read,
    len: usize,
    header: std::time::Duration,
    options: &LoadOptions,
    failed: impl Fn(std::io::Error) -> LoadError,
) -> Result<(Held, Filled), LoadError> {
    let start = Instant::now();
    let (mut memory, backing, fallbacks) = Memory::new(len, options)?;
    let memory_time = start.elapsed();
    let filled = fill(
        memory.as_mut_slice(),
        prefix,
        rest,
        options.verify_checksums,
    )
    .map_err(&failed)?;
    let held = Held {
        bytes: Bytes::Map(memory.seal().map_err(failed)?),
        backing,
        fallbacks,
        times: LoadTimes {
            header,
            memory: memory_time,
            copy: filled.copy,
            checksums: filled.checksum,
            ..LoadTimes::default()
        },
    };
    Ok((held, filled))
}

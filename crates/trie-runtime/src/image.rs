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

use memmap2::{Mmap, MmapMut, MmapOptions};
use trie_format::{FormatError, Header, ImageView, ValidImage};

use crate::error::LoadError;
use crate::report::{Fallback, LoadReport, Pages, kernel_pages};

/// A huge page's size in bytes, and its logarithm.
const HUGE_PAGE: usize = 2 << 20;
const HUGE_PAGE_BITS: u8 = 21;

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
    /// `len` bytes of a read-only mapping, from `start` on.
    Map {
        map: Mmap,
        start: usize,
        len: usize,
    },
}

impl Bytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Static(bytes) => bytes,
            Self::Map { map, start, len } => &map[*start..*start + *len],
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
        let path = path.as_ref();
        let read_error = |source| LoadError::Read {
            path: path.into(),
            source,
        };
        let format_error = |source| LoadError::File {
            path: path.into(),
            source,
        };
        let mut file = File::open(path).map_err(read_error)?;
        let len = file.metadata().map_err(read_error)?.len();
        let prefix = read_prefix(&mut file).map_err(read_error)?;
        // Nothing is allocated before the file has shown to be an image of just this length.
        Header::parse(&prefix.0[..prefix.1], len).map_err(format_error)?;
        let len = usize::try_from(len)
            .map_err(|_| read_error(io::Error::from(io::ErrorKind::FileTooLarge)))?;

        let (mut memory, backing, fallbacks) = Memory::new(len, options)?;
        let target = memory.as_mut_slice();
        let (head, rest) = target.split_at_mut(prefix.1.min(len));
        head.copy_from_slice(&prefix.0[..head.len()]);
        file.read_exact(rest).map_err(read_error)?;
        let bytes = memory.seal().map_err(read_error)?;
        Self::validated(bytes, backing, fallbacks, options.verify_checksums).map_err(format_error)
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
        let path = path.as_ref();
        let read_error = |source| LoadError::Read {
            path: path.into(),
            source,
        };
        let format_error = |source| LoadError::File {
            path: path.into(),
            source,
        };
        let mut file = File::open(path).map_err(read_error)?;
        let len = file.metadata().map_err(read_error)?.len();
        let prefix = read_prefix(&mut file).map_err(read_error)?;
        Header::parse(&prefix.0[..prefix.1], len).map_err(format_error)?;
        let mut mapping = MmapOptions::new();
        // Validation reads every page anyway; populating maps them in one go.
        mapping.populate();
        // SAFETY: that the file does not change is the caller's promise.
        let map = unsafe { mapping.map(&file) }.map_err(read_error)?;
        let bytes = Bytes::Map {
            start: 0,
            len: map.len(),
            map,
        };
        Self::validated(bytes, Backing::Mapped, Vec::new(), false).map_err(format_error)
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
            sealed,
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

/// Private memory for a copy, still writable.
struct Memory {
    map: MmapMut,
    start: usize,
    len: usize,
}

impl Memory {
    /// The best memory for `len` bytes that `options` allow, its kind, and why nothing better.
    fn new(len: usize, options: &LoadOptions) -> Result<(Self, Backing, Vec<Fallback>), LoadError> {
        let small = len < HUGE_PAGE / 2;
        let kinds: &[Backing] = match options.backing {
            Backing::Copy => &[Backing::Copy],
            Backing::TransparentHuge => &[Backing::TransparentHuge, Backing::Copy],
            Backing::HugeTlb => &[Backing::HugeTlb, Backing::TransparentHuge, Backing::Copy],
            _ if small => &[Backing::Copy],
            _ => &[Backing::HugeTlb, Backing::TransparentHuge, Backing::Copy],
        };
        let mut fallbacks = Vec::new();
        let mut last = None;
        for &kind in kinds {
            let attempt = match kind {
                Backing::HugeTlb => Self::hugetlb(len),
                Backing::TransparentHuge => Self::transparent_huge(len),
                _ => Self::plain(len),
            };
            match attempt {
                Ok(memory) => return Ok((memory, kind, fallbacks)),
                Err(reason) => {
                    last = Some(kind);
                    fallbacks.push(Fallback { from: kind, reason });
                }
            }
            if !options.fallback {
                break;
            }
        }
        Err(LoadError::Memory {
            backing: last.unwrap_or(options.backing),
            len,
            reason: fallbacks.pop().map(|last| last.reason).unwrap_or_default(),
        })
    }

    fn plain(len: usize) -> Result<Self, String> {
        let map = MmapMut::map_anon(len).map_err(|error| error.to_string())?;
        Ok(Self { map, start: 0, len })
    }

    #[cfg(target_os = "linux")]
    fn hugetlb(len: usize) -> Result<Self, String> {
        let rounded = len.next_multiple_of(HUGE_PAGE);
        let pages = rounded / HUGE_PAGE;
        let map = MmapOptions::new()
            .len(rounded)
            .huge(Some(HUGE_PAGE_BITS))
            .map_anon()
            .map_err(|error| {
                format!("{error}: {pages} free 2 MiB pages are needed, see vm.nr_hugepages")
            })?;
        // Reserved pages can still be refused to a cgroup when they are touched, which would be a
        // SIGBUS; populating them returns that as an error.
        map.advise(memmap2::Advice::PopulateWrite).map_err(|error| {
            format!("the {pages} pages could not be populated: {error} (cgroup limit, or a kernel before 5.14)")
        })?;
        Ok(Self { map, start: 0, len })
    }

    #[cfg(target_os = "linux")]
    fn transparent_huge(len: usize) -> Result<Self, String> {
        let whole_pages = len.next_multiple_of(HUGE_PAGE);
        // One page more, so that the copy can start on a huge page's boundary.
        let map = MmapMut::map_anon(whole_pages + HUGE_PAGE).map_err(|error| error.to_string())?;
        let start = map.as_ptr().align_offset(HUGE_PAGE);
        let populate = |advice| map.advise_range(advice, start, whole_pages);
        populate(memmap2::Advice::HugePage)
            .map_err(|error| format!("madvise(MADV_HUGEPAGE): {error}"))?;
        populate(memmap2::Advice::PopulateWrite)
            .map_err(|error| format!("the pages could not be populated: {error}"))?;
        match kernel_pages(&map[start..start + whole_pages]) {
            Some(Pages { huge: 0, .. }) => Err(
                "the kernel gave no huge pages, see /sys/kernel/mm/transparent_hugepage/enabled"
                    .into(),
            ),
            _ => Ok(Self { map, start, len }),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn hugetlb(_len: usize) -> Result<Self, String> {
        Err("only on Linux".into())
    }

    #[cfg(not(target_os = "linux"))]
    fn transparent_huge(_len: usize) -> Result<Self, String> {
        Err("only on Linux".into())
    }

    fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.map[self.start..self.start + self.len]
    }

    /// Makes the memory read-only.
    fn seal(self) -> io::Result<Bytes> {
        Ok(Bytes::Map {
            map: self.map.make_read_only()?,
            start: self.start,
            len: self.len,
        })
    }
}

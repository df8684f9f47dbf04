//! Kinds of memory for an image, and which to choose.

use std::fmt;

/// A huge page's size in bytes.
pub(crate) const HUGE_PAGE: usize = 2 << 20;

/// What kind of memory holds an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backing {
    /// Not a kind: the best that is to be had, see [`Image::load`](crate::Image::load).
    Auto,
    /// A private copy in pages of the huge page pool (`vm.nr_hugepages`).
    HugeTlb,
    /// A private copy in transparent huge pages.
    TransparentHuge,
    /// A private copy in ordinary pages.
    Copy,
    /// The file itself, mapped: pages are shared with the page cache and with other processes. A file of huge
    /// pages (see [`Image::write_huge_file`](crate::Image::write_huge_file)) is mapped with them.
    Mapped,
    /// A sealed file in memory, mapped: see [`Image::to_shared`](crate::Image::to_shared).
    Sealed,
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
            Self::Sealed => "sealed",
            Self::Static => "static",
        })
    }
}

/// How to load an image from a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// The kind of memory to try first. [`Backing::Mapped`], [`Backing::Sealed`] and [`Backing::Static`] have
    /// functions of their own and count as [`Backing::Auto`] here.
    pub backing: Backing,
    /// Whether to try the next kind where one cannot be had. On by default.
    pub fallback: bool,
    /// Whether to verify the sections' checksums, as they are copied. On by default.
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

    /// The kinds of memory to try for a copy of `len` bytes, in this order.
    pub(crate) fn kinds(&self, len: usize) -> &'static [Backing] {
        const ALL: &[Backing] = &[Backing::HugeTlb, Backing::TransparentHuge, Backing::Copy];
        let kinds = match self.backing {
            Backing::HugeTlb => ALL,
            Backing::TransparentHuge => &ALL[1..],
            Backing::Copy => &ALL[2..],
            _ if len < HUGE_PAGE / 2 => &ALL[2..],
            _ => ALL,
        };
        if self.fallback { kinds } else { &kinds[..1] }
    }
}

//! Private memory for a copy of an image: huge pages from the pool, transparent huge pages, ordinary pages.
//!
//! Invariant: memory that is handed out is populated or can be populated without a signal, and is
//! read-only once sealed.

use std::io;

use memmap2::{Mmap, MmapMut};

use crate::backing::{Backing, LoadOptions};
use crate::error::LoadError;
use crate::report::Fallback;

#[cfg(target_os = "linux")]
use crate::backing::HUGE_PAGE;

/// `len` bytes of a read-only mapping, from `start` on.
pub(crate) struct Sealed {
    pub(crate) map: Mmap,
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// Private memory for a copy, still writable.
pub(crate) struct Memory {
    map: MmapMut,
    start: usize,
    len: usize,
}

/// Tries `kinds` in order: the first thing to be had, its kind, and why nothing better.
pub(crate) fn first_to_be_had<T>(
    kinds: &[Backing],
    len: usize,
    attempt: impl Fn(Backing) -> Result<T, String>,
) -> Result<(T, Backing, Vec<Fallback>), LoadError> {
    let mut fallbacks = Vec::new();
    for &from in kinds {
        match attempt(from) {
            Ok(memory) => return Ok((memory, from, fallbacks)),
            Err(reason) => fallbacks.push(Fallback { from, reason }),
        }
    }
    let last = fallbacks.pop();
    Err(LoadError::Memory {
        backing: last.as_ref().map_or(Backing::Auto, |last| last.from),
        len,
        reason: last.map(|last| last.reason).unwrap_or_default(),
    })
}

/// Why huge pages cannot be had.
#[cfg(target_os = "linux")]
pub(crate) fn short_pool(error: &io::Error, pages: usize) -> String {
    format!("{error}: {pages} free 2 MiB pages are needed, see vm.nr_hugepages")
}

/// Why huge pages that were promised cannot be had after all. Reserved pages can still be refused to a cgroup
/// when they are touched, which would be a SIGBUS; populating them returns that as an error.
#[cfg(target_os = "linux")]
pub(crate) fn not_populated(error: &io::Error, pages: usize) -> String {
    format!(
        "the {pages} pages could not be populated: {error} (cgroup limit, or a kernel before 5.14)"
    )
}

impl Memory {
    /// The best memory for `len` bytes that `options` allow, its kind, and why nothing better.
    pub(crate) fn new(
        len: usize,
        options: &LoadOptions,
    ) -> Result<(Self, Backing, Vec<Fallback>), LoadError> {
        first_to_be_had(options.kinds(len), len, |kind| match kind {
            Backing::HugeTlb => Self::hugetlb(len),
            Backing::TransparentHuge => Self::transparent_huge(len),
            _ => Self::plain(len),
        })
    }

    fn plain(len: usize) -> Result<Self, String> {
        let map = MmapMut::map_anon(len).map_err(|error| error.to_string())?;
        // In one go this takes less than half the time of single page faults. Kernels before 5.14 have the faults.
        #[cfg(target_os = "linux")]
        if let Err(error) = map.advise(memmap2::Advice::PopulateWrite)
            && error.kind() != io::ErrorKind::InvalidInput
        {
            return Err(format!("the pages could not be populated: {error}"));
        }
        Ok(Self { map, start: 0, len })
    }

    #[cfg(target_os = "linux")]
    fn hugetlb(len: usize) -> Result<Self, String> {
        let rounded = len.next_multiple_of(HUGE_PAGE);
        let pages = rounded / HUGE_PAGE;
        let map = memmap2::MmapOptions::new()
            .len(rounded)
            .huge(Some(HUGE_PAGE.trailing_zeros() as u8))
            .map_anon()
            .map_err(|error| short_pool(&error, pages))?;
        map.advise(memmap2::Advice::PopulateWrite)
            .map_err(|error| not_populated(&error, pages))?;
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
        match crate::report::kernel_pages(&map[start..start + whole_pages]) {
            Some(crate::report::Pages { huge: 0, .. }) => Err(
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

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.map[self.start..self.start + self.len]
    }

    /// Makes the memory read-only.
    pub(crate) fn seal(self) -> io::Result<Sealed> {
        Ok(Sealed {
            map: self.map.make_read_only()?,
            start: self.start,
            len: self.len,
        })
    }
}

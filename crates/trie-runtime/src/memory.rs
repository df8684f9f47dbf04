//! Private memory for a copy of an image: huge pages from the pool, transparent huge pages, ordinary pages.
//!
//! Invariant: memory that is handed out is populated or can be populated without a signal, and is
//! read-only once sealed.

use std::io;

use memmap2::{Mmap, MmapMut, MmapOptions};

use crate::error::LoadError;
use crate::image::{Backing, LoadOptions};
use crate::report::{Fallback, Pages, kernel_pages};

/// A huge page's size in bytes, and its logarithm.
const HUGE_PAGE: usize = 2 << 20;
const HUGE_PAGE_BITS: u8 = 21;

/// A sealed copy: `len` bytes of a read-only mapping, from `start` on.
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

impl Memory {
    /// The best memory for `len` bytes that `options` allow, its kind, and why nothing better.
    pub(crate) fn new(
        len: usize,
        options: &LoadOptions,
    ) -> Result<(Self, Backing, Vec<Fallback>), LoadError> {
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

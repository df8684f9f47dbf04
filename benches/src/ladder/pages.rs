//! A read-only array on pages of a chosen size, so that page size is the only thing that differs
//! between two stages.

use std::io::{Error, Result};
use std::ops::Deref;
use std::ptr::NonNull;

/// The size of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageSize {
    /// 4 KiB; transparent huge pages are declined.
    Small,
    /// 2 MiB from the reserved pool.
    Huge,
}

const HUGE: usize = 2 << 20;

/// A copy of a slice in its own mapping.
///
/// Invariant: `start` is the beginning of a private mapping of `mapped` bytes that holds `len`
/// initialised elements and is not written to after construction.
pub struct Pages<T: Copy> {
    start: NonNull<T>,
    len: usize,
    mapped: usize,
    page: PageSize,
}

// SAFETY: after construction the memory is only read.
unsafe impl<T: Copy + Send + Sync> Send for Pages<T> {}
// SAFETY: as above.
unsafe impl<T: Copy + Send + Sync> Sync for Pages<T> {}

impl<T: Copy> Pages<T> {
    /// Copies `source` to fresh pages.
    ///
    /// # Errors
    /// If pages of that size cannot be had.
    pub fn copy_of(source: &[T], page: PageSize) -> Result<Self> {
        assert!(align_of::<T>() <= 4096);
        let mapped = size_of_val(source).next_multiple_of(HUGE).max(HUGE);
        let flags = match page {
            PageSize::Small => 0,
            // Populating makes an exhausted pool an error here instead of a signal later.
            PageSize::Huge => libc::MAP_HUGETLB | libc::MAP_POPULATE,
        };
        // SAFETY: an anonymous mapping at an address of the kernel's choice.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        if page == PageSize::Small {
            // SAFETY: our own mapping. Where the kernel has no huge pages there is nothing to decline.
            unsafe { libc::madvise(start, mapped, libc::MADV_NOHUGEPAGE) };
        }
        let start = NonNull::new(start.cast::<T>()).ok_or_else(Error::last_os_error)?;
        // SAFETY: the mapping is fresh, page-aligned and at least as long as the source.
        unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), start.as_ptr(), source.len()) };
        Ok(Self {
            start,
            len: source.len(),
            mapped,
            page,
        })
    }

    /// Size and kind, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        let page = match self.page {
            PageSize::Small => "4 KiB pages",
            PageSize::Huge => "2 MiB pages (hugetlb)",
        };
        format!(
            "{:.0} MiB on {page}",
            self.mapped as f64 / f64::from(1 << 20)
        )
    }
}

impl<T: Copy> Deref for Pages<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the type's invariant.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Copy> Drop for Pages<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing borrows from it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.mapped) };
    }
}

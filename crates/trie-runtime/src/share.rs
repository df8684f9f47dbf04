//! One physical copy of an image for many processes: files of huge pages, and sealed files in memory.
//!
//! One of this crate's modules with `unsafe`: sealed files are mapped, and files are written through mappings, because
//! huge pages have no `write`.
//!
//! Invariant: a file that others may find by name, or by a descriptor that is handed out, holds a whole image, all
//! of its pages populated, and nobody writes to it any more.

#![allow(unsafe_code)]

use std::ffi::OsString;
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use memmap2::{Advice, MmapMut, MmapOptions};
use rustix::fs::{MemfdFlags, SealFlags};

use crate::backing::{Backing, HUGE_PAGE, LoadOptions};
use crate::error::LoadError;
use crate::id::ImageId;
use crate::image::{Held, Image, not_mapped, populate};
use crate::memory::{first_to_be_had, not_populated, short_pool};
use crate::source::{read_error, stated_len};

impl Image {
    /// An image in a sealed file in memory, as [`Image::to_shared`] makes it: mapped, and validated in one pass.
    /// Checksums are left to [`Image::verify_checksums`].
    ///
    /// Safe, unlike [`Image::map`]: the seals show that nobody can change the file. It may come by inheritance, over
    /// a socket, or from `/proc/PID/fd/N`; where the descriptor's offset stands does not matter.
    ///
    /// # Errors
    /// If the file is not sealed, cannot be mapped or is not a sound image.
    pub fn from_shared(file: &File) -> Result<Self, LoadError> {
        // SAFETY: nothing is vouched for.
        unsafe { Self::map_sealed(file, None) }
    }

    /// [`Image::from_shared`] without the pass over the image: microseconds, whatever its size.
    ///
    /// # Errors
    /// If the file is not sealed or cannot be mapped, its header is not in order, or it is another image than `id`.
    ///
    /// # Safety
    /// The image in this file passed validation before: it comes from [`Image::to_shared`] in a process that is
    /// trusted as this one.
    pub unsafe fn from_shared_verified(file: &File, id: ImageId) -> Result<Self, LoadError> {
        // SAFETY: as above.
        unsafe { Self::map_sealed(file, Some(id)) }
    }

    /// # Safety
    /// With a `verified` image, as [`Image::from_shared_verified`].
    unsafe fn map_sealed(file: &File, verified: Option<ImageId>) -> Result<Self, LoadError> {
        let start = Instant::now();
        let name = Path::new("the shared image");
        if !is_sealed(file) {
            return Err(LoadError::NotSealed);
        }
        // SAFETY: the seals keep everybody from changing the file.
        let map = unsafe { MmapOptions::new().map(file) }.map_err(|error| {
            let len = file.metadata().map_or(0, |file| file.len() as usize);
            not_mapped(Backing::Sealed, len, &error)
        })?;
        if verified.is_none() {
            // Whoever sealed the file may have left out pages.
            populate(&map).map_err(|error| read_error(name, error))?;
        }
        // A file of huge pages is longer than its image.
        let len = stated_len(&map)
            .and_then(|len| usize::try_from(len).ok())
            .filter(|&len| len <= map.len())
            .unwrap_or(map.len());
        let held = Held::of(map, len, Backing::Sealed, Default::default(), start)
            .ok_or_else(|| read_error(name, io::ErrorKind::UnexpectedEof.into()))?;
        // SAFETY: the caller vouches for a verified image.
        unsafe { Self::mapped(held, name, verified) }
    }

    /// Puts a copy of this image into a file of huge pages at `path`, which must be on a mounted `hugetlbfs`:
    /// processes that [map](Image::map) it share its pages, and need no pages of their own.
    ///
    /// The file is written under another name and renamed, readable for all and writable for nobody: whoever has
    /// an older file of this name mapped keeps that. Its pages stay taken from the pool until the file is removed
    /// and nobody maps it any more.
    ///
    /// # Errors
    /// If the folder is not on a `hugetlbfs`, or the pool or a cgroup's limit is too small; nothing is left behind.
    pub fn write_huge_file(&self, path: impl AsRef<Path>) -> Result<(), LoadError> {
        write_huge_file(self.view().bytes(), path.as_ref())
    }

    /// Puts a copy of this image into a file in memory that nobody can change any more, for
    /// [`Image::from_shared`] in other processes: with [`Backing::HugeTlb`] in huge pages, falling back as
    /// [`Image::load`] does. The memory is released when the last descriptor and mapping are gone.
    ///
    /// The descriptor is closed on `exec`, unless you clear that flag.
    ///
    /// # Errors
    /// If no memory is to be had, or the kernel cannot seal it.
    pub fn to_shared(&self, options: &LoadOptions) -> Result<OwnedFd, LoadError> {
        sealed_file(self.view().bytes(), options)
    }
}

/// What `statfs` says of a hugetlbfs.
const HUGETLBFS_MAGIC: i128 = 0x9584_58f6;

/// The page size of the hugetlbfs that `file` is on, if it is on one.
pub(crate) fn huge_page_of(file: &File) -> Option<u64> {
    let system = rustix::fs::fstatfs(file).ok()?;
    let page = u64::try_from(system.f_bsize).ok()?;
    (i128::from(system.f_type) == HUGETLBFS_MAGIC && page != 0).then_some(page)
}

/// Whether nobody can change `file` any more.
pub(crate) fn is_sealed(file: &File) -> bool {
    let needed = SealFlags::WRITE | SealFlags::SHRINK;
    rustix::fs::fcntl_get_seals(file).is_ok_and(|seals| seals.contains(needed))
}

/// Puts `image` into a file of huge pages at `path`: under another name first, then renamed.
pub(crate) fn write_huge_file(image: &[u8], path: &Path) -> Result<(), LoadError> {
    let failed = |reason: String| LoadError::Share {
        path: path.into(),
        reason,
    };
    let name = path
        .file_name()
        .ok_or_else(|| failed("a file name is needed".into()))?;
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let opened =
        File::open(folder).map_err(|error| failed(format!("{}: {error}", folder.display())))?;
    let Some(page) = huge_page_of(&opened) else {
        return Err(failed(format!(
            "{} is not on a hugetlbfs: mount one with `mount -t hugetlbfs -o pagesize=2M none DIR`",
            folder.display()
        )));
    };
    let (file, temporary) = Temporary::create(folder, name).map_err(|e| failed(e.to_string()))?;
    let len = (image.len() as u64)
        .checked_next_multiple_of(page)
        .ok_or_else(|| failed("too long".into()))?;
    let pages = len / page;
    file.set_len(len)
        .map_err(|error| failed(error.to_string()))?;
    // SAFETY: the file is new, and its name is known to nobody else.
    let map = unsafe { MmapOptions::new().map_mut(&file) }
        .map_err(|error| failed(short_pages(&error, pages, page)))?;
    populate_and_copy(map, image)
        .map_err(|error| failed(not_populated(&error, usize::try_from(pages).unwrap_or(0))))?;
    // For all to read, and for nobody to write.
    file.set_permissions(Permissions::from_mode(0o444))
        .and_then(|()| temporary.rename(path))
        .map_err(|error| failed(error.to_string()))
}

/// As [`short_pool`], for a file system whose pages may have another size.
fn short_pages(error: &io::Error, pages: u64, page: u64) -> String {
    if page == HUGE_PAGE as u64 {
        return short_pool(error, usize::try_from(pages).unwrap_or(usize::MAX));
    }
    format!("{error}: {pages} free huge pages of {page} bytes are needed")
}

/// Writes through a mapping; every page is populated first, so that a short pool is an error and not a signal.
fn populate_and_copy(mut map: MmapMut, image: &[u8]) -> io::Result<()> {
    map.advise(Advice::PopulateWrite)?;
    map[..image.len()].copy_from_slice(image);
    Ok(())
}

/// A file that is removed unless it is renamed.
struct Temporary {
    path: PathBuf,
    is_renamed: bool,
}

impl Temporary {
    fn create(folder: &Path, name: &std::ffi::OsStr) -> io::Result<(File, Self)> {
        let mut attempt = 0u32;
        loop {
            let mut hidden = OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{attempt}.tmp", std::process::id()));
            let path = folder.join(hidden);
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path);
            match file {
                Ok(file) => {
                    let is_renamed = false;
                    return Ok((file, Self { path, is_renamed }));
                }
                // Another thread's, or left behind by a process that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => {
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn rename(mut self, to: &Path) -> io::Result<()> {
        std::fs::rename(&self.path, to)?;
        self.is_renamed = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_renamed {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A file in memory that holds `image` and can never be changed, in the best pages that `options` allow.
pub(crate) fn sealed_file(image: &[u8], options: &LoadOptions) -> Result<OwnedFd, LoadError> {
    let kinds = options.kinds(image.len());
    first_to_be_had(kinds, image.len(), |kind| {
        let huge = kind == Backing::HugeTlb;
        let file = memory_file(huge).map_err(|error| format!("memfd_create: {error}"))?;
        let len = match kind {
            Backing::HugeTlb => image.len().next_multiple_of(HUGE_PAGE),
            _ => image.len(),
        };
        file.set_len(len as u64).map_err(|e| e.to_string())?;
        let pages = len.div_ceil(HUGE_PAGE);
        // SAFETY: the file is new, and nobody else has it.
        let map = unsafe { MmapOptions::new().map_mut(&file) }.map_err(|error| match huge {
            true => short_pool(&error, pages),
            false => error.to_string(),
        })?;
        if kind == Backing::TransparentHuge {
            map.advise(Advice::HugePage)
                .map_err(|error| format!("madvise(MADV_HUGEPAGE): {error}"))?;
        }
        populate_and_copy(map, image).map_err(|error| not_populated(&error, pages))?;
        let all = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, all)
            .map_err(|error| format!("the kernel does not seal it: {error}"))?;
        Ok(file.into())
    })
    .map(|(file, _, _)| file)
}

/// A new file in memory.
fn memory_file(huge: bool) -> io::Result<File> {
    let mut flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    if huge {
        flags |= MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
    }
    // Some systems insist that it can't be executed, older kernels don't know how.
    let file = rustix::fs::memfd_create("trie-image", flags | MemfdFlags::NOEXEC_SEAL)
        .or_else(|_| rustix::fs::memfd_create("trie-image", flags))?;
    Ok(file.into())
}

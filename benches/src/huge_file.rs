//! The fixture's image in a file of huge pages, for as long as it is measured.

use std::path::PathBuf;

use tempfile::TempDir;
use trie_runtime::{Backing, Image, LoadOptions};

use crate::Result;
use crate::fixture::Fixture;

/// Removes the file, and what tells children where it is, at the end.
pub(crate) struct HugeFile {
    note: PathBuf,
    _dir: TempDir,
}

impl HugeFile {
    /// Writes the file on a mounted file system of huge pages.
    ///
    /// # Errors
    /// If there is none that may be written to, or the pool is too small.
    pub(crate) fn write(fixture: &Fixture) -> Result<Self> {
        let mounts = std::fs::read_to_string("/proc/mounts")?;
        let dir = mounts
            .lines()
            .filter(|line| line.contains(" hugetlbfs ") && line.contains("pagesize=2M"))
            .filter_map(|line| tempfile::tempdir_in(line.split(' ').nth(1)?).ok())
            .next()
            .ok_or("no hugetlbfs is mounted that may be written to")?;
        let path = dir.path().join("image.trie");
        let options = LoadOptions::default().with_backing(Backing::Copy);
        write(&Image::load(fixture.image(), &options)?, &path)?;
        let note = fixture.huge_image_note();
        std::fs::write(&note, path.display().to_string())?;
        Ok(Self { note, _dir: dir })
    }
}

impl Drop for HugeFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.note);
    }
}

#[cfg(target_os = "linux")]
fn write(image: &Image, path: &std::path::Path) -> Result<()> {
    Ok(image.write_huge_file(path)?)
}

#[cfg(not(target_os = "linux"))]
fn write(_image: &Image, _path: &std::path::Path) -> Result<()> {
    Err("only on Linux".into())
}

//! Onto the disk: whole or not at all.

use std::io::Write;
use std::path::Path;

use tempfile::Builder;

use crate::CompileError;

/// Writes `image` to `path`: into a temporary file in the same folder, synced, then renamed.
///
/// A process that has the old file mapped keeps it; nobody sees half a file.
///
/// # Errors
/// [`CompileError::Write`]; the target is untouched and the temporary file is removed.
pub fn write_image(path: &Path, image: &[u8]) -> Result<(), CompileError> {
    let attempt = || -> std::io::Result<()> {
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut builder = Builder::new();
        builder.prefix(".trie-").suffix(".tmp");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Images are shared between users; the umask still applies.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(image)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        // The rename is durable once the folder is; not every file system can sync one.
        if let Ok(folder) = std::fs::File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    };
    attempt().map_err(|source| CompileError::Write {
        path: path.into(),
        source,
    })
}

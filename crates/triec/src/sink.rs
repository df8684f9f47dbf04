//! Output: to standard output, or to a file that appears complete or not at all.

use std::fs::File;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::CliError;

/// Bytes written at once.
const BUFFER: usize = 256 << 10;

enum Target {
    Stdout(StdoutLock<'static>),
    /// Something that exists and is not a regular file, such as `/dev/null` or a named pipe: written in
    /// place, as renaming would replace it.
    Device(File),
    /// A temporary file beside the wanted one.
    Temporary(NamedTempFile),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::Device(file) => file.write(bytes),
            Self::Temporary(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::Device(file) => file.flush(),
            Self::Temporary(file) => file.flush(),
        }
    }
}

/// Where the output lines go.
pub(crate) struct Sink {
    writer: BufWriter<Target>,
    /// `None` is standard output.
    path: Option<PathBuf>,
}

impl Sink {
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, CliError> {
        let target = match path {
            None => Target::Stdout(io::stdout().lock()),
            Some(path) => {
                file_target(path).map_err(|source| CliError::write(path.display(), source))?
            }
        };
        Ok(Self {
            writer: BufWriter::with_capacity(BUFFER, target),
            path: path.map(Path::to_path_buf),
        })
    }

    fn check(&self, outcome: io::Result<()>) -> Result<(), CliError> {
        outcome.map_err(|source| match &self.path {
            Some(path) => CliError::write(path.display(), source),
            None => CliError::write("standard output", source),
        })
    }

    /// Writes `lines`, which are whole.
    pub(crate) fn write(&mut self, lines: &[u8]) -> Result<(), CliError> {
        let outcome = self.writer.write_all(lines);
        self.check(outcome)
    }

    /// Hands on what has been written so far.
    pub(crate) fn flush(&mut self) -> Result<(), CliError> {
        let outcome = self.writer.flush();
        self.check(outcome)
    }

    /// Completes the output: a file gets its name only now.
    pub(crate) fn finish(mut self) -> Result<(), CliError> {
        self.flush()?;
        let path = self.path;
        let (target, _) = self.writer.into_parts();
        let (Some(path), Target::Temporary(file)) = (path, target) else {
            return Ok(());
        };
        let rename = || -> io::Result<()> {
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)?;
            Ok(())
        };
        rename().map_err(|source| CliError::write(path.display(), source))
    }

    /// Ends the output after a failure: complete lines stay on standard output, a file never appears.
    pub(crate) fn abandon(mut self) {
        if !matches!(self.writer.get_ref(), Target::Temporary(_)) {
            // The failure that led here is the one to report.
            let _ = self.writer.flush();
        }
        let _ = self.writer.into_parts();
    }
}

fn file_target(path: &Path) -> io::Result<Target> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => {
            return Ok(Target::Device(File::options().write(true).open(path)?));
        }
        _ => {}
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".triec-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any other output file: the umask decides.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    Ok(Target::Temporary(builder.tempfile_in(folder)?))
}

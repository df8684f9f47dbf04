//! Input: texts from arguments, files and standard input.
//!
//! Lines end at LF only, so a CR stays in its line, and are arbitrary bytes. A last line without LF
//! counts. Memory is one line's, whatever the file's length.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::CliError;

/// Bytes read at once.
const BUFFER: usize = 256 << 10;

/// Where the texts are.
pub(crate) enum Input {
    Arguments(Vec<OsString>),
    /// Files in order; `-` is standard input.
    Files(Vec<PathBuf>),
}

impl Input {
    /// The arguments if there are any, else the files, else standard input.
    pub(crate) fn new(arguments: Vec<OsString>, files: Vec<PathBuf>) -> Self {
        if !arguments.is_empty() {
            Self::Arguments(arguments)
        } else if files.is_empty() {
            Self::Files(vec!["-".into()])
        } else {
            Self::Files(files)
        }
    }

    /// Looks at all files before the first is read, so that a wrong name costs no work. Returns their
    /// length in bytes, if all are regular files.
    pub(crate) fn check(&self) -> Result<Option<u64>, CliError> {
        let Self::Files(files) = self else {
            return Ok(None);
        };
        let mut total = Some(0u64);
        for path in files {
            total = if is_stdin(path) {
                None
            } else {
                let found = std::fs::metadata(path)
                    .map_err(|source| CliError::read(path.display(), source))?;
                total
                    .filter(|_| found.is_file())
                    .and_then(|total| total.checked_add(found.len()))
            };
        }
        Ok(total)
    }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The lines of one file.
pub(crate) struct Lines {
    reader: BufReader<Box<dyn Read>>,
    /// The file's name for messages.
    name: String,
    number: u64,
    /// Bytes consumed.
    consumed: u64,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Self, CliError> {
        let (source, name): (Box<dyn Read>, _) = if is_stdin(path) {
            (Box::new(io::stdin().lock()), "standard input".into())
        } else {
            let name = path.display().to_string();
            let file = File::open(path).map_err(|source| CliError::read(&name, source))?;
            (Box::new(file), name)
        };
        Ok(Self {
            reader: BufReader::with_capacity(BUFFER, source),
            name,
            number: 0,
            consumed: 0,
        })
    }

    /// Whether the next line is already here, so that reading it cannot wait.
    pub(crate) fn has_buffered_line(&self) -> bool {
        self.reader.buffer().contains(&b'\n')
    }

    /// Replaces `line` by the next line, without its LF; `false` at the end.
    pub(crate) fn next(&mut self, line: &mut Vec<u8>) -> Result<bool, CliError> {
        line.clear();
        let read = self
            .reader
            .read_until(b'\n', line)
            .map_err(|source| CliError::read(&self.name, source))?;
        if read == 0 {
            return Ok(false);
        }
        self.number += 1;
        self.consumed += read as u64;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        Ok(true)
    }

    pub(crate) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Which line of the file the last one was; from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Where the last line is, for messages: `FILE:LINE`.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.name, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &'static [u8]) -> Vec<Vec<u8>> {
        let mut lines = Lines {
            reader: BufReader::with_capacity(3, Box::new(bytes)),
            name: "test".into(),
            number: 0,
            consumed: 0,
        };
        let mut line = Vec::new();
        let mut all = Vec::new();
        while lines.next(&mut line).unwrap() {
            all.push(line.clone());
        }
        assert_eq!(lines.consumed(), bytes.len() as u64);
        all
    }

    #[test]
    fn lines_end_at_line_feeds_only() {
        assert_eq!(lines(b""), [b""; 0]);
        assert_eq!(lines(b"\n"), [b""]);
        assert_eq!(lines(b"a\r\nb\rc"), [&b"a\r"[..], b"b\rc"]);
        assert_eq!(
            lines(b"\xff\0long line\n\n"),
            [&b"\xff\0long line"[..], b""]
        );
    }
}

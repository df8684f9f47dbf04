//! From a file to memory in one pass: checksums are taken of each block while the cache still has it.
//!
//! Invariant: nothing is allocated or mapped for a file whose header is not in order.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use trie_format::{ChecksumStream, FormatError, Header};

use crate::error::LoadError;

/// Bytes that are copied and then checked at a time. They stay in a core's second-level cache.
const BLOCK: usize = 256 << 10;

/// An image file whose header is in order.
pub(crate) struct Source {
    /// Read up to the end of `prefix`.
    pub(crate) file: File,
    pub(crate) prefix: Prefix,
    /// Length of the image; a file of huge pages is longer.
    pub(crate) len: usize,
    /// What opening it took.
    pub(crate) time: Duration,
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Self, LoadError> {
        let start = Instant::now();
        let read = |error| read_error(path, error);
        let mut file = File::open(path).map_err(read)?;
        let file_len = file.metadata().map_err(read)?.len();
        let prefix = Prefix::read(&mut file).map_err(read)?;
        let len = image_len(&file, prefix.as_slice(), file_len);
        Header::parse(prefix.as_slice(), len).map_err(|error| format_error(path, error))?;
        Ok(Self {
            file,
            prefix,
            len: usize::try_from(len).map_err(|_| read(io::ErrorKind::FileTooLarge.into()))?,
            time: start.elapsed(),
        })
    }
}

/// The length of the image at the beginning of `file`: that of the file, but where files can only have whole huge
/// pages what the header states, if it needs just as many.
fn image_len(file: &File, start: &[u8], file_len: u64) -> u64 {
    let stated = stated_len(start).unwrap_or(0);
    let is_rounded = |page: u64| stated.checked_next_multiple_of(page) == Some(file_len);
    match huge_page_of(file) {
        Some(page) if is_rounded(page) => stated,
        _ => file_len,
    }
}

#[cfg(target_os = "linux")]
use crate::share::huge_page_of;

/// Elsewhere there are no such files.
#[cfg(not(target_os = "linux"))]
fn huge_page_of(_file: &File) -> Option<u64> {
    None
}

/// The length that the header at the `start` of a file states, whatever else it says.
pub(crate) fn stated_len(start: &[u8]) -> Option<u64> {
    let bytes = start.get(FILE_LEN)?.try_into().ok()?;
    Some(u64::from_le_bytes(bytes))
}

/// Where in the header the file's length stands.
const FILE_LEN: std::ops::Range<usize> = {
    let start = std::mem::offset_of!(Header, file_len);
    start..start + size_of::<u64>()
};

/// What [`fill`] found and took.
pub(crate) struct Filled {
    /// To be heeded after the table itself has been checked.
    pub(crate) checksums: Result<(), FormatError>,
    pub(crate) copy: Duration,
    pub(crate) checksum: Duration,
}

/// Copies an image to `target`: its beginning is in `prefix`, the rest comes from `rest`.
pub(crate) fn fill(
    target: &mut [u8],
    prefix: &Prefix,
    rest: &mut impl Read,
    verify_checksums: bool,
) -> io::Result<Filled> {
    let (header, entries) = Header::parse(prefix.as_slice(), target.len() as u64)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    let mut stream = verify_checksums.then(|| ChecksumStream::new(header, entries));
    let (mut copy, mut checksum) = (Duration::ZERO, Duration::ZERO);
    let mut take = |bytes: &[u8]| {
        let start = Instant::now();
        if let Some(stream) = &mut stream {
            stream.update(bytes);
            checksum += start.elapsed();
        }
    };
    let known = prefix.as_slice();
    // Of a file of huge pages it may reach beyond the image.
    let known = &known[..known.len().min(target.len())];
    let (head, tail) = target.split_at_mut(known.len());
    head.copy_from_slice(known);
    take(head.get(header.header_len as usize..).unwrap_or_default());
    for block in tail.chunks_mut(BLOCK) {
        let start = Instant::now();
        rest.read_exact(block)?;
        copy += start.elapsed();
        take(block);
    }
    Ok(Filled {
        checksums: stream.map_or(Ok(()), ChecksumStream::finish),
        copy,
        checksum,
    })
}

pub(crate) fn read_error(path: &Path, source: io::Error) -> LoadError {
    LoadError::Read {
        path: path.into(),
        source,
    }
}

pub(crate) fn format_error(path: &Path, source: FormatError) -> LoadError {
    LoadError::File {
        path: path.into(),
        source,
    }
}

/// The first bytes of an image on the boundary that the header needs.
#[repr(C, align(64))]
pub(crate) struct Prefix([u8; Header::PREFIX_LEN], usize);

impl Prefix {
    /// Takes as much as there is, at most [`Header::PREFIX_LEN`] bytes.
    pub(crate) fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut prefix = Self([0; Header::PREFIX_LEN], 0);
        while prefix.1 < prefix.0.len() {
            match from.read(&mut prefix.0[prefix.1..]) {
                Ok(0) => break,
                Ok(read) => prefix.1 += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(prefix)
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.0[..self.1]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use trie_format::{
        ENDIAN_MARK, FORMAT_MAJOR, HEADER_LEN, MAGIC, SectionEntry, checksum, image_id,
    };

    use super::*;

    /// A file of one section whose checksum is right, several blocks long. No more of an image is looked at here.
    fn example() -> Vec<u8> {
        let section: Vec<u8> = (0..3 * BLOCK + 100).map(|i| i as u8).collect();
        let entry = SectionEntry {
            kind: 1,
            flags: 0,
            offset: 128,
            length: section.len() as u64,
            checksum: checksum(&section),
            align: 64,
            schema: 0,
        };
        let mut table = Vec::new();
        table.extend_from_slice(&entry.kind.to_le_bytes());
        table.extend_from_slice(&entry.flags.to_le_bytes());
        for number in [entry.offset, entry.length, entry.checksum] {
            table.extend_from_slice(&number.to_le_bytes());
        }
        table.extend_from_slice(&entry.align.to_le_bytes());
        table.extend_from_slice(&entry.schema.to_le_bytes());
        let mut header = Header {
            magic: MAGIC,
            endian_mark: ENDIAN_MARK,
            major: FORMAT_MAJOR,
            minor: 0,
            header_len: (HEADER_LEN + table.len()) as u32,
            section_count: 1,
            file_len: 128 + section.len() as u64,
            flags: 0,
            image_id: image_id(&table),
            header_checksum: 0,
        };
        header.header_checksum = header.compute_checksum(&table);
        let mut file = Vec::new();
        file.extend_from_slice(&header.magic);
        file.extend_from_slice(&header.endian_mark.to_le_bytes());
        file.extend_from_slice(&header.major.to_le_bytes());
        file.extend_from_slice(&header.minor.to_le_bytes());
        file.extend_from_slice(&header.header_len.to_le_bytes());
        file.extend_from_slice(&header.section_count.to_le_bytes());
        file.extend_from_slice(&header.file_len.to_le_bytes());
        file.extend_from_slice(&header.flags.to_le_bytes());
        file.extend_from_slice(&header.image_id);
        file.extend_from_slice(&header.header_checksum.to_le_bytes());
        file.extend_from_slice(&table);
        file.resize(128, 0);
        file.extend_from_slice(&section);
        file
    }

    fn copy(mut file: &[u8], len: usize, verify: bool) -> io::Result<(Vec<u8>, Filled)> {
        let mut target = vec![0; len];
        let prefix = Prefix::read(&mut file)?;
        let filled = fill(&mut target, &prefix, &mut file, verify)?;
        Ok((target, filled))
    }

    #[test]
    fn what_is_copied_is_what_is_checked() {
        let file = example();
        let (copied, filled) = copy(&file, file.len(), true).unwrap();
        assert!(copied == file);
        assert_eq!(filled.checksums, Ok(()));
        for changed in [
            130,
            Header::PREFIX_LEN,
            BLOCK,
            2 * BLOCK + 7,
            file.len() - 1,
        ] {
            let mut file = file.clone();
            file[changed] ^= 1;
            let (_, filled) = copy(&file, file.len(), true).unwrap();
            assert!(filled.checksums.is_err(), "byte {changed}");
            let (_, filled) = copy(&file, file.len(), false).unwrap();
            assert_eq!(filled.checksums, Ok(()));
        }
    }

    /// As when it is cut while it is read.
    #[test]
    fn a_file_that_ends_early_is_an_error() {
        let file = example();
        for len in [0, 63, 103, 104, 200, BLOCK, file.len() - 1] {
            assert!(copy(&file[..len], file.len(), true).is_err(), "{len}");
        }
    }
}

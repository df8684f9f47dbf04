//! Checksums: XXH3, which finds damage and is no defence against malice.

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64, xxh3_128};

use crate::FormatError;
use crate::header::{Header, SectionEntry};

/// The checksum of a section's bytes.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// The image's id: a 128-bit digest of the section table, which holds every section's checksum.
#[must_use]
pub fn image_id(section_table: &[u8]) -> [u8; 16] {
    xxh3_128(section_table).to_le_bytes()
}

/// Verifies a file's checksums and padding while it arrives, block by block.
///
/// The table may be anything: of one that [`ImageView::parse`](crate::ImageView::parse) refuses, the verdict
/// means nothing, but there is one.
pub struct ChecksumStream<'a> {
    entries: &'a [SectionEntry],
    /// Which of them the next byte is before or in.
    index: usize,
    /// Where in the file the next byte stands.
    at: u64,
    hash: Xxh3Default,
    first_fault: Option<FormatError>,
}

impl<'a> ChecksumStream<'a> {
    /// For a file with this header and table; the next byte is the first after the table.
    #[must_use]
    pub fn new(header: &Header, entries: &'a [SectionEntry]) -> Self {
        Self {
            entries,
            index: 0,
            at: u64::from(header.header_len),
            hash: Xxh3Default::new(),
            first_fault: None,
        }
    }

    /// Takes the file's next bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let Some(entry) = self.entries.get(self.index) else {
                // `ImageView::parse` refuses what comes after the last section.
                return;
            };
            let end = entry.offset.saturating_add(entry.length);
            let is_padding = self.at < entry.offset;
            let left = if is_padding { entry.offset } else { end }.saturating_sub(self.at);
            let len = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let (now, rest) = bytes.split_at(len);
            if is_padding {
                if let Some(i) = now.iter().position(|&byte| byte != 0) {
                    let offset = usize::try_from(self.at).unwrap_or(usize::MAX) + i;
                    self.fault(FormatError::Padding { offset });
                }
            } else {
                self.hash.update(now);
            }
            self.at += len as u64;
            bytes = rest;
            self.close_sections();
        }
    }

    /// The verdict.
    ///
    /// # Errors
    /// The first section or padding byte at fault.
    pub fn finish(mut self) -> Result<(), FormatError> {
        self.close_sections();
        // What the file ends before is as damaged as what differs.
        while let Some(entry) = self.entries.get(self.index) {
            self.close(entry);
        }
        self.first_fault.map_or(Ok(()), Err)
    }

    /// Compares the sections that end here: one, and empty ones behind it.
    fn close_sections(&mut self) {
        while let Some(entry) = self.entries.get(self.index) {
            if self.at < entry.offset || self.at < entry.offset.saturating_add(entry.length) {
                return;
            }
            self.close(entry);
        }
    }

    fn close(&mut self, entry: &SectionEntry) {
        if self.hash.digest() != entry.checksum {
            self.fault(FormatError::SectionChecksum {
                index: self.index,
                kind: entry.kind,
            });
        }
        self.hash.reset();
        self.index += 1;
    }

    fn fault(&mut self, fault: FormatError) {
        self.first_fault.get_or_insert(fault);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    /// Sections of 5, 0 and 100 bytes with padding between them, and the file from the table's end on.
    fn example() -> (Header, [SectionEntry; 3], Vec<u8>) {
        let mut header: Header = bytemuck::Zeroable::zeroed();
        header.header_len = 184;
        let contents: Vec<u8> = (1..=105).collect();
        let section = |offset, bytes: &[u8]| SectionEntry {
            kind: 1,
            flags: 0,
            offset,
            length: bytes.len() as u64,
            checksum: checksum(bytes),
            align: 64,
            schema: 0,
        };
        let entries = [
            section(192, &contents[..5]),
            section(256, &[]),
            section(256, &contents[5..]),
        ];
        let mut file = std::vec![0; 8];
        file.extend_from_slice(&contents[..5]);
        file.resize(256 - 184, 0);
        file.extend_from_slice(&contents[5..]);
        (header, entries, file)
    }

    fn verdict(file: &[u8], block: usize) -> Result<(), FormatError> {
        let (header, entries, _) = example();
        let mut stream = ChecksumStream::new(&header, &entries);
        file.chunks(block).for_each(|block| stream.update(block));
        stream.finish()
    }

    #[test]
    fn blocks_of_any_size_give_the_same_verdict() {
        let (_, _, file) = example();
        for block in 1..=file.len() {
            assert_eq!(verdict(&file, block), Ok(()), "{block}");
        }
    }

    #[test]
    fn every_changed_byte_and_every_missing_one_counts() {
        let (_, _, file) = example();
        for i in 0..file.len() {
            let mut changed = file.clone();
            changed[i] ^= 1;
            for block in [1, 7, file.len()] {
                assert!(verdict(&changed, block).is_err(), "byte {i}");
                assert!(verdict(&file[..i], block).is_err(), "the first {i} bytes");
            }
        }
    }

    #[test]
    fn tables_that_make_no_sense_end() {
        let (header, mut entries, file) = example();
        for offset in [0, 100, u64::MAX] {
            for length in [0, 1, u64::MAX] {
                entries[1] = SectionEntry {
                    offset,
                    length,
                    ..entries[1]
                };
                let mut stream = ChecksumStream::new(&header, &entries);
                stream.update(&file);
                let _ = stream.finish();
            }
        }
    }
}

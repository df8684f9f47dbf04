//! Checksums: XXH3, which finds damage and is no defence against malice.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

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

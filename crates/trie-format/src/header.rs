//! The fixed header and the section table.
//!
//! Invariant: [`Header::parse`] reads at most `HEADER_LEN + MAX_SECTIONS * 40` bytes, whatever the
//! file claims.

use bytemuck::{Pod, Zeroable};

use crate::{FormatError, checksum};

/// The first eight bytes of every image. The high bit and the line ends catch text-mode transfers.
pub const MAGIC: [u8; 8] = *b"\x89TRIE\r\n\x1a";

/// Stands in the file as `04 03 02 01`; any other order means the file was not written little-endian.
pub const ENDIAN_MARK: u32 = 0x0102_0304;

/// Version of the format's structure. Another major version is refused.
pub const FORMAT_MAJOR: u16 = 1;

/// Minor version: additions that older readers may ignore.
pub const FORMAT_MINOR: u16 = 1;

/// Size of the fixed header in bytes.
pub const HEADER_LEN: usize = size_of::<Header>();

/// Most sections an image may have.
pub const MAX_SECTIONS: usize = 64;

/// The fixed header. All fields little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`ENDIAN_MARK`].
    pub endian_mark: u32,
    /// [`FORMAT_MAJOR`].
    pub major: u16,
    /// [`FORMAT_MINOR`] of the writer.
    pub minor: u16,
    /// Bytes of header and section table together.
    pub header_len: u32,
    /// Number of sections.
    pub section_count: u32,
    /// Length of the whole file in bytes.
    pub file_len: u64,
    /// Zero; a reader refuses flags it does not know.
    pub flags: u64,
    /// [`crate::image_id`] of the section table.
    pub image_id: [u8; 16],
    /// [`crate::checksum`] of the header before this field, continued by that of the table.
    pub header_checksum: u64,
}

/// One line of the section table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct SectionEntry {
    /// [`crate::SectionKind`] number.
    pub kind: u32,
    /// [`crate::SECTION_REQUIRED`] or 0.
    pub flags: u32,
    /// First byte, from the start of the file.
    pub offset: u64,
    /// Length in bytes, without padding.
    pub length: u64,
    /// [`crate::checksum`] of the section's bytes.
    pub checksum: u64,
    /// Alignment of `offset` in bytes.
    pub align: u32,
    /// Version of this section's inner layout; 0 in format version 1.0.
    pub schema: u32,
}

const _: () = assert!(size_of::<Header>() == 64 && size_of::<SectionEntry>() == 40);

impl Header {
    /// Header and section table never take more bytes than this.
    pub const PREFIX_LEN: usize = HEADER_LEN + MAX_SECTIONS * size_of::<SectionEntry>();

    /// Reads and checks the header and the section table of an image of `file_len` bytes, of which
    /// `bytes` are the first: all of them, or at least [`Header::PREFIX_LEN`].
    ///
    /// # Errors
    /// The first rule that is broken, in the order: length of a header, magic, byte order, major
    /// version, table size, header checksum, flags, file length.
    pub fn parse(bytes: &[u8], file_len: u64) -> Result<(&Self, &[SectionEntry]), FormatError> {
        let too_short = |needed| FormatError::TooShort {
            len: bytes.len(),
            needed,
        };
        let head = bytes.get(..HEADER_LEN).ok_or(too_short(HEADER_LEN))?;
        if head[..MAGIC.len()] != MAGIC {
            return Err(FormatError::BadMagic);
        }
        let misaligned = FormatError::Misaligned {
            align: crate::SECTION_ALIGN,
        };
        let header: &Self = bytemuck::try_from_bytes(head).map_err(|_| misaligned)?;
        if header.endian_mark != ENDIAN_MARK {
            return Err(FormatError::BadEndianMark {
                found: header.endian_mark,
            });
        }
        if header.major != FORMAT_MAJOR {
            return Err(FormatError::UnsupportedVersion {
                major: header.major,
                minor: header.minor,
                supported: FORMAT_MAJOR,
            });
        }
        let count = header.section_count as usize;
        if count > MAX_SECTIONS {
            return Err(FormatError::BadHeader {
                field: "more than 64 sections",
            });
        }
        let header_len = HEADER_LEN + count * size_of::<SectionEntry>();
        if header.header_len as usize != header_len {
            return Err(FormatError::BadHeader {
                field: "the header length does not agree with the section count",
            });
        }
        let table = bytes
            .get(HEADER_LEN..header_len)
            .ok_or(too_short(header_len))?;
        if header.header_checksum != header.compute_checksum(table) {
            return Err(FormatError::HeaderChecksum);
        }
        if header.flags != 0 {
            return Err(FormatError::BadHeader {
                field: "unknown flags are set",
            });
        }
        if header.image_id != crate::image_id(table) {
            return Err(FormatError::BadHeader {
                field: "the image id does not agree with the section table",
            });
        }
        if header.file_len != file_len {
            return Err(FormatError::WrongLength {
                expected: header.file_len,
                found: file_len,
            });
        }
        let entries = bytemuck::try_cast_slice(table).map_err(|_| misaligned)?;
        Ok((header, entries))
    }

    /// The checksum that `header_checksum` must hold, given the section table's bytes.
    #[must_use]
    pub fn compute_checksum(&self, table: &[u8]) -> u64 {
        let head = &bytemuck::bytes_of(self)[..HEADER_LEN - size_of::<u64>()];
        checksum(head) ^ checksum(table).rotate_left(1)
    }
}

/// Whether `bytes` begin with the magic and major version of an image, in a constant.
///
/// For [`include_image!`](https://docs.rs/trie-runtime), which fails the build with it.
#[must_use]
pub const fn const_check_header(bytes: &[u8]) -> bool {
    if bytes.len() < HEADER_LEN {
        return false;
    }
    let mut i = 0;
    while i < MAGIC.len() {
        if bytes[i] != MAGIC[i] {
            return false;
        }
        i += 1;
    }
    u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) == ENDIAN_MARK
        && u16::from_le_bytes([bytes[12], bytes[13]]) == FORMAT_MAJOR
}

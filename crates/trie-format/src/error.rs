//! Why bytes are not a usable image.

use crate::section::SectionKind;

/// Why bytes were refused as an image. Allocation-free; the text says what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// Fewer bytes than a header.
    #[error(
        "not a trie image: {len} bytes are fewer than the {needed} of a header; make one with `triec compile`"
    )]
    TooShort {
        /// Bytes at hand.
        len: usize,
        /// Bytes needed.
        needed: usize,
    },
    /// The first bytes are not the image magic.
    #[error("not a trie image: wrong magic; make one with `triec compile MODEL -o IMAGE`")]
    BadMagic,
    /// The byte-order mark is not that of a little-endian image.
    #[error(
        "the image's byte order mark is {found:#010x}, not little-endian: the file is damaged or foreign; compile it again"
    )]
    BadEndianMark {
        /// The mark as read.
        found: u32,
    },
    /// Another major version of the format.
    #[error(
        "the image has format version {major}.{minor}, this build reads {supported}.x: compile it again with `triec compile` of this version"
    )]
    UnsupportedVersion {
        /// Major version of the file.
        major: u16,
        /// Minor version of the file.
        minor: u16,
        /// Major version this crate reads.
        supported: u16,
    },
    /// A header field is out of its range.
    #[error("the image header is damaged: {field}; compile the image again")]
    BadHeader {
        /// Which field and what it should be.
        field: &'static str,
    },
    /// The header checksum does not match.
    #[error(
        "the image header's checksum does not match: the file is damaged; compile it again or copy it anew"
    )]
    HeaderChecksum,
    /// The file is shorter or longer than the header says.
    #[error(
        "the image should be {expected} bytes long and is {found}: it is truncated or has trailing bytes; copy it anew"
    )]
    WrongLength {
        /// Length stated in the header, in bytes.
        expected: u64,
        /// Length at hand, in bytes.
        found: u64,
    },
    /// The first byte is not on a 64-byte boundary.
    #[error(
        "the image's bytes must start on a {align}-byte boundary: embed them with `include_image!` or load them from a file"
    )]
    Misaligned {
        /// Needed alignment in bytes.
        align: usize,
    },
    /// A section of a kind this build does not know is marked as required.
    #[error(
        "the image needs section kind {kind}, which this build does not know: use a newer build, or compile the image with this one"
    )]
    UnknownRequiredSection {
        /// The kind's number.
        kind: u32,
    },
    /// A section has an inner layout that this build does not know.
    #[error(
        "the image's {kind} section has schema {schema}, which this build does not know: use a newer build, or compile the image with this one"
    )]
    UnknownSchema {
        /// Which one.
        kind: SectionKind,
        /// Its schema.
        schema: u32,
    },
    /// A section that every image has, or that the metadata calls for, is absent.
    #[error("the image has no {kind} section: compile it again")]
    MissingSection {
        /// Which one.
        kind: SectionKind,
    },
    /// A section's place, size or contents break a rule of the format.
    #[error(
        "the image's {kind} section is invalid at element {index}: {rule}; compile the image again"
    )]
    BadSection {
        /// Which one.
        kind: SectionKind,
        /// The first offending element (0 where the section as a whole is at fault).
        index: usize,
        /// The rule that is broken.
        rule: &'static str,
    },
    /// A section table entry is out of its range.
    #[error("the image's section table entry {index} is invalid: {rule}; compile the image again")]
    BadSectionEntry {
        /// Position in the table.
        index: usize,
        /// The rule that is broken.
        rule: &'static str,
    },
    /// A section's checksum does not match.
    #[error(
        "the checksum of the image's section {index} (kind {kind}) does not match: the file is damaged; copy it anew or compile it again"
    )]
    SectionChecksum {
        /// Position in the table.
        index: usize,
        /// The kind's number.
        kind: u32,
    },
    /// Bytes between sections are not zero.
    #[error(
        "the image has non-zero padding at byte {offset}: the file is damaged; copy it anew or compile it again"
    )]
    Padding {
        /// Offset of the first such byte in the file.
        offset: usize,
    },
}

impl FormatError {
    /// Whether the file is sound but of a version this build cannot read.
    #[must_use]
    pub fn is_incompatible(&self) -> bool {
        matches!(
            self,
            Self::UnsupportedVersion { .. }
                | Self::UnknownRequiredSection { .. }
                | Self::UnknownSchema { .. }
        )
    }
}

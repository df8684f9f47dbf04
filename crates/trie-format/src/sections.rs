//! The sections of an image by kind.
//!
//! Invariant: every range is inside the file, and the sections are all that the file holds.

use bytemuck::Pod;

use crate::charsmap::CharsmapView;
use crate::error::FormatError;
use crate::header::{Header, SectionEntry};
use crate::parts::{BakedParts, JoinedPairs};
use crate::pipeline::PipelineView;
use crate::section::{SECTION_ALIGN, SECTION_REQUIRED, SectionKind};
use crate::trie::TrieView;

/// A section that breaks a rule.
pub(crate) fn bad(kind: SectionKind, index: usize, rule: &'static str) -> FormatError {
    FormatError::BadSection { kind, index, rule }
}

/// The sections of an image by kind, in bounds.
pub(crate) struct Sections<'a> {
    bytes: &'a [u8],
    entries: &'a [SectionEntry],
    found: [Option<usize>; SectionKind::ALL.len()],
}

impl<'a> Sections<'a> {
    /// The sections that `entries` name.
    ///
    /// # Errors
    /// The first rule that the section table breaks.
    pub(crate) fn index(
        bytes: &'a [u8],
        header: &Header,
        entries: &'a [SectionEntry],
    ) -> Result<Self, FormatError> {
        let found = index_sections(bytes, header, entries)?;
        Ok(Self {
            bytes,
            entries,
            found,
        })
    }

    pub(crate) fn optional(&self, kind: SectionKind) -> Option<&'a [u8]> {
        let entry = &self.entries[self.found[kind.number() as usize - 1]?];
        // `index_sections` has checked that the range is inside the file.
        let start = entry.offset as usize;
        self.bytes.get(start..start + entry.length as usize)
    }

    pub(crate) fn required(&self, kind: SectionKind) -> Result<&'a [u8], FormatError> {
        self.optional(kind)
            .ok_or(FormatError::MissingSection { kind })
    }

    pub(crate) fn cast<T: Pod>(kind: SectionKind, bytes: &'a [u8]) -> Result<&'a [T], FormatError> {
        bytemuck::try_cast_slice(bytes)
            .map_err(|_| bad(kind, 0, "the length must be whole elements"))
    }

    pub(crate) fn required_slice<T: Pod>(&self, kind: SectionKind) -> Result<&'a [T], FormatError> {
        Self::cast(kind, self.required(kind)?)
    }

    pub(crate) fn optional_slice<T: Pod>(
        &self,
        kind: SectionKind,
    ) -> Result<Option<&'a [T]>, FormatError> {
        self.optional(kind)
            .map(|bytes| Self::cast(kind, bytes))
            .transpose()
    }

    pub(crate) fn trie(&self, kind: SectionKind) -> Result<Option<TrieView<'a>>, FormatError> {
        self.optional(kind)
            .map(|section| TrieView::parse(section).map_err(|rule| bad(kind, 0, rule)))
            .transpose()
    }

    /// A rule table: both halves or neither.
    pub(crate) fn charsmap(
        &self,
        units: SectionKind,
        texts: SectionKind,
        max_key_bytes: u32,
    ) -> Result<Option<CharsmapView<'a>>, FormatError> {
        match (self.optional_slice(units)?, self.optional(texts)) {
            (Some(units), Some(texts)) => Ok(Some(CharsmapView::new(units, texts, max_key_bytes))),
            (None, None) => Ok(None),
            (Some(_), None) => Err(FormatError::MissingSection { kind: texts }),
            (None, Some(_)) => Err(FormatError::MissingSection { kind: units }),
        }
    }
}

impl<'a> Sections<'a> {
    /// The joined pairs and the baked parts: both or neither.
    pub(crate) fn parts(&self) -> Result<Option<(JoinedPairs<'a>, BakedParts<'a>)>, FormatError> {
        let baked = self.optional_slice(SectionKind::BakedParts)?;
        match (self.optional(SectionKind::JoinedPairs), baked) {
            (Some(pairs), Some(baked)) => {
                let pairs = JoinedPairs::parse(pairs).ok_or_else(|| {
                    let rule = "behind 2,112 bytes there must be a power of two of words";
                    bad(SectionKind::JoinedPairs, 0, rule)
                })?;
                Ok(Some((pairs, BakedParts::new(baked))))
            }
            (None, None) => Ok(None),
            (Some(_), None) => Err(FormatError::MissingSection {
                kind: SectionKind::BakedParts,
            }),
            (None, Some(_)) => Err(FormatError::MissingSection {
                kind: SectionKind::JoinedPairs,
            }),
        }
    }

    /// The pipeline's sections: all of them or none.
    pub(crate) fn pipeline(
        &self,
        texts: &'a [u8],
    ) -> Result<Option<PipelineView<'a>>, FormatError> {
        let Some(steps) = self.optional_slice(SectionKind::Steps)? else {
            return Ok(None);
        };
        Ok(Some(PipelineView::new(
            steps,
            self.required_slice(SectionKind::CharRanges)?,
            self.required_slice(SectionKind::CharRules)?,
            self.required_slice(SectionKind::AddedTokens)?,
            texts,
        )))
    }
}

/// Checks the section table and notes where each known kind stands.
fn index_sections(
    bytes: &[u8],
    header: &Header,
    entries: &[SectionEntry],
) -> Result<[Option<usize>; SectionKind::ALL.len()], FormatError> {
    let mut found = [None; SectionKind::ALL.len()];
    let mut end = u64::from(header.header_len);
    for (index, entry) in entries.iter().enumerate() {
        let fail = |rule| FormatError::BadSectionEntry { index, rule };
        let section_end = entry
            .offset
            .checked_add(entry.length)
            .ok_or(fail("offset and length overflow"))?;
        if !entry.align.is_power_of_two() || (entry.align as usize) < SECTION_ALIGN {
            return Err(fail("the alignment must be a power of two of at least 64"));
        }
        if entry.offset % u64::from(entry.align) != 0 {
            return Err(fail("the offset must be a multiple of the alignment"));
        }
        if entry.offset < end {
            return Err(fail("sections must ascend and not overlap"));
        }
        if entry.offset - end >= u64::from(entry.align) {
            return Err(fail("sections must follow each other without holes"));
        }
        if section_end > bytes.len() as u64 {
            return Err(fail("the section must end inside the file"));
        }
        if entry.flags & !SECTION_REQUIRED != 0 {
            return Err(fail("unknown flags are set"));
        }
        end = section_end;
        match SectionKind::from_number(entry.kind) {
            Some(kind) => {
                let slot = &mut found[kind.number() as usize - 1];
                if slot.replace(index).is_some() {
                    return Err(fail("a kind must not occur twice"));
                }
                if entry.schema != 0 {
                    return Err(FormatError::UnknownSchema {
                        kind,
                        schema: entry.schema,
                    });
                }
            }
            None if entry.flags & SECTION_REQUIRED != 0 => {
                return Err(FormatError::UnknownRequiredSection { kind: entry.kind });
            }
            None => {}
        }
    }
    if end != bytes.len() as u64 {
        return Err(FormatError::WrongLength {
            expected: end,
            found: bytes.len() as u64,
        });
    }
    Ok(found)
}

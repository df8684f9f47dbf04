//! Typed views of an image's sections, and the checks that make them safe to walk unchecked.

use core::fmt;

use crate::automaton::Automaton;
use crate::charsmap::CharsmapView;
use crate::error::FormatError;
use crate::first::FirstChars;
use crate::header::{Header, SectionEntry};
use crate::metadata::{ArchivedMetadata, ArchivedReference, MAX_METADATA, NO_ID, TextRange};
use crate::node::MAX_PIECE_BYTES;
use crate::parts::{BakedParts, JoinedPairs};
use crate::pieces::{PIECES_PER_ENTRY, PieceTable};
use crate::pipeline::{PipelineView, Step, validate_post_processor};
use crate::plain::PlainChars;
use crate::section::{SECTION_ALIGN, SectionKind};
use crate::sections::{Sections, bad};
use crate::self_test::SelfTest;
use crate::trie::TrieView;
use crate::{checksum, metadata};

/// An image whose header, section table and metadata are in order. The sections' contents are not
/// checked yet: see [`ImageView::validate`].
#[derive(Clone, Copy)]
pub struct ImageView<'a> {
    bytes: &'a [u8],
    header: &'a Header,
    entries: &'a [SectionEntry],
    metadata: &'a ArchivedMetadata,
    texts: &'a [u8],
    pieces: PieceTable<'a>,
    byte_ids: Option<&'a [u32; 256]>,
    charsmap: Option<CharsmapView<'a>>,
    denormalizer: Option<CharsmapView<'a>>,
    path_scores: &'a [f64],
    symbol_nodes: Option<TrieView<'a>>,
    nodes: TrieView<'a>,
    pipeline: Option<PipelineView<'a>>,
    post_processor: &'a [Step],
    plain_chars: Option<&'a PlainChars>,
    parts: Option<(JoinedPairs<'a>, BakedParts<'a>)>,
    first_chars: Option<FirstChars<'a>>,
    automaton: Option<Automaton<'a>>,
    added_nodes: Option<TrieView<'a>>,
    normalized_added_nodes: Option<TrieView<'a>>,
    self_test: Option<SelfTest<'a>>,
}

impl fmt::Debug for ImageView<'_> {
    /// What tells images apart, not their megabytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImageView")
            .field("bytes", &self.bytes.len())
            .field("image_id", &self.header.image_id)
            .field("metadata", self.metadata)
            .finish_non_exhaustive()
    }
}

/// An image that passed [`ImageView::validate`].
///
/// 1. The node arrays are non-empty, and every child that a bitmap announces lies inside its array. Nothing is
///    known about tails: walks check what they read there (see [`crate::trie`]).
/// 2. Every id in a node and its leaf words, in the automaton, in the byte ids and among the special ids is below the piece count
///    (in the tries of added tokens: below their number), or [`NO_ID`] where the format allows it; the pieces'
///    texts, types and scores are in range, and there are as many path scores as pieces, or none.
/// 3. Every unit of a rule table leads to another one of the table, every value into its texts.
/// 4. The longest piece, symbol and rules are stated to have at most [`MAX_PIECE_BYTES`], which bounds
///    walks through crafted, cyclic tables.
#[derive(Debug, Clone, Copy)]
pub struct ValidImage<'a>(ImageView<'a>);

impl<'a> ValidImage<'a> {
    /// The image in `view` without the pass over its contents.
    ///
    /// # Safety
    /// [`ImageView::validate`] must have accepted, or be bound to accept, these very bytes: walks index them
    /// unchecked. Right checksums do not show that.
    #[allow(unsafe_code)] // Nothing is done here; the keyword is for the caller.
    #[must_use]
    pub unsafe fn assume_valid(view: ImageView<'a>) -> Self {
        Self(view)
    }
}

impl<'a> core::ops::Deref for ValidImage<'a> {
    type Target = ImageView<'a>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a> ImageView<'a> {
    /// Reads the header, the section table and the metadata of the image that `bytes` is.
    ///
    /// `bytes` must start on a 64-byte boundary. Constant time: see the [crate's table](crate).
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, FormatError> {
        if !bytes.as_ptr().addr().is_multiple_of(SECTION_ALIGN) {
            return Err(FormatError::Misaligned {
                align: SECTION_ALIGN,
            });
        }
        let (header, entries) = Header::parse(bytes, bytes.len() as u64)?;
        let sections = Sections::index(bytes, header, entries)?;
        let archive = sections.required(SectionKind::Metadata)?;
        if archive.len() > MAX_METADATA {
            return Err(bad(SectionKind::Metadata, 0, "the archive is too long"));
        }
        let metadata = metadata::access(archive)
            .ok_or_else(|| bad(SectionKind::Metadata, 0, "not a valid archive"))?;
        let count = metadata.piece_count.to_native() as usize;

        let sized = |kind, len: usize, expected: usize| {
            if len == expected {
                Ok(())
            } else {
                Err(bad(
                    kind,
                    len.min(expected),
                    "the length must fit the piece count",
                ))
            }
        };
        let pieces = PieceTable {
            index: sections.required_slice(SectionKind::PieceIndex)?,
            texts: sections.required(SectionKind::PieceTexts)?,
            scores: sections.required_slice(SectionKind::PieceScores)?,
            named: sections.required_slice(SectionKind::NamedIds)?,
        };
        sized(SectionKind::PieceScores, pieces.scores.len(), count)?;
        let entries_needed = count.div_ceil(PIECES_PER_ENTRY);
        sized(
            SectionKind::PieceIndex,
            pieces.index.len().min(entries_needed),
            entries_needed,
        )?;
        let path_scores = sections
            .optional_slice::<f64>(SectionKind::PathScores)?
            .map(|scores| sized(SectionKind::PathScores, scores.len(), count).map(|()| scores))
            .transpose()?
            .unwrap_or_default();

        let byte_ids = sections
            .optional_slice::<u32>(SectionKind::ByteIds)?
            .map(<&[u32; 256]>::try_from)
            .transpose()
            .map_err(|_| bad(SectionKind::ByteIds, 0, "there must be 256 ids"))?;
        if byte_ids.is_some() != metadata.byte_fallback {
            return Err(bad(
                SectionKind::ByteIds,
                0,
                "present exactly if the model has byte fallback",
            ));
        }
        let texts = sections.required(SectionKind::Texts)?;
        let view = Self {
            bytes,
            header,
            entries,
            metadata,
            texts,
            pieces,
            byte_ids,
            charsmap: sections.charsmap(
                SectionKind::CharsmapUnits,
                SectionKind::CharsmapTexts,
                metadata.max_rule_bytes.to_native(),
            )?,
            denormalizer: sections.charsmap(
                SectionKind::DenormalizerUnits,
                SectionKind::DenormalizerTexts,
                metadata.max_denormalizer_rule_bytes.to_native(),
            )?,
            path_scores,
            symbol_nodes: sections.trie(SectionKind::SymbolNodes)?,
            nodes: sections
                .trie(SectionKind::Nodes)?
                .ok_or(FormatError::MissingSection {
                    kind: SectionKind::Nodes,
                })?,
            pipeline: sections.pipeline(texts)?,
            post_processor: sections
                .optional_slice(SectionKind::PostProcessor)?
                .unwrap_or_default(),
            plain_chars: sections
                .optional_slice::<PlainChars>(SectionKind::PlainChars)?
                .map(|chars| chars.first().filter(|_| chars.len() == 1))
                .map(|chars| {
                    chars.ok_or_else(|| {
                        bad(SectionKind::PlainChars, 0, "there must be 131,072 bits")
                    })
                })
                .transpose()?,
            parts: sections.parts()?,
            first_chars: sections
                .optional(SectionKind::FirstChars)
                .map(|section| {
                    let rule = "behind 2,048 bytes there must be whole blocks of 256";
                    FirstChars::parse(section).ok_or_else(|| bad(SectionKind::FirstChars, 0, rule))
                })
                .transpose()?,
            automaton: sections
                .optional(SectionKind::Automaton)
                .map(|section| {
                    let rule = "the length must be that of the stated states and blocks";
                    Automaton::parse(section).ok_or_else(|| bad(SectionKind::Automaton, 0, rule))
                })
                .transpose()?,
            added_nodes: sections.trie(SectionKind::AddedNodes)?,
            normalized_added_nodes: sections.trie(SectionKind::NormalizedAddedNodes)?,
            self_test: sections
                .optional_slice(SectionKind::SelfTest)?
                .map(SelfTest::new),
        };
        view.check_metadata()?;
        Ok(view)
    }

    /// Checks the metadata's ids, texts and bounds.
    fn check_metadata(&self) -> Result<(), FormatError> {
        let meta = self.metadata;
        let fail = |rule| Err(bad(SectionKind::Metadata, 0, rule));
        let count = meta.piece_count.to_native();
        let ids = [
            meta.unk_id,
            meta.bos_id,
            meta.eos_id,
            meta.pad_id,
            meta.mask_id,
        ];
        if ids
            .iter()
            .any(|id| id.to_native() >= count && id.to_native() != NO_ID)
        {
            return fail("special ids must be below the piece count");
        }
        if meta.unk_id.to_native() == NO_ID && !meta.byte_fallback {
            return fail("without byte fallback there must be an unknown piece");
        }
        if self.pipeline.is_some() != (meta.reference == ArchivedReference::HuggingFace023) {
            return fail("the Hugging Face reference goes with steps");
        }
        let bounds = [
            meta.max_piece_bytes,
            meta.max_added_bytes,
            meta.max_symbol_bytes,
            meta.max_rule_bytes,
            meta.max_denormalizer_rule_bytes,
        ];
        if bounds
            .iter()
            .any(|bound| bound.to_native() > MAX_PIECE_BYTES)
        {
            return fail("pieces and rules must be shorter than 8,000 bytes");
        }
        if !(meta.unk_score.to_native().is_finite() && meta.unk_score64.to_native().is_finite()) {
            return fail("the unknown score must be finite");
        }
        for range in [&meta.unk_surface, &meta.compiler_version] {
            if self.text(range).is_none() {
                return fail("texts must lie inside the texts section");
            }
        }
        Ok(())
    }

    /// Checks everything that the sections' contents must fulfil: see [`ValidImage`]. One linear pass.
    ///
    /// # Errors
    /// The first element that breaks a rule.
    pub fn validate(self) -> Result<ValidImage<'a>, FormatError> {
        const PIECE_SECTIONS: [SectionKind; 3] = [
            SectionKind::PieceIndex,
            SectionKind::PieceScores,
            SectionKind::NamedIds,
        ];
        let count = self.pieces.len();
        self.pieces.validate().map_err(|(section, index, rule)| {
            bad(PIECE_SECTIONS[usize::from(section)], index, rule)
        })?;
        // They are added as they are, in single precision too.
        let is_score = |score: &f64| (*score as f32).is_finite();
        if let Some(index) = self.path_scores.iter().position(|score| !is_score(score)) {
            return Err(bad(SectionKind::PathScores, index, "scores must be finite"));
        }
        if let Some(index) = self
            .byte_ids
            .and_then(|ids| ids.iter().position(|&id| id >= count && id != NO_ID))
        {
            return Err(bad(
                SectionKind::ByteIds,
                index,
                "ids must be below the piece count",
            ));
        }
        for (charsmap, kind) in [
            (self.charsmap, SectionKind::CharsmapUnits),
            (self.denormalizer, SectionKind::DenormalizerUnits),
        ] {
            if let Some(charsmap) = charsmap {
                charsmap.validate().map_err(|e| bad(kind, e.unit, e.rule))?;
            }
        }
        if let Some((pairs, baked)) = &self.parts {
            pairs
                .validate()
                .map_err(|rule| bad(SectionKind::JoinedPairs, 0, rule))?;
            baked
                .validate(count)
                .map_err(|(index, rule)| bad(SectionKind::BakedParts, index, rule))?;
        }
        if let Some(automaton) = self.automaton {
            automaton
                .validate(count)
                .map_err(|(index, rule)| bad(SectionKind::Automaton, index, rule))?;
        }
        if let Some(self_test) = self.self_test {
            self_test
                .validate()
                .map_err(|index| bad(SectionKind::SelfTest, index, "a pair must end inside"))?;
        }
        let mut added_count = 0;
        if let Some(pipeline) = self.pipeline {
            const PIPELINE_SECTIONS: [SectionKind; 4] = [
                SectionKind::Steps,
                SectionKind::CharRanges,
                SectionKind::CharRules,
                SectionKind::AddedTokens,
            ];
            pipeline.validate(count).map_err(|(section, index, rule)| {
                bad(PIPELINE_SECTIONS[usize::from(section)], index, rule)
            })?;
            added_count = pipeline.added_tokens().len() as u32;
        }
        validate_post_processor(self.post_processor, count)
            .map_err(|(index, rule)| bad(SectionKind::PostProcessor, index, rule))?;
        for (trie, ids, kind) in [
            (Some(self.nodes), count, SectionKind::Nodes),
            (self.symbol_nodes, count, SectionKind::SymbolNodes),
            (self.added_nodes, added_count, SectionKind::AddedNodes),
            (
                self.normalized_added_nodes,
                added_count,
                SectionKind::NormalizedAddedNodes,
            ),
        ] {
            if let Some(trie) = trie {
                trie.validate(ids)
                    .map_err(|(index, rule)| bad(kind, index, rule))?;
            }
        }
        Ok(ValidImage(self))
    }

    /// Checks every section's checksum and that all padding is zero. One linear pass over the file.
    ///
    /// # Errors
    /// The first section or padding byte at fault.
    pub fn verify_checksums(&self) -> Result<(), FormatError> {
        let mut end = self.header.header_len as usize;
        for (index, entry) in self.entries.iter().enumerate() {
            let start = entry.offset as usize;
            let section_end = start + entry.length as usize;
            let padding = self.bytes.get(end..start).unwrap_or_default();
            if let Some(i) = padding.iter().position(|&b| b != 0) {
                return Err(FormatError::Padding { offset: end + i });
            }
            let section = self.bytes.get(start..section_end).unwrap_or_default();
            if checksum(section) != entry.checksum {
                return Err(FormatError::SectionChecksum {
                    index,
                    kind: entry.kind,
                });
            }
            end = section_end;
        }
        Ok(())
    }

    /// The whole file.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &'a Header {
        self.header
    }

    /// The section table.
    #[must_use]
    pub fn entries(&self) -> &'a [SectionEntry] {
        self.entries
    }

    /// The metadata.
    #[must_use]
    pub fn metadata(&self) -> &'a ArchivedMetadata {
        self.metadata
    }

    /// A text that the metadata refers to.
    #[must_use]
    pub fn text(&self, range: &<TextRange as rkyv::Archive>::Archived) -> Option<&'a [u8]> {
        let start = range.start.to_native() as usize;
        self.texts
            .get(start..start.checked_add(range.len.to_native() as usize)?)
    }

    /// The piece table.
    #[must_use]
    pub fn pieces(&self) -> &PieceTable<'a> {
        &self.pieces
    }

    /// The id of each byte's fallback piece, if the model has byte fallback.
    #[must_use]
    pub fn byte_ids(&self) -> Option<&'a [u32; 256]> {
        self.byte_ids
    }

    /// The normalizer's rules, if it has any.
    #[must_use]
    pub fn charsmap(&self) -> Option<CharsmapView<'a>> {
        self.charsmap
    }

    /// The denormalizer's rules, if the model has one.
    #[must_use]
    pub fn denormalizer(&self) -> Option<CharsmapView<'a>> {
        self.denormalizer
    }

    /// The trie of user-defined symbols, if there are any.
    #[must_use]
    pub fn symbol_nodes(&self) -> Option<TrieView<'a>> {
        self.symbol_nodes
    }

    /// The steps around the model, for the Hugging Face reference.
    #[must_use]
    pub fn pipeline(&self) -> Option<PipelineView<'a>> {
        self.pipeline
    }

    /// What is done with ids: templates, truncation, padding. Empty if nothing is.
    #[must_use]
    pub fn post_processor(&self) -> &'a [Step] {
        self.post_processor
    }

    /// The characters that normalization leaves as they are.
    #[must_use]
    pub fn plain_chars(&self) -> Option<&'a PlainChars> {
        self.plain_chars
    }

    /// Where text falls into parts that are segmented by themselves, and the parts with a known answer.
    #[must_use]
    pub fn parts(&self) -> Option<(JoinedPairs<'a>, BakedParts<'a>)> {
        self.parts
    }

    /// Where a walk through [`ImageView::nodes`] is behind its first character, if the image says.
    #[must_use]
    pub fn first_chars(&self) -> Option<FirstChars<'a>> {
        self.first_chars
    }

    /// The automaton of the pieces, if the image has one.
    #[must_use]
    pub fn automaton(&self) -> Option<Automaton<'a>> {
        self.automaton
    }

    /// The trie of the added tokens that are looked for in the text as it is.
    #[must_use]
    pub fn added_nodes(&self) -> Option<TrieView<'a>> {
        self.added_nodes
    }

    /// The trie of the added tokens that are looked for in normalized text.
    #[must_use]
    pub fn normalized_added_nodes(&self) -> Option<TrieView<'a>> {
        self.normalized_added_nodes
    }

    /// Texts with their ids. Empty if the image has none.
    #[must_use]
    pub fn self_test(&self) -> SelfTest<'a> {
        self.self_test.unwrap_or(SelfTest::new(&[]))
    }

    /// The trie of all pieces that take part in segmentation.
    #[must_use]
    pub fn nodes(&self) -> TrieView<'a> {
        self.nodes
    }

    /// The path score of every piece, if some of them are not the model's scores; else empty.
    #[must_use]
    pub fn path_scores(&self) -> &'a [f64] {
        self.path_scores
    }
}

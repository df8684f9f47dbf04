//! Sections, checksums and padding: the bytes of an image.

use std::borrow::Cow;

use sha2::{Digest, Sha256};
use trie_format::pipeline::Step;
use trie_format::{
    ENDIAN_MARK, FORMAT_MAJOR, FORMAT_MINOR, HEADER_LEN, Header, IdMap, IndexEntry, MAGIC,
    Metadata, NormalizerFlags, PIECES_PER_ENTRY, PlainChars, Preset, Reference, SECTION_ALIGN,
    SECTION_REQUIRED, SectionEntry, SectionKind, Template, TextRange, WIDE, checksum, image_id,
};

use crate::charsmap::Charsmap;
use crate::error::CompileError;
use crate::first::first_chars;
use crate::hf::steps::Sections;
use crate::model::Normalizer;
use crate::parts::PartTables;
use crate::trie::Trie;
use crate::vocab::{Entry, Vocab};

/// Everything that goes into an image.
pub(crate) struct Parts<'a> {
    pub(crate) source: &'a [u8],
    pub(crate) reference: Reference,
    pub(crate) ids: IdMap,
    pub(crate) preset: Preset,
    pub(crate) vocab: &'a Vocab<'a>,
    pub(crate) trie: &'a Trie,
    pub(crate) parts: Option<PartTables>,
    pub(crate) symbols: Option<&'a Trie>,
    pub(crate) unk_surface: &'a [u8],
    pub(crate) normalizer: Option<&'a Normalizer>,
    pub(crate) charsmap: Option<&'a Charsmap>,
    pub(crate) denormalizer: Option<&'a Normalizer>,
    pub(crate) pipeline: Option<&'a Sections>,
    pub(crate) template: Template,
    pub(crate) post_processor: Vec<Step>,
    /// Empty: none.
    pub(crate) plain_chars: Option<PlainChars>,
}

/// A section in the making.
pub(crate) struct Section<'a> {
    kind: SectionKind,
    bytes: Cow<'a, [u8]>,
}

impl<'a> Section<'a> {
    pub(crate) fn new(kind: SectionKind, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self {
            kind,
            bytes: bytes.into(),
        }
    }
}

/// The image of `parts`.
pub(crate) fn image(parts: &Parts<'_>) -> Result<Vec<u8>, CompileError> {
    let mut sections = Vec::new();
    let (metadata, texts) = metadata(parts)?;
    sections.push(Section::new(SectionKind::Metadata, metadata));
    sections.push(Section::new(SectionKind::Texts, texts));
    push_pieces(&mut sections, parts.vocab)?;
    if let Some(ids) = &parts.vocab.byte_ids {
        let ids: &[u8] = bytemuck::bytes_of(ids);
        sections.push(Section::new(SectionKind::ByteIds, ids));
    }
    let denormalizer = parts.denormalizer.and_then(|d| d.charsmap.as_ref());
    for (charsmap, units_kind, texts_kind) in [
        (
            parts.charsmap,
            SectionKind::CharsmapUnits,
            SectionKind::CharsmapTexts,
        ),
        (
            denormalizer,
            SectionKind::DenormalizerUnits,
            SectionKind::DenormalizerTexts,
        ),
    ] {
        if let Some(Charsmap { units, texts, .. }) = charsmap {
            let units: &[u8] = bytemuck::cast_slice(units);
            sections.push(Section::new(units_kind, units));
            sections.push(Section::new(texts_kind, texts));
        }
    }
    if let Some(pipeline) = parts.pipeline {
        push_pipeline(&mut sections, pipeline);
    }
    if !parts.post_processor.is_empty() {
        let steps: &[u8] = bytemuck::cast_slice(&parts.post_processor);
        sections.push(Section::new(SectionKind::PostProcessor, steps));
    }
    if let Some(chars) = &parts.plain_chars {
        let bytes = bytemuck::bytes_of(chars);
        sections.push(Section::new(SectionKind::PlainChars, bytes));
    }
    if let Some(tables) = &parts.parts {
        let header: &[u8] = bytemuck::bytes_of(&tables.header);
        let pairs = [header, bytemuck::cast_slice(&tables.pairs)].concat();
        sections.push(Section::new(SectionKind::JoinedPairs, pairs));
        let baked: &[u8] = bytemuck::cast_slice(&tables.baked);
        sections.push(Section::new(SectionKind::BakedParts, baked));
        if let Some(automaton) = &tables.automaton {
            sections.push(Section::new(SectionKind::Automaton, automaton));
        }
    }
    if parts.parts.is_some() {
        let first = first_chars(parts.trie.view());
        sections.push(Section::new(SectionKind::FirstChars, first));
    }
    if let Some(symbols) = parts.symbols {
        push_nodes(&mut sections, SectionKind::SymbolNodes, symbols);
    }
    push_nodes(&mut sections, SectionKind::Nodes, parts.trie);
    Ok(assemble(&sections))
}

fn push_nodes(sections: &mut Vec<Section<'_>>, kind: SectionKind, trie: &Trie) {
    sections.push(Section::new(kind, trie.bytes()));
}

fn push_pipeline<'a>(sections: &mut Vec<Section<'a>>, pipeline: &'a Sections) {
    let mut push = |kind, bytes: &'a [u8]| sections.push(Section::new(kind, bytes));
    push(SectionKind::Steps, bytemuck::cast_slice(&pipeline.steps));
    push(
        SectionKind::CharRanges,
        bytemuck::cast_slice(&pipeline.ranges),
    );
    push(
        SectionKind::CharRules,
        bytemuck::cast_slice(&pipeline.rules),
    );
    push(
        SectionKind::AddedTokens,
        bytemuck::cast_slice(&pipeline.added),
    );
    if let Some(trie) = &pipeline.added_trie {
        push_nodes(sections, SectionKind::AddedNodes, trie);
    }
    if let Some(trie) = &pipeline.normalized_added_trie {
        push_nodes(sections, SectionKind::NormalizedAddedNodes, trie);
    }
}

fn push_pieces<'a>(sections: &mut Vec<Section<'a>>, vocab: &Vocab<'_>) -> Result<(), CompileError> {
    let (index, texts) = piece_index(&vocab.entries)?;
    let scores: Vec<f32> = vocab.entries.iter().map(|entry| entry.score).collect();
    let mut push = |kind, bytes: Vec<u8>| sections.push(Section::new(kind, bytes));
    push(
        SectionKind::PieceIndex,
        bytemuck::cast_slice(&index).to_vec(),
    );
    push(SectionKind::PieceTexts, texts);
    push(
        SectionKind::PieceScores,
        bytemuck::cast_slice(&scores).to_vec(),
    );
    if let Some(scores) = path_scores(vocab) {
        push(
            SectionKind::PathScores,
            bytemuck::cast_slice(&scores).to_vec(),
        );
    }
    push(
        SectionKind::NamedIds,
        bytemuck::cast_slice(&vocab.named_ids).to_vec(),
    );
    Ok(())
}

/// The index of the pieces' texts and types, and the texts.
fn piece_index(entries: &[Entry<'_>]) -> Result<(Vec<IndexEntry>, Vec<u8>), CompileError> {
    let mut texts = Vec::new();
    let mut index = Vec::with_capacity(entries.len().div_ceil(PIECES_PER_ENTRY));
    let mut wide: Vec<(usize, [u32; PIECES_PER_ENTRY])> = Vec::new();
    for pieces in entries.chunks(PIECES_PER_ENTRY) {
        let start = texts.len();
        let mut types = 0;
        let mut ends = [0; PIECES_PER_ENTRY];
        for (at, end) in ends.iter_mut().enumerate() {
            if let Some(piece) = pieces.get(at) {
                types |= (piece.piece_type as u32) << (4 * at);
                texts.extend_from_slice(piece.text);
            }
            *end = (texts.len() - start) as u32;
        }
        if texts.len() >= WIDE as usize {
            return Err(CompileError::TooLarge {
                what: "the text of all pieces",
                limit: u64::from(WIDE) - 1,
            });
        }
        if ends[PIECES_PER_ENTRY - 1] > u32::from(u8::MAX) {
            wide.push((index.len(), ends));
        }
        index.push(IndexEntry {
            start: start as u32,
            types,
            ends: ends.map(|end| end as u8),
        });
    }
    for (at, ends) in wide {
        let number = index.len() as u32;
        let entry = &mut index[at];
        entry.start |= WIDE;
        entry.ends = [0; PIECES_PER_ENTRY];
        entry.ends[..4].copy_from_slice(&number.to_le_bytes());
        let ends: &[IndexEntry] = bytemuck::cast_slice(bytemuck::bytes_of(&ends));
        index.extend_from_slice(ends);
    }
    Ok((index, texts))
}

/// The path score of every piece, if one differs from the model's score.
fn path_scores(vocab: &Vocab<'_>) -> Option<Vec<f64>> {
    let of_model = |id: u32| f64::from(vocab.entries[id as usize].score);
    if vocab
        .trie_keys
        .iter()
        .all(|key| key.score64 == of_model(key.id))
    {
        return None;
    }
    let mut scores: Vec<f64> = (0..vocab.entries.len() as u32).map(of_model).collect();
    for key in &vocab.trie_keys {
        scores[key.id as usize] = key.score64;
    }
    Some(scores)
}

fn offset_u32(value: usize, what: &'static str) -> Result<u32, CompileError> {
    u32::try_from(value).map_err(|_| CompileError::TooLarge {
        what,
        limit: u64::from(u32::MAX),
    })
}

fn max_rule_bytes(charsmap: Option<&Charsmap>) -> u32 {
    charsmap.map_or(0, |charsmap| charsmap.max_key_bytes)
}

/// The metadata archive and the texts it refers to.
fn metadata(parts: &Parts<'_>) -> Result<(Vec<u8>, Vec<u8>), CompileError> {
    let Parts { vocab, trie, .. } = parts;
    // The pipeline refers to its texts from the start of the section.
    let mut texts = parts.pipeline.map_or_else(Vec::new, |p| p.texts.clone());
    let mut add_text = |text: &[u8]| -> Result<TextRange, CompileError> {
        let start = offset_u32(texts.len(), "the metadata's texts")?;
        texts.extend_from_slice(text);
        offset_u32(texts.len(), "the metadata's texts")?;
        Ok(TextRange {
            start,
            len: text.len() as u32,
        })
    };
    const OFF: NormalizerFlags = NormalizerFlags {
        add_dummy_prefix: false,
        remove_extra_whitespaces: false,
        escape_whitespaces: false,
        whitespace_as_suffix: false,
    };
    let denormalizer = parts.denormalizer.and_then(|d| d.charsmap.as_ref());
    let metadata = Metadata {
        unk_score64: vocab.unk_score,
        source_len: parts.source.len() as u64,
        source_sha256: Sha256::digest(parts.source).into(),
        unk_score: vocab.unk_score as f32,
        piece_count: vocab.entries.len() as u32,
        node_count: trie.head.nodes,
        max_piece_bytes: trie.max_key_bytes,
        max_symbol_bytes: parts.symbols.map_or(0, |symbols| symbols.max_key_bytes),
        max_added_bytes: parts.pipeline.map_or(0, Sections::max_added_bytes),
        max_rule_bytes: max_rule_bytes(parts.charsmap),
        max_denormalizer_rule_bytes: max_rule_bytes(denormalizer),
        unk_id: vocab.unk_id,
        bos_id: vocab.bos_id,
        eos_id: vocab.eos_id,
        pad_id: vocab.pad_id,
        mask_id: vocab.mask_id,
        unk_surface: add_text(parts.unk_surface)?,
        compiler_version: add_text(env!("CARGO_PKG_VERSION").as_bytes())?,
        normalizer: parts.normalizer.map_or(OFF, |normalizer| normalizer.flags),
        denormalizer: parts.denormalizer.map_or(OFF, |d| d.flags),
        reference: parts.reference,
        id_map: parts.ids,
        byte_fallback: vocab.byte_ids.is_some(),
        preset: parts.preset,
        template: parts.template,
    };
    let archive = rkyv::to_bytes::<rkyv::rancor::Failure>(&metadata)?;
    Ok((archive.to_vec(), texts))
}

/// The bytes of an image of these sections, in this order.
pub(crate) fn assemble(sections: &[Section<'_>]) -> Vec<u8> {
    let mut entries = section_table(sections);
    let header_len = HEADER_LEN + size_of_val(entries.as_slice());
    let mut end = header_len;
    for (entry, section) in entries.iter_mut().zip(sections) {
        let offset = end.next_multiple_of(SECTION_ALIGN);
        entry.offset = offset as u64;
        end = offset + section.bytes.len();
    }
    let table: &[u8] = bytemuck::cast_slice(&entries);
    let mut header = Header {
        magic: MAGIC,
        endian_mark: ENDIAN_MARK,
        major: FORMAT_MAJOR,
        minor: FORMAT_MINOR,
        header_len: header_len as u32,
        section_count: entries.len() as u32,
        file_len: end as u64,
        flags: 0,
        image_id: image_id(table),
        header_checksum: 0,
    };
    header.header_checksum = header.compute_checksum(table);

    let mut image = Vec::with_capacity(end);
    image.extend_from_slice(bytemuck::bytes_of(&header));
    image.extend_from_slice(table);
    for (entry, section) in entries.iter().zip(sections) {
        image.resize(entry.offset as usize, 0);
        image.extend_from_slice(&section.bytes);
    }
    image
}

/// The section table, still without offsets.
fn section_table(sections: &[Section<'_>]) -> Vec<SectionEntry> {
    sections
        .iter()
        .map(|section| SectionEntry {
            kind: section.kind.number(),
            // A reader need not try itself, nor know what readers of 1.0 do not.
            flags: match section.kind {
                SectionKind::SelfTest | SectionKind::Automaton => 0,
                _ => SECTION_REQUIRED,
            },
            offset: 0,
            length: section.bytes.len() as u64,
            checksum: checksum(&section.bytes),
            align: SECTION_ALIGN as u32,
            schema: 0,
        })
        .collect()
}

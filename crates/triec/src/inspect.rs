//! `triec inspect`: what an image says of itself, for people or as JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;
use trie_format::{
    IdMap, ImageView, NODE_LEN, NormalizerFlags, Preset, Reference, SECTION_REQUIRED, SectionEntry,
    SectionKind,
};
use trie_runtime::Tokenizer;

use crate::args::InspectArgs;
use crate::error::CliError;
use crate::{image, pipeline, post};

#[derive(Serialize)]
struct Report {
    /// The file, or `null` for the embedded image.
    image: Option<String>,
    format_version: String,
    image_id: String,
    bytes: u64,
    reference: &'static str,
    /// The form of the converter that a model went through, under the Hugging Face reference.
    preset: Option<char>,
    ids: &'static str,
    pieces: u32,
    trie: Trie,
    special_ids: SpecialIds,
    unk_score: f32,
    unk_surface: String,
    byte_fallback: bool,
    /// `null` under the Hugging Face reference, which has a pipeline.
    normalizer: Option<Normalizer>,
    denormalizer: Option<Normalizer>,
    /// `null` under the SentencePiece references.
    pipeline: Option<pipeline::Report>,
    post_processor: post::Report,
    source: Source,
    compiler_version: String,
    sections: Vec<Section>,
    /// Bytes of the sections that segmentation needs.
    core_bytes: u64,
    /// Bytes of the sections that only save time.
    accelerator_bytes: u64,
}

#[derive(Serialize)]
struct Trie {
    /// Places where texts part, 64 bytes each.
    nodes: u32,
    /// Room for nodes, and for the leaves beside them.
    slots: u32,
    leaves: u32,
    tails: u32,
    tail_bytes: usize,
    bytes_per_piece: f64,
    longest_piece_bytes: u32,
    longest_symbol_bytes: u32,
}

#[derive(Serialize)]
struct Special {
    id: u32,
    piece: String,
}

#[derive(Serialize)]
struct SpecialIds {
    unk: Option<Special>,
    bos: Option<Special>,
    eos: Option<Special>,
    pad: Option<Special>,
    mask: Option<Special>,
}

#[derive(Serialize)]
struct Normalizer {
    has_rules: bool,
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    escape_whitespaces: bool,
    whitespace_as_suffix: bool,
}

#[derive(Serialize)]
struct Source {
    sha256: String,
    bytes: u64,
}

#[derive(Serialize)]
struct Section {
    kind: &'static str,
    number: u32,
    required: bool,
    /// Whether it only saves time.
    accelerator: bool,
    offset: u64,
    bytes: u64,
    percent: f64,
    checksum: String,
}

pub(crate) fn run(args: &InspectArgs) -> Result<(), CliError> {
    let path = args.image.as_ref().or(args.image_option.as_ref());
    let tokenizer = Tokenizer::new(image::open(path.map(|path| path.as_path()))?);
    let name = path.map(|path| path.display().to_string());
    let report = Report::new(name, &tokenizer);
    let written = |source| CliError::write("standard output", source);
    let text = if args.json {
        serde_json::to_string_pretty(&report).map_err(|error| written(error.into()))? + "\n"
    } else {
        report.for_people()
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).map_err(written)?;
    stdout.flush().map_err(written)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    part as f64 / whole as f64
}

/// Two decimals are enough, in JSON too.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

impl Normalizer {
    fn new(flags: NormalizerFlags, has_rules: bool) -> Self {
        Self {
            has_rules,
            add_dummy_prefix: flags.add_dummy_prefix,
            remove_extra_whitespaces: flags.remove_extra_whitespaces,
            escape_whitespaces: flags.escape_whitespaces,
            whitespace_as_suffix: flags.whitespace_as_suffix,
        }
    }

    fn for_people(&self) -> String {
        let on_off = |on| if on { "on" } else { "off" };
        format!(
            "rules {}, dummy prefix {}, remove extra whitespace {}, escape whitespace {}, \
             whitespace as suffix {}",
            on_off(self.has_rules),
            on_off(self.add_dummy_prefix),
            on_off(self.remove_extra_whitespaces),
            on_off(self.escape_whitespaces),
            on_off(self.whitespace_as_suffix),
        )
    }
}

/// Whether a section only saves time.
fn is_accelerator(entry: &SectionEntry) -> bool {
    SectionKind::from_number(entry.kind).is_some_and(SectionKind::is_accelerator)
}

/// Bytes of the sections that are accelerators, or of the others.
fn bytes_of(view: &ImageView<'_>, accelerators: bool) -> u64 {
    let entries = view.entries().iter();
    let wanted = entries.filter(|entry| is_accelerator(entry) == accelerators);
    wanted.map(|entry| entry.length).sum()
}

fn sections(view: &ImageView<'_>) -> Vec<Section> {
    let file_len = view.header().file_len;
    let section = |entry: &SectionEntry| Section {
        kind: SectionKind::from_number(entry.kind).map_or("unknown", SectionKind::name),
        number: entry.kind,
        required: entry.flags & SECTION_REQUIRED != 0,
        accelerator: is_accelerator(entry),
        offset: entry.offset,
        bytes: entry.length,
        percent: rounded(100.0 * ratio(entry.length, file_len)),
        checksum: format!("{:016x}", entry.checksum),
    };
    view.entries().iter().map(section).collect()
}

impl Report {
    fn new(image: Option<String>, tokenizer: &Tokenizer) -> Self {
        let view = tokenizer.image().view();
        let (header, meta) = (view.header(), view.metadata());
        let text = |range| String::from_utf8_lossy(view.text(range).unwrap_or_default()).into();
        let special = tokenizer.special_ids();
        let named = |id: Option<u32>| {
            id.map(|id| Special {
                id,
                piece: String::from_utf8_lossy(tokenizer.piece(id).unwrap_or_default()).into(),
            })
        };
        let trie = view.nodes();
        let trie_bytes = (1 + trie.nodes().len()) * NODE_LEN + trie.tails().len();
        let pieces = meta.piece_count.to_native();
        Self {
            image,
            format_version: format!("{}.{}", header.major, header.minor),
            image_id: hex(&header.image_id),
            bytes: header.file_len,
            reference: Reference::from(meta.reference).name(),
            preset: Preset::from(meta.preset).letter(),
            ids: IdMap::from(meta.id_map).name(),
            pieces,
            trie: Trie {
                nodes: meta.node_count.to_native(),
                slots: trie.head().slots,
                leaves: trie.head().leaves,
                tails: trie.head().tails,
                tail_bytes: trie.tails().len(),
                bytes_per_piece: rounded(ratio(trie_bytes as u64, pieces.into())),
                longest_piece_bytes: meta.max_piece_bytes.to_native(),
                longest_symbol_bytes: meta.max_symbol_bytes.to_native(),
            },
            special_ids: SpecialIds {
                unk: named(special.unk),
                bos: named(special.bos),
                eos: named(special.eos),
                pad: named(special.pad),
                mask: named(special.mask),
            },
            unk_score: meta.unk_score.to_native(),
            unk_surface: text(&meta.unk_surface),
            byte_fallback: meta.byte_fallback,
            normalizer: view
                .pipeline()
                .is_none()
                .then(|| Normalizer::new((&meta.normalizer).into(), view.charsmap().is_some())),
            denormalizer: view
                .denormalizer()
                .map(|_| Normalizer::new((&meta.denormalizer).into(), true)),
            pipeline: pipeline::Report::new(view),
            post_processor: post::Report::new(view),
            source: Source {
                sha256: hex(&meta.source_sha256),
                bytes: meta.source_len.to_native(),
            },
            compiler_version: text(&meta.compiler_version),
            sections: sections(view),
            core_bytes: bytes_of(view, false),
            accelerator_bytes: bytes_of(view, true),
        }
    }

    fn for_people(&self) -> String {
        let trie = &self.trie;
        let full = 100.0 * ratio(trie.nodes.into(), trie.slots.into());
        let mut lines: Vec<(&str, String)> = vec![
            (
                "image",
                self.image
                    .clone()
                    .unwrap_or("embedded in this executable".into()),
            ),
            ("format", self.format_version.clone()),
            ("image id", self.image_id.clone()),
            ("length", format!("{} bytes", self.bytes)),
            ("compiler", self.compiler_version.clone()),
            (
                "source",
                format!("{} bytes, sha256 {}", self.source.bytes, self.source.sha256),
            ),
            (
                "reference",
                match self.preset {
                    Some(letter) => format!("{} (preset {letter})", self.reference),
                    None => self.reference.into(),
                },
            ),
            ("ids", self.ids.into()),
            (
                "pieces",
                format!(
                    "{}, at most {} bytes",
                    self.pieces, trie.longest_piece_bytes
                ),
            ),
            (
                "trie",
                format!(
                    "{} nodes in {} slots ({full:.2} % full), {} leaves, {} tails of {} bytes, \
                     {:.2} bytes per piece",
                    trie.nodes,
                    trie.slots,
                    trie.leaves,
                    trie.tails,
                    trie.tail_bytes,
                    trie.bytes_per_piece
                ),
            ),
        ];
        let special = &self.special_ids;
        for (name, special) in [
            ("unk", &special.unk),
            ("bos", &special.bos),
            ("eos", &special.eos),
            ("pad", &special.pad),
            ("mask", &special.mask),
        ] {
            lines.push((
                name,
                special.as_ref().map_or("none".into(), |special| {
                    format!("{} {:?}", special.id, special.piece)
                }),
            ));
        }
        lines.extend([
            ("unk score", self.unk_score.to_string()),
            ("unk surface", format!("{:?}", self.unk_surface)),
            (
                "byte fallback",
                if self.byte_fallback { "on" } else { "off" }.into(),
            ),
        ]);
        match &self.pipeline {
            Some(pipeline) => lines.extend(pipeline.lines()),
            None => {
                let shown = |normalizer: &Option<Normalizer>| match normalizer {
                    Some(normalizer) => normalizer.for_people(),
                    None => "none".into(),
                };
                lines.push(("normalizer", shown(&self.normalizer)));
                lines.push(("denormalizer", shown(&self.denormalizer)));
            }
        }
        lines.extend(self.post_processor.lines());
        let mut text = String::new();
        for (label, value) in lines {
            let _ = writeln!(text, "{label:<13} {value}");
        }
        self.push_sections(&mut text);
        text
    }

    fn push_sections(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "\n{:<22} {:>4} {:>8} {:>10} {:>10} {:>7}  checksum",
            "section", "kind", "required", "offset", "bytes", "%"
        );
        for section in &self.sections {
            let _ = writeln!(
                text,
                "{:<22} {:>4} {:>8} {:>10} {:>10} {:>7.2}  {}",
                section.kind,
                section.number,
                if section.required { "yes" } else { "no" },
                section.offset,
                section.bytes,
                section.percent,
                section.checksum
            );
        }
        for (name, bytes) in [
            ("core", self.core_bytes),
            ("accelerators", self.accelerator_bytes),
        ] {
            let _ = writeln!(
                text,
                "{name:<46} {bytes:>10} {:>7.2}",
                100.0 * ratio(bytes, self.bytes)
            );
        }
    }
}

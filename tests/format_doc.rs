//! `FORMAT.md` says what the code does: the worked dump and the metadata's offsets are remade here and
//! compared. `BLESS=1` writes them into the document.

use std::fmt::Write;
use std::mem::offset_of;
use std::path::Path;

use trie_compiler::Options;
use trie_format::{ArchivedMetadata, HEADER_LEN, NODE_LEN, SectionEntry, SectionKind};
use trie_tests::images::section_table;
use trie_tests::models::ModelSpec;

/// The example: `<unk>`, `a` and `ab`, without normalization.
fn example() -> Vec<u8> {
    let mut spec = ModelSpec {
        switches: [true, true, true],
        ..ModelSpec::default()
    };
    spec.pieces.push((b"a".to_vec(), -1.0, 1));
    spec.pieces.push((b"ab".to_vec(), -1.5, 1));
    trie_compiler::compile(&spec.encode(), &Options::default()).expect("a sound model")
}

fn dump_lines(image: &[u8], range: std::ops::Range<usize>, out: &mut String) {
    for start in range.clone().step_by(16) {
        let line = &image[start..range.end.min(start + 16)];
        let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String = line
            .iter()
            .map(|&byte| {
                if byte.is_ascii_graphic() {
                    char::from(byte)
                } else {
                    '.'
                }
            })
            .collect();
        writeln!(out, "{start:08x}  {:<47}  {text}", hex.join(" ")).expect("strings grow");
    }
}

fn dump(image: &[u8]) -> String {
    let table = section_table(image);
    let mut out = String::from("; header\n");
    dump_lines(image, 0..HEADER_LEN, &mut out);
    for (i, entry) in table.iter().enumerate() {
        let kind = SectionKind::from_number(entry.kind).expect("a known kind");
        writeln!(out, "; table entry {i}: {kind}").expect("strings grow");
        let start = HEADER_LEN + i * size_of::<SectionEntry>();
        dump_lines(image, start..start + size_of::<SectionEntry>(), &mut out);
    }
    for entry in &table {
        let kind = SectionKind::from_number(entry.kind).expect("a known kind");
        let (start, len) = (entry.offset as usize, entry.length as usize);
        writeln!(out, "; {kind}, {len} bytes").expect("strings grow");
        if kind != SectionKind::Nodes {
            dump_lines(image, start..start + len, &mut out);
            continue;
        }
        let lines: Vec<&[u8]> = image[start..start + len].chunks(NODE_LEN).collect();
        let slots = u32::from_le_bytes([lines[0][0], lines[0][1], lines[0][2], lines[0][3]]);
        let mut empty = 0;
        for (index, line) in lines.iter().enumerate() {
            let at = start + index * NODE_LEN;
            let is_slot = (1..=slots as usize).contains(&index);
            if is_slot && index > 2 && *line == lines[2] {
                empty += 1;
                continue;
            }
            if empty > 0 {
                writeln!(out, "; {empty} more empty slots").expect("strings grow");
                empty = 0;
            }
            match is_slot {
                true => writeln!(out, "; slot {}", index - 1).expect("strings grow"),
                false if index > 0 => writeln!(out, "; tails").expect("strings grow"),
                false => {}
            }
            dump_lines(image, at..at + line.len(), &mut out);
        }
    }
    out
}

macro_rules! offsets {
    ($($field:ident : $ty:literal),* $(,)?) => {{
        let mut out = String::from("offset  type    field\n");
        $(writeln!(out, "{:<6}  {:<6}  {}", offset_of!(ArchivedMetadata, $field), $ty, stringify!($field))
            .expect("strings grow");)*
        writeln!(out, "{:<6}          (end)", size_of::<ArchivedMetadata>()).expect("strings grow");
        out
    }};
}

fn metadata_offsets() -> String {
    offsets!(
        unk_score64: "f64",
        source_len: "u64",
        source_sha256: "u8[32]",
        unk_score: "f32",
        piece_count: "u32",
        node_count: "u32",
        max_piece_bytes: "u32",
        max_symbol_bytes: "u32",
        max_added_bytes: "u32",
        max_rule_bytes: "u32",
        max_denormalizer_rule_bytes: "u32",
        unk_id: "u32",
        bos_id: "u32",
        eos_id: "u32",
        pad_id: "u32",
        mask_id: "u32",
        unk_surface: "u32[2]",
        compiler_version: "u32[2]",
        normalizer: "u8[4]",
        denormalizer: "u8[4]",
        reference: "u8",
        id_map: "u8",
        byte_fallback: "u8",
        preset: "u8",
    )
}

/// Compares the fenced block after `<!-- name -->` with `expected`.
fn check_block(name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/trie-format/FORMAT.md");
    let document = std::fs::read_to_string(&path).expect("FORMAT.md is there");
    let opening = format!("<!-- {name} -->\n```text\n");
    let start = document.find(&opening).expect("the marker is there") + opening.len();
    let end = start + document[start..].find("```").expect("the block ends");
    if std::env::var_os("BLESS").is_some() {
        let blessed = format!("{}{expected}{}", &document[..start], &document[end..]);
        std::fs::write(&path, blessed).expect("FORMAT.md can be written");
        return;
    }
    assert!(
        document[start..end] == *expected,
        "FORMAT.md is out of date; BLESS=1 cargo test -p trie-tests --test format_doc\n{expected}"
    );
}

#[test]
fn the_document_is_up_to_date() {
    check_block("metadata offsets", &metadata_offsets());
    check_block("worked dump", &dump(&example()));
}

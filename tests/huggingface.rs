//! The rows of `data/*.jsonl` that say what Hugging Face `tokenizers` 0.23 gives, in three configurations.

use std::path::Path;

use trie_compiler::HuggingFacePreset;
use trie_runtime::{EncodeOptions, OffsetUnit, Reference, Scratch};
use trie_tests::{Row, data_dir, model_path, options, outside_dir, rows, tokenizer};

const PRESETS: [(HuggingFacePreset, &str); 3] = [
    (HuggingFacePreset::A, "huggingface_a"),
    (HuggingFacePreset::B, "huggingface_b"),
    (HuggingFacePreset::C, "huggingface_c"),
];

/// The complaints about one column of one row, and whether it says anything.
fn check(
    row: &Row,
    column: &str,
    preset: HuggingFacePreset,
    models: Option<&Path>,
) -> Option<String> {
    let expected = row.ids(column)?;
    let name = row.str("model").unwrap_or("xlm-roberta");
    let model = model_path(name, models)?;
    let options = options(
        row.str("ids").unwrap_or("fairseq"),
        Reference::HuggingFace023,
    )
    .with_preset(preset);
    let input = row.bytes("input").expect("a row has an input");
    let mut scratch = Scratch::new();
    let tokenizer = tokenizer(&model, &options);
    let found = tokenizer.encode(&input, &mut scratch);
    (found != expected).then(|| {
        format!(
            "{}\n  {column}: expected {expected:?}\n  found {found:?}",
            row.describe()
        )
    })
}

fn check_file(path: &Path, columns: &[(HuggingFacePreset, &str)], models: Option<&Path>) {
    let rows = rows(path);
    let answers = rows
        .iter()
        .filter(|row| columns.iter().any(|(_, c)| row.ids(c).is_some()));
    println!("{}: {} rows", path.display(), answers.count());
    let complaints: Vec<String> = rows
        .iter()
        .flat_map(|row| {
            columns
                .iter()
                .filter_map(move |&(preset, column)| check(row, column, preset, models))
        })
        .collect();
    assert!(
        complaints.is_empty(),
        "{}:\n{}",
        complaints.len(),
        complaints[..complaints.len().min(30)].join("\n")
    );
}

#[test]
fn encode() {
    check_file(&data_dir().join("encode.jsonl"), &PRESETS, None);
}

#[test]
fn ties() {
    let columns = [(HuggingFacePreset::A, "huggingface")];
    check_file(&data_dir().join("ties.jsonl"), &columns, None);
}

#[test]
fn further_cases() {
    let Some(dir) = outside_dir("TRIE_CASES_DIR") else {
        return;
    };
    check_file(
        &dir.join("encode.jsonl"),
        &PRESETS,
        Some(&dir.join("models")),
    );
}

#[test]
fn offsets() {
    let columns = [
        (HuggingFacePreset::A, "hf_tokens", "hf_offsets"),
        (HuggingFacePreset::B, "hf_B_tokens", "hf_B_offsets"),
    ];
    let model = model_path("xlm-roberta", None).expect("the model is committed");
    let asked = EncodeOptions::default()
        .with_pieces(true)
        .with_offsets(OffsetUnit::Chars);
    let rows = rows(&data_dir().join("offsets.jsonl"));
    assert!(rows.len() > 10);
    let mut scratch = Scratch::new();
    for row in &rows {
        for (preset, pieces, offsets) in columns {
            let options = options("fairseq", Reference::HuggingFace023).with_preset(preset);
            let tokenizer = tokenizer(&model, &options);
            let input = row.bytes("input").expect("a row has an input");
            let found = tokenizer.encode_with(&input, &asked, &mut scratch).unwrap();
            let expected = (row.texts(pieces).unwrap(), row.pairs(offsets).unwrap());
            let found: (Vec<_>, _) = (
                found.pieces().map(<[u8]>::to_vec).collect(),
                found.offsets().to_vec(),
            );
            assert_eq!(found, expected, "{}", row.describe());
        }
    }
}

/// A byte that is not UTF-8 counts as U+FFFD, but is one byte long; the rest is where it is.
#[test]
fn offsets_of_bytes_that_are_no_text() {
    let model = model_path("xlm-roberta", None).expect("the model is committed");
    let options = options("fairseq", Reference::HuggingFace023);
    let tokenizer = tokenizer(&model, &options);
    let asked = EncodeOptions::default().with_offsets(OffsetUnit::Bytes);
    let mut scratch = Scratch::new();
    for (broken, whole) in [
        (
            &b"a\xff b\xfe\xfd<mask> \xefc"[..],
            "a\u{fffd} b\u{fffd}\u{fffd}<mask> \u{fffd}c",
        ),
        (b"\xc3", "\u{fffd}"),
        (b" \xef\xbf\xbd\x80 x", " \u{fffd}\u{fffd} x"),
    ] {
        let encoding = tokenizer.encode_with(whole, &asked, &mut scratch).unwrap();
        let (ids, offsets) = (encoding.ids().to_vec(), encoding.offsets().to_vec());
        // Where each byte of `whole` is in `broken`.
        let mut places = vec![0; whole.len() + 1];
        let mut at = 0;
        for (start, character) in whole.char_indices() {
            let is_literal = broken[at..].starts_with(character.to_string().as_bytes());
            at += if is_literal { character.len_utf8() } else { 1 };
            places[start + character.len_utf8()] = at;
        }
        assert_eq!(at, broken.len());
        let expected: Vec<_> = offsets
            .iter()
            .map(|&(a, b)| (places[a], places[b]))
            .collect();
        let encoding = tokenizer.encode_with(broken, &asked, &mut scratch).unwrap();
        assert_eq!(
            (encoding.ids(), encoding.offsets()),
            (&ids[..], &expected[..])
        );
    }
}

//! The rows of `data/*.jsonl` that say what Hugging Face `tokenizers` 0.23 gives, in three configurations.

use std::path::Path;

use trie_compiler::HuggingFacePreset;
use trie_runtime::{Reference, Scratch};
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

//! Offsets under the SentencePiece references: begin and end of each piece in the input's bytes, as the real
//! releases give them.

use std::path::Path;

use trie_runtime::{EncodeOptions, OffsetUnit, Scratch};
use trie_tests::{REFERENCES, Row, data_dir, model_path, options, rows, tokenizer};

/// Complaints about a row, whose columns for the two releases are `columns`.
fn check(row: &Row, model: &Path, columns: [&str; 2], scratch: &mut Scratch) -> Vec<String> {
    let input = row.bytes("input").expect("a row has an input");
    let options_of = |reference| options("sentencepiece", reference);
    let asked = EncodeOptions::default().with_offsets(OffsetUnit::Bytes);
    let mut complaints = Vec::new();
    for ((reference, version), column) in REFERENCES.into_iter().zip(columns) {
        let Some(expected) = row.spans(column) else {
            continue;
        };
        let tokenizer = tokenizer(model, &options_of(reference));
        let plain = tokenizer.encode_to_vec(&input);
        let encoding = tokenizer
            .encode_with(&input, &asked, scratch)
            .expect("nothing is truncated");
        if encoding.ids() != plain {
            complaints.push(format!("{version}, other ids: {}", row.describe()));
        }
        if encoding.offsets() != expected {
            complaints.push(format!(
                "{version}: {}\n  expected {expected:?}\n  found {:?}",
                row.describe(),
                encoding.offsets()
            ));
        }
    }
    complaints
}

fn check_file(name: &str, columns_of: impl Fn(&Row) -> [&'static str; 2], least: usize) {
    let mut scratch = Scratch::new();
    let mut complaints = Vec::new();
    let mut checked = 0;
    for row in rows(&data_dir().join(name)) {
        let columns = columns_of(&row);
        let model = model_path(row.str("model").unwrap_or("xlm-roberta"), None);
        if let (Some(model), true) = (model, row.has(columns[0])) {
            checked += 1;
            complaints.extend(check(&row, &model, columns, &mut scratch));
        }
    }
    println!("{name}: {checked} rows");
    assert!(checked >= least, "only {checked} rows");
    assert!(
        complaints.is_empty(),
        "{} of {checked}:\n{}",
        complaints.len(),
        complaints[..complaints.len().min(20)].join("\n")
    );
}

#[test]
fn mixed_and_broken_texts() {
    let columns = |row: &Row| match row.has("spans_0.2.1") {
        true => ["spans_0.2.3", "spans_0.2.1"],
        false => ["spans_0.2.3", "spans_0.2.3"],
    };
    check_file("spans.jsonl", columns, 1_600);
}

#[test]
fn hard_inputs() {
    check_file("encode.jsonl", |_| ["spans_0.2.3", ""], 1_500);
}

#[test]
fn reported() {
    check_file(
        "offsets.jsonl",
        |_| ["sp_byte_offsets", "sp_byte_offsets"],
        14,
    );
}

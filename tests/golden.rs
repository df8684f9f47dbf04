//! Every row of `data/*.jsonl`: ids, pieces, normalized text and decoded text of the real references.

use std::path::Path;

use trie_runtime::{EncodeOptions, Scratch, Tokenizer};
use trie_tests::{REFERENCES, Row, data_dir, model_path, options, outside_dir, rows, tokenizer};

/// Runs `check` on every row whose model is at hand and fails with all complaints.
fn for_each_row(path: &Path, models: Option<&Path>, check: impl Fn(&Row, &Path) -> Vec<String>) {
    let mut complaints = Vec::new();
    let mut checked = 0;
    for row in rows(path) {
        let name = row.str("model").unwrap_or("xlm-roberta");
        match model_path(name, models) {
            Some(model) => {
                checked += 1;
                complaints.extend(check(&row, &model));
            }
            None => assert!(["t5", "xlnet"].contains(&name), "no model {name}"),
        }
    }
    assert!(checked > 0, "no row was checked");
    println!("{}: {checked} rows", path.display());
    assert!(
        complaints.is_empty(),
        "{} of {checked}:\n{}",
        complaints.len(),
        complaints[..complaints.len().min(20)].join("\n")
    );
}

fn compare<T: PartialEq + std::fmt::Debug>(
    row: &Row,
    column: &str,
    expected: Option<T>,
    found: impl FnOnce() -> T,
) -> Option<String> {
    let expected = expected?;
    let found = found();
    (found != expected).then(|| {
        format!(
            "{}\n  {column}: expected {expected:?}\n  found {found:?}",
            row.describe()
        )
    })
}

/// The ids columns of a row, under both references.
fn check_ids(row: &Row, model: &Path) -> Vec<String> {
    let numbering = row.str("ids").unwrap_or("fairseq");
    let input = row.bytes("input").expect("a row has an input");
    let mut scratch = Scratch::new();
    REFERENCES
        .into_iter()
        .filter_map(|(reference, version)| {
            let column = format!("sentencepiece_{version}");
            compare(row, &column, row.ids(&column), || {
                let tokenizer = tokenizer(model, &options(numbering, reference));
                tokenizer.encode(&input, &mut scratch).to_vec()
            })
        })
        .collect()
}

fn pieces(tokenizer: &Tokenizer, input: &[u8], scratch: &mut Scratch) -> Vec<Vec<u8>> {
    let options = EncodeOptions::default().with_pieces(true);
    let encoding = tokenizer
        .encode_with(input, &options, scratch)
        .expect("nothing is truncated");
    encoding.pieces().map(<[u8]>::to_vec).collect()
}

/// What a row says of sentencepiece 0.2.3 beyond the ids.
fn check_texts(row: &Row, model: &Path) -> Vec<String> {
    let numbering = row.str("ids").unwrap_or("fairseq");
    let input = row.bytes("input").expect("a row has an input");
    let tokenizer = tokenizer(model, &options(numbering, REFERENCES[0].0));
    let mut scratch = Scratch::new();
    let mut complaints = Vec::new();
    complaints.extend(compare(row, "pieces", row.texts("pieces_0.2.3"), || {
        pieces(&tokenizer, &input, &mut scratch)
    }));
    complaints.extend(compare(
        row,
        "normalized",
        row.bytes("normalized_0.2.3"),
        || tokenizer.normalize(&input, &mut scratch).to_vec(),
    ));
    if let Some(ids) = row.ids("sentencepiece_0.2.3") {
        complaints.extend(compare(row, "decoded", row.bytes("decoded_0.2.3"), || {
            tokenizer
                .decode(&ids, &mut scratch)
                .expect("ids are known")
                .to_vec()
        }));
    }
    complaints
}

#[test]
fn encode() {
    for_each_row(&data_dir().join("encode.jsonl"), None, |row, model| {
        [check_ids(row, model), check_texts(row, model)].concat()
    });
}

#[test]
fn ties() {
    for_each_row(&data_dir().join("ties.jsonl"), None, check_ids);
}

#[test]
fn invalid_utf8() {
    for_each_row(&data_dir().join("invalid_utf8.jsonl"), None, check_ids);
}

/// The text that a reference gives for a decode row; `None` where it refuses the ids.
fn expected_text(row: &Row, version: &str) -> Option<Vec<u8>> {
    match version {
        "0.2.1" if row.has("text_0.2.1") => row.bytes("text_0.2.1"),
        _ => row.bytes("text"),
    }
}

fn check_decode(row: &Row, model: &Path) -> Vec<String> {
    let numbering = match row.str("model") {
        Some("xlm-roberta") => "fairseq",
        _ => "sentencepiece",
    };
    // Negative ids, which the references refuse, cannot even be said here.
    let ids = row.ids("ids").unwrap_or_else(|| vec![u32::MAX]);
    let mut scratch = Scratch::new();
    REFERENCES
        .into_iter()
        // 0.2.1 crashes on this model.
        .filter(|&(_, version)| !(version == "0.2.1" && row.str("model") == Some("nul_bf")))
        .filter_map(|(reference, version)| {
            compare(row, version, Some(expected_text(row, version)), || {
                let tokenizer = tokenizer(model, &options(numbering, reference));
                tokenizer
                    .decode(&ids, &mut scratch)
                    .ok()
                    .map(<[u8]>::to_vec)
            })
        })
        .collect()
}

#[test]
fn decode() {
    for_each_row(&data_dir().join("decode.jsonl"), None, check_decode);
}

/// Cases outside the repository, in the same format, with models of their own.
#[test]
fn further_cases() {
    let Some(dir) = outside_dir("TRIE_CASES_DIR") else {
        return;
    };
    let models = dir.join("models");
    for file in ["encode.jsonl", "ties.jsonl"] {
        for_each_row(&dir.join(file), Some(&models), check_ids);
    }
}

//! Digests of the ids of whole corpora, made by the real references: line by line, and each file in one
//! call.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use trie_runtime::{Reference, Scratch, Tokenizer};
use trie_tests::{
    REFERENCES, corpus_dir, data_dir, lines, model_path, options, outside_dir, text_files,
    tokenizer,
};

#[derive(Deserialize)]
struct Digests {
    /// By model, file and reference version.
    models: BTreeMap<String, BTreeMap<String, BTreeMap<String, Expected>>>,
}

#[derive(Deserialize)]
struct Expected {
    lines: IdDigest,
    whole: IdDigest,
}

#[derive(Deserialize, Debug, PartialEq)]
struct IdDigest {
    tokens: usize,
    sha256: String,
}

/// The digest of the ids of `texts`: little-endian `u32`s, each text ended by `0xFFFFFFFF`.
fn digest<'t>(
    tokenizer: &Tokenizer,
    texts: impl Iterator<Item = &'t [u8]>,
    scratch: &mut Scratch,
) -> IdDigest {
    let mut hash = Sha256::new();
    let mut tokens = 0;
    for text in texts {
        let ids = tokenizer.encode(text, scratch);
        tokens += ids.len();
        for id in ids.iter().chain(&[u32::MAX]) {
            hash.update(id.to_le_bytes());
        }
    }
    let sha256 = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    IdDigest { tokens, sha256 }
}

fn check(digests: &Path, corpus: &Path, reference: Reference, version: &str) {
    let text = std::fs::read_to_string(digests).expect("the digests are there");
    let digests: Digests = serde_json::from_str(&text).expect("the digests are well-formed");
    let files: BTreeMap<_, _> = text_files(corpus).into_iter().collect();
    let mut scratch = Scratch::new();
    let mut complaints = Vec::new();
    let mut checked = 0;
    for (model, by_file) in &digests.models {
        let numbering = match model.as_str() {
            "xlm-roberta" => "fairseq",
            _ => "sentencepiece",
        };
        let path = model_path(model, None).expect("the model is committed");
        let tokenizer = tokenizer(&path, &options(numbering, reference));
        for (file, by_version) in by_file {
            let (Some(expected), Some(text)) = (by_version.get(version), files.get(file)) else {
                complaints.push(format!("{model} {file}: no text or no digest"));
                continue;
            };
            checked += 1;
            if digest(&tokenizer, lines(text), &mut scratch) != expected.lines {
                complaints.push(format!("{model} {file}: line by line"));
            }
            let whole = std::iter::once(text.as_slice());
            if digest(&tokenizer, whole, &mut scratch) != expected.whole {
                complaints.push(format!("{model} {file}: in one call"));
            }
        }
    }
    assert!(checked > 0, "no file was checked");
    println!("{version}: {checked} files");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn committed_corpus_023() {
    let (reference, version) = REFERENCES[0];
    check(
        &data_dir().join("digests.json"),
        &corpus_dir(),
        reference,
        version,
    );
}

#[test]
fn committed_corpus_021() {
    let (reference, version) = REFERENCES[1];
    check(
        &data_dir().join("digests.json"),
        &corpus_dir(),
        reference,
        version,
    );
}

#[test]
fn large_corpus() {
    let Some(corpus) = outside_dir("TRIE_CORPUS_DIR") else {
        return;
    };
    for (reference, version) in REFERENCES {
        check(
            &data_dir().join("digests_large.json"),
            &corpus,
            reference,
            version,
        );
    }
}

//! Shared helpers of the tests: where the data is, and models compiled once per process.
//!
//! Three environment variables name data that is not part of the repository: `TRIE_MODELS_DIR` further
//! `.model` files (`t5`, `xlnet`), `TRIE_CORPUS_DIR` a folder of large texts, `TRIE_CASES_DIR` a folder
//! of further cases in the format of `data/`. Tests that need one say so and pass without it.

#![forbid(unsafe_code)]

pub mod fragments;
pub mod hf_models;
pub mod images;
pub mod models;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::Value;
use trie_compiler::{CompileError, Options};
use trie_runtime::{IdMap, Image, Reference, Tokenizer};

/// The two sentencepiece references, with the suffix of their columns.
pub const REFERENCES: [(Reference, &str); 2] = [
    (Reference::SentencePiece023, "0.2.3"),
    (Reference::SentencePiece021, "0.2.1"),
];

/// This crate's `data` folder.
#[must_use]
pub fn data_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
}

/// The folder of committed texts.
#[must_use]
pub fn corpus_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The folder that environment variable `name` names; says so on standard error if it names none.
#[must_use]
pub fn outside_dir(name: &str) -> Option<PathBuf> {
    let dir = std::env::var_os(name).map(PathBuf::from);
    if dir.is_none() {
        eprintln!("NOT RUN: {name} is not set");
    }
    dir
}

/// The file of the model `name`, looked for in `dir` (or the committed models) and `TRIE_MODELS_DIR`.
#[must_use]
pub fn model_path(name: &str, dir: Option<&Path>) -> Option<PathBuf> {
    let file = format!("{name}.model");
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
    let further = std::env::var_os("TRIE_MODELS_DIR").map(PathBuf::from);
    let own = dir.map_or_else(|| data_dir().join("models"), Path::to_path_buf);
    [Some(own), Some(committed), further]
        .into_iter()
        .flatten()
        .map(|dir| dir.join(&file))
        .find(|path| path.is_file())
}

/// Options for a row: its numbering and a reference.
#[must_use]
pub fn options(ids: &str, reference: Reference) -> Options {
    let ids = match ids {
        "fairseq" => IdMap::Fairseq,
        "sentencepiece" => IdMap::SentencePiece,
        other => panic!("unknown numbering {other}"),
    };
    Options::default().with_ids(ids).with_reference(reference)
}

/// Compiles the model file at `path`.
///
/// # Errors
/// As the compiler.
pub fn compile_file(path: &Path, options: &Options) -> Result<Vec<u8>, CompileError> {
    trie_compiler::compile(
        &std::fs::read(path).expect("the model can be read"),
        options,
    )
}

/// Tokenizers by model file and options.
type Cache = HashMap<(PathBuf, String), Tokenizer>;
static TOKENIZERS: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);

/// A tokenizer over the model file at `path`, compiled once per process.
///
/// # Panics
/// If it cannot be compiled or loaded.
#[must_use]
pub fn tokenizer(path: &Path, options: &Options) -> Tokenizer {
    let key = (path.to_path_buf(), format!("{options:?}"));
    let mut tokenizers = TOKENIZERS.lock().unwrap();
    tokenizers
        .entry(key)
        .or_insert_with(|| {
            let image = compile_file(path, options)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            Tokenizer::new(Image::from_bytes(&image).expect("a fresh image is sound"))
        })
        .clone()
}

/// A tokenizer over the committed XLM-RoBERTa model, in fairseq order.
#[must_use]
pub fn xlm_roberta(reference: Reference) -> Tokenizer {
    let path = model_path("xlm-roberta", None).expect("the model is committed");
    tokenizer(&path, &options("fairseq", reference))
}

/// A row of a JSONL file: a text column `x` may be there as `x_b64` instead.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Row(HashMap<String, Value>);

impl Row {
    /// Whether the row has this column, be it `null`.
    #[must_use]
    pub fn has(&self, column: &str) -> bool {
        self.0.contains_key(column)
    }

    /// A string column.
    #[must_use]
    pub fn str(&self, column: &str) -> Option<&str> {
        self.0.get(column)?.as_str()
    }

    /// Any column that is there and of this type.
    #[must_use]
    pub fn json<T: serde::de::DeserializeOwned>(&self, column: &str) -> Option<T> {
        serde_json::from_value(self.0.get(column)?.clone()).ok()
    }

    /// A text column, as bytes.
    #[must_use]
    pub fn bytes(&self, column: &str) -> Option<Vec<u8>> {
        let decode = |text: &str| BASE64_STANDARD.decode(text).expect("valid base64");
        self.str(&format!("{column}_b64"))
            .map(decode)
            .or_else(|| Some(self.str(column)?.as_bytes().to_vec()))
    }

    /// A column of ids; `None` where the reference has no answer.
    #[must_use]
    pub fn ids(&self, column: &str) -> Option<Vec<u32>> {
        serde_json::from_value(self.0.get(column)?.clone()).ok()
    }

    /// A column of pairs of numbers.
    #[must_use]
    pub fn pairs(&self, column: &str) -> Option<Vec<(usize, usize)>> {
        serde_json::from_value(self.0.get(column)?.clone()).ok()
    }

    /// A column of texts, as bytes.
    #[must_use]
    pub fn texts(&self, column: &str) -> Option<Vec<Vec<u8>>> {
        let strings = |column: &str| -> Option<Vec<String>> {
            serde_json::from_value(self.0.get(column)?.clone()).ok()
        };
        if let Some(texts) = strings(&format!("{column}_b64")) {
            return Some(
                texts
                    .iter()
                    .map(|t| BASE64_STANDARD.decode(t).unwrap())
                    .collect(),
            );
        }
        Some(
            strings(column)?
                .into_iter()
                .map(String::into_bytes)
                .collect(),
        )
    }

    /// A column of spans; `None` where the reference has no answer.
    #[must_use]
    pub fn spans(&self, column: &str) -> Option<Vec<(usize, usize)>> {
        serde_json::from_value(self.0.get(column)?.clone()).ok()
    }

    /// The row for an error message.
    #[must_use]
    pub fn describe(&self) -> String {
        let text = serde_json::to_string(&self.0).unwrap_or_default();
        text.chars().take(300).collect()
    }
}

/// The rows of a JSONL file.
///
/// # Panics
/// If it cannot be read.
#[must_use]
pub fn rows(path: &Path) -> Vec<Row> {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a row is a JSON object"))
        .collect()
}

/// The text files of a folder, by name.
///
/// # Panics
/// If the folder cannot be read.
#[must_use]
pub fn text_files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(dir)
        .unwrap_or_else(|error| panic!("{}: {error}", dir.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .filter(|(name, _)| name != "README.txt")
        .collect();
    files.sort();
    files
}

/// The lines of `text`: split at LF, an empty last part dropped.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.strip_suffix(b"\n")
        .unwrap_or(text)
        .split(|&byte| byte == b'\n')
        .take(if text.is_empty() { 0 } else { usize::MAX })
}

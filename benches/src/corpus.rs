//! Texts and documents.
//!
//! A document is a run of whole lines of one language. It is admitted to a comparison only if the
//! grapheme-wise normaliser and the project's agree on it, and if no tie is decided differently by the
//! published engine's double precision and the reference's single precision; how many are not is reported.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trie_runtime::{Scratch, Tokenizer};

use crate::Result;
use crate::engine::Engine;
use crate::normalize::{GraphemeNormalizer, prepare};

/// One document and what its encoding must be.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Doc {
    /// File name of its language, without the extension.
    pub language: String,
    /// Raw text.
    pub text: String,
    /// The same, normalised, with U+2581 for every space and before the first word: what Viterbi runs on.
    pub prepared: String,
    /// The ids of the project's tokenizer.
    pub ids: Vec<u32>,
}

/// Why documents were left out of a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Documents looked at.
    pub of: usize,
    /// The two normalisers differ.
    pub normalization: usize,
    /// A near tie falls differently in single and double precision.
    pub ties: usize,
}

impl Skipped {
    /// Adds another count.
    pub fn add(&mut self, other: Self) {
        self.of += other.of;
        self.normalization += other.normalization;
        self.ties += other.ties;
    }
}

/// Texts by language: `*.txt` of one directory.
pub struct Corpus {
    /// Text by file name without extension.
    pub texts: BTreeMap<String, String>,
}

/// The committed corpus.
fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus")
}

impl Corpus {
    /// Reads the directory that `TRIE_CORPUS_DIR` names, or the committed corpus.
    ///
    /// # Errors
    /// If there is no text, or one is not UTF-8.
    pub fn read() -> Result<Self> {
        let dir = std::env::var_os("TRIE_CORPUS_DIR").map_or_else(committed, PathBuf::from);
        let mut texts = BTreeMap::new();
        for entry in std::fs::read_dir(&dir).map_err(|e| format!("{}: {e}", dir.display()))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "txt")
                && let Some(name) = path.file_stem().and_then(|name| name.to_str())
            {
                let text = std::fs::read_to_string(&path)
                    .map_err(|e| format!("{}: {e}", path.display()))?;
                texts.insert(name.to_owned(), text);
            }
        }
        if texts.is_empty() {
            return Err(format!("{} holds no *.txt", dir.display()).into());
        }
        Ok(Self { texts })
    }

    /// The text of a language.
    ///
    /// # Errors
    /// If the corpus has none.
    pub fn text(&self, language: &str) -> Result<&str> {
        let text = self.texts.get(language);
        Ok(text.ok_or_else(|| format!("the corpus has no {language}.txt"))?)
    }
}

/// Cuts texts into documents and admits them.
pub struct Maker<'a> {
    tokenizer: &'a Tokenizer,
    normalizer: GraphemeNormalizer,
    /// A stage that starts from prepared text, for the double-precision ids.
    double: &'a dyn Engine,
    vocabulary: &'a crate::fixture::Vocabulary,
    scratch: Scratch,
}

impl<'a> Maker<'a> {
    /// A maker that admits by `tokenizer` and `double`.
    ///
    /// # Errors
    /// If the vocabulary's rule table is malformed.
    pub fn new(
        tokenizer: &'a Tokenizer,
        double: &'a dyn Engine,
        vocabulary: &'a crate::fixture::Vocabulary,
    ) -> Result<Self> {
        Ok(Self {
            tokenizer,
            normalizer: GraphemeNormalizer::new(&vocabulary.charsmap)?,
            double,
            vocabulary,
            scratch: Scratch::new(),
        })
    }

    /// The id of the unknown piece.
    #[must_use]
    pub fn unknown(&self) -> u32 {
        self.vocabulary.unk_id
    }

    /// Whole lines of `text` in documents of about `tokens` tokens; a short rest is left out.
    pub fn cut(&mut self, text: &str, tokens: usize) -> Vec<String> {
        let mut docs = Vec::new();
        let mut doc = String::new();
        let mut count = 0;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if !doc.is_empty() {
                doc.push('\n');
            }
            doc.push_str(line);
            count += self.tokenizer.encode(line, &mut self.scratch).len();
            if count >= tokens {
                docs.push(std::mem::take(&mut doc));
                count = 0;
            }
        }
        docs
    }

    /// A document of `text` without any check of admission.
    ///
    /// # Errors
    /// If normalised text is not UTF-8.
    pub fn doc(&mut self, language: &str, text: String) -> Result<Doc> {
        let normalized = self.tokenizer.normalize(&text, &mut self.scratch);
        let prepared = std::str::from_utf8(normalized)?.to_owned();
        Ok(Doc {
            language: language.to_owned(),
            ids: self.tokenizer.encode(&text, &mut self.scratch).to_vec(),
            prepared,
            text,
        })
    }

    /// Those of `texts` on which all engines of the ladder must agree, and how many are left out.
    ///
    /// # Errors
    /// If single and double precision differ by more than rounding explains: then one of the two
    /// encoders is wrong.
    pub fn admit(&mut self, language: &str, texts: Vec<String>) -> Result<(Vec<Doc>, Skipped)> {
        let mut skipped = Skipped {
            of: texts.len(),
            ..Skipped::default()
        };
        let mut docs = Vec::new();
        let mut session = self.double.session();
        let (mut normalized, mut prepared) = (String::new(), String::new());
        for text in texts {
            let doc = self.doc(language, text)?;
            self.normalizer.normalize(&doc.text, &mut normalized);
            prepare(&normalized, &mut prepared);
            if prepared != doc.prepared {
                skipped.normalization += 1;
                continue;
            }
            let double = session.encode(&doc);
            if double == doc.ids {
                docs.push(doc);
            } else {
                self.check_tie(&doc, double)?;
                skipped.ties += 1;
            }
        }
        Ok((docs, skipped))
    }

    /// Fails unless the two segmentations score the same but for single precision's rounding.
    fn check_tie(&self, doc: &Doc, double: &[u32]) -> Result<()> {
        let score = |ids: &[u32]| -> f64 { ids.iter().map(|&id| self.vocabulary.score(id)).sum() };
        let (single, double) = (score(&doc.ids), score(double));
        if (single - double).abs() <= 2e-6 * double.abs() {
            return Ok(());
        }
        Err(format!(
            "the ladder and the tokenizer differ by more than rounding ({single} and {double}) on a document in {}: {:.60}...",
            doc.language, doc.text
        )
        .into())
    }
}

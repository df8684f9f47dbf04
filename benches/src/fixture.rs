//! What all engines are built from: the model compiled to images, and the `tokenizer.json` that the
//! peers read, written from the same vocabulary. Lives in a directory, so that child processes share it.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use serde_json::json;
use trie_compiler::{IdMap, Options, Reference};
use trie_format::{ImageView, PieceType};
use trie_runtime::{Backing, Image, LoadOptions};

use crate::Result;

/// A piece that takes part in segmentation.
pub struct Piece {
    /// UTF-8 text.
    pub text: Vec<u8>,
    /// Its id in fairseq order.
    pub id: u32,
    /// Its path score.
    pub score: f64,
}

/// The vocabulary and the normalisation rules, apart from any engine.
pub struct Vocabulary {
    /// Ordinary pieces, sorted by text.
    pub pieces: Vec<Piece>,
    /// Id of the unknown piece.
    pub unk_id: u32,
    /// Path score of an unknown character.
    pub unk_score: f64,
    /// The rule table in SentencePiece's own layout.
    pub charsmap: Vec<u8>,
    /// Text and score of every id, for `tokenizer.json`.
    table: Vec<(String, f64)>,
}

/// The directory with everything engines are built from.
pub struct Fixture {
    dir: PathBuf,
}

impl Fixture {
    /// Compiles `model` and writes all files into `dir`.
    ///
    /// # Errors
    /// If the model cannot be read or compiled, or a file cannot be written.
    pub fn create(model: &Path, dir: &Path) -> Result<Self> {
        let fixture = Self {
            dir: dir.to_owned(),
        };
        let bytes = std::fs::read(model)
            .map_err(|e| format!("{}: {e}; name the model with --model", model.display()))?;
        let options = Options::default().with_ids(IdMap::Fairseq);
        trie_compiler::write_image(&fixture.image(), &trie_compiler::compile(&bytes, &options)?)?;
        std::fs::write(
            fixture.image_id(),
            Image::load(fixture.image(), &LoadOptions::default())?
                .id()
                .to_string(),
        )?;
        let older = options.with_reference(Reference::SentencePiece021);
        trie_compiler::write_image(
            &fixture.image_021(),
            &trie_compiler::compile(&bytes, &older)?,
        )?;
        std::fs::write(fixture.model(), &bytes)?;
        let json = fixture.vocabulary()?.tokenizer_json();
        std::fs::write(fixture.tokenizer_json(), serde_json::to_vec(&json)?)?;
        Ok(fixture)
    }

    /// The fixture that an earlier [`Fixture::create`] left in `dir`.
    #[must_use]
    pub fn open(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
        }
    }

    /// Where the files are.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The SentencePiece model.
    #[must_use]
    pub fn model(&self) -> PathBuf {
        self.dir.join("model.model")
    }

    /// The image under the default reference, fairseq ids.
    #[must_use]
    pub fn image(&self) -> PathBuf {
        self.dir.join("image.trie")
    }

    /// Names the file of huge pages with the image under the default reference, while there is one.
    #[must_use]
    pub fn huge_image_note(&self) -> PathBuf {
        self.dir.join("huge-image.txt")
    }

    /// The id of the image under the default reference.
    #[must_use]
    pub fn image_id(&self) -> PathBuf {
        self.dir.join("image.id")
    }

    /// The image that reproduces sentencepiece 0.2.1, fairseq ids.
    #[must_use]
    pub fn image_021(&self) -> PathBuf {
        self.dir.join("image-0.2.1.trie")
    }

    /// The Hugging Face description of the same tokenizer.
    #[must_use]
    pub fn tokenizer_json(&self) -> PathBuf {
        self.dir.join("tokenizer.json")
    }

    /// Reads the vocabulary out of the image.
    ///
    /// # Errors
    /// If the image is not readable or lacks what the ladder needs.
    pub fn vocabulary(&self) -> Result<Vocabulary> {
        Vocabulary::read(
            Image::load(
                self.image(),
                &LoadOptions::default().with_backing(Backing::Copy),
            )?
            .view(),
        )
    }
}

impl Vocabulary {
    fn read(view: &ImageView<'_>) -> Result<Self> {
        let mut pieces = Vec::new();
        let mut table = Vec::new();
        for id in 0..view.pieces().len() {
            let text = view.pieces().text(id).ok_or("the image lacks a piece")?;
            let score = f64::from(view.pieces().score(id).unwrap_or_default());
            if view.pieces().piece_type(id) == Some(PieceType::Normal) {
                let text = text.to_vec();
                pieces.push(Piece { text, id, score });
            }
            table.push((String::from_utf8(text.to_vec())?, score));
        }
        pieces.sort_unstable_by(|a, b| a.text.cmp(&b.text));
        let rules = view
            .charsmap()
            .ok_or("the model has no normalisation rules")?;
        let units = rules.units();
        let mut charsmap = ((units.len() * 4) as u32).to_le_bytes().to_vec();
        charsmap.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        charsmap.extend_from_slice(rules.texts());
        Ok(Self {
            pieces,
            unk_id: view.metadata().unk_id.to_native(),
            unk_score: view.metadata().unk_score64.to_native(),
            charsmap,
            table,
        })
    }

    /// The path score of an id.
    #[must_use]
    pub fn score(&self, id: u32) -> f64 {
        if id == self.unk_id {
            return self.unk_score;
        }
        self.table.get(id as usize).map_or(0.0, |(_, score)| *score)
    }

    /// A vocabulary of sorted pieces alone.
    #[cfg(test)]
    pub(crate) fn of_pieces(pieces: Vec<Piece>) -> Self {
        Self {
            pieces,
            unk_id: 0,
            unk_score: -100.0,
            charsmap: Vec::new(),
            table: Vec::new(),
        }
    }

    /// The configuration that XLM-RoBERTa's converter writes: precompiled rules, runs of spaces
    /// collapsed, Metaspace.
    fn tokenizer_json(&self) -> serde_json::Value {
        let special = |id: u32| {
            json!({ "id": id, "content": self.table[id as usize].0, "single_word": false,
                    "lstrip": false, "rstrip": false, "normalized": false, "special": true })
        };
        let mask = self.table.len() as u32 - 1;
        let added = [0, 1, 2, 3, mask].map(special);
        let metaspace = json!({ "type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": "always", "split": true });
        json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": added,
            "normalizer": { "type": "Sequence", "normalizers": [
                { "type": "Precompiled",
                  "precompiled_charsmap": base64::engine::general_purpose::STANDARD.encode(&self.charsmap) },
                { "type": "Replace", "pattern": { "Regex": " {2,}" }, "content": " " },
            ] },
            "pre_tokenizer": metaspace,
            "post_processor": null,
            "decoder": metaspace,
            "model": { "type": "Unigram", "unk_id": self.unk_id, "vocab": self.table, "byte_fallback": false },
        })
    }
}

//! From a SentencePiece Unigram model to a tokenizer image, offline.
//!
//! ```text
//! proto     the wire format, as far as it is needed
//! model     a checked model: what the reference would load
//! charsmap  its rule tables
//! vocab     ids and path scores under the chosen numbering and reference
//! trie      the double array of 64-byte nodes
//! writer    sections, checksums, bytes
//! output    onto the disk, atomically
//! build     one line for a `build.rs`
//! ```
//!
//! Data flows down that list and never back. Invariant: the same model and [`Options`] give the same
//! bytes, on every machine; nothing of the environment (time, paths, hash seeds) enters an image.
//!
//! ```no_run
//! let model = std::fs::read("spiece.model")?;
//! let image = trie_compiler::compile(&model, &trie_compiler::Options::default())?;
//! trie_compiler::write_image("spiece.trie".as_ref(), &image)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod build;
mod charsmap;
mod error;
mod model;
mod output;
mod proto;
mod trie;
mod vocab;
mod writer;

pub use error::{CompileError, PieceName};
pub use output::write_image;
pub use trie_format::{IdMap, Reference};

/// What to compile for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How ids are numbered.
    pub ids: IdMap,
    /// Whose ids are reproduced.
    pub reference: Reference,
}

impl Default for Options {
    /// The model's own ids, exact against sentencepiece 0.2.3.
    fn default() -> Self {
        Self {
            ids: IdMap::SentencePiece,
            reference: Reference::SentencePiece023,
        }
    }
}

impl Options {
    /// These options with another id numbering.
    #[must_use]
    pub fn with_ids(mut self, ids: IdMap) -> Self {
        self.ids = ids;
        self
    }

    /// These options with another reference.
    #[must_use]
    pub fn with_reference(mut self, reference: Reference) -> Self {
        self.reference = reference;
        self
    }
}

/// A stage of [`compile_with_progress`], in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Reading and checking the model.
    Model,
    /// Building the trie.
    Trie,
    /// Laying out sections and computing checksums.
    Image,
}

impl Stage {
    /// All stages in order.
    pub const ALL: [Self; 3] = [Self::Model, Self::Trie, Self::Image];

    /// What is being done, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Model => "reading the model",
            Self::Trie => "building the trie",
            Self::Image => "writing the image",
        }
    }
}

/// Compiles a serialized SentencePiece `ModelProto` into an image.
///
/// # Errors
/// A [`CompileError`] that names the piece or field, if sentencepiece 0.2.3 would refuse the model, if
/// it is not a Unigram model, or if it cannot be expressed under `options`.
pub fn compile(model: &[u8], options: &Options) -> Result<Vec<u8>, CompileError> {
    compile_with_progress(model, options, |_| {})
}

/// [`compile`], telling `progress` of every stage that begins.
///
/// # Errors
/// As [`compile`].
pub fn compile_with_progress(
    model: &[u8],
    options: &Options,
    mut progress: impl FnMut(Stage),
) -> Result<Vec<u8>, CompileError> {
    progress(Stage::Model);
    let parsed = model::Model::parse(model)?;
    let vocab = vocab::Vocab::new(&parsed, options)?;
    progress(Stage::Trie);
    let trie = trie::Trie::build(vocab.trie_keys())?;
    let symbols = vocab.symbol_keys();
    let symbols = (!symbols.is_empty())
        .then(|| trie::Trie::build(symbols))
        .transpose()?;
    progress(Stage::Image);
    writer::image(&writer::Parts {
        source: model,
        options,
        model: &parsed,
        vocab: &vocab,
        trie: &trie,
        symbols: symbols.as_ref(),
    })
}

//! From a SentencePiece Unigram model to a tokenizer image, offline.
//!
//! ```text
//! proto     the wire format, as far as it is needed
//! hf        tokenizer.json, and what transformers makes of a model
//! model     a checked model: what the reference would load
//! charsmap  its rule tables
//! template  named templates of special tokens, as post (steps over ids) has them
//! vocab     ids and path scores under the chosen numbering and reference
//! plain     characters that normalization leaves as they are
//! trie      the double array of 64-byte nodes
//! automaton all pieces that end at a character, in one step
//! parts     where text falls apart, and answers known beforehand
//! writer    sections, checksums, bytes
//! self_test texts with their ids, for readers to try themselves on
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

mod automaton;
pub mod build;
mod charsmap;
mod error;
mod first;
mod hf;
mod model;
mod output;
mod parts;
mod plain;
mod post;
mod proto;
mod self_test;
mod template;
mod trie;
mod vocab;
mod writer;

pub use error::{CompileError, PieceName};
pub use output::write_image;
pub use self_test::{Pair, with_self_test};
use trie_format::Preset;
pub use trie_format::{IdMap, Reference, Template};

/// What to compile for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How ids are numbered. A `tokenizer.json` has its own numbering, which counts as
    /// [`IdMap::SentencePiece`].
    pub ids: IdMap,
    /// Whose ids are reproduced; `None` means what the input suggests: sentencepiece 0.2.3 for a model,
    /// Hugging Face for a `tokenizer.json`.
    pub reference: Option<Reference>,
    /// Which form of `transformers`' converter a model goes through under the Hugging Face reference.
    pub preset: HuggingFacePreset,
    /// Which special tokens are put around texts of a model where that is asked for; a `tokenizer.json` has
    /// its own.
    pub template: Template,
}

/// A published form of the `tokenizer.json` that `transformers` makes of a SentencePiece model.
///
/// Common to all: the model's rules (Precompiled) first; control pieces and user-defined symbols as added
/// tokens, `<mask>` with `lstrip`; Metaspace with U+2581, prepended if the model has a dummy prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HuggingFacePreset {
    /// Two and more spaces become one.
    A,
    /// WhitespaceSplit before Metaspace: what XLM-RoBERTa's published `tokenizer.json` has.
    #[default]
    B,
    /// Spaces at the right end are dropped, two and more spaces become U+2581: the later converter.
    C,
}

impl From<HuggingFacePreset> for Preset {
    fn from(preset: HuggingFacePreset) -> Self {
        match preset {
            HuggingFacePreset::A => Self::A,
            HuggingFacePreset::B => Self::B,
            HuggingFacePreset::C => Self::C,
        }
    }
}

impl Default for Options {
    /// The model's own ids, and the reference that the input suggests.
    fn default() -> Self {
        Self {
            ids: IdMap::SentencePiece,
            reference: None,
            preset: HuggingFacePreset::default(),
            template: Template::Suggested,
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

    /// These options with a reference.
    #[must_use]
    pub fn with_reference(mut self, reference: Reference) -> Self {
        self.reference = Some(reference);
        self
    }

    /// These options with the Hugging Face reference, and a form of its converter for models.
    #[must_use]
    pub fn with_preset(mut self, preset: HuggingFacePreset) -> Self {
        self.reference = Some(Reference::HuggingFace023);
        self.preset = preset;
        self
    }

    /// These options with a named template of special tokens.
    #[must_use]
    pub fn with_template(mut self, template: Template) -> Self {
        self.template = template;
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

/// Whether [`compile`] takes `input` for a `tokenizer.json` rather than a model: by its contents.
#[must_use]
pub fn is_tokenizer_json(input: &[u8]) -> bool {
    hf::json::looks_like_json(input)
}

/// Compiles a serialized SentencePiece `ModelProto`, or a `tokenizer.json`, into an image. Which of the two
/// it is shows from the contents.
///
/// # Errors
/// A [`CompileError`] that names the piece or field, if the reference would refuse the input, if it is not a
/// Unigram model, or if it cannot be expressed under `options`.
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
    if hf::json::looks_like_json(model) {
        check_json_options(options)?;
        let parsed = hf::json::parse(model)?;
        return compile_hf(model, parsed, Preset::None, options, progress);
    }
    let parsed = model::Model::parse(model)?;
    if options.reference == Some(Reference::HuggingFace023) {
        let converted = hf::preset::convert(parsed, options.ids, options.preset, options.template)?;
        return compile_hf(model, converted, options.preset.into(), options, progress);
    }
    let reference = options.reference.unwrap_or(Reference::SentencePiece023);
    let vocab = vocab::Vocab::new(&parsed, options.ids, reference)?;
    progress(Stage::Trie);
    let trie = trie::Trie::build(&vocab.trie_keys)?;
    let symbols = (!vocab.symbol_keys.is_empty())
        .then(|| trie::Trie::build(&vocab.symbol_keys))
        .transpose()?;
    progress(Stage::Image);
    let ends = template::Ends {
        bos: &parsed.bos_piece,
        eos: &parsed.eos_piece,
        pad: &parsed.pad_piece,
    };
    let named = template::named(options.template, options.ids, &vocab.entries, &ends)?;
    writer::image(&writer::Parts {
        source: model,
        reference,
        ids: options.ids,
        preset: Preset::None,
        vocab: &vocab,
        trie: &trie,
        parts: parts::tables(&vocab, &trie, parsed.normalizer.charsmap.as_ref(), true),
        symbols: symbols.as_ref(),
        unk_surface: &parsed.unk_surface,
        normalizer: Some(&parsed.normalizer),
        charsmap: parsed.normalizer.charsmap.as_ref(),
        denormalizer: parsed.denormalizer.as_ref(),
        pipeline: None,
        template: options.template,
        post_processor: post::steps(&named.post_processor, None, named.padding.as_ref()),
        plain_chars: Some(plain::plain_chars(
            parsed
                .normalizer
                .charsmap
                .as_ref()
                .map(charsmap::Charsmap::view),
            &vocab.symbol_keys,
        )),
    })
}

fn check_json_options(options: &Options) -> Result<(), CompileError> {
    if options.ids != IdMap::SentencePiece {
        return Err(CompileError::Options {
            option: "--ids",
            reason: "a tokenizer.json has its own ids; leave the option out",
        });
    }
    if options.template != Template::Suggested {
        return Err(CompileError::Options {
            option: "--template",
            reason: "a tokenizer.json has its own post-processor; leave the option out",
        });
    }
    match options.reference {
        None | Some(Reference::HuggingFace023) => Ok(()),
        Some(_) => Err(CompileError::Options {
            option: "--reference",
            reason: "a tokenizer.json describes Hugging Face tokenizers; leave the option out",
        }),
    }
}

/// Compiles for the Hugging Face reference.
fn compile_hf(
    source: &[u8],
    model: hf::pipeline::HfModel,
    preset: Preset,
    options: &Options,
    mut progress: impl FnMut(Stage),
) -> Result<Vec<u8>, CompileError> {
    let charsmap = hf::steps::charsmap(&model)?;
    let pipeline = hf::steps::Sections::new(&model, charsmap)?;
    let vocab = hf::tables::vocab(&model, &pipeline.added_texts)?;
    progress(Stage::Trie);
    let trie = trie::Trie::build(&vocab.trie_keys)?;
    progress(Stage::Image);
    writer::image(&writer::Parts {
        source,
        reference: Reference::HuggingFace023,
        ids: options.ids,
        preset,
        vocab: &vocab,
        trie: &trie,
        // Words go through the plain pass under this reference.
        parts: parts::tables(&vocab, &trie, charsmap, false),
        symbols: None,
        unk_surface: b"",
        normalizer: None,
        charsmap,
        denormalizer: None,
        pipeline: Some(&pipeline),
        template: options.template,
        post_processor: post::steps(
            &model.post_processor,
            model.truncation.as_ref(),
            model.padding.as_ref(),
        ),
        // The steps of this reference look at graphemes.
        plain_chars: None,
    })
}

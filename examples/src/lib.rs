//! What the examples share: a tokenizer to play with.

use std::error::Error;
use std::path::Path;

use trie_compiler::{HuggingFacePreset, IdMap, Options};
use trie_runtime::{Image, LoadOptions, Tokenizer};

/// The tokenizer of the image that the command line names, or else XLM-RoBERTa's with the ids that Hugging Face
/// gives, compiled here and now. A server loads an image that was compiled before.
///
/// # Errors
/// If there is no such image, or it is damaged.
pub fn tokenizer() -> Result<Tokenizer, Box<dyn Error>> {
    if let Some(path) = std::env::args_os().nth(1) {
        return Ok(Tokenizer::new(Image::load(path, &LoadOptions::default())?));
    }
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/xlm-roberta.model");
    let options = Options::default()
        .with_ids(IdMap::Fairseq)
        .with_preset(HuggingFacePreset::default());
    let image = trie_compiler::compile(&std::fs::read(model)?, &options)?;
    Ok(Tokenizer::new(Image::from_bytes(&image)?))
}

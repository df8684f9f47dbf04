//! Hugging Face `tokenizers`: what a `tokenizer.json` says, and what its converter makes of a `.model`.
//!
//! ```text
//! pipeline   the steps that a text goes through, as plain data
//! json       tokenizer.json -> vocabulary and pipeline
//! preset     a SentencePiece model -> vocabulary and pipeline
//! tables     vocabulary -> ids and path scores
//! steps      pipeline -> the image's steps (classes, local: their character tables)
//! ```

mod classes;
pub(crate) mod json;
mod local;
pub(crate) mod pipeline;
pub(crate) mod preset;
pub(crate) mod steps;
pub(crate) mod tables;

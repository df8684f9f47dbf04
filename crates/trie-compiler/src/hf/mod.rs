//! Hugging Face `tokenizers`: what a `tokenizer.json` says, and what its converter makes of a `.model`.
//!
//! ```text
//! pipeline   the steps that a text goes through, as plain data
//! json       tokenizer.json -> vocabulary and pipeline
//! preset     a SentencePiece model -> vocabulary and pipeline
//! ```

pub(crate) mod json;
pub(crate) mod pipeline;

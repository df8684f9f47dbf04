//! Text to ids as SentencePiece does it: the whole text normalized, then segmented as one.
//!
//! ```text
//! tokens     from the model's tokens to the reference's: byte fallback, unknown runs
//! model      the parts of an image that are needed
//! encode     a text that is there as a whole
//! stream     a text that arrives in chunks
//! ```

pub(crate) mod encode;
pub(crate) mod model;
pub(crate) mod stream;
mod tokens;

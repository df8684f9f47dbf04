//! Many texts at once, into flat arrays.
//!
//! ```text
//! rows     the result: rows of tokens, end to end
//! encoder  workers with a scratch each, which take blocks of texts in turn
//! pool     the threads, if any
//! ```
//!
//! Invariant: the result is a function of the texts and options, whatever the number of threads.

mod encoder;
mod pool;
mod rows;

pub use encoder::BatchEncoder;
pub use rows::{Batch, Row};

//! The normalizer steps of the Hugging Face reference, over an image's tables.
//!
//! A crate of its own because both sides need it: the runtime for every text, the compiler for the added
//! tokens that are looked for in normalized text. Invariant: output depends on input and tables alone, and
//! nothing is allocated once the buffers have grown.

#![forbid(unsafe_code)]

mod alone;
mod forms;
mod replace;
mod steps;
mod track;

pub use alone::stands_alone;
pub use replace::{Pattern, for_each_match, replace, replace_tracked};
pub use steps::{Room, normalize, pattern_of, str_of};
pub use track::{Alignments, Prefix, Track};

//! Text to ids as SentencePiece does it: the whole text normalized, then segmented as one.

pub(crate) mod encode;

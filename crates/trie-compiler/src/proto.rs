//! The parts of SentencePiece's `sentencepiece_model.proto` that compilation needs.
//!
//! Declared by hand, so that no `protoc` is needed. Deviations from the published schema, each so that
//! the same files parse as in the C++ runtime:
//! - texts are `bytes`: the lite runtime does not check UTF-8, and real models have pieces without it;
//! - closed enums are repeated numbers, of which the last *known* one counts: the C++ runtime puts
//!   unknown enum values aside instead of storing them;
//! - fields that are not needed are left to the unknown-field rule.
//!
//! Stricter than C++: a known field with another wire type is refused, not put aside.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ModelProto {
    #[prost(message, repeated, tag = "1")]
    pub(crate) pieces: Vec<SentencePiece>,
    #[prost(message, optional, tag = "2")]
    pub(crate) trainer_spec: Option<TrainerSpec>,
    #[prost(message, optional, tag = "3")]
    pub(crate) normalizer_spec: Option<NormalizerSpec>,
    #[prost(message, optional, tag = "5")]
    pub(crate) denormalizer_spec: Option<NormalizerSpec>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SentencePiece {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub(crate) piece: Option<Vec<u8>>,
    #[prost(float, optional, tag = "2")]
    pub(crate) score: Option<f32>,
    #[prost(int32, repeated, packed = "false", tag = "3")]
    pub(crate) types: Vec<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TrainerSpec {
    #[prost(int32, repeated, packed = "false", tag = "3")]
    pub(crate) model_types: Vec<i32>,
    #[prost(bool, optional, tag = "24")]
    pub(crate) treat_whitespace_as_suffix: Option<bool>,
    #[prost(bool, optional, tag = "35")]
    pub(crate) byte_fallback: Option<bool>,
    #[prost(bytes = "vec", optional, tag = "44")]
    pub(crate) unk_surface: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "46")]
    pub(crate) bos_piece: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "47")]
    pub(crate) eos_piece: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "48")]
    pub(crate) pad_piece: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct NormalizerSpec {
    #[prost(bytes = "vec", optional, tag = "2")]
    pub(crate) precompiled_charsmap: Option<Vec<u8>>,
    #[prost(bool, optional, tag = "3")]
    pub(crate) add_dummy_prefix: Option<bool>,
    #[prost(bool, optional, tag = "4")]
    pub(crate) remove_extra_whitespaces: Option<bool>,
    #[prost(bool, optional, tag = "5")]
    pub(crate) escape_whitespaces: Option<bool>,
}

/// The last number in `values` that `known` maps to something.
pub(crate) fn last_known<T>(values: &[i32], known: impl Fn(i32) -> Option<T>) -> Option<T> {
    values.iter().rev().find_map(|&value| known(value))
}

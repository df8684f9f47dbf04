//! What an image says of itself: one small rkyv archive of fixed-size fields.
//!
//! Texts of any length stand in the texts section and are referred to by [`TextRange`], so that the
//! archive needs no relative pointers and can be read from any language.

use rkyv::{Archive, Serialize};

/// In an id field: there is no such piece.
pub const NO_ID: u32 = u32::MAX;

/// The implementation whose ids the image reproduces. See `FORMAT.md` for what differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Archive, Serialize)]
#[rkyv(derive(Debug, Clone, Copy, PartialEq, Eq))]
#[repr(u8)]
#[non_exhaustive]
pub enum Reference {
    /// sentencepiece 0.2.2 and 0.2.3: single-precision sums, re-based beyond ±100,000.
    SentencePiece023 = 0,
    /// sentencepiece up to 0.2.1: candidates compared in double, kept in single precision.
    SentencePiece021 = 1,
    /// Hugging Face `tokenizers` 0.23: double-precision sums, word by word, and everything around them.
    HuggingFace023 = 2,
}

impl Reference {
    /// The name used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SentencePiece023 => "sentencepiece-0.2.3",
            Self::SentencePiece021 => "sentencepiece-0.2.1",
            Self::HuggingFace023 => "huggingface-0.23",
        }
    }
}

impl From<ArchivedReference> for Reference {
    fn from(archived: ArchivedReference) -> Self {
        match archived {
            ArchivedReference::SentencePiece023 => Self::SentencePiece023,
            ArchivedReference::SentencePiece021 => Self::SentencePiece021,
            ArchivedReference::HuggingFace023 => Self::HuggingFace023,
        }
    }
}

/// How ids were derived from the model's own piece order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Archive, Serialize)]
#[rkyv(derive(Debug, Clone, Copy, PartialEq, Eq))]
#[repr(u8)]
#[non_exhaustive]
pub enum IdMap {
    /// An id is the piece's position in the model.
    SentencePiece = 0,
    /// `<s>` 0, `<pad>` 1, `</s>` 2, `<unk>` 3, every other piece its position plus one, `<mask>` last.
    Fairseq = 1,
}

impl IdMap {
    /// The name used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SentencePiece => "sentencepiece",
            Self::Fairseq => "fairseq",
        }
    }
}

impl From<ArchivedIdMap> for IdMap {
    fn from(archived: ArchivedIdMap) -> Self {
        match archived {
            ArchivedIdMap::SentencePiece => Self::SentencePiece,
            ArchivedIdMap::Fairseq => Self::Fairseq,
        }
    }
}

/// Which published form of the `tokenizer.json` that `transformers` makes of a model the steps are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Archive, Serialize)]
#[rkyv(derive(Debug, Clone, Copy, PartialEq, Eq))]
#[repr(u8)]
#[non_exhaustive]
pub enum Preset {
    /// None: there are no steps, or they are a file's own.
    None = 0,
    /// Two and more spaces become one.
    A = 1,
    /// WhitespaceSplit before Metaspace.
    B = 2,
    /// Spaces at the right end are dropped, two and more become U+2581.
    C = 3,
}

impl Preset {
    /// The letter used on the command line.
    #[must_use]
    pub const fn letter(self) -> Option<char> {
        match self {
            Self::None => None,
            Self::A => Some('a'),
            Self::B => Some('b'),
            Self::C => Some('c'),
        }
    }
}

impl From<ArchivedPreset> for Preset {
    fn from(archived: ArchivedPreset) -> Self {
        match archived {
            ArchivedPreset::None => Self::None,
            ArchivedPreset::A => Self::A,
            ArchivedPreset::B => Self::B,
            ArchivedPreset::C => Self::C,
        }
    }
}

/// Which special tokens a model's ids are put between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Archive, Serialize)]
#[rkyv(derive(Debug, Clone, Copy, PartialEq, Eq))]
#[repr(u8)]
#[non_exhaustive]
pub enum Template {
    /// What the input suggests: the file's own; of a model its begin and end pieces, those it has.
    Suggested = 0,
    /// None.
    None = 1,
    /// `<s> A </s>`, `<s> A </s> </s> B </s>`: RoBERTa, XLM-RoBERTa, CamemBERT.
    XlmRoberta = 2,
    /// `A </s>`, `A </s> B </s>`: T5, Pegasus, Marian.
    T5 = 3,
    /// `[CLS] A [SEP]`, `[CLS] A [SEP] B [SEP]`, type 1 from B on: ALBERT, DeBERTa.
    Bert = 4,
    /// `A <sep> <cls>`, `A <sep> B <sep> <cls>`, types 0, 1 and 2, padding at the left: XLNet.
    Xlnet = 5,
}

impl Template {
    /// The name used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Suggested => "suggested",
            Self::None => "none",
            Self::XlmRoberta => "xlm-roberta",
            Self::T5 => "t5",
            Self::Bert => "bert",
            Self::Xlnet => "xlnet",
        }
    }
}

impl From<ArchivedTemplate> for Template {
    fn from(archived: ArchivedTemplate) -> Self {
        match archived {
            ArchivedTemplate::Suggested => Self::Suggested,
            ArchivedTemplate::None => Self::None,
            ArchivedTemplate::XlmRoberta => Self::XlmRoberta,
            ArchivedTemplate::T5 => Self::T5,
            ArchivedTemplate::Bert => Self::Bert,
            ArchivedTemplate::Xlnet => Self::Xlnet,
        }
    }
}

/// The type of a piece; the numbers are those of SentencePiece's `ModelProto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum PieceType {
    /// An ordinary piece.
    Normal = 1,
    /// The unknown piece.
    Unknown = 2,
    /// A symbol that never comes from text, such as `</s>`.
    Control = 3,
    /// A symbol that the normalizer leaves as it is.
    UserDefined = 4,
    /// A piece that segmentation must not use.
    Unused = 5,
    /// The fallback piece of one byte.
    Byte = 6,
}

impl PieceType {
    /// The type with this number.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Normal,
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            5 => Self::Unused,
            6 => Self::Byte,
            _ => return None,
        })
    }

    /// Whether look-ups by text find this type before all others, as in the reference's reserved map.
    #[must_use]
    pub const fn is_reserved(self) -> bool {
        matches!(self, Self::Unknown | Self::Control | Self::Byte)
    }

    /// The type's name in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Unknown => "unknown",
            Self::Control => "control",
            Self::UserDefined => "user-defined",
            Self::Unused => "unused",
            Self::Byte => "byte",
        }
    }
}

/// The whitespace rules of a normalizer, as in SentencePiece's `NormalizerSpec`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Archive, Serialize)]
#[rkyv(derive(Debug, Clone, Copy, PartialEq, Eq))]
pub struct NormalizerFlags {
    /// A space is put before the text (after it, with `whitespace_as_suffix`).
    pub add_dummy_prefix: bool,
    /// Spaces at the ends are dropped and runs of spaces become one.
    pub remove_extra_whitespaces: bool,
    /// Spaces become U+2581.
    pub escape_whitespaces: bool,
    /// Pieces carry their space at the end.
    pub whitespace_as_suffix: bool,
}

impl From<&ArchivedNormalizerFlags> for NormalizerFlags {
    fn from(archived: &ArchivedNormalizerFlags) -> Self {
        Self {
            add_dummy_prefix: archived.add_dummy_prefix,
            remove_extra_whitespaces: archived.remove_extra_whitespaces,
            escape_whitespaces: archived.escape_whitespaces,
            whitespace_as_suffix: archived.whitespace_as_suffix,
        }
    }
}

/// A range of the texts section, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Archive, Serialize)]
#[rkyv(derive(Debug, Clone, Copy, PartialEq, Eq))]
pub struct TextRange {
    /// First byte.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
}

/// What an image says of itself. Ids are those of the image's [`IdMap`]; [`NO_ID`] where absent.
#[derive(Debug, Clone, PartialEq, Archive, Serialize)]
#[rkyv(derive(Debug))]
pub struct Metadata {
    /// Path score of an unknown character, in double precision.
    pub unk_score64: f64,
    /// Length of the model file, in bytes.
    pub source_len: u64,
    /// SHA-256 of the model file.
    pub source_sha256: [u8; 32],
    /// Path score of an unknown character, in single precision.
    pub unk_score: f32,
    /// Number of ids; ids are `0..piece_count`.
    pub piece_count: u32,
    /// Number of nodes of the piece trie, without empty slots and tails.
    pub node_count: u32,
    /// Length of the longest piece in the trie, in bytes: no walk is longer.
    pub max_piece_bytes: u32,
    /// Length of the longest user-defined symbol, in bytes.
    pub max_symbol_bytes: u32,
    /// Length of the longest added token, in bytes.
    pub max_added_bytes: u32,
    /// Length of the longest walk through the normalizer's rule table, in bytes.
    pub max_rule_bytes: u32,
    /// Length of the longest walk through the denormalizer's rule table, in bytes.
    pub max_denormalizer_rule_bytes: u32,
    /// The unknown piece.
    pub unk_id: u32,
    /// The begin-of-sentence piece.
    pub bos_id: u32,
    /// The end-of-sentence piece.
    pub eos_id: u32,
    /// The padding piece.
    pub pad_id: u32,
    /// The mask piece.
    pub mask_id: u32,
    /// What decoding writes for the unknown piece.
    pub unk_surface: TextRange,
    /// Version of the compiler that wrote the image.
    pub compiler_version: TextRange,
    /// The normalizer's whitespace rules.
    pub normalizer: NormalizerFlags,
    /// The denormalizer's whitespace rules; used if the image has a denormalizer.
    pub denormalizer: NormalizerFlags,
    /// Whose ids the image reproduces.
    pub reference: Reference,
    /// How ids are numbered.
    pub id_map: IdMap,
    /// Whether unknown characters become byte pieces.
    pub byte_fallback: bool,
    /// Where the steps of the Hugging Face reference come from.
    pub preset: Preset,
    /// Which template was asked for.
    pub template: Template,
}

/// Longest metadata archive that is looked at, in bytes: keeps parsing constant-time.
pub(crate) const MAX_METADATA: usize = 4096;

/// The archive in `bytes`, checked by bytecheck.
pub(crate) fn access(bytes: &[u8]) -> Option<&ArchivedMetadata> {
    rkyv::api::low::access::<ArchivedMetadata, rkyv::rancor::Failure>(bytes).ok()
}

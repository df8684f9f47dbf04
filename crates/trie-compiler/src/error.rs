//! Why a model was refused.

use std::fmt;
use std::path::PathBuf;

use trie_format::CharsmapError;

/// A piece's text for an error message: escaped, one line, cut after 40 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PieceName(String);

impl PieceName {
    pub(crate) fn new(text: &[u8]) -> Self {
        const MOST: usize = 40;
        let text = String::from_utf8_lossy(text);
        let mut name: String = text
            .chars()
            .take(MOST)
            .flat_map(char::escape_debug)
            .collect();
        if text.chars().nth(MOST).is_some() {
            name.push('…');
        }
        Self(name)
    }
}

impl fmt::Display for PieceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

/// Why a model could not be compiled or an image not be written. The text is one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The bytes are not a `ModelProto`.
    #[error("not a SentencePiece model: {0}; pass a `.model` file as sentencepiece writes it")]
    Parse(#[from] prost::DecodeError),
    /// The model is not a Unigram model.
    #[error("the model is a {0} model; only UNIGRAM models can be compiled")]
    ModelType(&'static str),
    /// A piece has no text.
    #[error("piece {index} is empty: every piece needs a text")]
    EmptyPiece {
        /// Position in the model.
        index: usize,
    },
    /// A piece is too long for the reference.
    #[error("piece {index} is {len} bytes long: pieces must be shorter than 8,000 bytes")]
    PieceTooLong {
        /// Position in the model.
        index: usize,
        /// Length in bytes.
        len: usize,
    },
    /// A piece contains a NUL.
    #[error("piece {index} {name} contains a NUL, which no piece may")]
    NulInPiece {
        /// Position in the model.
        index: usize,
        /// Its text.
        name: PieceName,
    },
    /// Two pieces have the same text.
    #[error("piece {index} {name} is already defined as piece {first}: remove one of them")]
    DuplicatePiece {
        /// Position of the second.
        index: usize,
        /// Position of the first.
        first: usize,
        /// Their text.
        name: PieceName,
    },
    /// Two unknown pieces.
    #[error(
        "piece {index} {name} is a second piece of type UNKNOWN after piece {first}: there must be one"
    )]
    SecondUnknown {
        /// Position of the second.
        index: usize,
        /// Position of the first.
        first: usize,
        /// Text of the second.
        name: PieceName,
    },
    /// No unknown piece, and no byte fallback.
    #[error(
        "the model has no piece of type UNKNOWN (and no byte fallback): is this a complete model file?"
    )]
    NoUnknown,
    /// A byte piece without byte fallback.
    #[error("piece {index} {name} is of type BYTE, but trainer_spec.byte_fallback is off")]
    BytePieceWithoutFallback {
        /// Position in the model.
        index: usize,
        /// Its text.
        name: PieceName,
    },
    /// A byte piece whose text names no byte.
    #[error("piece {index} {name} is of type BYTE, but is not named <0x00> to <0xFF>")]
    BadBytePiece {
        /// Position in the model.
        index: usize,
        /// Its text.
        name: PieceName,
    },
    /// A byte without a piece.
    #[error(
        "trainer_spec.byte_fallback is on, but there is no piece <0x{byte:02X}>: all 256 are needed"
    )]
    MissingBytePiece {
        /// The first byte that has none.
        byte: u8,
    },
    /// A score that is not a number.
    #[error("piece {index} {name} has the score {score}: scores must be finite")]
    BadScore {
        /// Position in the model.
        index: usize,
        /// Its text.
        name: PieceName,
        /// Its score.
        score: f32,
    },
    /// A user-defined symbol's path score overflows under the chosen reference.
    #[error(
        "the score of user-defined symbol {name} overflows under {reference}: use --reference sentencepiece-0.2.3"
    )]
    SymbolScore {
        /// Its text.
        name: PieceName,
        /// The reference's name.
        reference: &'static str,
    },
    /// A piece that is not UTF-8, under a reference whose pieces are.
    #[error(
        "piece {index} {name} is not UTF-8, which Hugging Face tokenizers needs: use a sentencepiece reference"
    )]
    NotUtf8 {
        /// Its id.
        index: usize,
        /// Its text.
        name: PieceName,
    },
    /// Options that do not fit the kind of input.
    #[error("{option} does not fit this input: {reason}")]
    Options {
        /// The option, as the command line names it.
        option: &'static str,
        /// Why not, and what to use.
        reason: &'static str,
    },
    /// The model lacks a piece that the template needs.
    #[error(
        "template {template} needs a piece {name}, of type CONTROL or USER_DEFINED, which the model does not have; \
         choose another template, or none"
    )]
    Template {
        /// The template's name.
        template: &'static str,
        /// The missing piece.
        name: PieceName,
    },
    /// There is nothing to segment with.
    #[error(
        "the model has no NORMAL, USER_DEFINED or UNUSED piece: there is nothing to segment with"
    )]
    NoPieces,
    /// A charsmap cannot be split into its halves.
    #[error("{field}.precompiled_charsmap is damaged: {rule}")]
    Charsmap {
        /// `normalizer_spec` or `denormalizer_spec`.
        field: &'static str,
        /// The rule that is broken.
        rule: &'static str,
    },
    /// A charsmap's double array is unsound.
    #[error("{field}.precompiled_charsmap is damaged at unit {}: {}", .error.unit, .error.rule)]
    CharsmapUnit {
        /// `normalizer_spec` or `denormalizer_spec`.
        field: &'static str,
        /// What is wrong.
        error: CharsmapError,
    },
    /// The model's first pieces are not those that fairseq ids presuppose.
    #[error(
        "fairseq ids need <unk>, <s>, </s> as the pieces 0, 1, 2, but piece {index} is {name}: use --ids sentencepiece"
    )]
    FairseqOrder {
        /// The first position that differs.
        index: usize,
        /// The piece there.
        name: PieceName,
    },
    /// A piece has the name of one that fairseq ids add.
    #[error(
        "fairseq ids add the piece {name}, but the model has it already as piece {index}: use --ids sentencepiece"
    )]
    FairseqName {
        /// Position in the model.
        index: usize,
        /// Its text.
        name: PieceName,
    },
    /// Something is too large for the image's 32-bit fields.
    #[error("{what} does not fit into the image format: {limit} at most")]
    TooLarge {
        /// What.
        what: &'static str,
        /// The greatest that fits.
        limit: u64,
    },
    /// A `tokenizer.json` is not JSON, or not of the right shape.
    #[error("tokenizer.json, line {line}, column {column}: {reason}")]
    JsonSyntax {
        /// From 1.
        line: usize,
        /// From 1, in bytes.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A `tokenizer.json` says something that is wrong or cannot be compiled.
    #[error("tokenizer.json: {path} {reason}")]
    Json {
        /// Where, as in `normalizer.normalizers[1].type`.
        path: String,
        /// The rest of the sentence.
        reason: String,
    },
    /// The metadata could not be archived.
    #[error(
        "the image's metadata could not be archived: this is a defect of the compiler, please report it"
    )]
    Metadata(#[from] rkyv::rancor::Failure),
    /// What should be an image is none.
    #[error(transparent)]
    Image(#[from] trie_format::FormatError),
    /// The image could not be written; nothing was left behind.
    #[error("cannot write {}: {source}; check that the folder exists and may be written to", path.display())]
    Write {
        /// Where to.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A build script's input could not be read.
    #[error("cannot read {}: {source}; check the path and its permissions", path.display())]
    Read {
        /// From where.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

//! The steps that a text goes through in `tokenizers`, in order, as plain data.
//!
//! Invariant: what cannot be expressed here is refused where it is read; nothing is left out silently.

use crate::charsmap::Charsmap;
use crate::post::{Padding, PostProcessor, Truncation};

/// A Unigram vocabulary and everything around it.
pub(crate) struct HfModel {
    /// Text and score of every id, in order. Texts may repeat: the last one counts. A text may be empty:
    /// it is never found, but it has its id, and its score counts for the lowest.
    pub(crate) vocab: Vec<(String, f64)>,
    pub(crate) unk_id: Option<u32>,
    pub(crate) byte_fallback: bool,
    /// In the file's order, with the ids that they really get; contents are neither empty nor repeated.
    pub(crate) added_tokens: Vec<AddedToken>,
    pub(crate) normalizers: Vec<NormalizerStep>,
    pub(crate) pre_tokenizers: Vec<PreTokenizerStep>,
    /// Empty: no decoder, so there are spaces between tokens.
    pub(crate) decoders: Vec<DecoderStep>,
    pub(crate) post_processor: PostProcessor,
    pub(crate) truncation: Option<Truncation>,
    pub(crate) padding: Option<Padding>,
}

/// A token that is cut from the text before everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AddedToken {
    pub(crate) id: u32,
    pub(crate) content: String,
    pub(crate) single_word: bool,
    pub(crate) lstrip: bool,
    pub(crate) rstrip: bool,
    pub(crate) normalized: bool,
    pub(crate) special: bool,
}

/// What a step looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// This text.
    Literal(String),
    /// A run of at least `min` and at most `max` (without limit if `None`) characters of a class, as in
    /// the regular expression ` {2,}`; greedy. The ranges are inclusive, sorted and disjoint.
    Run {
        ranges: Vec<(char, char)>,
        min: u32,
        max: Option<u32>,
    },
}

pub(crate) enum NormalizerStep {
    Precompiled(Charsmap),
    Replace {
        pattern: Pattern,
        content: String,
    },
    Strip {
        left: bool,
        right: bool,
    },
    Prepend(String),
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
    Nmt,
    Lowercase,
    StripAccents,
    Bert {
        clean_text: bool,
        handle_chinese_chars: bool,
        /// Already resolved: `null` in the file means the value of `lowercase`.
        strip_accents: bool,
        lowercase: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrependScheme {
    Always,
    First,
    Never,
}

/// What becomes of the delimiters of a split, as `tokenizers` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SplitBehavior {
    Removed,
    Isolated,
    MergedWithPrevious,
    MergedWithNext,
    Contiguous,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PreTokenizerStep {
    Metaspace {
        replacement: char,
        prepend_scheme: PrependScheme,
        split: bool,
    },
    WhitespaceSplit,
    Whitespace,
    Punctuation(SplitBehavior),
    Digits {
        individual: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DecoderStep {
    Metaspace {
        replacement: char,
        prepend_scheme: PrependScheme,
    },
    Replace {
        pattern: Pattern,
        content: String,
    },
    /// Strips up to `start` / `stop` of this character from each token's ends.
    Strip {
        content: char,
        start: u32,
        stop: u32,
    },
    ByteFallback,
    Fuse,
}

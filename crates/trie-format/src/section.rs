//! Sections: what the parts of an image are, and where they may stand.

use core::fmt;

/// Section flag: a reader that does not know the kind must refuse the image.
pub const SECTION_REQUIRED: u32 = 1;

/// Every section starts on a multiple of this many bytes in the file.
pub const SECTION_ALIGN: usize = 64;

macro_rules! section_kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $text:literal;)*) => {
        /// What a section holds. The numbers are part of the format.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u32)]
        pub enum SectionKind { $($(#[$doc])* $name = $number,)* }

        impl SectionKind {
            /// All kinds this build knows, by number.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The kind with this number, if this build knows it.
            #[must_use]
            pub fn from_number(number: u32) -> Option<Self> {
                match number { $($number => Some(Self::$name),)* _ => None }
            }

            /// The kind's number in the section table.
            #[must_use]
            pub const fn number(self) -> u32 {
                self as u32
            }

            /// The kind's name for people.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

section_kinds! {
    /// The rkyv-archived [`crate::Metadata`].
    Metadata = 1, "metadata";
    /// Texts that the metadata refers to, end to end.
    Texts = 2, "texts";
    /// Where the pieces' texts end, and the pieces' types: [`crate::IndexEntry`]s.
    PieceIndex = 3, "piece-index";
    /// All piece texts, end to end, by id.
    PieceTexts = 4, "piece-texts";
    /// Score of every piece as the model states it: `piece_count` times `f32`.
    PieceScores = 5, "piece-scores";
    /// Path score of every piece: `piece_count` times `f64`. Present if some differ from the model's scores.
    PathScores = 6, "path-scores";
    /// Ids of the pieces that the trie does not hold, sorted by text: `u32`s.
    NamedIds = 7, "named-ids";
    /// The id of each byte's fallback piece: 256 `u32`s. Present if the model has byte fallback.
    ByteIds = 8, "byte-ids";
    /// Double array of the normalizer's rules (darts-clone units): `u32`s.
    CharsmapUnits = 9, "charsmap-units";
    /// Replacement texts of the normalizer's rules, each ended by a NUL.
    CharsmapTexts = 10, "charsmap-texts";
    /// Double array of the denormalizer's rules.
    DenormalizerUnits = 11, "denormalizer-units";
    /// Replacement texts of the denormalizer's rules.
    DenormalizerTexts = 12, "denormalizer-texts";
    /// Trie of the user-defined symbols, which the normalizer leaves as they are, as all tries here: a [`crate::TrieView`].
    SymbolNodes = 13, "symbol-nodes";
    /// Trie of all pieces that take part in segmentation.
    Nodes = 14, "nodes";
    /// Steps around the model: `crate::pipeline::Step`s. Present for the Hugging Face reference, as are the
    /// following.
    Steps = 15, "steps";
    /// Character classes of the steps: `crate::pipeline::CharRange`s.
    CharRanges = 16, "char-ranges";
    /// Character rules of the steps: `crate::pipeline::CharRule`s.
    CharRules = 17, "char-rules";
    /// `crate::pipeline::AddedToken`s.
    AddedTokens = 18, "added-tokens";
    /// Trie of the added tokens that are looked for in the text as it is; ids are positions in the added tokens.
    AddedNodes = 19, "added-nodes";
    /// Trie of the added tokens that are looked for in normalized text.
    NormalizedAddedNodes = 20, "normalized-added-nodes";
    /// What is done with ids: templates of special tokens, truncation, padding, as `crate::pipeline::Step`s.
    PostProcessor = 21, "post-processor";
    /// Characters up to U+FFFF that normalization leaves as they are, and those that may change this for the one
    /// before: [`crate::PlainChars`].
    PlainChars = 22, "plain-chars";
    /// Which characters stand side by side in some piece: see [`crate::parts`].
    JoinedPairs = 23, "joined-pairs";
    /// Parts of text whose best segmentation is one piece. Present with the joined pairs.
    BakedParts = 24, "baked-parts";
    /// Where a walk through the pieces' trie is behind its first character: see [`crate::FirstChars`].
    FirstChars = 25, "first-chars";
    /// Texts and their ids, for a reader to try itself on: see [`crate::SelfTest`]. Not required.
    SelfTest = 26, "self-test";
    /// The pieces as an automaton over characters: see [`crate::automaton`]. Not required. Since 1.1.
    Automaton = 27, "automaton";
}

impl SectionKind {
    /// Whether the section only saves time: without it a reader finds the same, by the others.
    #[must_use]
    pub const fn is_accelerator(self) -> bool {
        matches!(
            self,
            Self::PlainChars
                | Self::JoinedPairs
                | Self::BakedParts
                | Self::FirstChars
                | Self::Automaton
        )
    }
}

impl fmt::Display for SectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

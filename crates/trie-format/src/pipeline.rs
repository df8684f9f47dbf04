//! What is done around a Unigram model, as two lists of steps: with text, as Hugging Face `tokenizers` does it,
//! and with ids, under any reference.
//!
//! A step is a number for what to do and plain operands: numbers, a text in the texts section, ranges of the
//! character classes or rules. Steps stand in the order in which they run.

use bytemuck::{Pod, Zeroable};

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Step {
    /// [`StepKind`] number.
    pub kind: u32,
    /// Meaning by kind.
    pub flags: u32,
    /// Meaning by kind.
    pub n: [u32; 4],
    /// Start of the step's text in the texts section.
    pub text_start: u32,
    /// Length of the step's text in bytes.
    pub text_len: u32,
}

/// Characters from `first` to `last`, inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct CharRange {
    /// First code point.
    pub first: u32,
    /// Last code point.
    pub last: u32,
}

/// What one character becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct CharRule {
    /// The code point.
    pub character: u32,
    /// Start of the replacement in the texts section.
    pub text_start: u32,
    /// Length of the replacement in bytes; 0 deletes the character.
    pub text_len: u32,
}

/// A token that is cut from the text before everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct AddedToken {
    /// Its id.
    pub id: u32,
    /// [`AddedToken::SINGLE_WORD`] and so on.
    pub flags: u32,
}

impl AddedToken {
    /// Counts only where no word character is next to it.
    pub const SINGLE_WORD: u32 = 1;
    /// Takes the white space before it.
    pub const LSTRIP: u32 = 2;
    /// Takes the white space after it.
    pub const RSTRIP: u32 = 4;
    /// Decoding may skip it.
    pub const SPECIAL: u32 = 8;
}

macro_rules! step_kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal;)*) => {
        /// What a step does. The numbers are part of the format.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        #[repr(u32)]
        pub enum StepKind { $($(#[$doc])* $name = $number,)* }

        impl StepKind {
            /// The kind with this number, if this build knows it.
            #[must_use]
            pub fn from_number(number: u32) -> Option<Self> {
                match number { $($number => Some(Self::$name),)* _ => None }
            }
        }
    };
}

step_kinds! {
    /// Normalizer: the rule table, graphemes first, shortest key.
    Precompiled = 1;
    /// Normalizer: every occurrence of the text `n[0]..n[0] + n[1]` of the texts section becomes the step's text.
    ReplaceLiteral = 2;
    /// Normalizer: every run of `n[2]` to `n[3]` characters of the class `n[0]..n[0] + n[1]` becomes the text.
    ReplaceRun = 3;
    /// Normalizer: drops white space (class `n[0]..n[0] + n[1]`) at the left (flag 1) and right (flag 2) end.
    Strip = 4;
    /// Normalizer: puts the text before a text that is not empty.
    Prepend = 5;
    /// Normalizer: Unicode normalization form C.
    Nfc = 6;
    /// Normalizer: Unicode normalization form D.
    Nfd = 7;
    /// Normalizer: Unicode normalization form KC.
    Nfkc = 8;
    /// Normalizer: Unicode normalization form KD.
    Nfkd = 9;
    /// Normalizer: the character rules `n[0]..n[0] + n[1]`, sorted by character.
    MapChars = 10;
    /// Pre-tokenizer: spaces become the text; it is prepended always (flags 0), to what begins the
    /// input (1) or never (2); with flag 4 splits before each.
    Metaspace = 32;
    /// Pre-tokenizer: splits at characters of the class `n[0]..n[0] + n[1]`; flags: [`SplitBehavior`] number.
    SplitClass = 33;
    /// Pre-tokenizer: keeps runs of word characters (class `n[0]..n[0] + n[1]`) and runs of what is
    /// neither word character nor white space (class `n[2]..n[2] + n[3]`).
    Words = 34;
    /// Decoder: every occurrence of the text (one character) becomes a space, in the first token nothing
    /// unless flags are 2.
    DecodeMetaspace = 64;
    /// Decoder: as [`StepKind::ReplaceLiteral`], in every token.
    DecodeReplaceLiteral = 65;
    /// Decoder: as [`StepKind::ReplaceRun`], in every token.
    DecodeReplaceRun = 66;
    /// Decoder: strips up to `n[0]` and `n[1]` times the text (one character) from each token's ends.
    DecodeStrip = 67;
    /// Decoder: runs of byte tokens become their text.
    DecodeByteFallback = 68;
    /// Decoder: all tokens become one.
    DecodeFuse = 69;
    /// Post-processor, one sequence: `n[0]` 0 the sequence `n[1]`, 1 the id `n[1]`; `n[2]` the type id.
    TemplateSingle = 96;
    /// Post-processor, two sequences: as [`StepKind::TemplateSingle`].
    TemplatePair = 97;
    /// Post-processor: white space and `Ġ` at the ends of a token are left out of its offsets; with flag 1 not
    /// a single one at the beginning of the text.
    TrimOffsets = 98;
    /// Default truncation: `n[0]` length, `n[1]` stride; flags: strategy (0 longest first, 1 only first, 2
    /// only second), 4 from the left.
    Truncation = 128;
    /// Default padding: `n[0]` fixed length or `NO_ID`, `n[1]` multiple or 0, `n[2]` id, `n[3]` type id;
    /// flag 1: on the left; flag 2: only where padding is asked for.
    Padding = 129;
    /// Classes that added tokens look at: word characters `n[0]..n[0] + n[1]`, white space `n[2]..n[2] + n[3]`.
    AddedClasses = 160;
}

impl StepKind {
    /// Whether it is about ids, not text: one of the post-processor section's.
    #[must_use]
    pub const fn is_post_processor(self) -> bool {
        matches!(
            self,
            Self::TemplateSingle
                | Self::TemplatePair
                | Self::TrimOffsets
                | Self::Truncation
                | Self::Padding
        )
    }
}

/// Checks the steps of a post-processor section: kinds are known, sequences and ids exist. Returns the first
/// step that breaks a rule, and the rule.
pub(crate) fn validate_post_processor(
    steps: &[Step],
    piece_count: u32,
) -> Result<(), (usize, &'static str)> {
    for (index, step) in steps.iter().enumerate() {
        let kind = StepKind::from_number(step.kind).filter(|kind| kind.is_post_processor());
        let Some(kind) = kind else {
            return Err((index, "the step's kind must be one of a post-processor"));
        };
        let operands = match (kind, step.n) {
            (StepKind::TemplateSingle, [0, sequence, ..]) => sequence == 0,
            (StepKind::TemplatePair, [0, sequence, ..]) => sequence <= 1,
            (StepKind::TemplateSingle | StepKind::TemplatePair, [1, id, ..]) => id < piece_count,
            (StepKind::TemplateSingle | StepKind::TemplatePair, _) => false,
            _ => true,
        };
        if !operands || step.text_len > 0 {
            return Err((index, "the step's operands must be in range"));
        }
    }
    Ok(())
}

/// What becomes of the characters that a split is made at; the numbers are part of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u32)]
pub enum SplitBehavior {
    /// They are dropped.
    Removed = 0,
    /// Each is a part of its own.
    Isolated = 1,
    /// Each ends the part before it.
    MergedWithPrevious = 2,
    /// Each begins the part after it.
    MergedWithNext = 3,
    /// A run of them is a part.
    Contiguous = 4,
}

impl SplitBehavior {
    /// The behavior with this number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Removed,
            1 => Self::Isolated,
            2 => Self::MergedWithPrevious,
            3 => Self::MergedWithNext,
            4 => Self::Contiguous,
            _ => return None,
        })
    }
}

/// Borrowed pipeline sections. Look-ups check their bounds.
#[derive(Debug, Clone, Copy)]
pub struct PipelineView<'a> {
    pub(crate) steps: &'a [Step],
    pub(crate) ranges: &'a [CharRange],
    pub(crate) rules: &'a [CharRule],
    pub(crate) added: &'a [AddedToken],
    pub(crate) texts: &'a [u8],
}

impl<'a> PipelineView<'a> {
    /// A view of tables that are not (yet) in an image. Nothing is checked.
    #[must_use]
    pub fn new(
        steps: &'a [Step],
        ranges: &'a [CharRange],
        rules: &'a [CharRule],
        added: &'a [AddedToken],
        texts: &'a [u8],
    ) -> Self {
        Self {
            steps,
            ranges,
            rules,
            added,
            texts,
        }
    }

    /// The steps, in order.
    #[must_use]
    pub fn steps(&self) -> &'a [Step] {
        self.steps
    }

    /// The added tokens.
    #[must_use]
    pub fn added_tokens(&self) -> &'a [AddedToken] {
        self.added
    }

    /// The text of `len` bytes at `start` of the texts section; empty if there is none.
    #[must_use]
    pub fn text(&self, start: u32, len: u32) -> &'a [u8] {
        let start = start as usize;
        self.texts
            .get(start..start.saturating_add(len as usize))
            .unwrap_or_default()
    }

    /// The step's text.
    #[must_use]
    pub fn step_text(&self, step: &Step) -> &'a [u8] {
        self.text(step.text_start, step.text_len)
    }

    /// A class: `len` ranges from `start` on; empty if there are none.
    #[must_use]
    pub fn class(&self, start: u32, len: u32) -> CharClass<'a> {
        let start = start as usize;
        CharClass(
            self.ranges
                .get(start..start.saturating_add(len as usize))
                .unwrap_or_default(),
        )
    }

    /// Character rules: `len` of them from `start` on; empty if there are none.
    #[must_use]
    pub fn rules(&self, start: u32, len: u32) -> &'a [CharRule] {
        let start = start as usize;
        self.rules
            .get(start..start.saturating_add(len as usize))
            .unwrap_or_default()
    }

    /// What `character` becomes under sorted `rules`, if there is a rule for it.
    #[must_use]
    pub fn mapped(&self, rules: &[CharRule], character: char) -> Option<&'a [u8]> {
        let at = rules
            .binary_search_by_key(&u32::from(character), |rule| rule.character)
            .ok()?;
        let rule = rules.get(at)?;
        Some(self.text(rule.text_start, rule.text_len))
    }

    /// Checks that kinds are known, operands in range, and ids below the piece count. One linear pass.
    ///
    /// Returns the section (0 steps, 1 ranges, 2 rules, 3 added tokens), the element and the rule.
    pub(crate) fn validate(&self, piece_count: u32) -> Result<(), (u8, usize, &'static str)> {
        let within =
            |start: u32, len: u32, total: usize| u64::from(start) + u64::from(len) <= total as u64;
        let utf8 = |start: u32, len: u32| {
            within(start, len, self.texts.len())
                && core::str::from_utf8(self.text(start, len)).is_ok()
        };
        for (index, step) in self.steps.iter().enumerate() {
            let kind = StepKind::from_number(step.kind).filter(|kind| !kind.is_post_processor());
            let Some(kind) = kind else {
                return Err((0, index, "the step's kind must be known"));
            };
            let class = |i: usize| within(step.n[i], step.n[i + 1], self.ranges.len());
            let operands = match kind {
                StepKind::ReplaceLiteral | StepKind::DecodeReplaceLiteral => {
                    utf8(step.n[0], step.n[1]) && step.n[1] > 0
                }
                StepKind::ReplaceRun | StepKind::DecodeReplaceRun => {
                    class(0) && step.n[2] > 0 && step.n[2] <= step.n[3]
                }
                StepKind::Strip => class(0),
                StepKind::SplitClass => {
                    class(0) && SplitBehavior::from_number(step.flags).is_some()
                }
                StepKind::Words | StepKind::AddedClasses => class(0) && class(2),
                StepKind::MapChars => within(step.n[0], step.n[1], self.rules.len()),
                StepKind::Metaspace | StepKind::DecodeMetaspace | StepKind::DecodeStrip => {
                    step.text_len > 0
                }
                _ => true,
            };
            if !(operands && utf8(step.text_start, step.text_len)) {
                return Err((0, index, "the step's operands must be in range"));
            }
        }
        if let Some(i) = self
            .ranges
            .iter()
            .position(|range| range.first > range.last)
        {
            return Err((1, i, "a range must not end before it begins"));
        }
        if let Some(i) = self
            .rules
            .iter()
            .position(|rule| !utf8(rule.text_start, rule.text_len))
        {
            return Err((2, i, "replacements must be UTF-8 inside the texts"));
        }
        match self.added.iter().position(|token| token.id >= piece_count) {
            Some(i) => Err((3, i, "ids must be below the piece count")),
            None => Ok(()),
        }
    }
}

/// A set of characters: sorted, disjoint ranges.
#[derive(Debug, Clone, Copy)]
pub struct CharClass<'a>(&'a [CharRange]);

impl CharClass<'_> {
    /// Whether `character` is in the set.
    #[must_use]
    pub fn contains(&self, character: char) -> bool {
        let code = u32::from(character);
        let after = self.0.partition_point(|range| range.first <= code);
        after > 0
            && self
                .0
                .get(after - 1)
                .is_some_and(|range| code <= range.last)
    }
}

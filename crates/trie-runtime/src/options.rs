//! How to encode, per call: plain values, nothing shared between calls.

/// How to encode, per call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EncodeOptions {
    /// Put the image's template of special tokens around the text: [`Tokenizer::special_ids`] for what the
    /// usual ones are.
    ///
    /// [`Tokenizer::special_ids`]: crate::Tokenizer::special_ids
    pub add_special_tokens: bool,
    /// Under the Hugging Face reference: names of special tokens inside the text are text
    /// (`encode_special_tokens` in `tokenizers`). Under the others they always are.
    pub special_tokens_as_text: bool,
    /// Record the tokens' texts, for [`Encoding::pieces`](crate::Encoding::pieces).
    pub pieces: bool,
    /// Record where in the input each token comes from, in this unit.
    pub offsets: Option<OffsetUnit>,
    /// Record type ids, attention mask and special tokens mask.
    pub masks: bool,
    /// Record what truncation cuts off, as further windows of the same length.
    pub overflowing: bool,
    /// How to cut what is too long.
    pub truncation: Setting<Truncation>,
    /// How to fill up what is too short.
    pub padding: Setting<Padding>,
}

/// Whether something is done, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Setting<T> {
    /// As the image states it: a `tokenizer.json` may have a truncation or padding block.
    #[default]
    AsCompiled,
    /// Not at all.
    Off,
    /// Like this.
    On(T),
}

impl<T: Copy> Setting<T> {
    /// What is to be done, where the image states `compiled`.
    pub(crate) fn resolve(self, compiled: Option<T>) -> Option<T> {
        match self {
            Self::AsCompiled => compiled,
            Self::Off => None,
            Self::On(value) => Some(value),
        }
    }
}

/// What offsets count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffsetUnit {
    /// UTF-8 bytes: Rust, Go, C.
    Bytes,
    /// Unicode characters: Python. A byte that is not UTF-8 counts as one.
    Chars,
    /// UTF-16 code units: JavaScript, Java, C#.
    Utf16,
}

/// An end of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// The beginning.
    Left,
    /// The end.
    #[default]
    Right,
}

/// Which sequence of a pair is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TruncationStrategy {
    /// The longer one, then both to the same length.
    #[default]
    LongestFirst,
    /// The first; the second is kept whole.
    OnlyFirst,
    /// The second; the first is kept whole.
    OnlySecond,
}

/// A limit on the number of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Truncation {
    /// Most tokens, special ones included.
    pub max_length: usize,
    /// Which sequence of a pair is cut.
    pub strategy: TruncationStrategy,
    /// The end that is cut off.
    pub direction: Direction,
    /// How many tokens an overflowing window has in common with the one before it.
    pub stride: usize,
}

impl Truncation {
    /// At most `max_length` tokens, special ones included; the longer sequence is cut, at the right, and
    /// overflowing windows have nothing in common.
    #[must_use]
    pub fn new(max_length: usize) -> Self {
        Self {
            max_length,
            strategy: TruncationStrategy::default(),
            direction: Direction::default(),
            stride: 0,
        }
    }

    /// This limit, reached another way.
    #[must_use]
    pub fn with_strategy(mut self, strategy: TruncationStrategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// This limit, cutting off this end.
    #[must_use]
    pub fn with_direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// This limit, with overflowing windows that have `stride` tokens in common.
    #[must_use]
    pub fn with_stride(mut self, stride: usize) -> Self {
        self.stride = stride;
        self
    }
}

/// Up to how many tokens is padded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PadTo {
    /// As many as the longest text of the batch has.
    #[default]
    Longest,
    /// This many.
    Fixed(usize),
}

/// Filling up with padding tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Padding {
    /// Up to how many tokens.
    pub to: PadTo,
    /// The length becomes a multiple of this number; 0 and 1 mean any.
    pub multiple_of: usize,
    /// The end that is filled up.
    pub direction: Direction,
    /// The padding token.
    pub id: u32,
    /// Its type id.
    pub type_id: u32,
}

impl Padding {
    /// Up to the longest text of the batch, at the right, with `id`.
    #[must_use]
    pub fn new(id: u32) -> Self {
        Self {
            to: PadTo::default(),
            multiple_of: 0,
            direction: Direction::default(),
            id,
            type_id: 0,
        }
    }

    /// This padding, up to another length.
    #[must_use]
    pub fn with_length(mut self, to: PadTo) -> Self {
        self.to = to;
        self
    }

    /// This padding, to a multiple of `multiple_of`.
    #[must_use]
    pub fn with_multiple_of(mut self, multiple_of: usize) -> Self {
        self.multiple_of = multiple_of;
        self
    }

    /// This padding, at that end.
    #[must_use]
    pub fn with_direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// This padding, with that type id.
    #[must_use]
    pub fn with_type_id(mut self, type_id: u32) -> Self {
        self.type_id = type_id;
        self
    }

    /// The length to fill up to, if the longest text has `longest` tokens.
    pub(crate) fn target(&self, longest: usize) -> usize {
        let target = match self.to {
            PadTo::Longest => longest,
            PadTo::Fixed(length) => length,
        };
        match self.multiple_of {
            0 => target,
            multiple => target.checked_next_multiple_of(multiple).unwrap_or(target),
        }
    }
}

impl EncodeOptions {
    /// These options, with or without special tokens around the text.
    #[must_use]
    pub fn with_special_tokens(mut self, add: bool) -> Self {
        self.add_special_tokens = add;
        self
    }

    /// These options, with or without taking names of special tokens inside the text for text.
    #[must_use]
    pub fn with_special_tokens_as_text(mut self, as_text: bool) -> Self {
        self.special_tokens_as_text = as_text;
        self
    }

    /// These options, with or without recording the tokens' texts.
    #[must_use]
    pub fn with_pieces(mut self, pieces: bool) -> Self {
        self.pieces = pieces;
        self
    }

    /// These options, recording offsets in `unit`.
    #[must_use]
    pub fn with_offsets(mut self, unit: OffsetUnit) -> Self {
        self.offsets = Some(unit);
        self
    }

    /// These options, with or without type ids and masks.
    #[must_use]
    pub fn with_masks(mut self, masks: bool) -> Self {
        self.masks = masks;
        self
    }

    /// These options, with or without recording what is cut off.
    #[must_use]
    pub fn with_overflowing(mut self, overflowing: bool) -> Self {
        self.overflowing = overflowing;
        self
    }

    /// These options with a limit of their own.
    #[must_use]
    pub fn with_truncation(mut self, truncation: impl Into<Setting<Truncation>>) -> Self {
        self.truncation = truncation.into();
        self
    }

    /// These options with a padding of their own.
    #[must_use]
    pub fn with_padding(mut self, padding: impl Into<Setting<Padding>>) -> Self {
        self.padding = padding.into();
        self
    }
}

impl From<Truncation> for Setting<Truncation> {
    fn from(truncation: Truncation) -> Self {
        Self::On(truncation)
    }
}

impl From<Padding> for Setting<Padding> {
    fn from(padding: Padding) -> Self {
        Self::On(padding)
    }
}

/// How to decode, per call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Under the Hugging Face reference: leave out special added tokens, as `skip_special_tokens` in
    /// `tokenizers`; on by default. Under the others control pieces never leave a trace, whatever this says.
    pub skip_special_tokens: bool,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self {
            skip_special_tokens: true,
        }
    }
}

impl DecodeOptions {
    /// These options, with or without leaving out special tokens.
    #[must_use]
    pub fn with_skip_special_tokens(mut self, skip: bool) -> Self {
        self.skip_special_tokens = skip;
        self
    }
}

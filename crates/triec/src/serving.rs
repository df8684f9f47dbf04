//! What `encode` can be asked beyond ids: fields, pairs, truncation, padding, threads; and what of it fits the
//! image.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use trie_runtime::{
    Direction, EncodeOptions, OffsetUnit, PadTo, Padding, Setting, Tokenizer, Truncation,
    TruncationStrategy,
};

use crate::error::CliError;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Pairs, truncation and padding")]
pub(crate) struct ServingArgs {
    /// The second text of every pair; in JSON lines, of those objects that have no `pair`
    #[arg(long, value_name = "TEXT")]
    pub(crate) pair: Option<OsString>,
    /// Cut to at most this many ids, special tokens included
    #[arg(long, value_name = "IDS")]
    max_length: Option<usize>,
    /// What is cut; `none` also where a tokenizer.json says otherwise
    #[arg(long, value_enum)]
    truncation: Option<TruncationArg>,
    /// Ids that an overflowing window has in common with the one before it
    #[arg(long, value_name = "IDS")]
    stride: Option<usize>,
    /// The end that is cut off
    #[arg(long, value_enum)]
    direction: Option<DirectionArg>,
    /// Fill up to the longest text of the batch, to the greatest length of truncation, or to so many ids; `none`
    /// also where a tokenizer.json says otherwise
    #[arg(long, value_name = "longest|max_length|none|IDS", value_parser = PadArg::parse)]
    pad: Option<PadArg>,
    /// The padding id [default: the image's]
    #[arg(long, value_name = "ID", requires = "pad")]
    pad_id: Option<u32>,
    /// The padding's type id [default: the image's, or 0]
    #[arg(long, value_name = "ID", requires = "pad")]
    pad_type_id: Option<u32>,
    /// The end that is filled up [default: the image's, or right]
    #[arg(long, value_enum, requires = "pad")]
    pad_direction: Option<DirectionArg>,
    /// Fill up to a multiple of this number
    #[arg(long, value_name = "IDS", requires = "pad")]
    pad_to_multiple_of: Option<usize>,
    /// Texts that are filled up to one length together; without this all of them, which keeps the whole input
    /// in memory
    #[arg(long, value_name = "TEXTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch_size: Option<u32>,
    /// Threads to encode with; the output is the same for any number
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: u32,
}

/// A key of an output object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Field {
    /// The ids
    Ids,
    /// Texts of the pieces
    Pieces,
    /// Where each id comes from, in bytes of the text
    Offsets,
    /// The same, in characters
    CharOffsets,
    /// The same, in UTF-16 code units
    Utf16Offsets,
    /// Which part of a template
    TypeIds,
    /// 0 for padding, else 1
    AttentionMask,
    /// 1 for special tokens and padding, else 0
    SpecialTokensMask,
    /// What was cut off, as objects of the same kind
    Overflowing,
}

impl Field {
    /// The key.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Ids => "ids",
            Self::Pieces => "pieces",
            Self::Offsets => "offsets",
            Self::CharOffsets => "char_offsets",
            Self::Utf16Offsets => "utf16_offsets",
            Self::TypeIds => "type_ids",
            Self::AttentionMask => "attention_mask",
            Self::SpecialTokensMask => "special_tokens_mask",
            Self::Overflowing => "overflowing",
        }
    }

    /// The unit, of offsets.
    pub(crate) fn unit(self) -> Option<OffsetUnit> {
        match self {
            Self::Offsets => Some(OffsetUnit::Bytes),
            Self::CharOffsets => Some(OffsetUnit::Chars),
            Self::Utf16Offsets => Some(OffsetUnit::Utf16),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum TruncationArg {
    /// The longer text of a pair, then both
    #[value(alias = "longest-first")]
    LongestFirst,
    /// The first; the second is kept whole
    #[value(alias = "only-first")]
    OnlyFirst,
    /// The second; the first is kept whole
    #[value(alias = "only-second")]
    OnlySecond,
    /// Nothing
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DirectionArg {
    /// The beginning
    Left,
    /// The end
    Right,
}

impl From<DirectionArg> for Direction {
    fn from(direction: DirectionArg) -> Self {
        match direction {
            DirectionArg::Left => Self::Left,
            DirectionArg::Right => Self::Right,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PadArg {
    None,
    Longest,
    MaxLength,
    Fixed(usize),
}

impl PadArg {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::None),
            "longest" => Ok(Self::Longest),
            "max_length" | "max-length" => Ok(Self::MaxLength),
            number => number
                .parse()
                .map(Self::Fixed)
                .map_err(|_| "give `longest`, `max_length`, `none` or a number of ids".into()),
        }
    }
}

impl ServingArgs {
    /// `options` with the truncation and padding that are asked for.
    pub(crate) fn apply(
        &self,
        options: EncodeOptions,
        tokenizer: &Tokenizer,
    ) -> Result<EncodeOptions, CliError> {
        Ok(options
            .with_truncation(self.truncation(tokenizer)?)
            .with_padding(self.padding(tokenizer)?))
    }

    fn truncation(&self, tokenizer: &Tokenizer) -> Result<Setting<Truncation>, CliError> {
        let others = [
            self.max_length.is_some(),
            self.stride.is_some(),
            self.direction.is_some(),
        ];
        let strategy = match self.truncation {
            Some(TruncationArg::None) if others.contains(&true) => {
                return Err(CliError::Usage(
                    "--truncation none leaves nothing for --max-length, --stride and --direction to do: leave \
                     them out"
                        .into(),
                ));
            }
            Some(TruncationArg::None) => return Ok(Setting::Off),
            Some(TruncationArg::LongestFirst) => Some(TruncationStrategy::LongestFirst),
            Some(TruncationArg::OnlyFirst) => Some(TruncationStrategy::OnlyFirst),
            Some(TruncationArg::OnlySecond) => Some(TruncationStrategy::OnlySecond),
            None if !others.contains(&true) => return Ok(Setting::AsCompiled),
            None => None,
        };
        let stated = tokenizer.truncation();
        let mut truncation = match (self.max_length, stated) {
            (Some(length), Some(mut stated)) => {
                stated.max_length = length;
                stated
            }
            (Some(length), None) => Truncation::new(length),
            (None, Some(stated)) => stated,
            (None, None) => {
                return Err(CliError::Usage(
                    "the image states no truncation: give --max-length too".into(),
                ));
            }
        };
        if let Some(strategy) = strategy {
            truncation = truncation.with_strategy(strategy);
        }
        if let Some(stride) = self.stride {
            truncation = truncation.with_stride(stride);
        }
        if let Some(direction) = self.direction {
            truncation = truncation.with_direction(direction.into());
        }
        Ok(Setting::On(truncation))
    }

    fn padding(&self, tokenizer: &Tokenizer) -> Result<Setting<Padding>, CliError> {
        let to = match self.pad {
            None => return Ok(Setting::AsCompiled),
            Some(PadArg::None) => return Ok(Setting::Off),
            Some(PadArg::Longest) => PadTo::Longest,
            Some(PadArg::Fixed(length)) => PadTo::Fixed(length),
            Some(PadArg::MaxLength) => {
                let stated = tokenizer.truncation().map(|stated| stated.max_length);
                let Some(length) = self.max_length.or(stated) else {
                    return Err(CliError::Usage(
                        "the image states no truncation to fill up to: give --max-length too"
                            .into(),
                    ));
                };
                PadTo::Fixed(length)
            }
        };
        let stated = tokenizer.padding();
        let id = self.pad_id.or(stated.map(|padding| padding.id));
        let Some(id) = id else {
            return Err(CliError::Usage(
                "the image names no padding id: give --pad-id too".into(),
            ));
        };
        let mut padding = stated.unwrap_or(Padding::new(id)).with_length(to);
        padding.id = id;
        if let Some(type_id) = self.pad_type_id {
            padding = padding.with_type_id(type_id);
        }
        if let Some(direction) = self.pad_direction {
            padding = padding.with_direction(direction.into());
        }
        if let Some(multiple) = self.pad_to_multiple_of {
            padding = padding.with_multiple_of(multiple);
        }
        Ok(Setting::On(padding))
    }
}

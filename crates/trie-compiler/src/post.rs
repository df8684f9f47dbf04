//! What is done with ids after segmentation: templates of special tokens, truncation, padding; for any
//! reference.

use trie_format::NO_ID;
use trie_format::pipeline::{Step, StepKind};

/// A place in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TemplateItem {
    /// Sequence 0 (A) or 1 (B).
    Sequence {
        index: u8,
        type_id: u32,
    },
    Special {
        id: u32,
        type_id: u32,
    },
}

/// What is put around one sequence, and around and between two.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PostProcessor {
    /// Empty: the sequence alone, type 0.
    pub(crate) single: Vec<TemplateItem>,
    /// Empty: A (type 0) then B (type 1).
    pub(crate) pair: Vec<TemplateItem>,
    /// Whether whitespace (and `Ġ`, U+0120) at the ends of a token is left out of its offsets, before
    /// special tokens are added; the value is whether one at the start of a text is kept. No ids change.
    pub(crate) trim_offsets: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Left,
    Right,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TruncationStrategy {
    LongestFirst,
    OnlyFirst,
    OnlySecond,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Truncation {
    pub(crate) max_length: u32,
    pub(crate) stride: u32,
    pub(crate) strategy: TruncationStrategy,
    pub(crate) direction: Direction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Padding {
    /// `None`: to the longest of the batch.
    pub(crate) fixed: Option<u32>,
    pub(crate) pad_to_multiple_of: Option<u32>,
    pub(crate) pad_id: u32,
    pub(crate) pad_type_id: u32,
    pub(crate) direction: Direction,
    /// Nothing is padded unless padding is asked for.
    pub(crate) is_suggestion: bool,
}

/// The image's post-processor section.
pub(crate) fn steps(
    post_processor: &PostProcessor,
    truncation: Option<&Truncation>,
    padding: Option<&Padding>,
) -> Vec<Step> {
    let mut steps = Vec::new();
    push_template(&mut steps, StepKind::TemplateSingle, &post_processor.single);
    push_template(&mut steps, StepKind::TemplatePair, &post_processor.pair);
    if let Some(prefix_space) = post_processor.trim_offsets {
        let flags = u32::from(prefix_space);
        steps.push(step(StepKind::TrimOffsets, flags, [0; 4]));
    }
    steps.extend(truncation.map(truncation_step));
    steps.extend(padding.map(padding_step));
    steps
}

fn step(kind: StepKind, flags: u32, n: [u32; 4]) -> Step {
    Step {
        kind: kind as u32,
        flags,
        n,
        text_start: 0,
        text_len: 0,
    }
}

fn push_template(steps: &mut Vec<Step>, kind: StepKind, items: &[TemplateItem]) {
    for item in items {
        let n = match *item {
            TemplateItem::Sequence { index, type_id } => [0, u32::from(index), type_id, 0],
            TemplateItem::Special { id, type_id } => [1, id, type_id, 0],
        };
        steps.push(step(kind, 0, n));
    }
}

fn truncation_step(truncation: &Truncation) -> Step {
    let strategy = match truncation.strategy {
        TruncationStrategy::LongestFirst => 0,
        TruncationStrategy::OnlyFirst => 1,
        TruncationStrategy::OnlySecond => 2,
    };
    let flags = strategy | u32::from(truncation.direction == Direction::Left) << 2;
    let n = [truncation.max_length, truncation.stride, 0, 0];
    step(StepKind::Truncation, flags, n)
}

fn padding_step(padding: &Padding) -> Step {
    let n = [
        padding.fixed.unwrap_or(NO_ID),
        padding.pad_to_multiple_of.unwrap_or(0),
        padding.pad_id,
        padding.pad_type_id,
    ];
    let flags =
        u32::from(padding.direction == Direction::Left) | u32::from(padding.is_suggestion) << 1;
    step(StepKind::Padding, flags, n)
}

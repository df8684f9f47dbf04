//! From sequences to windows: template, truncation, padding.
//!
//! The order of overflowing windows is that of `Encoding::merge_with` in `tokenizers`: for every overflowing
//! window of the first sequence all windows of the second, then the first's kept window with the second's
//! overflowing ones.

use trie_format::pipeline::{Step, StepKind};
use trie_format::{NO_ID, ValidImage};

use crate::error::EncodeError;
use crate::options::{Direction, EncodeOptions, PadTo, Padding, Truncation, TruncationStrategy};
use crate::output::{Output, Record, Source};
use crate::sequence::Sequence;
use crate::truncate::Windows;

/// What an image says about special tokens, truncation and padding.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around<'a> {
    steps: &'a [Step],
}

/// A place in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    Sequence { index: usize, type_id: u32 },
    Special { id: u32, type_id: u32 },
}

/// Sequences alone: what an image without a template means.
const BARE: [Item; 2] = [
    Item::Sequence {
        index: 0,
        type_id: 0,
    },
    Item::Sequence {
        index: 1,
        type_id: 1,
    },
];

/// The sequences with their windows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) first: (&'a Sequence, Windows),
    pub(crate) second: Option<(&'a Sequence, Windows)>,
}

impl<'a> Parts<'a> {
    fn get(&self, index: usize) -> Option<(&'a Sequence, Windows, Source)> {
        match index {
            0 => Some((self.first.0, self.first.1, Source::First)),
            _ => self
                .second
                .map(|(sequence, windows)| (sequence, windows, Source::Second)),
        }
    }
}

impl<'a> Around<'a> {
    /// What `steps`, an image's post-processor section, say.
    pub(crate) fn new(steps: &'a [Step]) -> Self {
        Self { steps }
    }

    fn find(&self, kind: StepKind) -> Option<&'a Step> {
        self.steps.iter().find(|step| step.kind == kind as u32)
    }

    /// The image's truncation.
    pub(crate) fn truncation(&self) -> Option<Truncation> {
        let step = self.find(StepKind::Truncation)?;
        let strategy = match step.flags & 3 {
            1 => TruncationStrategy::OnlyFirst,
            2 => TruncationStrategy::OnlySecond,
            _ => TruncationStrategy::LongestFirst,
        };
        Some(
            Truncation::new(step.n[0] as usize)
                .with_stride(step.n[1] as usize)
                .with_strategy(strategy)
                .with_direction(direction(step.flags & 4)),
        )
    }

    /// The image's padding, if it pads unasked.
    pub(crate) fn padding(&self) -> Option<Padding> {
        let step = self.find(StepKind::Padding)?;
        (step.flags & 2 == 0)
            .then(|| self.suggested_padding())
            .flatten()
    }

    /// How the image pads, where padding is asked for.
    pub(crate) fn suggested_padding(&self) -> Option<Padding> {
        let step = self.find(StepKind::Padding)?;
        let to = match step.n[0] {
            NO_ID => PadTo::Longest,
            length => PadTo::Fixed(length as usize),
        };
        Some(
            Padding::new(step.n[2])
                .with_length(to)
                .with_multiple_of(step.n[1] as usize)
                .with_type_id(step.n[3])
                .with_direction(direction(step.flags & 1)),
        )
    }

    /// Whether white space is left out of offsets, and if so whether a single one at the beginning stays.
    pub(crate) fn trims_offsets(&self) -> Option<bool> {
        let step = self.find(StepKind::TrimOffsets)?;
        Some(step.flags & 1 != 0)
    }

    fn items(&self, is_pair: bool) -> impl Iterator<Item = Item> + Clone + use<'a> {
        let kind = match is_pair {
            false => StepKind::TemplateSingle,
            true => StepKind::TemplatePair,
        };
        let steps = self.steps;
        let template = steps
            .iter()
            .filter(move |step| step.kind == kind as u32)
            .map(|step| match step.n {
                [0, index, type_id, _] => Item::Sequence {
                    index: index as usize,
                    type_id,
                },
                [_, id, type_id, _] => Item::Special { id, type_id },
            });
        let is_bare = self.find(kind).is_none();
        let bare = if is_bare { 1 + usize::from(is_pair) } else { 0 };
        template.chain(BARE.into_iter().take(bare))
    }

    /// How many special tokens the template adds.
    pub(crate) fn special_count(&self, is_pair: bool) -> usize {
        self.items(is_pair)
            .filter(|item| matches!(item, Item::Special { .. }))
            .count()
    }

    /// Writes the windows of `parts` into `out`: first what is kept, then what overflows, if recorded.
    pub(crate) fn assemble(
        &self,
        image: &ValidImage<'_>,
        parts: &Parts<'_>,
        options: &EncodeOptions,
        padding: Option<Padding>,
        choice: &mut Vec<usize>,
        out: &mut Output,
    ) {
        out.clear();
        let record = Record::new(options);
        let items = self.items(parts.second.is_some());
        let trim = self.trims_offsets();
        let sequences = items.clone().filter_map(|item| match item {
            Item::Sequence { index, .. } => Some(index),
            Item::Special { .. } => None,
        });
        choice.clear();
        choice.extend(sequences.clone().map(|_| 0));
        let mut target = None;
        let mut write = |choice: &[usize]| {
            let mut chosen = choice.iter();
            for item in items.clone() {
                match item {
                    Item::Special { id, type_id } => {
                        if options.add_special_tokens {
                            out.push_added(id, type_id, false, record);
                        }
                    }
                    Item::Sequence { index, type_id } => {
                        let window = chosen.next().copied().unwrap_or(0);
                        if let Some((sequence, windows, source)) = parts.get(index) {
                            let range = windows.get(window);
                            out.push_sequence(sequence, range, source, type_id, record);
                            if let Some(keep_prefix) = trim.filter(|_| options.offsets.is_some()) {
                                out.trim_last(image, sequence, range, keep_prefix);
                            }
                        }
                    }
                }
            }
            if let Some(padding) = padding {
                let main = out.ids.len() - out.window_start();
                let target = *target.get_or_insert_with(|| padding.target(main));
                out.pad(&padding, target, record);
            }
            out.end_window();
        };
        write(choice);
        if !options.overflowing {
            return;
        }
        let counts = sequences.map(|index| parts.get(index).map_or(1, |(_, w, _)| w.count()));
        for first in 0..choice.len() {
            // All choices whose first overflowing window is of sequence `first`, like an odometer.
            choice.fill(0);
            let mut count_of = counts.clone().skip(first);
            if count_of.next().is_none_or(|count| count < 2) {
                continue;
            }
            if let Some(place) = choice.get_mut(first) {
                *place = 1;
            }
            loop {
                write(choice);
                let mut carried = true;
                for place in (first..choice.len()).rev() {
                    let count = counts.clone().nth(place).unwrap_or(1);
                    if let Some(digit) = choice.get_mut(place) {
                        *digit += 1;
                        if *digit < count {
                            carried = false;
                            break;
                        }
                        *digit = 0;
                    }
                }
                if carried {
                    break;
                }
            }
        }
    }
}

fn direction(is_left: u32) -> Direction {
    match is_left {
        0 => Direction::Right,
        _ => Direction::Left,
    }
}

/// How many tokens of text there is room for.
///
/// # Errors
/// If the special tokens alone are too many.
pub(crate) fn room(truncation: &Truncation, specials: usize) -> Result<usize, EncodeError> {
    let max_length = truncation.max_length;
    max_length.checked_sub(specials).ok_or(EncodeError::NoRoom {
        max_length,
        specials,
    })
}

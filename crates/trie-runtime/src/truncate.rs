//! Truncation: how much of each sequence is kept, and which windows the rest gives.
//!
//! As `truncate_encodings` and `Encoding::truncate` in `tokenizers`, but so that it can be decided before
//! everything is encoded: a sequence that is longer than the room may have any length.

use crate::error::EncodeError;
use crate::options::{Direction, Truncation, TruncationStrategy};

/// How long a sequence is, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Length {
    /// So many tokens are known.
    pub(crate) known: usize,
    /// Whether that is all.
    pub(crate) complete: bool,
}

/// How many tokens of each sequence are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// All of both.
    All,
    /// So many of the first and of the second.
    Cut(usize, usize),
    /// Cannot be told before the sequences are encoded further: which of them is the longer one.
    Undecided,
}

/// What is kept of sequences of these lengths in `room` tokens. An incomplete length must be greater than
/// `room`.
///
/// # Errors
/// If the sequence that is to be cut is missing, or nothing of it would be left.
pub(crate) fn keep(
    truncation: &Truncation,
    room: usize,
    first: Length,
    second: Option<Length>,
) -> Result<Kept, EncodeError> {
    let second_len = second.map_or(0, |second| second.known);
    if room == 0 {
        return Ok(Kept::Cut(0, 0));
    }
    if first.known.saturating_add(second_len) <= room {
        return Ok(Kept::All);
    }
    let too_short = |kept_whole: usize| EncodeError::SequenceTooShort { kept_whole, room };
    match (truncation.strategy, second) {
        (TruncationStrategy::OnlySecond, None) => Err(EncodeError::NoSecondSequence),
        (TruncationStrategy::LongestFirst, Some(second)) => Ok(longest_first(room, first, second)),
        (TruncationStrategy::OnlySecond, Some(_)) => match room.checked_sub(first.known) {
            None | Some(0) => Err(too_short(first.known)),
            Some(kept) => Ok(Kept::Cut(first.known, kept)),
        },
        (_, None) => Ok(Kept::Cut(room, 0)),
        (TruncationStrategy::OnlyFirst, Some(_)) => match room.checked_sub(second_len) {
            None | Some(0) => Err(too_short(second_len)),
            Some(kept) => Ok(Kept::Cut(kept, second_len)),
        },
    }
}

/// The longer one is cut to what the shorter one leaves, but not below half, of which the longer one (the
/// second, if they are equally long) gets the odd token.
fn longest_first(room: usize, first: Length, second: Length) -> Kept {
    let half = room / 2;
    let odd = room % 2;
    // The shorter one is at most half, hence complete: the other one gets the rest.
    if first.complete && first.known <= half {
        return Kept::Cut(first.known, room - first.known);
    }
    if second.complete && second.known <= half {
        return Kept::Cut(room - second.known, second.known);
    }
    if odd == 0 {
        return Kept::Cut(half, half);
    }
    let first_is_longer = match (first.complete, second.complete) {
        (true, true) => Some(first.known > second.known),
        (true, false) if second.known >= first.known => Some(false),
        (false, true) if first.known > second.known => Some(true),
        _ => None,
    };
    match first_is_longer {
        Some(true) => Kept::Cut(half + odd, half),
        Some(false) => Kept::Cut(half, half + odd),
        None => Kept::Undecided,
    }
}

/// The windows of a sequence of `len` tokens of which `kept` are kept: the first is what is kept, the others
/// overflow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Windows {
    len: usize,
    kept: usize,
    step: usize,
    direction: Direction,
    count: usize,
}

impl Windows {
    /// # Errors
    /// If there is something to overflow, but `stride` leaves no room for it.
    pub(crate) fn new(
        len: usize,
        kept: usize,
        truncation: &Truncation,
    ) -> Result<Self, EncodeError> {
        let (count, step) = if kept >= len {
            (1, len)
        } else if kept == 0 {
            // Everything overflows, as one window.
            (2, len)
        } else {
            let step = match kept.checked_sub(truncation.stride) {
                None | Some(0) => {
                    return Err(EncodeError::Stride {
                        stride: truncation.stride,
                        room: kept,
                    });
                }
                Some(step) => step,
            };
            (1 + (len - kept).div_ceil(step), step)
        };
        Ok(Self {
            len,
            kept: kept.min(len),
            step,
            direction: truncation.direction,
            count,
        })
    }

    /// One window with all tokens.
    pub(crate) fn whole(len: usize) -> Self {
        Self {
            len,
            kept: len,
            step: len,
            direction: Direction::Right,
            count: 1,
        }
    }

    /// Number of windows, at least 1.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The tokens of window `index`: start and end.
    pub(crate) fn get(&self, index: usize) -> (usize, usize) {
        if self.kept == 0 {
            return if index == 0 { (0, 0) } else { (0, self.len) };
        }
        let shift = index.saturating_mul(self.step).min(self.len);
        match self.direction {
            Direction::Right => (shift, self.len.min(shift + self.kept)),
            Direction::Left => {
                let end = self.len - shift;
                (end.saturating_sub(self.kept), end)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(known: usize) -> Length {
        Length {
            known,
            complete: true,
        }
    }

    /// The reference's own formula, over complete lengths.
    fn reference(room: usize, first: usize, second: usize) -> (usize, usize) {
        let (mut short, mut long) = (first.min(second), first.max(second));
        long = if short > room {
            short
        } else {
            short.max(room - short).min(long)
        };
        if short + long > room {
            short = room / 2;
            long = short + room % 2;
        }
        if first > second {
            (long, short)
        } else {
            (short, long)
        }
    }

    #[test]
    fn longest_first_is_the_references() {
        let truncation = Truncation::new(0);
        for room in 1..12 {
            for first in 0..20 {
                for second in 0..20 {
                    let kept = keep(&truncation, room, complete(first), Some(complete(second)));
                    let expected = if first + second <= room {
                        Kept::All
                    } else {
                        let (a, b) = reference(room, first, second);
                        Kept::Cut(a, b)
                    };
                    assert_eq!(kept.unwrap(), expected, "{room} {first} {second}");
                }
            }
        }
    }

    #[test]
    fn what_an_unfinished_length_decides_is_right() {
        for strategy in [
            TruncationStrategy::LongestFirst,
            TruncationStrategy::OnlyFirst,
            TruncationStrategy::OnlySecond,
        ] {
            let truncation = Truncation::new(0).with_strategy(strategy);
            for room in 1..8 {
                for (first, second) in (0..20).flat_map(|a| (0..20).map(move |b| (a, b))) {
                    let all = keep(&truncation, room, complete(first), Some(complete(second)));
                    for (cut_first, cut_second) in (1..5).flat_map(|a| (1..5).map(move |b| (a, b)))
                    {
                        let seen = |len: usize, more: usize| Length {
                            known: len.min(room + more),
                            complete: len <= room + more,
                        };
                        let early = keep(
                            &truncation,
                            room,
                            seen(first, cut_first),
                            Some(seen(second, cut_second)),
                        );
                        match (early, &all) {
                            (Ok(Kept::Undecided), _) => {
                                assert_eq!(room % 2, 1);
                                assert_eq!(strategy, TruncationStrategy::LongestFirst);
                            }
                            (Ok(early), Ok(all)) => assert_eq!(early, *all),
                            (early, all) => assert_eq!(early.is_err(), all.is_err()),
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn windows_cover_everything_in_steps() {
        let truncation = Truncation::new(0).with_stride(1);
        let windows = Windows::new(10, 4, &truncation).unwrap();
        let all: Vec<_> = (0..windows.count()).map(|i| windows.get(i)).collect();
        assert_eq!(all, [(0, 4), (3, 7), (6, 10)]);
        let left = truncation.with_direction(Direction::Left);
        let windows = Windows::new(9, 4, &left).unwrap();
        let all: Vec<_> = (0..windows.count()).map(|i| windows.get(i)).collect();
        assert_eq!(all, [(5, 9), (2, 6), (0, 3)]);
        let windows = Windows::new(3, 0, &truncation).unwrap();
        let all: Vec<_> = (0..windows.count()).map(|i| windows.get(i)).collect();
        assert_eq!(all, [(0, 0), (0, 3)]);
        assert!(Windows::new(3, 1, &truncation).is_err());
        assert_eq!(Windows::new(3, 3, &truncation).unwrap().count(), 1);
    }
}

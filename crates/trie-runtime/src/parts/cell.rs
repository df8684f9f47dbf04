//! What the pass keeps of each position of a part.
//!
//! The second best path leaves the best one and comes back to it, for the last time at some cell, with a candidate that
//! lost there. So the distance of the two is the least distance, over the cells of the best path, between
//! what is kept and the best candidate that is not: each cell keeps that one's sum, too.

use std::hint::select_unpredictable;

use trie_format::{Automaton, NO_ID};

use super::table::Parts;
use crate::viterbi::{Arithmetic, Kept};

/// In [`Cell::token`]: there is the number of a state.
pub(super) const STATE: u64 = 1 << 63;

/// The best path to a byte position, and the runner-up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell<Score> {
    pub(super) sum: Score,
    /// The best sum of a candidate that was not kept.
    pub(super) runner_up: Score,
    /// The path's last token: its id, or [`NO_ID`] for an unknown character, and above that its length in bytes, 0 where
    /// no path ends. Or [`STATE`] and the number of a state, which tells both.
    pub(super) token: u64,
}

impl<Score: Kept> Cell<Score> {
    pub(super) const UNREACHED: Self = Self {
        sum: Score::UNREACHED,
        runner_up: Score::UNREACHED,
        token: 0,
    };

    /// The automaton and the number of the last token's state, if it is given by that.
    #[inline(always)]
    fn state<'a>(&self, parts: &Parts<'a>) -> Option<(Automaton<'a>, u32)> {
        let automaton = parts.automaton.filter(|_| self.token & STATE != 0)?;
        Some((automaton, self.token as u32))
    }

    /// Length of the last token in bytes, at least 1, so that whoever follows the path comes to an end.
    #[inline(always)]
    pub(super) fn len(&self, parts: &Parts<'_>) -> usize {
        let len = match self.state(parts) {
            Some((automaton, number)) => automaton.state(number).len.into(),
            None => (self.token >> 32) as usize,
        };
        len.max(1)
    }

    /// The last token's id, or [`NO_ID`].
    #[inline(always)]
    pub(super) fn id(&self, parts: &Parts<'_>) -> u32 {
        match self.state(parts) {
            Some((automaton, number)) => automaton.id(number).unwrap_or(NO_ID),
            None => self.token as u32,
        }
    }
}

/// Offers `cell` a candidate: a token of `len` bytes with this id, and the sum behind it.
#[inline(always)]
pub(super) fn relax<A: Arithmetic>(cell: &mut Cell<A::Score>, sum: A::Sum, len: usize, id: u32) {
    // As in the plain pass: the first of several that are equally good stays. Every sum here is better than none. Which is
    // better cannot be foreseen: with selections, 7.1 branches a token are mispredicted in text of 100 languages, with a
    // branch 8.9 (cachegrind).
    let is_better = A::is_better(sum, cell.sum);
    let sum = A::keep(sum);
    let lost = select_unpredictable(is_better, cell.sum, sum);
    let is_best_lost = lost > cell.runner_up;
    let token = (len as u64) << 32 | u64::from(id);
    *cell = Cell {
        sum: select_unpredictable(is_better, sum, cell.sum),
        runner_up: select_unpredictable(is_best_lost, lost, cell.runner_up),
        token: select_unpredictable(is_better, token, cell.token),
    };
}

/// Moves each token of the path that ends at `end` from the cell where it ends to that where it starts, so that they
/// can be followed forwards; returns by how much the path is better than any other.
#[inline(always)]
pub(super) fn turn<Score: Kept>(parts: &Parts<'_>, cells: &mut [Cell<Score>], end: usize) -> f64 {
    let mut margin = f64::INFINITY;
    let mut start = end;
    let Some(mut token) = cells.get(end).copied() else {
        return margin;
    };
    while start > 0 {
        margin = margin.min(token.sum.into() - token.runner_up.into());
        start = start.saturating_sub(token.len(parts));
        if let Some(cell) = cells.get_mut(start) {
            std::mem::swap(cell, &mut token);
        }
    }
    margin
}

/// The tokens of the path to `end`, after [`turn`]: start, end and id, [`NO_ID`] for an unknown character.
#[inline(always)]
pub(super) fn tokens<Score: Kept>(
    parts: &Parts<'_>,
    cells: &[Cell<Score>],
    end: usize,
) -> impl Iterator<Item = (usize, usize, u32)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let token = cells.get(start).filter(|_| start < end)?;
        let begin = start;
        start += token.len(parts);
        Some((begin, start, token.id(parts)))
    })
}

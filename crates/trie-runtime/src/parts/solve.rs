//! The plain pass over one part, from the sum before it; and by how much the best segmentation is the best.
//!
//! The second best path leaves the best one and comes back to it, for the last time at some cell, with a candidate that
//! lost there. So the distance of the two is the least distance, over the cells of the best path, between
//! what is kept and the best candidate that is not: each cell keeps that one's sum, too.

use std::hint::select_unpredictable;

use trie_format::NO_ID;

use super::memo::Answer;
use super::table::Parts;
use super::{Found, Segmenter, answer};
use crate::viterbi::{Arithmetic, Kept};

/// Longer parts go through the window, in bytes.
const MAX_LEN: usize = 512;

/// Where sums are re-based, and as many scores below that as a part of `MAX_LEN` characters can have, the window takes over.
const REBASED_FROM: f32 = 100_000.0;

/// The best path to a byte position, and the runner-up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell<Score> {
    sum: Score,
    /// The best sum of a candidate that was not kept.
    runner_up: Score,
    /// The path's last token: its id, or [`NO_ID`] for an unknown character, and above that its length in bytes, 0 where
    /// no path ends.
    token: u64,
}

impl<Score: Kept> Cell<Score> {
    const UNREACHED: Self = Self {
        sum: Score::UNREACHED,
        runner_up: Score::UNREACHED,
        token: 0,
    };

    /// Length of the last token in bytes, at least 1, so that whoever follows the path comes to an end.
    #[inline(always)]
    fn len(&self) -> usize {
        (self.token >> 32).max(1) as usize
    }
}

impl<Score: Kept> Segmenter<Score> {
    /// Segments the part from `at` to `end`, and adds its tokens to the answer.
    #[inline(never)]
    pub(super) fn solve<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        text: &[u8],
        (at, end): (usize, usize),
        answer: Option<&mut Answer>,
        found: &mut impl Found,
    ) {
        let part = text.get(at..end).unwrap_or_default();
        let furthest = part.len() as f32 * parts.magnitude();
        if part.len() > MAX_LEN || (A::REBASES && !self.sum.is_within(REBASED_FROM - furthest)) {
            if let Some(answer) = answer {
                answer.refuse();
            }
            self.window.begin_at(self.sum);
            self.window
                .advance::<A>(parts.trie, parts.unk, part, true, |start, end, id| {
                    found.token(at + start, at + end, id);
                });
            self.sum = self.window.end_score();
            return;
        }
        let chars = fill::<A>(parts, text, (at, part.len()), self.sum, &mut self.cells);
        let Some(last) = self.cells.get(part.len()).copied() else {
            return;
        };
        let margin = turn(&mut self.cells, part.len());
        let limit = answer::limit::<A>(margin, chars, parts.magnitude(), self.sum);
        self.sum = last.sum;
        let mut answer = answer;
        if let Some(answer) = answer.as_deref_mut() {
            answer.limit(limit);
        }
        let mut start = 0;
        while let Some(token) = self.cells.get(start)
            && start < part.len()
        {
            let next = start + token.len();
            let id = token.token as u32;
            found.token(at + start, at + next, id);
            if let Some(answer) = answer.as_deref_mut() {
                match parts.score(id) {
                    Some(score) => answer.push(next - start, id, score),
                    None => answer.refuse(),
                }
            }
            start = next;
        }
    }
}

/// Fills `cells` with the best paths to the byte positions of the part of `len` bytes at `at` of `text`; returns how many
/// characters it has.
#[inline(always)]
fn fill<A: Arithmetic>(
    parts: &Parts<'_>,
    text: &[u8],
    (at, len): (usize, usize),
    sum: A::Score,
    cells: &mut Vec<Cell<A::Score>>,
) -> usize {
    cells.clear();
    cells.resize(len + 1, Cell::UNREACHED);
    let cells = cells.as_mut_slice();
    if let Some(first) = cells.first_mut() {
        first.sum = sum;
    }
    let mut chars = 0;
    let mut start = 0;
    while start < len
        && let (Some(rest), Some(till_here)) = (text.get(at + start..), cells.get(start))
    {
        let till_here = till_here.sum;
        // No piece goes on behind the part, so that it does not matter that the text does.
        let (char_len, single) = parts.trie.starting(rest, |len, piece| {
            if let Some(cell) = cells.get_mut(start + len) {
                relax::<A>(cell, A::extend(till_here, piece), len, piece.id);
            }
        });
        if !single && let Some(cell) = cells.get_mut(start + char_len) {
            let sum = A::extend_unknown(till_here, parts.unk);
            relax::<A>(cell, sum, char_len, NO_ID);
        }
        start += char_len;
        chars += 1;
    }
    chars
}

#[inline(always)]
fn relax<A: Arithmetic>(cell: &mut Cell<A::Score>, sum: A::Sum, len: usize, id: u32) {
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
fn turn<Score: Kept>(cells: &mut [Cell<Score>], end: usize) -> f64 {
    let mut margin = f64::INFINITY;
    let mut start = end;
    let Some(mut token) = cells.get(end).copied() else {
        return margin;
    };
    while start > 0 {
        margin = margin.min(token.sum.into() - token.runner_up.into());
        start = start.saturating_sub(token.len());
        if let Some(cell) = cells.get_mut(start) {
            std::mem::swap(cell, &mut token);
        }
    }
    margin
}

//! The plain pass over one part, from the sum before it; and by how much the best segmentation is the best.
//!
//! The second best path leaves the best one and comes back to it, for the last time at some cell, with a candidate that
//! lost there. So the distance of the two is the least distance, over the cells of the best path, between
//! what is kept and the best candidate that is not: each cell keeps that one's sum, too.

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
    /// Length in bytes of the path's last token; 0 where no path ends.
    len: u32,
    /// The last token's id, or [`NO_ID`] for an unknown character.
    id: u32,
}

impl<Score: Kept> Cell<Score> {
    const UNREACHED: Self = Self {
        sum: Score::UNREACHED,
        runner_up: Score::UNREACHED,
        len: 0,
        id: NO_ID,
    };
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
        let chars = fill::<A>(parts, text, (at, part), self.sum, &mut self.cells);
        let Some(last) = self.cells.get(part.len()).copied() else {
            return;
        };
        let margin = turn(&mut self.cells, part.len());
        let limit = answer::limit::<A>(margin, chars, self.sum);
        self.sum = last.sum;
        let mut answer = answer;
        if let Some(answer) = answer.as_deref_mut() {
            answer.limit(limit);
        }
        let mut start = 0;
        while let Some(token) = self.cells.get(start)
            && start < part.len()
        {
            let next = start + token.len.max(1) as usize;
            found.token(at + start, at + next, token.id);
            if let Some(answer) = answer.as_deref_mut() {
                match parts.score(token.id) {
                    Some(score) => answer.push(next - start, token.id, score),
                    None => answer.refuse(),
                }
            }
            start = next;
        }
    }
}

/// Fills `cells` with the best paths to the byte positions of `part`, which begins at `at` of `text`; returns how many
/// characters it has.
#[inline(always)]
fn fill<A: Arithmetic>(
    parts: &Parts<'_>,
    text: &[u8],
    (at, part): (usize, &[u8]),
    sum: A::Score,
    cells: &mut Vec<Cell<A::Score>>,
) -> usize {
    cells.clear();
    cells.resize(part.len() + 1, Cell::UNREACHED);
    let cells = cells.as_mut_slice();
    if let Some(first) = cells.first_mut() {
        first.sum = sum;
    }
    let mut chars = 0;
    let mut start = 0;
    while let (Some(rest), Some(till_here)) = (part.get(start..), cells.get(start))
        && !rest.is_empty()
    {
        let till_here = till_here.sum;
        let (char_len, first) = parts.first(rest, text.get(at + start..).unwrap_or_default());
        let single = parts
            .trie
            .prefixes_behind(first, char_len, rest, |len, piece| {
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
    // As in the plain pass: the first of several that are equally good stays. Every sum here is better than none.
    if A::is_better(sum, cell.sum) {
        cell.runner_up = cell.sum;
        cell.sum = A::keep(sum);
        cell.len = len as u32;
        cell.id = id;
    } else if A::is_better(sum, cell.runner_up) {
        cell.runner_up = A::keep(sum);
    }
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
        start = start.saturating_sub(token.len.max(1) as usize);
        if let Some(cell) = cells.get_mut(start) {
            std::mem::swap(cell, &mut token);
        }
    }
    margin
}

//! The plain pass over one part, from the sum before it; and by how much the best segmentation is the best.

use trie_format::NO_ID;

use super::cell::{Cell, relax, turn};
use super::memo::Answer;
use super::table::Parts;
use super::{Found, Segmenter, answer, forward};
use crate::viterbi::{Arithmetic, Kept};

/// Longer parts go through the window, in bytes.
pub(super) const MAX_LEN: usize = 512;

/// Where sums are re-based, and as many scores below that as a part of `MAX_LEN` characters can have, the window takes over.
pub(super) const REBASED_FROM: f32 = 100_000.0;

impl<Score: Kept> Segmenter<Score> {
    /// Makes sure that there are cells for a part.
    #[inline(always)]
    pub(super) fn prepare_cells(&mut self) {
        if self.cells.is_empty() {
            self.cells.resize(MAX_LEN + 1, Cell::UNREACHED);
        }
    }

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
        self.prepare_cells();
        let range = (at, part.len());
        let chars = match &parts.automaton {
            Some(automaton) => {
                forward::fill::<A>(parts, *automaton, text, range, self.sum, &mut self.cells)
            }
            None => fill::<A>(parts, text, range, self.sum, &mut self.cells),
        };
        let Some(last) = self.cells.get(part.len()).copied() else {
            return;
        };
        let margin = turn(parts, &mut self.cells, part.len());
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
            let next = start + token.len(parts);
            let id = token.id(parts);
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
    cells: &mut [Cell<A::Score>],
) -> usize {
    let Some(cells) = cells.get_mut(..=len) else {
        return 0;
    };
    cells.fill(Cell::UNREACHED);
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

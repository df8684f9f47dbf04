//! The plain pass over one part, from the sum before it; and by how much the best segmentation is the best.

use trie_format::NO_ID;

use super::cell::{Cell, relax, tokens, turn};
use super::memo::Answer;
use super::table::Parts;
use super::{Found, Segmenter, answer, forward};
use crate::viterbi::{Arithmetic, Kept};

/// Longer parts go through the window, in bytes.
pub(super) const MAX_LEN: usize = 512;

/// Where sums are re-based, and as many scores below that as a part of `MAX_LEN` characters can have, the window takes over.
const REBASED_FROM: f32 = 100_000.0;

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
        if part.len() > MAX_LEN || may_be_rebased::<A>(parts, self.sum, part.len()) {
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
        let Some(cells) = self.cells.get_mut(..=part.len()) else {
            return;
        };
        cells.fill(Cell::UNREACHED);
        if let Some(first) = cells.first_mut() {
            first.sum = self.sum;
        }
        let rest = text.get(at..).unwrap_or_default();
        let chars = match parts.automaton {
            Some(automaton) => forward::fill::<A>(parts, automaton, rest, cells),
            None => fill::<A>(parts, rest, cells),
        };
        let Some(last) = cells.last().copied() else {
            return;
        };
        let margin = turn(parts, cells, part.len());
        let limit = answer::limit::<A>(margin, chars, parts.magnitude(), self.sum);
        self.sum = last.sum;
        let mut answer = answer;
        if let Some(answer) = answer.as_deref_mut() {
            answer.limit(limit);
        }
        for (start, end, id) in tokens(parts, cells, part.len()) {
            found.token(at + start, at + end, id);
            if let Some(answer) = answer.as_deref_mut() {
                match parts.score(id) {
                    Some(score) => answer.push(end - start, id, score),
                    None => answer.refuse(),
                }
            }
        }
    }
}

/// Whether the reference might re-base sums in a part of `len` bytes with this sum before it.
#[inline(always)]
pub(super) fn may_be_rebased<A: Arithmetic>(parts: &Parts<'_>, sum: A::Score, len: usize) -> bool {
    A::REBASES && !sum.is_within(REBASED_FROM - len as f32 * parts.magnitude())
}

/// Fills `cells`, of which the first has the sum before a part and the others are unreached, with the best paths to the byte
/// positions of that part, which `text` begins with; returns how many characters it has.
#[inline(always)]
fn fill<A: Arithmetic>(parts: &Parts<'_>, text: &[u8], cells: &mut [Cell<A::Score>]) -> usize {
    let mut chars = 0;
    let mut start = 0;
    // No piece goes on behind the part, so that it does not matter that the text does.
    while start + 1 < cells.len()
        && let (Some(rest), Some(ahead)) = (text.get(start..), cells.get_mut(start..))
    {
        let (char_len, _) = hand_on::<A>(parts, rest, ahead);
        start += char_len;
        chars += 1;
    }
    chars
}

/// Hands the tokens that `text` begins with on to `cells`, of which the first is where they begin; returns the length of
/// the first character and how far the longest token goes, in bytes.
#[inline(always)]
pub(super) fn hand_on<A: Arithmetic>(
    parts: &Parts<'_>,
    text: &[u8],
    cells: &mut [Cell<A::Score>],
) -> (usize, usize) {
    let till_here = cells.first().map_or(A::ZERO, |cell| cell.sum);
    let mut furthest = 0;
    let (char_len, single) = parts.trie.starting(text, |len, piece| {
        if let Some(cell) = cells.get_mut(len) {
            relax::<A>(cell, A::extend(till_here, piece), len, piece.id);
            furthest = len;
        }
    });
    if !single && let Some(cell) = cells.get_mut(char_len) {
        let sum = A::extend_unknown(till_here, parts.unk);
        relax::<A>(cell, sum, char_len, NO_ID);
    }
    (char_len, furthest.max(char_len))
}

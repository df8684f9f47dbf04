//! All candidates that end at a character, by the automaton: the plain pass's, in its order.
//!
//! The plain pass goes from start to start and hands each token on to where it ends. Here each position takes them from where
//! they begin: the state behind a character and those that fail leads to are the pieces that end there, the longest, which
//! start first, first; an unknown character is the shortest. The sums are the same additions, and of equal
//! candidates the first one stays, as there. Pieces that begin with U+2581 are not in the automaton if there is no other: those are
//! handed on, and start before all others.

use std::hint::select_unpredictable;

use trie_format::automaton::State;
use trie_format::parts::PartKey;
use trie_format::{Automaton, NO_ID};

use super::cell::{Cell, STATE, relax};
use super::solve::hand_on;
use super::table::Parts;
use crate::ids::Piece;
use crate::utf8::{first_four, valid_place};
use crate::viterbi::{Arithmetic, Kept};

/// The automaton behind some text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forward<'a> {
    automaton: Automaton<'a>,
    state: &'a State,
    number: u32,
    /// Whether any piece has the last character.
    is_known: bool,
}

impl<'a> Forward<'a> {
    #[inline(always)]
    pub(super) fn new(automaton: Automaton<'a>) -> Self {
        Self {
            automaton,
            state: &State::ROOT,
            number: 0,
            is_known: false,
        }
    }

    /// Reads the character that `text`, which is not empty, begins with; returns its length in bytes, which may be more than
    /// there are if the text is not whole.
    #[inline(always)]
    pub(super) fn read(&mut self, text: &[u8]) -> usize {
        let (block, bits, len) = valid_place(first_four(text));
        let code = self.automaton.code(block, bits);
        self.is_known = code != 0;
        (self.state, self.number) = match code {
            0 => (&State::ROOT, 0),
            code => {
                let number = self.automaton.step(self.state, code);
                (self.automaton.state(number), number)
            }
        };
        len
    }

    /// Whether no piece of the automaton may begin before the last character, of `len` bytes, and go on behind it.
    #[inline(always)]
    pub(super) fn is_boundary(&self, len: usize) -> bool {
        !self.is_known || usize::from(self.state.len) == len
    }

    /// Whether the last character, which `text` begins with, is a U+2581 that the automaton does not have.
    #[inline(always)]
    pub(super) fn is_space(&self, text: &[u8]) -> bool {
        !self.is_known && text.starts_with(&PartKey::SPACE)
    }

    /// Offers `cell`, the one at `end` of `cells`, the tokens that end with the last character, of `len` bytes.
    #[inline(always)]
    pub(super) fn offer<A: Arithmetic>(
        &self,
        parts: &Parts<'_>,
        cells: &[Cell<A::Score>],
        (end, len): (usize, usize),
        cell: &mut Cell<A::Score>,
    ) {
        if self.is_known && self.pieces::<A>(cells, end, cell) {
            return;
        }
        if let Some(from) = cells.get(end.wrapping_sub(len)) {
            let sum = A::extend_unknown(from.sum, parts.unk);
            relax::<A>(cell, sum, len, NO_ID);
        }
    }

    /// [`Forward::offer`] of pieces; returns whether the last character is one.
    #[inline(always)]
    fn pieces<A: Arithmetic>(
        &self,
        cells: &[Cell<A::Score>],
        end: usize,
        cell: &mut Cell<A::Score>,
    ) -> bool {
        const NONE: u32 = u32::MAX;
        let (mut piece, mut number) = (self.state, self.number);
        let (mut best, mut runner_up, mut kept) = (cell.sum, cell.runner_up, NONE);
        loop {
            if let Some(from) = cells.get(end.wrapping_sub(piece.len.into())) {
                let sum = A::extend(from.sum, piece_of(piece));
                kept = select_unpredictable(A::is_better(sum, best), number, kept);
                // What is better before it is rounded is not worse after.
                let sum = A::keep(sum);
                let (lost, won) = (lesser(sum, best), greater(sum, best));
                (best, runner_up) = (won, greater(lost, runner_up));
            }
            let fail = self.automaton.state(piece.fail);
            if fail.len >= piece.len {
                break;
            }
            (piece, number) = (fail, piece.fail);
        }
        cell.sum = best;
        cell.runner_up = runner_up;
        if kept != NONE {
            cell.token = STATE | u64::from(kept);
        }
        piece.score != f32::NEG_INFINITY
    }
}

/// The greater of two sums, the second one if they are equal.
#[inline(always)]
fn greater<Score: Kept>(a: Score, b: Score) -> Score {
    if a > b { a } else { b }
}

#[inline(always)]
fn lesser<Score: Kept>(a: Score, b: Score) -> Score {
    if a < b { a } else { b }
}

/// The piece that `state` is, but for its id.
#[inline(always)]
fn piece_of(state: &State) -> Piece {
    Piece {
        id: NO_ID,
        score: state.score,
        score64: state.score.into(),
    }
}

/// Fills `cells` like the pass from start to start ([`super::solve`]): of them the first has the sum before a part and the others are
/// unreached, and `text` begins with the part. Returns how many characters it has.
#[inline(always)]
pub(super) fn fill<A: Arithmetic>(
    parts: &Parts<'_>,
    automaton: Automaton<'_>,
    text: &[u8],
    cells: &mut [Cell<A::Score>],
) -> usize {
    let len = cells.len().saturating_sub(1);
    let mut chars = 0;
    let mut start = 0;
    let mut forward = Forward::new(automaton);
    while start < len
        && let Some(rest) = text.get(start..)
    {
        let char_len = forward.read(rest);
        let end = (start + char_len).min(len);
        if forward.is_space(rest) {
            hand_on::<A>(parts, rest, cells.get_mut(start..).unwrap_or_default());
        } else if let Some(mut cell) = cells.get(end).copied() {
            forward.offer::<A>(parts, cells, (end, end - start), &mut cell);
            if let Some(to) = cells.get_mut(end) {
                *to = cell;
            }
        }
        start = end;
        chars += 1;
    }
    chars
}

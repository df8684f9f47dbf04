//! Text without spaces: the pass goes on from character to character, and gives its tokens out at each boundary.
//!
//! There is a boundary before a character if the automaton's state behind it is that character alone: then no piece
//! begins before it and goes on behind. So there is no search for the ends of parts, and only the cells of one part
//! are in use at a time.
//!
//! Invariant: at a boundary the first cell holds the plain pass's best score of that position, to the bit.

use trie_format::Automaton;

use super::cell::{Cell, tokens, turn};
use super::forward::Forward;
use super::solve::{MAX_LEN, hand_on, may_be_rebased};
use super::table::Parts;
use super::{Found, Segmenter};
use crate::viterbi::{Arithmetic, Kept};

/// Why a run has ended.
pub(super) enum Ended {
    /// It is followed by a word.
    Run,
    /// With the text, as far as that has arrived.
    Text,
    /// A part is too long, or sums may be re-based in it.
    Stuck,
}

/// Between two boundaries there are seldom more bytes: as far as this, it is certain beforehand that no sum is re-based.
const SHORT: usize = 64;

impl<Score: Kept> Segmenter<Score> {
    /// Segments the run that begins at `at`; returns up to where everything is settled.
    #[inline(never)]
    pub(super) fn run<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        automaton: Automaton<'_>,
        text: &[u8],
        at: usize,
        last: bool,
        found: &mut impl Found,
    ) -> (usize, Ended) {
        self.prepare_cells();
        let mut forward = Forward::new(automaton);
        let mut begin = at;
        // From `begin` on: where the next character is; how far tokens go that were handed on; up to where it is certain that no
        // sum is re-based.
        let (mut start, mut reach, mut safe) = (0, 0, 0);
        while let Some(rest) = text.get(begin + start..)
            && !rest.is_empty()
        {
            let mut len = forward.read(rest);
            if len > rest.len() {
                if !last {
                    return (begin, Ended::Text);
                }
                len = rest.len();
            }
            if forward.is_boundary(len) && start >= reach {
                if start > 0 {
                    self.give::<A>(parts, begin, start, found);
                    begin += start;
                }
                if forward.is_space(rest) && begin > at {
                    return (begin, Ended::Run);
                }
                (start, reach, safe) = (0, 0, SHORT);
                if may_be_rebased::<A>(parts, self.sum, safe) {
                    return (begin, Ended::Stuck);
                }
                if let Some(first) = self.cells.first_mut() {
                    first.sum = self.sum;
                }
            }
            let end = start + len;
            if end > safe {
                if end > MAX_LEN || may_be_rebased::<A>(parts, self.sum, MAX_LEN) {
                    return (begin, Ended::Stuck);
                }
                safe = MAX_LEN;
            }
            if forward.is_space(rest) {
                let longest = parts.trie.max_bytes();
                if longest > MAX_LEN {
                    return (begin, Ended::Stuck);
                }
                if rest.len() < longest && !last {
                    return (begin, Ended::Text);
                }
                if let Some(ahead) = self.cells.get_mut(1..=longest.max(len)) {
                    ahead.fill(Cell::UNREACHED);
                }
                (_, reach) = hand_on::<A>(parts, rest, &mut self.cells);
            } else {
                // Others still hold what a part before has left.
                let reached = self.cells.get(end).filter(|_| end <= reach);
                let mut cell = reached.copied().unwrap_or(Cell::UNREACHED);
                forward.offer::<A>(parts, &self.cells, (end, len), &mut cell);
                if let Some(to) = self.cells.get_mut(end) {
                    *to = cell;
                }
            }
            start = end;
        }
        if last && start > 0 {
            self.give::<A>(parts, begin, start, found);
            begin += start;
        }
        (begin, Ended::Text)
    }

    /// Gives the tokens of the part of `len` bytes that begins at `begin`.
    #[inline(always)]
    fn give<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        begin: usize,
        len: usize,
        found: &mut impl Found,
    ) {
        let Some(last) = self.cells.get(len).copied() else {
            return;
        };
        self.sum = last.sum;
        if last.len(parts) == len {
            found.token(begin, begin + len, last.id(parts));
            return;
        }
        turn(parts, &mut self.cells, len);
        for (start, end, id) in tokens(parts, &self.cells, len) {
            found.token(begin + start, begin + end, id);
        }
    }
}

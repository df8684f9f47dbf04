//! The best segmentation of text in a moving window: the same as [`crate::viterbi::segment`]'s, bit for bit,
//! in memory that does not depend on the text's length, and of text that is still arriving.
//!
//! # When a prefix of the best path is settled
//!
//! A *candidate* is a token that some start contributes: a piece that the text has there, or one unknown
//! character. Position `p` is settled when every start before `p` has contributed all its candidates and none
//! of them ends beyond `p`. Then
//!
//! - every path from the beginning of the text to any position from `p` on goes through `p`, whatever
//!   follows, as each of its tokens is a candidate and none crosses `p`;
//! - what is kept of the best path to `p` is final, since only starts before `p` could improve it. So its tokens
//!   are the first tokens of the best path of *any* continuation;
//! - no position beyond `p` is reached yet, so that all that the plain pass would go on with is the score at
//!   `p`. The window does go on with that very score, hence with the same sums in the same order, the same
//!   roundings, the same ties and the same re-basing: results are equal bit for bit, not only up to rounding.
//!
//! A start has contributed all its candidates when its walk through the trie left the trie, or reached its
//! depth, inside the text; while text is still to come, a walk that ran into the text's end, or a
//! character that is cut off there, has to wait.
//!
//! The condition is sufficient. It looks at lengths, not at scores, so it waits where candidates overlap
//! without end (a long run of one letter that has pieces of several lengths), and the window grows for as
//! long as that lasts. Models trained with the usual split at blanks settle at every word.

use trie_format::NO_ID;

use crate::trie::Trie;
use crate::utf8::announced_len;
use crate::viterbi::{Arithmetic, Cell, Kept, UnkScore, relax};

/// No character is longer, in bytes.
const MAX_CHAR_BYTES: usize = 4;

/// The open part of a segmentation: best paths to the positions from the last settled one on.
#[derive(Debug, Default)]
pub(crate) struct Window<Score> {
    /// Best paths; the first is to the settled position. Those beyond `reach` are unreached.
    cells: Vec<Cell<Score>>,
    /// The next start, from the settled position.
    start: usize,
    /// The furthest position that is reached, likewise.
    reach: usize,
}

impl<Score: Kept> Window<Score> {
    const UNREACHED: Cell<Score> = Cell {
        score: Score::UNREACHED,
        len: 0,
        id: NO_ID,
    };

    /// Begins a new text.
    pub(crate) fn begin(&mut self) {
        self.reset_cells();
        if let Some(first) = self.cells.first_mut() {
            first.score = Score::ZERO;
        }
    }

    /// Segments `text` from the settled position on, as far as what follows cannot matter: to its end if
    /// it is the `last` of the text.
    ///
    /// `text` begins at the settled position: at what earlier calls have returned in sum. Every token that
    /// has become final is given to `found`, in order: start and end in `text`, and its id, [`NO_ID`] for an
    /// unknown character. Returns how much of `text` is settled now: all tokens up to there are given.
    pub(crate) fn advance<A: Arithmetic<Score = Score>>(
        &mut self,
        trie: Trie<'_>,
        unk: UnkScore,
        text: &[u8],
        last: bool,
        mut found: impl FnMut(usize, usize, u32),
    ) -> usize {
        // How far a token can reach.
        let longest = trie.max_bytes().max(MAX_CHAR_BYTES);
        if self.cells.is_empty() {
            self.grow(longest);
            self.begin();
        }
        let mut settled = 0;
        while let Some(rest) = text.get(settled + self.start..) {
            let Some(&first) = rest.first() else { break };
            if self.start == self.reach && self.start > 0 {
                self.settle(settled, &mut found);
                settled += self.reach;
                self.restart();
            }
            let char_len = announced_len(first);
            if !last && (char_len > rest.len() || trie.may_go_on(rest)) {
                break;
            }
            if self.cells.len() <= self.start + longest {
                self.grow(longest);
            }
            self.step::<A>(trie, unk, rest, char_len.min(rest.len()));
        }
        if last {
            self.settle(settled, &mut found);
            settled += self.start;
            self.begin();
        }
        settled
    }

    /// Contributes the candidates of the next start, at the beginning of `rest`.
    #[inline(always)]
    fn step<A: Arithmetic<Score = Score>>(
        &mut self,
        trie: Trie<'_>,
        unk: UnkScore,
        rest: &[u8],
        char_len: usize,
    ) {
        let ahead = &mut self.cells[self.start..];
        A::rebase(ahead, trie.max_bytes());
        let till_here = ahead[0].score;
        let mut single = false;
        let mut furthest = char_len;
        trie.prefixes(rest, |len, node| {
            relax::<A>(&mut ahead[len], A::extend(till_here, node), len, node.id);
            single |= len == char_len;
            furthest = len;
        });
        if !single {
            let sum = A::extend_unknown(till_here, unk);
            relax::<A>(&mut ahead[char_len], sum, char_len, NO_ID);
        }
        self.reach = self.reach.max(self.start + furthest.max(char_len));
        self.start += char_len;
    }

    /// Gives the tokens of the path to the furthest position, in order.
    #[inline(always)]
    fn settle(&mut self, offset: usize, found: &mut impl FnMut(usize, usize, u32)) {
        // Each token is moved from where it ends to where it starts, so that they can be followed forwards.
        let mut end = self.start;
        let mut token = (self.cells[end].len as usize, self.cells[end].id);
        while end > 0 {
            end -= token.0;
            let cell = &mut self.cells[end];
            let before = (cell.len as usize, cell.id);
            (cell.len, cell.id) = (token.0 as u32, token.1);
            token = before;
        }
        let mut start = 0;
        while start < self.start {
            let cell = self.cells[start];
            let end = start + cell.len as usize;
            found(offset + start, offset + end, cell.id);
            start = end;
        }
    }

    /// Goes on from the furthest position, which is settled.
    #[inline(always)]
    fn restart(&mut self) {
        let score = self.cells[self.reach].score;
        self.reset_cells();
        self.cells[0].score = score;
    }

    #[inline(always)]
    fn reset_cells(&mut self) {
        let reached = (self.reach + 1).min(self.cells.len());
        self.cells[..reached].fill(Self::UNREACHED);
        (self.start, self.reach) = (0, 0);
    }

    /// Makes room for the candidates of a start.
    #[cold]
    fn grow(&mut self, longest: usize) {
        let len = (self.start + longest + 1).next_power_of_two();
        self.cells.resize(len, Self::UNREACHED);
    }

    /// Bytes that the window holds.
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Cell<Score>>()
    }
}

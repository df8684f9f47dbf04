//! The best segmentation of text in a moving window: [`crate::viterbi::segment`]'s, in memory that does not
//! depend on the text's length, and of text that is still arriving.
//!
//! # When a prefix of the best path is settled
//!
//! A *candidate* is a token that a start contributes to the position where it ends: a piece that the text has
//! there, or one unknown character. Let all starts before position `s` have contributed all their candidates,
//! and none from `s` on. The *open* positions are those from `s` on that are reached. Each has a kept best
//! path.
//!
//! **The tokens that the kept paths to all open positions have in common, from the beginning on, are the first
//! tokens of the best path, whatever follows.**
//!
//! The best path of the whole text crosses from before `s` to some position `r`, with `r` its first position
//! from `s` on. The token that ends at `r` begins before `s`, so it has been contributed: `r` is open. It is
//! the token that is kept at the end, so it is kept now: what came later would come from a start not before
//! `s`. The path before it runs through positions before `s`, to which nothing is contributed any more. So
//! the best path begins with what is kept for `r` now, hence with what is common to all open positions.
//!
//! Nothing is computed otherwise than in the plain pass: cells before the end of the common part are
//! dropped, which no later start reads. So the results are equal bit for bit, ties and roundings included.
//! Re-basing changes the scores of open positions, not what is kept for them.
//!
//! A start has contributed all its candidates when its walk through the trie ends inside the text; while
//! text is still to come, a walk that runs into the text's end has to wait, and so does a character that is
//! cut off there.
//!
//! The condition is sufficient, and more cannot be said from the kept paths alone. Where they disagree
//! without end (a run of one letter that has pieces of several lengths: what the last of them is, decides
//! about the first) the window grows for as long as that lasts.

use trie_format::NO_ID;

use crate::trie::Trie;
use crate::utf8::announced_len;
use crate::viterbi::{Arithmetic, Cell, Kept, UnkScore, extend};

/// No character is longer, in bytes.
const MAX_CHAR_BYTES: usize = 4;

/// So many cells stay in the first-level cache beside the trie's nodes, and make what is done once a window
/// cheap.
const CELLS: usize = 1024;

/// The open part of a segmentation.
#[derive(Debug, Default)]
pub(crate) struct Window<Score> {
    /// Best paths; the first cell is the position up to which everything is settled.
    cells: Vec<Cell<Score>>,
    /// The next start, from the settled position.
    start: usize,
    /// Cells from here on are unreached.
    used: usize,
    /// It is not worth looking for common tokens before the next start is here.
    next_try: usize,
    /// The score that the text began with.
    begin_score: Score,
    /// The best score of the end of the last text.
    end_score: Score,
}

impl<Score: Kept> Window<Score> {
    const UNREACHED: Cell<Score> = Cell {
        score: Score::UNREACHED,
        len: 0,
        id: NO_ID,
    };

    /// Begins a new text.
    #[inline(always)]
    pub(crate) fn begin(&mut self) {
        self.begin_at(Score::ZERO);
    }

    /// Begins a text with this score before it.
    #[inline(always)]
    pub(crate) fn begin_at(&mut self, score: Score) {
        let used = self.used.min(self.cells.len());
        self.cells[..used].fill(Self::UNREACHED);
        (self.start, self.used, self.next_try) = (0, 1, 0);
        if let Some(first) = self.cells.first_mut() {
            first.score = score;
        }
        self.begin_score = score;
    }

    /// The best score of the last text that has ended.
    pub(crate) fn end_score(&self) -> Score {
        self.end_score
    }

    /// Segments `text` from the settled position on, as far as what follows cannot matter: to its end if
    /// it is the `last` of the text, which makes the window ready for another text.
    ///
    /// `text` begins at the settled position: at what earlier calls have returned in sum. Every token that
    /// has become final is given to `found`, in order: start and end in `text`, and its id, [`NO_ID`] for an
    /// unknown character. Returns how much of `text` is settled now: all tokens up to there are given. That is
    /// less than all of it unless it is the last.
    #[inline(always)]
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
        // Cells that a start needs: it may itself be up to a character further than it was asked to go.
        let ahead = longest + MAX_CHAR_BYTES;
        let mut settled = 0;
        loop {
            let rest = &text[settled..];
            // Positions in `rest` and cells have the same numbers.
            if self.start + ahead >= self.cells.len() {
                if self.start > 0 {
                    let common = self.common();
                    self.settle(common, settled, &mut found);
                    settled += common;
                }
                if self.start + ahead >= self.cells.len() / 2 {
                    self.grow(ahead);
                }
                continue;
            }
            // Starts before here have all the cells and all the text that their candidates can need.
            let sure = match last {
                true => rest.len(),
                // A byte more, so that there is always text beyond what is settled.
                false => rest.len().saturating_sub(longest),
            };
            let mut end = sure.min(self.cells.len() - ahead);
            if self.start >= end {
                match rest.get(self.start..) {
                    Some(text @ [first, _, ..])
                        if announced_len(*first) < text.len() && !trie.may_go_on(text) => {}
                    _ => break,
                }
                end = self.start + 1;
            }
            self.start = extend::<A>(trie, unk, rest, &mut self.cells, self.start, end);
            self.used = (self.start + longest).min(rest.len()) + 1;
        }
        if last {
            let end = self.start;
            self.settle(end, settled, &mut found);
            settled += end;
            self.end_score = self.cells.first().map_or(Score::ZERO, Cell::score);
            self.begin();
        } else if self.start >= self.next_try {
            let common = self.common();
            self.settle(common, settled, &mut found);
            settled += common;
            // Geometric steps: the work of looking stays proportional to the text.
            self.next_try = self.start + self.start / 8 + 1;
        }
        settled
    }

    /// Where the common part of the paths to all open positions ends.
    fn common(&self) -> usize {
        let mut common = self.start;
        for open in self.start + 1..self.used.min(self.cells.len()) {
            if self.cells[open].len == 0 {
                continue;
            }
            let mut other = open;
            while other != common {
                let later = if other > common {
                    &mut other
                } else {
                    &mut common
                };
                *later -= self.cells[*later].len as usize;
            }
        }
        common
    }

    /// Gives the tokens of the path to `end`, in order, and drops what is before it.
    #[inline(always)]
    fn settle(&mut self, end: usize, offset: usize, found: &mut impl FnMut(usize, usize, u32)) {
        if end == 0 {
            return;
        }
        // Each token is moved from where it ends to where it starts, so that they can be followed forwards.
        let mut start = end;
        let mut token = (self.cells[end].len, self.cells[end].id);
        while start > 0 {
            start -= token.0 as usize;
            let cell = &mut self.cells[start];
            let before = (cell.len, cell.id);
            (cell.len, cell.id) = token;
            token = before;
        }
        while start < end {
            let cell = self.cells[start];
            let next = start + cell.len as usize;
            found(offset + start, offset + next, cell.id);
            start = next;
        }
        self.cells.copy_within(end..self.used, 0);
        self.cells[self.used - end..self.used].fill(Self::UNREACHED);
        self.start -= end;
        self.used -= end;
        self.next_try = 0;
    }

    /// Makes room for more.
    #[cold]
    fn grow(&mut self, ahead: usize) {
        let is_new = self.cells.is_empty();
        let len = (2 * (self.start + ahead) + 1).max(CELLS);
        self.cells.resize(len.next_power_of_two(), Self::UNREACHED);
        if is_new {
            self.begin_at(self.begin_score);
        }
    }

    /// Bytes that the window holds.
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Cell<Score>>()
    }
}

//! The best segmentation of text part by part: exactly what the plain pass ([`crate::viterbi::segment`]) finds.
//!
//! ```text
//! table   what an image says: where text falls into parts, and which parts have a baked answer
//! unit    what is looked up at once: a word of text with spaces, else a part
//! answer  to a unit: baked, else remembered, else worked out
//! memo    answers found before, a fixed number of them
//! cell    what a pass keeps of a position: the best path, and by how much it is the best
//! forward all candidates that end at a character, by the automaton
//! solve   the pass over one unit, from the sum before it
//! run     the pass over text without spaces, given out from boundary to boundary
//! ```
//!
//! Between two characters that stand side by side in no piece every segmentation has a boundary, so the best
//! segmentation of a text is that of its parts, one after the other. Only the sum of the scores before a part goes
//! into it, and decides where sums are rounded: it is carried along exactly as the plain pass adds it up.
//!
//! Invariant: between two parts, `sum` is bit for bit the plain pass's best score of that position. An answer that is
//! not worked out from it, baked or remembered, is only taken where no sum so great could make another one
//! better ("Parts" in `EXACTNESS.md`).

mod answer;
mod cell;
mod forward;
mod memo;
mod run;
mod solve;
mod table;
mod unit;

use cell::Cell;
use memo::Memo;
use run::Ended;
pub(crate) use table::Parts;
use unit::{Unit, Units};

use crate::segment::Window;
use crate::viterbi::{Arithmetic, Kept};

/// Takes tokens.
pub(crate) trait Found {
    /// The next token: where it starts and ends in the text, and its id, [`trie_format::NO_ID`] for an unknown
    /// character.
    fn token(&mut self, start: usize, end: usize, id: u32);
}

/// What is kept between parts, and working space.
#[derive(Debug, Default)]
pub(crate) struct Segmenter<Score> {
    /// The best score of the position up to which everything is settled.
    sum: Score,
    memo: Memo,
    cells: Vec<Cell<Score>>,
    /// For parts that are too long for `cells`, or whose end has not arrived yet, or in which sums are re-based.
    window: Window<Score>,
    /// The window is inside a part, which has been searched for its end up to here, from the settled position on.
    inside: Option<usize>,
}

/// So many units are found before they are looked up, so that what is looked at is fetched by then. Measured with XLM-R,
/// against one: 700 kB of English take 0.88 of the time, one document repeated 1.06.
const AHEAD: usize = 16;

/// So much of a part is waited for.
const LONGEST_WAIT: usize = 4096;

impl<Score: Kept> Segmenter<Score> {
    /// Begins a new text under the model that `parts` are of.
    #[inline(always)]
    pub(crate) fn begin(&mut self, parts: &Parts<'_>) {
        self.sum = Score::ZERO;
        self.memo.belong_to(parts.owner());
        if self.inside.take().is_some() {
            self.window.begin();
        }
    }

    /// Segments `text` from the settled position on, as far as what follows cannot matter: to its end if it is the
    /// `last` of the text.
    ///
    /// `text` begins at the settled position: at what earlier calls have returned in sum. Every token that has become
    /// final is given to `found`, in order: start and end in `text`, and its id, [`trie_format::NO_ID`] for an
    /// unknown character. Returns how much of `text` is settled now: all tokens up to there are given.
    #[inline(always)]
    pub(crate) fn advance<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        text: &[u8],
        last: bool,
        found: &mut impl Found,
    ) -> usize {
        let mut at = 0;
        if self.inside.is_some() {
            at = self.go_on::<A>(parts, text, 0, last, found);
        }
        let mut ahead = [Unit::EMPTY; AHEAD];
        let mut units = Units::new(parts, text, at, last);
        while at < text.len() && self.inside.is_none() {
            let mut count = 0;
            for to in &mut ahead {
                let Some(unit) = units.next() else { break };
                parts.prefetch(unit.hash);
                self.memo.short.prefetch(unit.hash);
                *to = unit;
                count += 1;
            }
            for unit in ahead.iter().take(count) {
                self.answer::<A>(parts, text, unit, found);
            }
            at = units.at;
            let mut is_stuck = false;
            if let Some(automaton) = parts.automaton
                && units.is_run
            {
                let ended;
                (at, ended) = self.run::<A>(parts, automaton, text, at, last, found);
                match ended {
                    Ended::Run => {
                        units = Units::new(parts, text, at, last);
                        continue;
                    }
                    Ended::Text => {}
                    Ended::Stuck => is_stuck = true,
                }
            }
            if count < AHEAD && at < text.len() {
                if text.len() - at < LONGEST_WAIT && !is_stuck {
                    break;
                }
                self.window.begin_at(self.sum);
                self.inside = Some(0);
                at = self.go_on::<A>(parts, text, at, last, found);
                units = Units::new(parts, text, at, last);
            }
        }
        at
    }

    /// Goes on with the part that the window is inside of, which is settled up to `at`.
    #[cold]
    fn go_on<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        text: &[u8],
        at: usize,
        last: bool,
        found: &mut impl Found,
    ) -> usize {
        let searched = at + self.inside.unwrap_or_default();
        let end = parts.end(text, searched.min(text.len()), last);
        let rest = text.get(at..end.unwrap_or(text.len())).unwrap_or_default();
        let settled = self.window.advance::<A>(
            parts.trie,
            parts.unk,
            rest,
            end.is_some(),
            |start, end, id| found.token(at + start, at + end, id),
        );
        self.inside = None;
        if end.is_some() {
            self.sum = self.window.end_score();
        } else {
            // The last whole character, and what is less than one, are looked at again.
            self.inside = Some(parts.last_whole_char(rest).saturating_sub(settled));
        }
        at + settled
    }

    /// Bytes that are held.
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.memo.allocated_bytes()
            + self.cells.capacity() * size_of::<Cell<Score>>()
            + self.window.allocated_bytes()
    }
}

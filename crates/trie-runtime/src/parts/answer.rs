//! The answer to a unit: baked, else remembered, else worked out.

use trie_format::NO_ID;
use trie_format::parts::MAX_BAKED_SUM;

use super::memo::{Answer, Entry, LongKey};
use super::table::Parts;
use super::unit::Unit;
use super::{Found, Segmenter};
use crate::utf8::announced_len;
use crate::viterbi::{Arithmetic, Kept};

/// How far from zero the sum before a unit may be, for an answer to it to hold that was the best by `margin`, with sums
/// from `sum` on, among paths of at most `chars` tokens whose scores are no further from zero than `magnitude`. See
/// `EXACTNESS.md`.
pub(super) fn limit<A: Arithmetic>(
    margin: f64,
    chars: usize,
    magnitude: f32,
    sum: A::Score,
) -> f32 {
    let chars = chars.max(1) as f64;
    // No sum inside the unit is further from the one before it.
    let reach = chars * f64::from(magnitude);
    // What one addition may be wrong by, for each unit that its result is from zero, and a little more.
    let unit = 1.001 * A::ROUNDING;
    let limit = margin / (2.0 * chars * unit) - sum.into().abs() - 3.0 * reach;
    limit.min(f64::from(MAX_BAKED_SUM) - reach) as f32
}

impl<Score: Kept> Segmenter<Score> {
    /// Segments a unit.
    #[inline(always)]
    pub(super) fn answer<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        text: &[u8],
        unit: &Unit,
        found: &mut impl Found,
    ) {
        if unit.key.is_empty() {
            self.long::<A>(parts, text, unit, found);
        } else if !self.baked::<A>(parts, unit, found) && !self.remembered::<A>(unit, found) {
            self.work_out::<A>(parts, text, unit, found);
        }
    }

    /// Gives the baked answer, if there is one.
    #[inline(always)]
    fn baked<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        unit: &Unit,
        found: &mut impl Found,
    ) -> bool {
        match parts.find(&unit.key, unit.hash) {
            Some(part) if self.sum.is_within(MAX_BAKED_SUM) => {
                found.token(unit.start, unit.end, part.id);
                self.sum = A::extend_single(self.sum, part.score);
                true
            }
            _ => false,
        }
    }

    /// Gives the remembered answer, if there is one.
    #[inline(always)]
    fn remembered<A: Arithmetic<Score = Score>>(
        &mut self,
        unit: &Unit,
        found: &mut impl Found,
    ) -> bool {
        let entry = self.memo.short.find(&unit.key, unit.hash);
        give::<A, _, _>(entry, &mut self.sum, unit.start, found)
    }

    /// Segments a unit that is one character: it is a piece, which is remembered, or unknown, whatever the sum before it.
    fn single<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        text: &[u8],
        unit: &Unit,
        found: &mut impl Found,
    ) {
        let (start, end) = (unit.start, unit.end);
        // Where sums are re-based, that is all that is left to be worked out.
        if A::REBASES && !self.sum.is_within(MAX_BAKED_SUM) {
            self.solve::<A>(parts, text, (start, end), None, found);
            return;
        }
        let piece = text
            .get(start..end)
            .and_then(|char| parts.trie.single(char));
        self.sum = match piece {
            Some(piece) => {
                found.token(start, end, piece.id);
                if let Some(score) = parts.score(piece.id) {
                    let mut answer = Answer::new();
                    answer.limit(MAX_BAKED_SUM);
                    answer.push(end - start, piece.id, score);
                    self.memo.prepare();
                    self.memo.short.insert(unit.key, unit.hash, &answer);
                }
                A::keep(A::extend(self.sum, piece))
            }
            None => {
                found.token(start, end, NO_ID);
                A::keep(A::extend_unknown(self.sum, parts.unk))
            }
        };
    }

    /// Segments a unit that is too long for a baked answer, or gives the remembered answer to it.
    #[inline(never)]
    fn long<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        text: &[u8],
        unit: &Unit,
        found: &mut impl Found,
    ) {
        let range = (unit.start, unit.end);
        let Some(key) = text.get(unit.start..unit.end).and_then(LongKey::new) else {
            self.solve::<A>(parts, text, range, None, found);
            return;
        };
        let hash = key.hash();
        let entry = self.memo.long.find(&key, hash);
        if !give::<A, _, _>(entry, &mut self.sum, unit.start, found) {
            let answer = self.new_answer::<A>(parts, text, range, found);
            self.memo.long.insert(key, hash, &answer);
        }
    }

    /// Segments a unit that is not known, and remembers the answer.
    ///
    /// A word that is several parts goes through the pass as one: to look for a baked answer to each costs more than it saves
    /// but in Arabic and Korean (XLM-R, instructions a token of unseen text: English 488 and 450, Korean 515 and 555).
    #[inline(never)]
    fn work_out<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        text: &[u8],
        unit: &Unit,
        found: &mut impl Found,
    ) {
        let range = (unit.start, unit.end);
        let first = text.get(unit.start).copied().unwrap_or_default();
        if unit.end - unit.start == announced_len(first) {
            self.single::<A>(parts, text, unit, found);
            return;
        }
        let answer = self.new_answer::<A>(parts, text, range, found);
        self.memo.short.insert(unit.key, unit.hash, &answer);
    }

    /// Segments `range` of the text, gives the tokens and returns them to be remembered.
    #[inline(always)]
    fn new_answer<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        text: &[u8],
        range: (usize, usize),
        found: &mut impl Found,
    ) -> Answer {
        let mut answer = Answer::new();
        self.solve::<A>(parts, text, range, Some(&mut answer), found);
        self.memo.prepare();
        answer
    }
}

/// Gives the remembered tokens of a unit that begins at `start`, and adds their scores to the sum before it, if there is an
/// entry that holds for that sum.
#[inline(always)]
fn give<A: Arithmetic, K, const TOKENS: usize>(
    entry: Option<&Entry<K, TOKENS>>,
    sum: &mut A::Score,
    mut start: usize,
    found: &mut impl Found,
) -> bool {
    let Some(entry) = entry.filter(|entry| sum.is_within(entry.limit)) else {
        return false;
    };
    for (&len, &(id, score)) in entry.lens.iter().zip(&entry.tokens) {
        if len == 0 {
            break;
        }
        let end = start + usize::from(len);
        found.token(start, end, id);
        *sum = A::extend_single(*sum, score);
        start = end;
    }
    true
}

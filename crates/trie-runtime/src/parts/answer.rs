//! The answer to a unit: baked, else remembered, else worked out part by part.

use trie_format::parts::MAX_BAKED_SUM;

use super::memo::{Answer, MAX_TOKENS};
use super::table::Parts;
use super::unit::Unit;
use super::{Found, Segmenter};
use crate::viterbi::{Arithmetic, Kept};

/// No sum inside a part or word that has a key is further from the one before it: the greatest magnitude an image may
/// have, for each character, and a little more.
const KEY_REACH: f64 = 2_000.0;

/// How far from zero the sum before a part may be, for an answer to it to hold that was the best by `margin`, with sums
/// from `sum` on, among paths of at most `chars` tokens. See `EXACTNESS.md`.
pub(super) fn limit<A: Arithmetic>(margin: f64, chars: usize, sum: A::Score) -> f32 {
    // What one addition may be wrong by, for each unit that its result is from zero, and a little more.
    let unit = 1.001 * A::ROUNDING;
    let furthest = margin / (2.0 * chars.max(1) as f64 * unit);
    // The sum before the part is up to one reach from the one before its word.
    let limit = furthest - sum.into().abs() - 3.0 * KEY_REACH;
    limit.min(f64::from(MAX_BAKED_SUM) - KEY_REACH) as f32
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
        let is_known = !unit.key.is_empty()
            && (self.baked::<A>(parts, unit, found) || self.remembered::<A>(unit, found));
        if !is_known {
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
        let entry = match self.memo.find(&unit.key, unit.hash) {
            Some(entry) if self.sum.is_within(entry.limit) => entry,
            _ => return false,
        };
        let mut start = unit.start;
        for index in 0..MAX_TOKENS {
            let len = usize::from(entry.lens[index]);
            if len == 0 {
                break;
            }
            let (id, score) = entry.tokens[index];
            found.token(start, start + len, id);
            self.sum = A::extend_single(self.sum, score);
            start += len;
        }
        true
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
        if unit.key.is_empty() {
            self.solve::<A>(parts, text, range, None, found);
        } else {
            let mut answer = Answer::new();
            self.solve::<A>(parts, text, range, Some(&mut answer), found);
            self.memo.insert(unit.key, unit.hash, &answer);
        }
    }
}

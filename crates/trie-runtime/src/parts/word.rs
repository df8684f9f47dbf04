//! Words: from U+2581 to before the next one. Short ones are looked up as a whole, then part by part.

use trie_format::parts::{MAX_BAKED_SUM, MAX_KEY_BYTES, PartKey};

use super::memo::{Answer, MAX_TOKENS};
use super::table::Parts;
use super::{Found, Segmenter};
use crate::simd::equal;
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
    limit.min((f64::from(MAX_BAKED_SUM) - KEY_REACH).into()) as f32
}

impl<Score: Kept> Segmenter<Score> {
    /// Segments the word that begins at `at`, or its parts up to there, and returns where it ends; `None` if that
    /// has not arrived yet.
    #[inline(always)]
    pub(super) fn word<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        text: &[u8],
        at: usize,
        last: bool,
        found: &mut impl Found,
    ) -> Option<usize> {
        let rest = text.get(at..)?;
        let body = rest.strip_prefix(&PartKey::SPACE);
        let after_space = body.is_some();
        let body = body.unwrap_or(rest);
        let copy;
        let window = match body.first_chunk() {
            Some(window) => window,
            None => {
                copy = filled(body);
                &copy
            }
        };
        let len = match next_space(window) {
            Some(len) => len,
            None if body.len() > MAX_KEY_BYTES => {
                return self.long_word::<A>(parts, text, at, last, found);
            }
            None if last => body.len(),
            None => return None,
        };
        let end = at + (rest.len() - body.len()) + len;
        let key = PartKey::of_window(window, len, after_space);
        let hash = key.hash();
        if !self.baked::<A>(parts, &key, hash, (at, end), found)
            && !self.remembered::<A>(&key, hash, at, found)
        {
            let mut answer = Answer::new();
            self.new_word::<A>(parts, text, (at, end), &mut answer, found);
            self.memo.insert(key, hash, &answer);
        }
        Some(end)
    }

    /// Gives the baked answer to a part, if there is one.
    #[inline(always)]
    pub(super) fn baked<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        key: &PartKey,
        hash: u64,
        (at, end): (usize, usize),
        found: &mut impl Found,
    ) -> bool {
        match parts.find(key, hash) {
            Some(part) if self.sum.is_within(MAX_BAKED_SUM) => {
                found.token(at, end, part.id);
                self.sum = A::extend_single(self.sum, part.score);
                true
            }
            _ => false,
        }
    }

    /// Gives the remembered answer to a part or word, if there is one.
    #[inline(always)]
    pub(super) fn remembered<A: Arithmetic<Score = Score>>(
        &mut self,
        key: &PartKey,
        hash: u64,
        at: usize,
        found: &mut impl Found,
    ) -> bool {
        let entry = match self.memo.find(key, hash) {
            Some(entry) if self.sum.is_within(entry.limit) => entry,
            _ => return false,
        };
        let mut start = at;
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

    /// Segments a word that is not known, part by part.
    #[inline(never)]
    fn new_word<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        text: &[u8],
        (at, end): (usize, usize),
        answer: &mut Answer,
        found: &mut impl Found,
    ) {
        let text = text.get(..end).unwrap_or_default();
        let mut start = at;
        while start < end {
            let (stop, key) = parts.part(text, start, true).unwrap_or((end, None));
            let is_word = (start, stop) == (at, end);
            let known = match key {
                Some(key) if !is_word => parts.find(&key, key.hash()),
                _ => None,
            };
            match known {
                Some(part) if self.sum.is_within(MAX_BAKED_SUM) => {
                    found.token(start, stop, part.id);
                    self.sum = A::extend_single(self.sum, part.score);
                    answer.push(stop - start, part.id, part.score);
                    answer.limit(MAX_BAKED_SUM - KEY_REACH as f32);
                }
                _ => self.solve::<A>(parts, text, (start, stop), Some(answer), found),
            }
            start = stop;
        }
    }

    /// Segments the parts of a word that is too long to have a key, as far as they have arrived.
    #[inline(never)]
    fn long_word<A: Arithmetic<Score = Score>>(
        &mut self,
        parts: &Parts<'_>,
        text: &[u8],
        at: usize,
        last: bool,
        found: &mut impl Found,
    ) -> Option<usize> {
        let mut start = self.part::<A>(parts, text, at, last, found)?;
        while let Some(rest) = text.get(start..)
            && !rest.is_empty()
            && !rest.starts_with(&PartKey::SPACE)
        {
            match self.part::<A>(parts, text, start, last, found) {
                Some(end) => start = end,
                None => break,
            }
        }
        Some(start)
    }
}

/// `text`, which is shorter, and zeros.
#[cold]
fn filled(text: &[u8]) -> [u8; 24] {
    let mut window = [0; 24];
    for (to, &byte) in window.iter_mut().zip(text) {
        *to = byte;
    }
    window
}

/// Where the first U+2581 in `window` begins, if that is at most [`MAX_KEY_BYTES`] bytes on and all of it is there.
#[inline(always)]
fn next_space(window: &[u8; 24]) -> Option<usize> {
    let [first, ..] = PartKey::SPACE;
    let (low, high) = (window.first_chunk()?, window.last_chunk()?);
    // The two halves overlap.
    let mut places = equal(*low, first) | equal(*high, first) << 8;
    while places != 0 {
        let at = places.trailing_zeros() as usize;
        if window.get(at..at + 3) == Some(&PartKey::SPACE) {
            return Some(at);
        }
        places &= places - 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_are_found_where_they_are_whole() {
        for at in 0..24 {
            let mut window = [b'x'; 24];
            for (to, byte) in window[at..].iter_mut().zip(PartKey::SPACE) {
                *to = byte;
            }
            let expected = (at <= 21).then_some(at);
            assert_eq!(next_space(&window), expected, "{at}");
            // What looks alike: other bytes that begin with the same one.
            if at > 2 {
                window[..3].copy_from_slice(b"\xe2\x80\x99");
                assert_eq!(next_space(&window), expected, "{at}");
                window[..3].copy_from_slice(b"\xe2\xe3\xe2");
                assert_eq!(next_space(&window), expected, "{at}");
            }
        }
    }
}

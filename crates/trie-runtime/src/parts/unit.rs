//! Units: what is looked up at once. A unit lies between two places where every segmentation has a boundary: a part, or
//! several, if it is quicker to tell where they end.
//!
//! In text with spaces a unit is a word, or what punctuation leaves of one: its end is found without a look at its
//! characters. In text without, and of words that are too long to be remembered, it is a part.
//!
//! Invariant: whatever text falls into units, their segmentations one after the other are the text's.

use trie_format::parts::{MAX_KEY_BYTES, PartKey};

use super::memo::LongKey;
use super::table::{Character, Parts, character, is_inside};
use crate::simd::{equal, not_alphanumeric};

/// Text that is looked up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    /// Where it begins and ends in the text, in bytes.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The empty key if it is too long to have one.
    pub(super) key: PartKey,
    /// The key's.
    pub(super) hash: u64,
}

impl Unit {
    /// Nothing.
    pub(super) const EMPTY: Self = Self {
        start: 0,
        end: 0,
        key: PartKey::EMPTY,
        hash: 0,
    };

    #[inline(always)]
    fn new((start, end): (usize, usize), key: PartKey) -> Self {
        Self {
            start,
            end,
            key,
            hash: key.hash(),
        }
    }
}

/// Finds one unit after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Units<'a, 't> {
    parts: &'t Parts<'a>,
    text: &'t [u8],
    /// Whether nothing follows the text.
    last: bool,
    /// Where the next unit begins.
    pub(super) at: usize,
    /// Whether part follows part, up to the next U+2581.
    by_part: bool,
    /// Whether there is U+2581 at `at`; false if that is not known.
    at_space: bool,
    /// The character at `at`, if part follows part and it is known.
    ahead: Option<Character>,
    /// What begins at `at` is no unit but text without spaces, for the automaton.
    pub(super) is_run: bool,
}

impl<'a, 't> Units<'a, 't> {
    /// The units of `text` from `at` on.
    #[inline(always)]
    pub(super) fn new(parts: &'t Parts<'a>, text: &'t [u8], at: usize, last: bool) -> Self {
        Self {
            parts,
            text,
            last,
            at,
            by_part: !parts.has_words(),
            at_space: false,
            ahead: None,
            is_run: false,
        }
    }

    /// The next unit; `None` at the end of the text, and if a unit's end has not arrived yet.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<Unit> {
        let unit = if self.by_part {
            self.part()
        } else {
            self.word()
        }?;
        self.at = unit.end;
        Some(unit)
    }

    #[inline(always)]
    fn word(&mut self) -> Option<Unit> {
        let start = self.at;
        let after_space = std::mem::take(&mut self.at_space)
            || self.text.get(start..)?.starts_with(&PartKey::SPACE);
        let body_start = start + if after_space { PartKey::SPACE.len() } else { 0 };
        let body = self.text.get(body_start..)?;
        let copy;
        let window = match body.first_chunk() {
            Some(window) => window,
            None => {
                copy = filled(body);
                &copy
            }
        };
        // Kana and Han are written without spaces.
        if let [0xe3..=0xe9, ..] = window {
            return self.part();
        }
        let len = match self.word_len(window, body_start) {
            Some((len, before_space)) => {
                self.at_space = before_space;
                len
            }
            None if body.len() > MAX_KEY_BYTES => return self.long_word(body_start),
            None if self.last && start < self.text.len() => body.len(),
            None => return None,
        };
        let key = PartKey::of_window(window, len, after_space);
        Some(Unit::new((start, body_start + len), key))
    }

    /// A word that is too long for a key but not for being remembered; else its first part.
    #[inline(never)]
    fn long_word(&mut self, body_start: usize) -> Option<Unit> {
        for from in [16, 32, 48, 64] {
            let half = self
                .text
                .get(body_start + from..)
                .and_then(|rest| rest.first_chunk());
            if let Some(half) = half
                && let Some((len, before_space)) = self.word_len_in(half, body_start, from)
            {
                let end = body_start + len;
                if end - self.at > LongKey::MAX_BYTES {
                    break;
                }
                self.at_space = before_space;
                return Some(Unit::new((self.at, end), PartKey::EMPTY));
            }
        }
        if self.parts.automaton.is_some() {
            self.is_run = true;
            return None;
        }
        self.part()
    }

    /// How many bytes of `window`, which begins at `start` and after U+2581, no segmentation can take together with what
    /// follows, and whether that is U+2581; `None` if that is not seen in it.
    #[inline(always)]
    fn word_len(&self, window: &[u8; 24], start: usize) -> Option<(usize, bool)> {
        // The two halves overlap. Most words end in the first.
        match self.word_len_in(window.first_chunk()?, start, 0) {
            None => {
                let end = self.word_len_in(window.last_chunk()?, start, 8);
                end.filter(|&(len, _)| len <= MAX_KEY_BYTES)
            }
            end => end,
        }
    }

    /// [`Units::word_len`], seen in the sixteen bytes that are `from` bytes from `start`.
    #[inline(always)]
    fn word_len_in(&self, half: &[u8; 16], start: usize, from: usize) -> Option<(usize, bool)> {
        let [first, ..] = PartKey::SPACE;
        let spaces = equal(*half, first);
        let mut places = spaces | not_alphanumeric(*half);
        while places != 0 {
            let place = places.trailing_zeros();
            let len = from + place as usize;
            if spaces >> place & 1 != 0 {
                let rest = self.text.get(start + len..);
                if rest.is_some_and(|rest| rest.starts_with(&PartKey::SPACE)) {
                    return Some((len, true));
                }
            } else if let Some(len) = self.around_mark(start, len) {
                return Some((len, false));
            }
            places &= places - 1;
        }
        None
    }

    /// Whether there is a boundary before or after the ASCII character that is `len` bytes from `start`: how many bytes are
    /// before it.
    #[inline(always)]
    fn around_mark(&self, start: usize, len: usize) -> Option<usize> {
        let mark = self.text.get(start + len).copied()?.into();
        let before = len.checked_sub(1).and_then(|before| {
            let byte = *self.text.get(start + before)?;
            match byte < 0x80 {
                true => Some(byte.into()),
                false => last_character(self.text.get(start..start + len)?),
            }
        });
        if let Some(before) = before
            && !self.parts.may_join(before, mark)
        {
            return Some(len);
        }
        let (after, _) = character(self.text, start + len + 1)?;
        (!self.parts.may_join(mark, after)).then_some(len + 1)
    }

    #[inline(always)]
    fn part(&mut self) -> Option<Unit> {
        let start = self.at;
        let part = self.parts.part(self.text, start, self.ahead, self.last)?;
        let is_space = part.next.is_some_and(|(bytes, _)| bytes == Parts::SPACE);
        self.by_part = !(is_space && self.parts.has_words());
        self.at_space = is_space;
        self.ahead = part.next.filter(|_| self.by_part);
        let key = part.key.unwrap_or(PartKey::EMPTY);
        Some(Unit::new((start, part.end), key))
    }
}

/// The bytes of the character that `text` ends with, as [`character`] gives them.
#[cold]
fn last_character(text: &[u8]) -> Option<u32> {
    let from = text.len().saturating_sub(4);
    let at = (from..text.len()).rev().find(|&at| !is_inside(text, at))?;
    let (bytes, len) = character(text, at)?;
    (at + len == text.len()).then_some(bytes)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_character_is_a_whole_one() {
        assert_eq!(last_character("a\u{e9}".as_bytes()), Some(0xa9c3));
        assert_eq!(last_character("\u{1f600}".as_bytes()), Some(0x8098_9ff0));
        assert_eq!(last_character(b"ab"), Some(b'b'.into()));
        assert_eq!(last_character(b"\xf0\x9f"), None);
        assert_eq!(last_character(b"\xc3\xa9\xa9"), None);
        assert_eq!(last_character(b""), None);
    }
}

//! Text that normalization leaves as it is, told without a look at the rules.

use trie_format::{PlainChars, ValidImage};

use crate::simd::not_graphic;
use crate::utf8::{first_four, place};

/// The characters that the compiler has found to stay as they are ("Plain characters" in `FORMAT.md`); of an
/// image that does not say, none.
///
/// Most text is runs of these. Measured with XLM-R, normalization costs 65 instructions a token in English and 193
/// in Thai with them, 475 and 726 with a look at the rules for every character.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain<'a> {
    chars: &'a PlainChars,
    /// All printable ASCII characters are plain: sixteen bytes are told at once.
    printable: bool,
}

/// So many bytes are told at once.
const STRIDE: usize = 16;

impl<'a> Plain<'a> {
    /// No character.
    pub(crate) const NONE: Plain<'static> = Plain {
        chars: &PlainChars::NONE,
        printable: false,
    };

    /// The set of an image. Constant time.
    pub(crate) fn new(image: &ValidImage<'a>) -> Self {
        match image.plain_chars() {
            Some(chars) => Self::of(chars),
            None => Plain::NONE,
        }
    }

    fn of(chars: &'a PlainChars) -> Self {
        const DELETE: u64 = 1 << 63;
        let [low, high, ..] = chars.plain;
        let printable = low >> 32 == u64::MAX >> 32 && high | DELETE == u64::MAX;
        Self { chars, printable }
    }

    /// Whether [`Plain::words_len`] may find something.
    #[inline(always)]
    pub(crate) fn has_words(self) -> bool {
        self.printable
    }

    /// Calls `word` for the words that `text`, whose characters are all plain if printable ASCII, begins with: each
    /// time sixteen bytes, how many of them are of the word, and whether the word ends there with a single
    /// space, which is not among them. Returns how many bytes that covers.
    #[inline(always)]
    pub(crate) fn words_len(
        self,
        text: &[u8],
        mut word: impl FnMut(usize, &[u8; STRIDE], usize, bool),
    ) -> usize {
        let mut len = 0;
        while let Some(sixteen) = text.get(len..).and_then(|rest| rest.first_chunk()) {
            let run = (not_graphic(*sixteen) | 1 << STRIDE).trailing_zeros() as usize;
            let next = |ahead: usize| text.get(len + run + ahead).copied();
            let is_space = run > 0 && run < STRIDE && next(0) == Some(b' ');
            if is_space && next(1).is_some_and(|byte| byte.is_ascii_graphic()) {
                word(len, sixteen, run, true);
                len += run + 1;
                continue;
            }
            // Nothing is known of what follows the last character, unless that is a space.
            let certain = if is_space { run } else { run.saturating_sub(1) };
            word(len, sixteen, certain, false);
            len += certain;
            if run < STRIDE {
                break;
            }
        }
        len
    }

    /// How many bytes at the beginning of `text` stay as they are, and are not spaces. More may follow a text that is
    /// not the `LAST`. Leaves what [`Plain::words_len`] is quicker with to that.
    #[inline(always)]
    pub(crate) fn run_len<const LAST: bool>(self, text: &[u8]) -> usize {
        let mut len = 0;
        // Where the last character begins, of which it is not known yet what follows.
        let mut last = 0;
        loop {
            // Letters beyond ASCII, of one script and so of one length, are the most of this. Surrogates are not plain.
            while let Some(rest) = text.get(len..)
                && let Some(four) = rest.first_chunk()
                && let Some((block, bit, char_len)) = place(u32::from_le_bytes(*four))
                && self.chars.plain[block] >> (bit % 64) & 1 != 0
            {
                last = len;
                len += char_len;
            }
            let Some(rest) = text.get(len..).filter(|rest| !rest.is_empty()) else {
                return if LAST { len } else { last };
            };
            let Some((code, char_len)) = character(rest) else {
                return last;
            };
            let is_word = code > 0x20 && code < 0x7f && self.printable && rest.len() > STRIDE;
            if !self.chars.is_plain(code) || code == 0x20 || (is_word && len > 0) {
                return if self.chars.is_follower(code) {
                    last
                } else {
                    len
                };
            }
            last = len;
            len += char_len;
        }
    }

    /// Whether `text` begins with a space that stays one.
    #[inline(always)]
    pub(crate) fn begins_with_space<const LAST: bool>(self, text: &[u8]) -> bool {
        match text {
            [b' ', rest @ ..] if self.chars.is_plain(b' '.into()) => match character(rest) {
                Some((code, _)) => !self.chars.is_follower(code),
                None => LAST && rest.is_empty(),
            },
            _ => false,
        }
    }
}

/// The character up to U+FFFF that `text` begins with: its code point and its length in bytes.
#[inline(always)]
fn character(text: &[u8]) -> Option<(u16, usize)> {
    let &first = text.first()?;
    if first < 0x80 {
        return Some((first.into(), 1));
    }
    let (block, bit, len) =
        place(first_four(text)).filter(|&(block, ..)| block & 0x3e0 != 0x360)?;
    Some(((block << 6) as u16 | (bit & 0x3f) as u16, len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::utf8::valid_len;

    #[test]
    fn only_whole_characters_count() {
        let interesting = [
            0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff,
        ];
        for first in 0x80..=0xff {
            for second in interesting {
                for third in interesting {
                    let text = [first, second, third];
                    let found = character(&text);
                    let expected = valid_len(&text).filter(|&len| len < 4);
                    assert_eq!(found.map(|(_, len)| len), expected, "{text:x?}");
                    if let Some((code, len)) = found {
                        let character = std::str::from_utf8(&text[..len]).unwrap();
                        assert_eq!(character.chars().map(u32::from).next(), Some(code.into()));
                    }
                }
            }
        }
        assert_eq!(character("\u{e9}".as_bytes()), Some((0xe9, 2)));
        assert_eq!(character(b"\xe2\x82"), None);
        assert_eq!(character("😀".as_bytes()), None);
    }

    #[test]
    fn words_end_before_what_is_not_certain() {
        let mut chars = PlainChars::NONE;
        chars.plain.fill(u64::MAX);
        let plain = Plain::of(&chars);
        assert!(plain.has_words());
        let words = |text: &str| {
            let mut found = Vec::new();
            let len = plain.words_len(text.as_bytes(), |at, bytes, len, is_word| {
                assert_eq!(&bytes[..], &text.as_bytes()[at..at + bytes.len()]);
                found.push((at, len, is_word));
            });
            (found, len)
        };
        let tail = ".".repeat(STRIDE);
        let whole = |text: &str| words(&(text.to_owned() + &tail));
        assert_eq!(
            whole("ab c "),
            (vec![(0, 2, true), (3, 1, true), (5, 15, false)], 20)
        );
        assert_eq!(whole("ab  c"), (vec![(0, 2, false)], 2));
        assert_eq!(whole("ab \u{e9}"), (vec![(0, 2, false)], 2));
        assert_eq!(whole("ab\u{301}"), (vec![(0, 1, false)], 1));
        assert_eq!(whole("a\tb"), (vec![(0, 0, false)], 0));
        assert_eq!(words("ab c"), (vec![], 0));
        for before in 1..3 * STRIDE {
            let text = "x".repeat(before) + " y" + &tail;
            let (found, len) = words(&text);
            let covered: usize = found
                .iter()
                .map(|&(_, len, is_word)| len + usize::from(is_word))
                .sum();
            assert_eq!(covered, len);
            assert!(text.len() - len <= STRIDE, "{text}: {len}");
        }
    }

    #[test]
    fn a_run_ends_before_what_a_follower_may_change() {
        let mut chars = PlainChars::NONE;
        chars.plain.fill(u64::MAX);
        let mark = 0x301;
        chars.plain[mark / 64] ^= 1 << (mark % 64);
        chars.followers[mark / 64] |= 1 << (mark % 64);
        let plain = Plain::of(&chars);
        assert!(plain.printable);
        let run = |text: &str| plain.run_len::<true>(text.as_bytes());
        assert_eq!(run("abc"), 3);
        assert_eq!(run("ab\u{301}"), 1);
        assert_eq!(run("\u{e9}b c"), 3);
        assert_eq!(run("\u{e9}\u{301}"), 0);
        assert_eq!(run("a\u{e9}\u{e38}\u{301}"), 3);
        assert_eq!(run("ab😀"), 1);
        assert_eq!(run(""), 0);
        assert_eq!(plain.run_len::<false>("ab\u{e9}".as_bytes()), 2);
        assert_eq!(plain.run_len::<false>(b"ab\xc3"), 1);
        assert!(plain.begins_with_space::<true>(b" "));
        assert!(!plain.begins_with_space::<false>(b" "));
        assert!(plain.begins_with_space::<false>(b" a"));
        assert!(!plain.begins_with_space::<true>(" \u{301}".as_bytes()));
        assert_eq!(Plain::NONE.run_len::<true>(b"abc"), 0);
    }
}

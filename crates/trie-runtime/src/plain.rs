//! Text that normalization leaves as it is, told without a look at the rules.

use trie_format::{PLAIN_WORDS, ValidImage};

/// The characters that the compiler has found to stay as they are ("Plain characters" in `FORMAT.md`); of an
/// image that does not say, none.
///
/// Most text is runs of these. Measured with XLM-R, normalization costs 123 instructions a token in English and 248
/// in Thai with them, 475 and 726 with a look at the rules for every character.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain<'a> {
    /// Two bits for each character up to U+FFFF.
    words: &'a [u64; PLAIN_WORDS],
    /// All printable ASCII characters are plain, and no followers: eight bytes are told at once.
    printable: bool,
}

/// The character stays as it is, unless a follower is next.
const PLAIN: u64 = 1;
/// The character may change what becomes of the one before.
const FOLLOWER: u64 = 2;

impl<'a> Plain<'a> {
    /// No character.
    pub(crate) const NONE: Plain<'static> = Plain {
        words: &[0; PLAIN_WORDS],
        printable: false,
    };

    /// The set of an image. Constant time.
    pub(crate) fn new(image: &ValidImage<'a>) -> Self {
        match image.plain_chars() {
            Some(words) => Self::of(words),
            None => Plain::NONE,
        }
    }

    fn of(words: &'a [u64; PLAIN_WORDS]) -> Self {
        const ALL: u64 = 0x5555_5555_5555_5555;
        const DELETE: u64 = 3 << 62;
        let printable = words[1] == ALL && words[2] == ALL && words[3] & !DELETE == ALL & !DELETE;
        Self { words, printable }
    }

    /// The bits of a character up to U+FFFF.
    #[inline(always)]
    fn bits(self, code: u16) -> u64 {
        self.words[usize::from(code / 32)] >> (2 * (code % 32)) & (PLAIN | FOLLOWER)
    }

    /// How many bytes at the beginning of `text` stay as they are and are not spaces. More may follow a text
    /// that is not the `LAST`.
    #[inline(always)]
    pub(crate) fn run_len<const LAST: bool>(self, text: &[u8]) -> usize {
        let mut len = 0;
        // Where the last character begins, of which it is not known yet what follows.
        let mut last = 0;
        while let Some(&byte) = text.get(len) {
            let (bits, char_len) = if byte < 0x80 {
                if self.printable
                    && let Some(eight) = text[len..].first_chunk()
                {
                    let run = printable_len(*eight);
                    if run > 0 {
                        len += run;
                        if text.get(len) == Some(&b' ') {
                            return len;
                        }
                        last = len - 1;
                        continue;
                    }
                }
                (self.bits(byte.into()), 1)
            } else {
                match character(&text[len..]) {
                    Some((code, char_len)) => (self.bits(code), char_len),
                    None => return last,
                }
            };
            if bits != PLAIN || byte == b' ' {
                return if bits & FOLLOWER == 0 { len } else { last };
            }
            last = len;
            len += char_len;
        }
        if LAST { len } else { last }
    }

    /// Whether `text` begins with a space that stays one.
    #[inline(always)]
    pub(crate) fn begins_with_space<const LAST: bool>(self, text: &[u8]) -> bool {
        let is_follower = |code: u16| self.bits(code) & FOLLOWER != 0;
        match *text {
            [b' ', ..] if self.bits(b' '.into()) != PLAIN => false,
            [b' '] => LAST,
            [b' ', next, ..] if next < 0x80 => !is_follower(next.into()),
            [b' ', ..] => character(&text[1..]).is_some_and(|(code, _)| !is_follower(code)),
            _ => false,
        }
    }
}

/// How many bytes at the beginning of `eight` are printable ASCII characters other than a space.
#[inline(always)]
fn printable_len(eight: [u8; 8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let bytes = u64::from_le_bytes(eight);
    // A byte's highest bit: of itself if it is not ASCII, of one more if it is 0x7f, of 0x21 less if it is below
    // that. What a borrow or carry falsifies is behind the first such byte.
    let others = bytes | bytes.wrapping_add(ONES) | bytes.wrapping_sub(0x21 * ONES);
    (others & (0x80 * ONES)).trailing_zeros() as usize / 8
}

/// The character of two or three bytes that `text` begins with: its code point and its length in bytes.
#[inline(always)]
fn character(text: &[u8]) -> Option<(u16, usize)> {
    let bits = |byte: u8| (byte & 0xc0 == 0x80).then_some(u16::from(byte & 0x3f));
    match *text {
        [first @ 0xc2..=0xdf, second, ..] => {
            Some((u16::from(first & 0x1f) << 6 | bits(second)?, 2))
        }
        [first @ 0xe0..=0xef, second, third, ..] => {
            let code = u16::from(first & 0x0f) << 12 | bits(second)? << 6 | bits(third)?;
            // Neither an overlong form nor a surrogate.
            (code >= 0x800 && !(0xd800..0xe000).contains(&code)).then_some((code, 3))
        }
        _ => None,
    }
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
    fn eight_bytes_are_told_as_one_by_one() {
        let interesting = [
            0x00, 0x1f, 0x20, 0x21, 0x22, 0x41, 0x7e, 0x7f, 0x80, 0xa0, 0xa1, 0xff,
        ];
        for first in interesting {
            for second in interesting {
                for third in interesting {
                    for at in 0..6 {
                        let mut eight = [b'a'; 8];
                        eight[at..at + 3].copy_from_slice(&[first, second, third]);
                        let is_other = |byte: &u8| !(0x21..0x7f).contains(byte);
                        let expected = eight.iter().position(is_other).unwrap_or(8);
                        assert_eq!(printable_len(eight), expected, "{eight:x?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_run_ends_before_what_a_follower_may_change() {
        let mut words = [0x5555_5555_5555_5555; PLAIN_WORDS];
        let mark = 0x301;
        words[mark / 32] |= FOLLOWER << (2 * (mark % 32));
        let plain = Plain::of(&words);
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

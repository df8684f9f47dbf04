//! Text that normalization leaves as it is, told without a look at the rules.

use trie_format::{PLAIN_WORDS, ValidImage};

/// The characters that the compiler has found to stay as they are; of an image that does not say, none.
///
/// Most text is runs of these. Measured with XLM-R on English, normalization costs 145 instructions a token with
/// the ASCII ones and 475 without.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain<'a> {
    /// A bit for each character up to U+FFFF that stays whatever follows; of an ASCII character, if it stays before
    /// another one or the end of the text.
    chars: &'a [u64; PLAIN_WORDS],
}

impl<'a> Plain<'a> {
    /// No character.
    pub(crate) const NONE: Plain<'static> = Plain {
        chars: &[0; PLAIN_WORDS],
    };

    /// The set of an image. Constant time.
    pub(crate) fn new(image: &ValidImage<'a>) -> Self {
        match image.plain_chars() {
            Some(chars) => Self { chars },
            None => Plain::NONE,
        }
    }

    #[inline(always)]
    fn has_ascii(self, byte: u8) -> bool {
        byte < 0x80 && self.has(byte.into())
    }

    #[inline(always)]
    fn has(self, code: u32) -> bool {
        let word = self.chars.get(code as usize / 64).copied().unwrap_or(0);
        word >> (code % 64) & 1 != 0
    }

    /// How many bytes at the beginning of `text` stay as they are and are not spaces. More may follow a text
    /// that is not the `LAST`.
    #[inline(always)]
    pub(crate) fn ascii_run<const LAST: bool>(self, text: &[u8]) -> usize {
        let is_plain = |&byte: &u8| byte != b' ' && self.has_ascii(byte);
        let len = text
            .iter()
            .position(|byte| !is_plain(byte))
            .unwrap_or(text.len());
        // The last one may belong to a rule with what follows it.
        match text.get(len) {
            Some(next) if next.is_ascii() => len,
            None if LAST => len,
            _ => len.saturating_sub(1),
        }
    }

    /// Whether `text` begins with a space that stays one.
    #[inline(always)]
    pub(crate) fn begins_with_space<const LAST: bool>(self, text: &[u8]) -> bool {
        text.first() == Some(&b' ')
            && self.has_ascii(b' ')
            && text.get(1).map_or(LAST, u8::is_ascii)
    }

    /// The length in bytes of the character that `text` begins with, if it has two or three and stays as it is,
    /// whatever follows.
    #[inline(always)]
    pub(crate) fn char_len(self, text: &[u8]) -> Option<usize> {
        let bits = |byte: u8| (byte & 0xc0 == 0x80).then_some(u32::from(byte & 0x3f));
        match *text {
            [first @ 0xc2..=0xdf, second, ..] => {
                let code = u32::from(first & 0x1f) << 6 | bits(second)?;
                self.has(code).then_some(2)
            }
            [first @ 0xe0..=0xef, second, third, ..] => {
                let code = u32::from(first & 0x0f) << 12 | bits(second)? << 6 | bits(third)?;
                // Two-byte characters have a shorter form; bits of surrogates are never set by the compiler.
                let is_character = code >= 0x800 && !(0xd800..0xe000).contains(&code);
                (is_character && self.has(code)).then_some(3)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::utf8::valid_len;

    #[test]
    fn only_whole_characters_are_plain() {
        let all = Plain {
            chars: &[u64::MAX; PLAIN_WORDS],
        };
        let interesting = [
            0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff,
        ];
        for first in 0x80..=0xff {
            for second in interesting {
                for third in interesting {
                    let text = [first, second, third];
                    let expected = valid_len(&text).filter(|len| (2..4).contains(len));
                    assert_eq!(all.char_len(&text), expected, "{text:x?}");
                    assert_eq!(Plain::NONE.char_len(&text), None);
                }
            }
        }
        assert_eq!(all.char_len("\u{e9}".as_bytes()), Some(2));
        assert_eq!(all.char_len(b"\xe2\x82"), None);
        assert_eq!(all.char_len(b""), None);
    }
}

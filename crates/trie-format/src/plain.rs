//! The characters that normalization leaves as they are: "Plain characters" in `FORMAT.md`.

use bytemuck::{Pod, Zeroable};

/// Words of one bit for each character up to U+FFFF.
pub const PLAIN_WORDS: usize = 0x1_0000 / 64;

/// Two bits for each character up to U+FFFF: bit `c % 64` of word `c / 64` is that of U+`c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PlainChars {
    /// The character stays as it is, at the end of a text and before every character that is no follower, but
    /// for characters beyond U+FFFF and bytes that are no character. It is no follower itself.
    pub plain: [u64; PLAIN_WORDS],
    /// The character may change what becomes of the one before.
    pub followers: [u64; PLAIN_WORDS],
}

impl PlainChars {
    /// No character.
    pub const NONE: Self = Self {
        plain: [0; PLAIN_WORDS],
        followers: [0; PLAIN_WORDS],
    };

    /// Whether the character stays as it is before most others.
    #[inline(always)]
    #[must_use]
    pub const fn is_plain(&self, code: u16) -> bool {
        self.plain[code as usize / 64] >> (code % 64) & 1 != 0
    }

    /// Whether the character may change what becomes of the one before.
    #[inline(always)]
    #[must_use]
    pub const fn is_follower(&self, code: u16) -> bool {
        self.followers[code as usize / 64] >> (code % 64) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_their_bits() {
        let mut chars = PlainChars::NONE;
        chars.plain[1] = 2;
        chars.followers[1023] = 1 << 63;
        for code in 0..=u16::MAX {
            assert_eq!(chars.is_plain(code), code == 65);
            assert_eq!(chars.is_follower(code), code == u16::MAX);
        }
    }
}

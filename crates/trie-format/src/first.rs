//! First characters: where the walk of the piece trie comes by the first character of an input.
//!
//! A walk of text beyond ASCII takes two or three dependent loads for each character. For the first one, which
//! every walk begins with, a table has the answer.

use crate::metadata::NO_ID;
use crate::trie::{Edge, TrieView};

/// An entry for each character up to U+FFFF: for three bytes, of which the first has four bits that count, and the
/// others six.
pub const FIRST_CHARS: usize = 0x1_0000;

/// The table: for each character the slot that the walk comes to by the last of its bytes, as [`Node::child`]
/// gives it, or one of the two marks here.
///
/// [`Node::child`]: crate::Node::child
#[derive(Debug, Clone, Copy)]
pub struct FirstChars<'a>(&'a [u32]);

impl<'a> FirstChars<'a> {
    /// The walk has to begin at the root.
    pub const UNKNOWN: u32 = 0;

    /// No text of the trie begins with the character.
    pub const NOWHERE: u32 = u32::MAX;

    /// No table: nothing is known of any character.
    pub const NONE: Self = Self(&[]);

    /// The table that `slots` are.
    #[must_use]
    pub const fn new(slots: &'a [u32; FIRST_CHARS]) -> Self {
        Self(slots)
    }

    /// What the table says of the first character of `input`, if it has three bytes, and the last of those;
    /// [`FirstChars::UNKNOWN`] for others, where a walk from the root takes no more than one load more.
    ///
    /// Any four bytes will do: what is no character is not in the table, as it is in no text.
    #[inline(always)]
    #[must_use]
    pub fn find(&self, input: [u8; 4]) -> (u32, u8) {
        let word = u32::from_le_bytes(input);
        if word & 0x00c0_c0f0 != 0x0080_80e0 {
            return (Self::UNKNOWN, 0);
        }
        let code = (word & 0x0f) << 12 | word >> 2 & 0x0fc0 | word >> 16 & 0x3f;
        let slot = self.0.get(code as usize).copied();
        (slot.unwrap_or(Self::UNKNOWN), input[2])
    }

    /// The entry for `code` of the table for `trie`.
    #[must_use]
    pub fn entry(trie: TrieView<'_>, code: u16) -> u32 {
        let [first, second, last] = encoded(code);
        let Some(mut node) = trie.nodes().first() else {
            return Self::UNKNOWN;
        };
        for byte in [first, second] {
            node = match trie.edge(node, byte) {
                Some(Edge::Node { node, skip: [], .. }) if node.id == NO_ID => node,
                None => return Self::NOWHERE,
                _ => return Self::UNKNOWN,
            };
        }
        node.child(last).map_or(Self::NOWHERE, |slot| slot as u32)
    }

    /// Checks that all slots are below `slots`; names the first that is not.
    pub(crate) fn validate(&self, slots: u32) -> Result<(), usize> {
        let is_known = |&slot: &u32| slot < slots || slot == Self::NOWHERE;
        match self.0.iter().fold(true, |all, slot| all & is_known(slot)) {
            true => Ok(()),
            false => Err(self.0.iter().position(|slot| !is_known(slot)).unwrap_or(0)),
        }
    }

    /// The entry for `code`.
    #[must_use]
    pub fn get(&self, code: u16) -> u32 {
        self.0.get(usize::from(code)).copied().unwrap_or_default()
    }
}

/// The three bytes that stand for `code`; for the first 2,048, which have fewer, those that nobody should write.
const fn encoded(code: u16) -> [u8; 3] {
    let [low, middle] = [code & 0x3f, code >> 6 & 0x3f];
    [
        0xe0 | (code >> 12) as u8,
        0x80 | middle as u8,
        0x80 | low as u8,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_found_by_their_bytes() {
        let slots: [u32; FIRST_CHARS] = core::array::from_fn(|code| code as u32);
        let chars = FirstChars::new(&slots);
        for code in 1..=u16::MAX {
            let [a, b, c] = encoded(code);
            if let Some(character) = char::from_u32(code.into())
                && code >= 0x800
            {
                let mut buffer = [0; 4];
                assert_eq!(character.encode_utf8(&mut buffer).as_bytes(), [a, b, c]);
            }
            assert_eq!(chars.find([a, b, c, 0xff]), (code.into(), c));
        }
        for other in [
            *b"\xe4\xb8Aa",
            *b"\xe4A\x80\x80",
            *b"\xf1\x90\x80\x80",
            *b"\xc3\xa9\x80\x80",
        ] {
            assert_eq!(chars.find(other).0, FirstChars::UNKNOWN);
        }
    }

    #[test]
    fn slots_must_exist() {
        let mut slots = [FirstChars::NOWHERE; FIRST_CHARS];
        slots[7] = 2;
        assert_eq!(FirstChars::new(&slots).validate(3), Ok(()));
        assert_eq!(FirstChars::new(&slots).validate(2), Err(7));
    }
}

//! First characters: where the walk of the piece trie comes by the first character of an input.
//!
//! A walk of text beyond ASCII takes two or three dependent loads for each character. For the first one, which
//! every walk begins with, a table has the answer.

use crate::metadata::NO_ID;
use crate::trie::{Edge, TrieView};

/// An entry for each character up to U+FFFF.
pub const FIRST_CHARS: usize = 0x1_0000;

/// The table: for each character the slot that the walk comes to by the last of its bytes, as [`Node::child`]
/// gives it, or one of the two marks here.
///
/// [`Node::child`]: crate::Node::child
#[derive(Debug, Clone, Copy)]
pub struct FirstChars<'a>(&'a [u32; FIRST_CHARS]);

impl<'a> FirstChars<'a> {
    /// The walk has to begin at the root.
    pub const UNKNOWN: u32 = 0;

    /// No text of the trie begins with the character.
    pub const NOWHERE: u32 = u32::MAX;

    /// The table that `slots` are.
    #[must_use]
    pub const fn new(slots: &'a [u32; FIRST_CHARS]) -> Self {
        Self(slots)
    }

    /// How many bytes the first character of `input` has, and what the table says of it; `None` if it is in ASCII
    /// or not in the table.
    #[inline(always)]
    #[must_use]
    pub fn find(&self, input: &[u8]) -> Option<(usize, u32)> {
        let (code, len) = match *input {
            // One load, from the root, is no more than the table's.
            [..0x80, ..] => return None,
            [a @ 0xe0..0xf0, b @ 0x80..0xc0, c @ 0x80..0xc0, ..] => {
                let [a, b, c] = [a & 0x0f, b & 0x3f, c & 0x3f].map(usize::from);
                (a << 12 | b << 6 | c, 3)
            }
            [a @ 0xc0..0xe0, b @ 0x80..0xc0, ..] => {
                let [a, b] = [a & 0x1f, b & 0x3f].map(usize::from);
                (a << 6 | b, 2)
            }
            _ => return None,
        };
        // Not the shortest form of a character.
        if code < LEAST[len] {
            return None;
        }
        Some((len, *self.0.get(code)?))
    }

    /// The entry for `code` of the table for `trie`.
    #[must_use]
    pub fn entry(trie: TrieView<'_>, code: u16) -> u32 {
        let (bytes, len) = encoded(code);
        let (last, before) = match bytes.get(..len).and_then(<[u8]>::split_last) {
            Some((last, before)) => (*last, before),
            None => return Self::UNKNOWN,
        };
        let Some(mut node) = trie.nodes().first() else {
            return Self::UNKNOWN;
        };
        for &byte in before {
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

/// The least code of characters of so many bytes.
const LEAST: [usize; 4] = [0, 0, 0x80, 0x800];

/// The bytes of U+`code`, also if it is a surrogate, and how many they are.
fn encoded(code: u16) -> ([u8; 3], usize) {
    let [low, middle] = [code & 0x3f, code >> 6 & 0x3f].map(|bits| 0x80 | bits as u8);
    match code {
        ..0x80 => ([code as u8, 0, 0], 1),
        0x80..0x800 => ([0xc0 | (code >> 6) as u8, low, 0], 2),
        _ => ([0xe0 | (code >> 12) as u8, middle, low], 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_found_by_their_bytes() {
        let slots: [u32; FIRST_CHARS] = core::array::from_fn(|code| code as u32);
        let chars = FirstChars::new(&slots);
        for code in 0..=u16::MAX {
            let (bytes, len) = encoded(code);
            if let Some(character) = char::from_u32(code.into()) {
                let mut buffer = [0; 4];
                assert_eq!(character.encode_utf8(&mut buffer).as_bytes(), &bytes[..len]);
            }
            let expected = (len > 1).then_some((len, code.into()));
            assert_eq!(chars.find(&bytes[..len]), expected);
            assert_eq!(chars.find(&bytes[..len - 1]), None);
        }
        for other in [&b"\xe0\x9f\xbf"[..], b"\xc1\xbf", b"\xe4\xb8A", b"\x80", b"\xf0\x90\x80\x80", b""] {
            assert_eq!(chars.find(other), None);
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

//! First characters: where a walk through the pieces' trie is behind its first character.
//!
//! A character of three bytes is three steps of a walk, and one look-up here. What is found is checked when it is
//! used: a [`FirstChars`] of a damaged image gives wrong answers and nothing worse.

use crate::node::TAIL;

/// Words of 16 bits that say which block a character is in.
pub const FIRST_INDEX_LEN: usize = 0x1_0000 / 64;

/// What a first character leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First {
    /// No piece begins with it.
    Nothing,
    /// The node in this slot, before what it skips; it has an id if the character is a piece.
    Node(usize),
    /// It is the piece with this id, and no other begins with it.
    Leaf(u32),
    /// The tail at this place.
    Tail(u32),
    /// That is not told here: the walk has to begin at its beginning.
    Walk,
}

impl First {
    /// Smaller numbers are slots, greater ones below [`TAIL`], less this, are places in the tails.
    const TAILS: u32 = 1 << 30;
    const NOTHING: u32 = u32::MAX - 1;
    const WALK: u32 = u32::MAX;

    /// The number that stands for it.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Nothing => Self::NOTHING,
            Self::Node(slot) => slot as u32,
            Self::Leaf(id) => TAIL + id,
            Self::Tail(place) if place < TAIL - Self::TAILS => Self::TAILS + place,
            Self::Tail(_) => Self::WALK,
            Self::Walk => Self::WALK,
        }
    }

    /// What `number` stands for.
    #[inline(always)]
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        match number {
            // The most first.
            slot if slot < Self::TAILS => Self::Node(slot as usize),
            tail if tail < TAIL => Self::Tail(tail - Self::TAILS),
            Self::NOTHING => Self::Nothing,
            Self::WALK => Self::Walk,
            leaf => Self::Leaf(leaf - TAIL),
        }
    }
}

/// The first characters up to U+FFFF: for each 64 of them the number of a block, then the blocks, each 64
/// [`First::number`]s.
#[derive(Debug, Clone, Copy)]
pub struct FirstChars<'a> {
    index: &'a [u16; FIRST_INDEX_LEN],
    blocks: &'a [[u32; 64]],
}

impl<'a> FirstChars<'a> {
    /// The section that `bytes`, on a 4-byte boundary, are; `None` if the length cannot be right.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (index, blocks) = bytes.split_at_checked(2 * FIRST_INDEX_LEN)?;
        Some(Self {
            index: bytemuck::try_from_bytes(index).ok()?,
            blocks: bytemuck::try_cast_slice(blocks).ok()?,
        })
    }

    /// What the character with this code point, of which the last six bits are told apart, leads to.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, block: usize, bits: u32) -> First {
        let block = self.index.get(block).copied().unwrap_or(u16::MAX);
        match self.blocks.get(usize::from(block)) {
            Some(block) => First::from_number(block[bits as usize % 64]),
            None => First::Walk,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_blocks_are_told() {
        let all = [
            First::Nothing,
            First::Walk,
            First::Node(0),
            First::Node((1 << 24) - 1),
            First::Leaf((1 << 24) - 1),
            First::Tail(0),
            First::Tail((1 << 30) - 1),
        ];
        for first in all {
            assert_eq!(First::from_number(first.number()), first);
        }
        assert_eq!(First::Tail(1 << 30).number(), First::WALK);
        let mut words = [First::NOTHING; FIRST_INDEX_LEN / 2 + 128];
        words[..FIRST_INDEX_LEN / 2].fill(0);
        // The second 64 characters are in the second block.
        words[0] = 1 << 16;
        words[FIRST_INDEX_LEN / 2 + 64 + 33] = 7;
        let bytes = bytemuck::cast_slice(&words);
        let chars = FirstChars::parse(bytes).unwrap();
        assert_eq!(chars.get(1, 33), First::Node(7));
        assert_eq!(chars.get(0, 33), First::Nothing);
        assert_eq!(chars.get(FIRST_INDEX_LEN, 0), First::Walk);
        assert!(FirstChars::parse(&bytes[..bytes.len() - 4]).is_none());
        assert!(FirstChars::parse(&bytes[..100]).is_none());
        let without_blocks = FirstChars::parse(&bytes[..2 * FIRST_INDEX_LEN]).unwrap();
        assert_eq!(without_blocks.get(1, 33), First::Walk);
    }
}

//! The trie node: one cache line that answers a whole step of a walk.
//!
//! Only places where texts part are nodes: what lies between them is in a node's `skip` or in a
//! [tail](crate::trie). The bitmap says which bytes go on, so a step is one bit test and one addition on one
//! cache line; the `check` array of a textbook double array (Aoe 1989) is one byte in the node, its label. The
//! child for byte `b` is in the line `base + b`: it is the node there, if that has the label `b`, else a leaf
//! word that the line holds beside a node of somebody else.

use bytemuck::{Pod, Zeroable};

use crate::metadata::NO_ID;

/// Size of a [`Node`] in bytes.
pub const NODE_LEN: usize = 64;

/// Longest piece an image may hold, in bytes. The reference refuses pieces of 8,000 bytes and more.
pub const MAX_PIECE_BYTES: u32 = 7_999;

/// Ids, and the numbers of nodes, are below this: in tails they have three bytes.
pub const MAX_PIECES: u32 = 1 << 24;

/// A leaf word below this is an id; others, less this, are places in the tails.
pub const TAIL: u32 = 1 << 31;

/// [`Node::entry`] of a node that is no child by label: the root, those that tails lead to, empty slots.
pub const DETACHED: u16 = u16::MAX;

/// A trie node. The child for byte `b` is in the slot `base + b` if bit `b` of the bitmap is set.
///
/// Slots that no node occupies are as [`Node::EMPTY`], but for leaf words.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Node {
    /// Bit `b & 63` of word `b >> 6` is set where a child for byte `b` exists.
    pub children: [u64; 4],
    /// Slot of the (perhaps absent) child for byte 0.
    pub base: u32,
    /// The piece that ends here (or before the skipped bytes: see [`Skip`]), or [`NO_ID`].
    pub id: u32,
    /// That piece's path score in single precision.
    pub score: f32,
    /// The label that leads here, and the number of a [`Skip`] in the upper byte; or [`DETACHED`].
    pub entry: u16,
    /// Bytes that stand between the label and the node's children.
    pub skip: [u8; 2],
    /// Leaf words: word `b & 3` is that of a child for byte `b` for which this slot is not a node with that
    /// label. Below [`TAIL`] it is the id of the piece that ends there, and no other goes on.
    pub leaves: [u32; 4],
}

const _: () = assert!(size_of::<Node>() == NODE_LEN && align_of::<Node>() == NODE_LEN);

/// What stands between a node's label and its children: how many bytes of [`Node::skip`], and whether the node's piece
/// ends before them, at the label. A number: the upper byte of [`Node::entry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skip(u8);

impl Skip {
    /// Nothing stands there.
    pub const NONE: Self = Self(0);

    /// The greatest number.
    const MAX: u8 = 4;

    /// `len` bytes, of which there are one or two.
    #[must_use]
    pub const fn new(len: usize, id_first: bool) -> Self {
        Self(if len > 1 { 2 } else { 1 } + if id_first { 0 } else { 2 })
    }

    /// The upper byte of [`Node::entry`].
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Whether nothing stands there.
    #[inline(always)]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Number of bytes.
    #[inline(always)]
    #[must_use]
    pub const fn len(self) -> usize {
        match self.0 {
            0 => 0,
            1 | 3 => 1,
            _ => 2,
        }
    }

    /// Whether `two` begin with the bytes, which `skipped` begin with.
    #[inline(always)]
    #[must_use]
    pub const fn is_met(self, skipped: [u8; 2], two: [u8; 2]) -> bool {
        let difference = u16::from_le_bytes(skipped) ^ u16::from_le_bytes(two);
        match self.0 {
            0 => true,
            1 | 3 => difference as u8 == 0,
            _ => difference == 0,
        }
    }

    /// Whether the node's piece ends before them.
    #[inline(always)]
    #[must_use]
    pub const fn id_first(self) -> bool {
        self.0 < 3
    }
}

/// How a slot is a node's child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    /// It is a node, behind what it skips.
    Node(Skip),
    /// The slot's leaf word counts.
    Leaf(u32),
}

impl Node {
    /// A node with no child and no piece, and no leaf words.
    pub const EMPTY: Self = Self {
        children: [0; 4],
        base: 0,
        id: NO_ID,
        score: 0.0,
        entry: DETACHED,
        skip: [0; 2],
        leaves: [NO_ID; 4],
    };

    /// Whether a child for `byte` exists.
    #[inline(always)]
    #[must_use]
    pub fn has_child(&self, byte: u8) -> bool {
        self.children[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }

    /// The slot of the child for `byte`, if it exists.
    #[inline(always)]
    #[must_use]
    pub fn child(&self, byte: u8) -> Option<usize> {
        self.has_child(byte)
            .then(|| self.base as usize + usize::from(byte))
    }

    /// What the node skips, if it is anybody's child by label.
    #[inline(always)]
    #[must_use]
    pub fn skip_number(&self) -> Skip {
        match (self.entry >> 8) as u8 {
            number @ ..=Skip::MAX => Skip(number),
            _ => Skip::NONE,
        }
    }

    /// What the slot is for a child by `byte` that is in it.
    #[inline(always)]
    #[must_use]
    pub fn as_child(&self, byte: u8) -> Child {
        // The number, and above it a zero if the label is the byte.
        let number = self.entry.wrapping_sub(u16::from(byte)).rotate_right(8);
        if number <= u16::from(Skip::MAX) {
            return Child::Node(Skip(number as u8));
        }
        Child::Leaf(self.leaves[usize::from(byte & 3)])
    }

    /// The greatest byte with a child.
    #[must_use]
    pub fn last_child(&self) -> Option<u8> {
        (0..4u8).rev().find_map(|word| {
            let bits = self.children[usize::from(word)];
            (bits != 0).then(|| (word << 6) + (63 - bits.leading_zeros() as u8))
        })
    }

    /// Number of children.
    #[must_use]
    pub fn child_count(&self) -> u32 {
        self.children.iter().map(|word| word.count_ones()).sum()
    }
}

/// Checks that every child and every id of `nodes` is in bounds and that scores are finite.
///
/// Returns the index of the first node that breaks a rule, and the rule. One linear pass.
pub(crate) fn validate_nodes(
    nodes: &[Node],
    piece_count: u32,
) -> Result<(), (usize, &'static str)> {
    if nodes.is_empty() {
        return Err((0, "a trie has a root node"));
    }
    for (block, nodes_of_block) in nodes.chunks(BLOCK).enumerate() {
        // One verdict a block, without branches: this pass is most of the time it takes to map an image.
        let bad = nodes_of_block.iter().fold(false, |bad, node| {
            bad | !node.is_plainly_sound(nodes.len(), piece_count)
        });
        if bad {
            for (i, node) in nodes_of_block.iter().enumerate() {
                node.check(nodes.len(), piece_count)
                    .map_err(|rule| (block * BLOCK + i, rule))?;
            }
        }
    }
    Ok(())
}

/// Nodes that [`validate_nodes`] looks at together.
const BLOCK: usize = 64;

impl Node {
    /// Whether the node passes [`Node::check`] whatever its bitmap says.
    #[inline(always)]
    fn is_plainly_sound(&self, nodes: usize, piece_count: u32) -> bool {
        let in_bounds = self.base as usize + 256 <= nodes;
        // NO_ID wraps to 0, every other id becomes one more.
        let id_known = self.id.wrapping_add(1) <= piece_count;
        let leaves_known = self
            .leaves
            .iter()
            .fold(true, |known, &word| known & is_leaf_word(word, piece_count));
        in_bounds & id_known & leaves_known & self.score.is_finite()
    }

    /// Checks the node's children, ids and score; names the rule that is broken.
    fn check(&self, nodes: usize, piece_count: u32) -> Result<(), &'static str> {
        let end = self
            .last_child()
            .map_or(0, |last| self.base as usize + usize::from(last) + 1);
        if end > nodes {
            return Err("children must lie inside the section");
        }
        if self.id != NO_ID && self.id >= piece_count {
            return Err("ids must be below the piece count");
        }
        if !self.leaves.iter().all(|&w| is_leaf_word(w, piece_count)) {
            return Err("ids of leaves must be below the piece count");
        }
        if !self.score.is_finite() {
            return Err("scores must be finite");
        }
        Ok(())
    }
}

/// Whether `word` is an id below the piece count, or a place in the tails, which walks check.
#[inline(always)]
fn is_leaf_word(word: u32, piece_count: u32) -> bool {
    (word < piece_count) | (word >= TAIL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_found_by_bit_and_base() {
        let mut node = Node {
            base: 10,
            ..Node::EMPTY
        };
        assert_eq!(node.last_child(), None);
        node.children[0] = 1 << 5;
        node.children[3] = 1 << 63;
        assert_eq!(node.child(5), Some(15));
        assert_eq!(node.child(255), Some(265));
        assert_eq!(node.child(6), None);
        assert_eq!(node.last_child(), Some(255));
        assert_eq!(node.child_count(), 2);
    }

    #[test]
    fn a_slot_is_a_node_for_its_label_and_a_leaf_for_others() {
        let mut slot = Node {
            entry: 7,
            leaves: [10, 11, 12, 13],
            ..Node::EMPTY
        };
        assert_eq!(slot.as_child(7), Child::Node(Skip::NONE));
        assert_eq!(slot.as_child(6), Child::Leaf(12));
        assert_eq!(slot.as_child(8), Child::Leaf(10));
        for number in 1..=4 {
            slot.entry = u16::from(number) << 8 | 7;
            let skip = slot.skip_number();
            assert_eq!(skip.number(), number);
            assert_eq!(Skip::new(skip.len(), skip.id_first()), skip);
            assert_eq!(slot.as_child(7), Child::Node(skip));
            assert_eq!(slot.as_child(5), Child::Leaf(11));
        }
        slot.entry = DETACHED;
        for byte in 0..=u8::MAX {
            assert!(matches!(slot.as_child(byte), Child::Leaf(_)));
        }
    }

    #[test]
    fn nodes_that_point_outside_are_refused() {
        let mut nodes = [Node::EMPTY; 3];
        nodes[0].children[0] = 0b110;
        assert_eq!(validate_nodes(&nodes, 1), Ok(()));
        nodes[0].base = 1;
        assert!(matches!(validate_nodes(&nodes, 1), Err((0, _))));
        nodes[0].base = u32::MAX;
        assert!(matches!(validate_nodes(&nodes, 1), Err((0, _))));
        nodes[0].base = 0;
        nodes[2].id = 1;
        assert!(matches!(validate_nodes(&nodes, 1), Err((2, _))));
        nodes[2].id = 0;
        nodes[2].leaves[3] = 1;
        assert!(matches!(validate_nodes(&nodes, 1), Err((2, _))));
        nodes[2].leaves[3] = 0;
        nodes[2].score = f32::NAN;
        assert!(matches!(validate_nodes(&nodes, 1), Err((2, _))));
        assert!(validate_nodes(&[], 1).is_err());
    }
}

//! The trie node: one cache line that answers a whole step of a walk.
//!
//! The bitmap says which children exist, so a step is one bit test and one addition on one cache
//! line; the `check` array of a textbook double array exists only while the trie is built
//! (Aoe 1989; the bitmap variant follows the engineering article this project starts from).

use bytemuck::{Pod, Zeroable};

use crate::metadata::NO_ID;

/// Size of a [`Node`] in bytes.
pub const NODE_LEN: usize = 64;

/// Longest piece an image may hold, in bytes. The reference refuses pieces of 8,000 bytes and more.
pub const MAX_PIECE_BYTES: u32 = 7_999;

/// A trie node. The child for byte `b` is at index `base + b` if bit `b` of the bitmap is set.
///
/// Slots that no node occupies are all zero but for `id`, which is [`NO_ID`].
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Node {
    /// Bit `b & 63` of word `b >> 6` is set where a child for byte `b` exists.
    pub children: [u64; 4],
    /// Index of the (perhaps absent) child for byte 0.
    pub base: u32,
    /// The piece that ends here, or [`NO_ID`].
    pub id: u32,
    /// That piece's path score in single precision.
    pub score: f32,
    /// Zero; readers ignore it.
    pub flags: u32,
    /// That piece's path score in double precision, for references that compare in double.
    pub score64: f64,
    /// Zero; readers ignore it.
    pub reserved: [u8; 8],
}

const _: () = assert!(size_of::<Node>() == NODE_LEN && align_of::<Node>() == NODE_LEN);

impl Node {
    /// A node with no child and no piece.
    pub const EMPTY: Self = Self {
        children: [0; 4],
        base: 0,
        id: NO_ID,
        score: 0.0,
        flags: 0,
        score64: 0.0,
        reserved: [0; 8],
    };

    /// Whether a child for `byte` exists.
    #[inline(always)]
    #[must_use]
    pub fn has_child(&self, byte: u8) -> bool {
        self.children[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }

    /// The index of the child for `byte`, if it exists.
    #[inline(always)]
    #[must_use]
    pub fn child(&self, byte: u8) -> Option<usize> {
        self.has_child(byte)
            .then(|| self.base as usize + usize::from(byte))
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
        in_bounds & id_known & self.score.is_finite() & self.score64.is_finite()
    }

    /// Checks the node's children, id and scores; names the rule that is broken.
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
        if !(self.score.is_finite() && self.score64.is_finite()) {
            return Err("scores must be finite");
        }
        Ok(())
    }
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
        nodes[2].score = f32::NAN;
        assert!(matches!(validate_nodes(&nodes, 1), Err((2, _))));
        assert!(validate_nodes(&[], 1).is_err());
    }
}

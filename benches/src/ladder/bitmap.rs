//! Stages 4 and 5, the published engine's last ones: a node is one cache line. A 256-bit bitmap says
//! which children exist, so `check` is gone; id and score stand beside the base.

use crate::ladder::double_array::{DoubleArray, NONE};
use crate::ladder::pages::{PageSize, Pages};
use crate::ladder::viterbi::Trie;

/// One cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Node {
    children: [u64; 4],
    base: u32,
    id: u32,
    score: f64,
}

const _: () = assert!(size_of::<Node>() == 64);

/// The trie.
///
/// Invariant: `base + 255` is in bounds for every node, as in the double array it is made from.
pub struct BitmapTrie {
    nodes: Pages<Node>,
}

impl BitmapTrie {
    /// Builds the trie on pages of the wanted size.
    ///
    /// # Errors
    /// If that memory is not to be had; there is no fallback to another page size.
    pub fn new(array: &DoubleArray, page: PageSize) -> std::io::Result<Self> {
        let slots = array.slots();
        let mut nodes: Vec<Node> = slots
            .iter()
            .map(|slot| Node {
                children: [0; 4],
                base: slot.base,
                id: slot.id,
                score: array.scores().get(slot.id as usize).copied().unwrap_or(0.0),
            })
            .collect();
        for (index, slot) in slots.iter().enumerate().skip(1) {
            if slot.check != NONE {
                let parent = slot.check as usize;
                let byte = index - slots[parent].base as usize;
                nodes[parent].children[byte >> 6] |= 1 << (byte & 63);
            }
        }
        Ok(Self {
            nodes: Pages::copy_of(&nodes, page)?,
        })
    }

    /// The memory the nodes are in.
    #[must_use]
    pub fn backing(&self) -> String {
        self.nodes.describe()
    }
}

impl Trie for BitmapTrie {
    type Node<'a> = &'a Node;

    #[inline(always)]
    fn root(&self) -> &Node {
        &self.nodes[0]
    }

    #[inline(always)]
    fn child<'a>(&'a self, node: &'a Node, byte: u8) -> Option<&'a Node> {
        let exists = node.children[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0;
        // SAFETY: the type's invariant.
        exists.then(|| unsafe {
            self.nodes
                .get_unchecked(node.base as usize + usize::from(byte))
        })
    }

    #[inline(always)]
    fn piece(&self, node: &Node) -> Option<(u32, f64)> {
        (node.id != NONE).then_some((node.id, node.score))
    }
}

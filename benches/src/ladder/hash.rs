//! Stage 2, the article's baseline: still a hash map of children in every node, but ids and scores stand
//! in the nodes and nothing is allocated.

use ahash::AHashMap;

use crate::fixture::Vocabulary;
use crate::ladder::viterbi::Trie;

/// A node and, through its map, everything below it.
#[derive(Default)]
pub struct Node {
    children: AHashMap<u8, Node>,
    piece: Option<(u32, f64)>,
}

/// The trie.
pub struct HashTrie {
    root: Node,
}

impl HashTrie {
    /// Builds the trie.
    #[must_use]
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let mut root = Node::default();
        for piece in &vocabulary.pieces {
            let mut node = &mut root;
            for &byte in &piece.text {
                node = node.children.entry(byte).or_default();
            }
            node.piece = Some((piece.id, piece.score));
        }
        Self { root }
    }
}

impl Trie for HashTrie {
    type Node<'a> = &'a Node;

    #[inline(always)]
    fn root(&self) -> &Node {
        &self.root
    }

    #[inline(always)]
    fn child<'a>(&'a self, node: &'a Node, byte: u8) -> Option<&'a Node> {
        node.children.get(&byte)
    }

    #[inline(always)]
    fn piece(&self, node: &Node) -> Option<(u32, f64)> {
        node.piece
    }
}

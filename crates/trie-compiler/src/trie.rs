//! The trie of texts: nodes where they part, in one array with the leaves, and tails for what is between.
//!
//! First the texts are cut where they part (`draft`): a place where several bytes can follow becomes a node,
//! everything else a child by label, a few bytes that a node skips, or a tail. Then every node gets a base
//! (`place`): its child for byte `b` is in the slot `base + b`, as a node, for which the slot must be free, or
//! as the leaf word number `b & 3`, for which that word must be free. A slot is a node's child if it has the
//! label; so that nobody else's leaf is taken for one, a base that a parent of nodes has is nobody else's. The
//! parents of several nodes are placed first, each at the first base that fits, then those of one, then nodes
//! that tails lead to fill the holes, and last the parents of leaves alone. (Double array: Aoe 1989.)
//!
//! Invariant: the section depends on the keys alone.

mod draft;
mod place;

use std::ops::Range;

use trie_format::trie::TrieHead;
use trie_format::{MAX_PIECES, Node, TAIL, TrieView};

use crate::CompileError;
use draft::{Draft, To};
use place::place;

/// A text and what its node holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) id: u32,
    pub(crate) score: f32,
    pub(crate) score64: f64,
}

pub(crate) struct Trie {
    pub(crate) head: TrieHead,
    /// The root is at 0.
    pub(crate) nodes: Vec<Node>,
    pub(crate) tails: Vec<u8>,
    /// Length of the longest key in bytes.
    pub(crate) max_key_bytes: u32,
}

impl Trie {
    /// Builds the trie of `keys`, which are sorted by text, distinct and not empty.
    pub(crate) fn build(keys: &[Key<'_>]) -> Result<Self, CompileError> {
        let mut draft = Draft::new(keys)?;
        let slots = place(&mut draft.branches, &draft.children);
        if slots >= MAX_PIECES as usize {
            return Err(CompileError::TooLarge {
                what: "the number of trie nodes",
                limit: u64::from(MAX_PIECES) - 1,
            });
        }
        for (at, branch) in &draft.targets {
            let slot = draft.branches[*branch as usize].slot.to_le_bytes();
            draft.tails[*at..at + 3].copy_from_slice(&slot[..3]);
        }
        let mut head = TrieHead {
            slots: slots as u32,
            nodes: draft.branches.len() as u32,
            leaves: 0,
            tails: 0,
            reserved: [0; 12],
        };
        let mut nodes = vec![Node::EMPTY; slots];
        for branch in &draft.branches {
            let node = &mut nodes[branch.slot as usize];
            (node.entry, node.skip, node.base) = (branch.entry, branch.skip, branch.base);
            if let Some(key) = keys.get(branch.key as usize) {
                (node.id, node.score) = (key.id, key.score);
            }
            for child in &draft.children[as_indices(&branch.children)] {
                let node = &mut nodes[branch.slot as usize];
                node.children[usize::from(child.label >> 6)] |= 1 << (child.label & 63);
                let word = match child.to {
                    To::Branch(_) => continue,
                    To::Leaf(id) => {
                        head.leaves += 1;
                        id
                    }
                    To::Tail(place) => {
                        head.tails += 1;
                        TAIL + place
                    }
                };
                let slot = branch.base as usize + usize::from(child.label);
                nodes[slot].leaves[usize::from(child.label & 3)] = word;
            }
        }
        Ok(Self {
            head,
            nodes,
            tails: draft.tails,
            max_key_bytes: keys.iter().map(|key| key.text.len()).max().unwrap_or(0) as u32,
        })
    }

    /// The trie, to walk it.
    pub(crate) fn view(&self) -> TrieView<'_> {
        TrieView::new(&self.head, &self.nodes, &self.tails)
    }

    /// The trie's section.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let nodes: &[u8] = bytemuck::cast_slice(&self.nodes);
        [bytemuck::bytes_of(&self.head), nodes, &self.tails].concat()
    }
}

fn as_indices(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(trie: &Trie, text: &[u8]) -> Option<u32> {
        trie.view().find(text)
    }

    fn build(texts: &[&str]) -> Trie {
        let mut texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        texts.sort_unstable();
        let keys: Vec<Key<'_>> = texts
            .iter()
            .enumerate()
            .map(|(id, text)| Key {
                text,
                id: id as u32,
                score: 0.0,
                score64: 0.0,
            })
            .collect();
        Trie::build(&keys).expect("small tries fit")
    }

    #[test]
    fn holds_its_keys_and_nothing_else() {
        let texts = [
            "a",
            "ab",
            "abc",
            "b",
            "\u{2581}the",
            "\u{2581}they",
            "\u{ff}",
            "zz",
        ];
        let trie = build(&texts);
        let mut found: Vec<u32> = texts
            .iter()
            .filter_map(|text| find(&trie, text.as_bytes()))
            .collect();
        found.sort_unstable();
        assert_eq!(found, (0..texts.len() as u32).collect::<Vec<_>>());
        for absent in ["", "z", "abcd", "\u{2581}", "\u{2581}th", "c"] {
            assert_eq!(find(&trie, absent.as_bytes()), None, "{absent}");
        }
        assert_eq!(trie.max_key_bytes, 7);
        // The root, and where "they" and "▁the" part from others.
        let occupied = trie.nodes.iter().filter(|n| n.children != [0; 4]).count();
        assert_eq!(occupied, trie.head.nodes as usize);
    }

    #[test]
    fn an_empty_trie_is_a_root() {
        let trie = build(&[]);
        assert_eq!((trie.nodes.len(), trie.head.nodes), (1, 1));
        assert_eq!(find(&trie, b""), None);
    }

    #[test]
    fn nodes_do_not_share_slots() {
        let texts: Vec<String> = (0..3000u32)
            .map(|i| format!("{:x}", i.wrapping_mul(2_654_435_761) % 65_521))
            .collect();
        let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        texts.sort_unstable();
        texts.dedup();
        let trie = build(&texts);
        assert!(
            texts
                .iter()
                .all(|text| find(&trie, text.as_bytes()).is_some())
        );
        let children: u32 = trie.nodes.iter().map(Node::child_count).sum();
        let detached = trie
            .nodes
            .iter()
            .filter(|n| n.children != [0; 4] && n.entry == trie_format::DETACHED);
        let attached = trie.head.nodes - detached.count() as u32;
        assert_eq!(children, attached + trie.head.leaves + trie.head.tails);
    }
}

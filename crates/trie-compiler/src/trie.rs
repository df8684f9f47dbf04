//! The double array of 64-byte nodes.
//!
//! A node's children stand at `base + byte`. While the trie is built, a bitmap of free slots does the
//! work of a textbook `check` array. Nodes with several children are placed first, in breadth-first
//! order, each at the first base that fits; single children then fill the holes in depth-first order,
//! so that the array stays dense and a chain's nodes are neighbours. (Double array: Aoe 1989.)
//!
//! Invariant: the array depends on the keys alone.

use std::ops::Range;

use trie_format::{NO_ID, Node};

use crate::CompileError;

/// A text and what its node holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) id: u32,
    pub(crate) score: f32,
    pub(crate) score64: f64,
}

pub(crate) struct Trie {
    /// The root is at 0.
    pub(crate) nodes: Vec<Node>,
    /// Nodes in use; the rest of the slots are empty.
    pub(crate) node_count: u32,
    /// Length of the longest key in bytes.
    pub(crate) max_key_bytes: u32,
}

/// A node before it has a place. The children of a node stand next to each other.
struct Draft {
    /// The keys below and at this node.
    keys: Range<u32>,
    children: Range<u32>,
    label: u8,
    /// The key that ends here, or [`NO_ID`].
    key: u32,
    slot: u32,
}

impl Draft {
    fn new(label: u8, keys: Range<u32>) -> Self {
        Self {
            keys,
            children: 0..0,
            label,
            key: NO_ID,
            slot: 0,
        }
    }
}

impl Trie {
    /// Builds the trie of `keys`, which are sorted by text, distinct and not empty.
    pub(crate) fn build(keys: &[Key<'_>]) -> Result<Self, CompileError> {
        let mut drafts = draft(keys);
        let slots = place(&mut drafts);
        if u32::try_from(slots).is_err() {
            return Err(CompileError::TooLarge {
                what: "the trie",
                limit: u64::from(u32::MAX),
            });
        }
        let mut nodes = vec![Node::EMPTY; slots];
        for draft in &drafts {
            let mut node = Node::EMPTY;
            for child in &drafts[as_indices(&draft.children)] {
                node.children[usize::from(child.label >> 6)] |= 1 << (child.label & 63);
                node.base = child.slot - u32::from(child.label);
            }
            if draft.key != NO_ID {
                let key = &keys[draft.key as usize];
                (node.id, node.score, node.score64) = (key.id, key.score, key.score64);
            }
            nodes[draft.slot as usize] = node;
        }
        Ok(Self {
            nodes,
            node_count: drafts.len() as u32,
            max_key_bytes: keys.iter().map(|key| key.text.len()).max().unwrap_or(0) as u32,
        })
    }
}

fn as_indices(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// The trie's nodes in breadth-first order.
fn draft(keys: &[Key<'_>]) -> Vec<Draft> {
    let mut drafts = vec![Draft::new(0, 0..keys.len() as u32)];
    let mut level = 0..1;
    let mut depth = 0;
    while !level.is_empty() {
        let next = drafts.len();
        for index in level {
            let Range { mut start, end } = drafts[index].keys.clone();
            if start < end && keys[start as usize].text.len() == depth {
                drafts[index].key = start;
                start += 1;
            }
            let first = drafts.len() as u32;
            while start < end {
                let label = keys[start as usize].text[depth];
                let below = &keys[start as usize..end as usize];
                let len = below.partition_point(|key| key.text[depth] == label) as u32;
                drafts.push(Draft::new(label, start..start + len));
                start += len;
            }
            drafts[index].children = first..drafts.len() as u32;
        }
        level = next..drafts.len();
        depth += 1;
    }
    drafts
}

/// Gives every node its slot; returns the number of slots.
fn place(drafts: &mut [Draft]) -> usize {
    let mut free = FreeSlots::new();
    free.take(0);
    // Where the search for a node with this many children starts. Holes left behind fill up later.
    let mut start_block = [0usize; 257];
    for index in 0..drafts.len() {
        let children = as_indices(&drafts[index].children);
        if children.len() < 2 {
            continue;
        }
        let labels: Vec<usize> = drafts[children.clone()]
            .iter()
            .map(|child| usize::from(child.label))
            .collect();
        let start = &mut start_block[labels.len()];
        let base = free.first_base(&labels, *start);
        *start = base / 64;
        for (child, label) in drafts[children].iter_mut().zip(labels) {
            child.slot = (base + label) as u32;
            free.take(base + label);
        }
    }
    let mut stack = vec![0u32];
    while let Some(index) = stack.pop() {
        let children = drafts[index as usize].children.clone();
        if children.len() == 1 {
            let child = &mut drafts[children.start as usize];
            // A base cannot be negative, so a label cannot stand before the slot of its number.
            let slot = free.first_free(usize::from(child.label));
            child.slot = slot as u32;
            free.take(slot);
        }
        stack.extend(children.rev());
    }
    free.used
}

/// Bytes are labels, so the first 256 slots are the only ones that not every label can use.
const LABELS: usize = 256;

/// Which slots are free: a bitmap that grows on demand.
struct FreeSlots {
    /// Set bits are taken.
    taken: Vec<u64>,
    /// From [`LABELS`] up to here no slot is free.
    full_until: usize,
    /// One past the last taken slot.
    used: usize,
}

impl FreeSlots {
    fn new() -> Self {
        Self {
            taken: Vec::new(),
            full_until: LABELS,
            used: 0,
        }
    }

    fn take(&mut self, slot: usize) {
        let word = slot / 64;
        if word >= self.taken.len() {
            self.taken.resize(word + 1, 0);
        }
        self.taken[word] |= 1 << (slot % 64);
        self.used = self.used.max(slot + 1);
    }

    fn word(&self, index: usize) -> u64 {
        self.taken.get(index).copied().unwrap_or(0)
    }

    /// The 64 slots from `slot` on; set bits are taken.
    fn window(&self, slot: usize) -> u64 {
        let (word, shift) = (slot / 64, slot % 64);
        let low = self.word(word) >> shift;
        match shift {
            0 => low,
            _ => low | self.word(word + 1) << (64 - shift),
        }
    }

    /// The first base, from block `start` of 64 on, where every label's slot is free.
    fn first_base(&self, labels: &[usize], start: usize) -> usize {
        let mut block = start;
        loop {
            let mut taken = 0;
            for &label in labels {
                taken |= self.window(block * 64 + label);
                if taken == u64::MAX {
                    break;
                }
            }
            if taken != u64::MAX {
                return block * 64 + taken.trailing_ones() as usize;
            }
            block += 1;
        }
    }

    /// The first free slot at or after `from`, which is a label.
    fn first_free(&mut self, from: usize) -> usize {
        if let Some(slot) = (from..LABELS).find(|&slot| self.window(slot) & 1 == 0) {
            return slot;
        }
        while self.word(self.full_until / 64) == u64::MAX {
            self.full_until += 64;
        }
        self.full_until + self.word(self.full_until / 64).trailing_ones() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(trie: &Trie, text: &[u8]) -> Option<u32> {
        let mut node = trie.nodes[0];
        for &byte in text {
            node = trie.nodes[node.child(byte)?];
        }
        (node.id != NO_ID).then_some(node.id)
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
        let occupied = trie.nodes.iter().filter(|n| **n != Node::EMPTY).count();
        assert_eq!(occupied, trie.node_count as usize);
    }

    #[test]
    fn an_empty_trie_is_a_root() {
        let trie = build(&[]);
        assert_eq!((trie.nodes.len(), trie.node_count), (1, 1));
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
        assert_eq!(children + 1, trie.node_count);
    }
}

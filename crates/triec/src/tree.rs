//! A trie from end to end, for the checks: it must be a tree, and hold no more than it leads to.
//!
//! The image is valid, so children are in bounds, but a crafted one may still have cycles, shared nodes, and
//! anything in its tails.

use trie_format::NO_ID;
use trie_format::trie::{Edge, StepKind, TrieView};

/// What is in a trie.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) nodes: u64,
    /// Every id, and its score if a node has it.
    pub(crate) keys: Vec<(u32, Option<f32>)>,
}

impl Tree {
    /// Whether `id` is a key's.
    pub(crate) fn has(&self, id: u32) -> bool {
        self.keys.iter().any(|&(key, _)| key == id)
    }
}

/// Walks through `trie`: its nodes and tails must be a tree that has ends with ids. `name` is for messages.
pub(crate) fn tree(trie: TrieView<'_>, name: &str) -> Result<Tree, String> {
    let mut seen = vec![false; trie.nodes().len()];
    let mut seen_tails = vec![false; trie.tails().len()];
    let mut pending = vec![0];
    let mut tree = Tree::default();
    while let Some(index) = pending.pop() {
        let (Some(node), Some(seen)) = (trie.nodes().get(index), seen.get_mut(index)) else {
            return Err(format!("{name} node {index} is not there"));
        };
        if std::mem::replace(seen, true) {
            return Err(format!("{name} node {index} has two parents"));
        }
        tree.nodes += 1;
        if node.id != NO_ID {
            tree.keys.push((node.id, Some(node.score)));
        }
        if node.child_count() == 0 && index != 0 {
            return Err(format!("{name} node {index} leads to no piece"));
        }
        for byte in (0..=u8::MAX).filter(|&byte| node.has_child(byte)) {
            match trie.edge(node, byte) {
                Some(Edge::Node { slot, .. }) => pending.push(slot),
                Some(Edge::Leaf(id)) => tree.keys.push((id, None)),
                Some(Edge::Tail(place)) => {
                    let after = follow(trie, place, &mut seen_tails, &mut tree.keys);
                    pending.extend(after.ok_or_else(|| {
                        format!("{name} node {index} has a broken tail for byte {byte}")
                    })?);
                }
                None => return Err(format!("{name} node {index} has no child for byte {byte}")),
            }
        }
    }
    Ok(tree)
}

/// Follows the tail at `place`, which nobody has `seen`, to its end, or to the node that it leads to.
fn follow(
    trie: TrieView<'_>,
    mut place: usize,
    seen: &mut [bool],
    keys: &mut Vec<(u32, Option<f32>)>,
) -> Option<Option<usize>> {
    let first = place;
    loop {
        if std::mem::replace(seen.get_mut(place)?, true) {
            return None;
        }
        let step = trie.step(place)?;
        if step.labels.is_empty() && place != first {
            return None;
        }
        place = step.next;
        match step.kind {
            StepKind::More => {}
            StepKind::Piece => keys.push((step.target, None)),
            StepKind::Leaf => {
                keys.push((step.target, None));
                return Some(None);
            }
            StepKind::Node => return Some(Some(step.target as usize)),
        }
    }
}

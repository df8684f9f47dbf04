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

use std::ops::Range;

use trie_format::trie::{MAX_LABELS, StepKind, TailStep, TrieHead};
use trie_format::{DETACHED, MAX_PIECES, NO_ID, Node, Skip, TAIL, TrieView};

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
    pub(crate) head: TrieHead,
    /// The root is at 0.
    pub(crate) nodes: Vec<Node>,
    pub(crate) tails: Vec<u8>,
    /// Length of the longest key in bytes.
    pub(crate) max_key_bytes: u32,
}

/// A place where texts part, before it has a slot.
#[derive(Debug)]
struct Branch {
    /// The keys that go on from here.
    keys: Range<u32>,
    /// Length of what they have in common, in bytes.
    depth: u32,
    /// The node's piece, or [`NO_ID`]: a number among the keys.
    key: u32,
    entry: u16,
    skip: [u8; 2],
    /// Its children, in order of their labels.
    children: Range<u32>,
    slot: u32,
    base: u32,
}

#[derive(Debug, Clone, Copy)]
struct Child {
    label: u8,
    to: To,
}

#[derive(Debug, Clone, Copy)]
enum To {
    /// The branch with this number.
    Branch(u32),
    /// The id of a piece that no other goes on from.
    Leaf(u32),
    /// A place in the tails.
    Tail(u32),
}

/// The trie while it is put together.
struct Draft<'k, 'a> {
    all: &'k [Key<'a>],
    branches: Vec<Branch>,
    children: Vec<Child>,
    tails: Vec<u8>,
    /// Steps of tails that lead to a branch: where the step's target is, and which branch.
    targets: Vec<(usize, u32)>,
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

impl<'k, 'a> Draft<'k, 'a> {
    /// Cuts `all` where they part; branches in breadth-first order.
    fn new(all: &'k [Key<'a>]) -> Result<Self, CompileError> {
        let mut draft = Self {
            all,
            branches: Vec::new(),
            children: Vec::new(),
            tails: Vec::new(),
            targets: Vec::new(),
        };
        draft.push_branch(0..all.len() as u32, 0, NO_ID, DETACHED, [0; 2]);
        let mut index = 0;
        while let Some(branch) = draft.branches.get(index) {
            let (keys, depth) = (branch.keys.clone(), branch.depth as usize);
            let first = draft.children.len() as u32;
            let mut start = keys.start;
            while start < keys.end {
                let label = all[start as usize].text[depth];
                let below = &all[as_indices(&(start..keys.end))];
                let len = below.partition_point(|key| key.text[depth] == label) as u32;
                let to = draft.child(start..start + len, depth + 1);
                draft.children.push(Child { label, to });
                start += len;
            }
            draft.branches[index].children = first..draft.children.len() as u32;
            index += 1;
        }
        // A place in the tails and the mark of an unused word have to be told apart.
        if draft.tails.len() >= TAIL as usize - 1 {
            return Err(CompileError::TooLarge {
                what: "what the trie holds between branches",
                limit: u64::from(TAIL) - 2,
            });
        }
        Ok(draft)
    }

    fn push_branch(
        &mut self,
        keys: Range<u32>,
        depth: usize,
        key: u32,
        entry: u16,
        skip: [u8; 2],
    ) -> u32 {
        self.branches.push(Branch {
            keys,
            depth: depth as u32,
            key,
            entry,
            skip,
            children: 0..0,
            slot: 0,
            base: 0,
        });
        (self.branches.len() - 1) as u32
    }

    /// What becomes of the keys of `keys`, which have `begin` bytes in common, the last of them a label.
    fn child(&mut self, mut keys: Range<u32>, begin: usize) -> To {
        let all = self.all;
        // The last has all that they have in common; shorter ones end on the way.
        let text = all[keys.end as usize - 1].text;
        // Pieces that end before the texts part, and where.
        let mut passed: Vec<(usize, u32)> = Vec::new();
        let mut at = begin;
        loop {
            let first = keys.start;
            let ends = all[first as usize].text.len() == at;
            if ends {
                keys.start += 1;
            }
            if keys.is_empty() {
                return self.leaf(text, begin, &passed, (at, first));
            }
            let next = |index: u32| all[index as usize].text[at];
            if next(keys.start) == next(keys.end - 1) {
                if ends {
                    passed.push((at, first));
                }
                at += 1;
                continue;
            }
            let key = if ends { first } else { NO_ID };
            return self.branch(text, begin, &passed, keys, (at, key));
        }
    }

    /// The last piece, number `key`, ends at `at`.
    fn leaf(
        &mut self,
        text: &[u8],
        begin: usize,
        passed: &[(usize, u32)],
        (at, key): (usize, u32),
    ) -> To {
        let id = self.all[key as usize].id;
        if at == begin {
            return To::Leaf(id);
        }
        let place = self.tails.len();
        let done = self.push_passed(text, begin, passed);
        self.push_step(StepKind::Leaf, id, &text[done..at]);
        To::Tail(place as u32)
    }

    /// The `keys` part at `at`, where the piece `key` ends.
    fn branch(
        &mut self,
        text: &[u8],
        begin: usize,
        passed: &[(usize, u32)],
        keys: Range<u32>,
        (at, key): (usize, u32),
    ) -> To {
        let skipped = &text[begin..at];
        let mut skip = [0; 2];
        if let Some(start) = skip.get_mut(..skipped.len()) {
            start.copy_from_slice(skipped);
            let label = u16::from(text[begin - 1]);
            let entry = |id_first| {
                let skip = Skip::new(skipped.len(), id_first);
                u16::from(skip.number()) << 8 | label
            };
            let found = match (passed, key) {
                ([], _) if skipped.is_empty() => Some((label, key)),
                ([], NO_ID) => Some((entry(true), NO_ID)),
                ([], _) => Some((entry(false), key)),
                (&[(end, passed)], NO_ID) if end == begin => Some((entry(true), passed)),
                _ => None,
            };
            if let Some((entry, key)) = found {
                return To::Branch(self.push_branch(keys, at, key, entry, skip));
            }
        }
        let branch = self.push_branch(keys, at, key, DETACHED, [0; 2]);
        let place = self.tails.len();
        let done = self.push_passed(text, begin, passed);
        let step = self.push_step(StepKind::Node, 0, &text[done..at]);
        self.targets.push((step + 1, branch));
        To::Tail(place as u32)
    }

    /// Steps for the pieces that end on the way; returns how far they go.
    fn push_passed(&mut self, text: &[u8], begin: usize, passed: &[(usize, u32)]) -> usize {
        let mut done = begin;
        for &(end, key) in passed {
            let id = self.all[key as usize].id;
            self.push_step(StepKind::Piece, id, &text[done..end]);
            done = end;
        }
        done
    }

    /// Appends a step with any number of labels, and returns where the step itself is: its target is behind
    /// the first byte.
    fn push_step(&mut self, kind: StepKind, target: u32, labels: &[u8]) -> usize {
        let mut push = |kind, target, labels: &[u8]| {
            let at = self.tails.len();
            let step = TailStep {
                kind,
                target,
                labels,
                next: 0,
            };
            self.tails.extend_from_slice(&step.head());
            self.tails.extend_from_slice(labels);
            at
        };
        let mut rest = labels;
        while rest.len() > MAX_LABELS {
            let (first, after) = rest.split_at(MAX_LABELS);
            push(StepKind::More, 0, first);
            rest = after;
        }
        push(kind, target, rest)
    }
}

/// Gives every branch its slot and base; returns the number of slots.
fn place(branches: &mut [Branch], children: &[Child]) -> usize {
    let of = |branch: &Branch| &children[as_indices(&branch.children)];
    let is_branch = |child: &&Child| matches!(child.to, To::Branch(_));
    let below: Vec<usize> = branches
        .iter()
        .map(|branch| of(branch).iter().filter(is_branch).count())
        .collect();
    let mut space = Space::default();
    space.nodes.take(0);
    let mut end = 0;
    let mut put = |space: &mut Space, branches: &mut [Branch], index: usize| {
        let children = of(&branches[index]);
        let base = space.place(children);
        branches[index].base = base as u32;
        end = end.max(base + LABELS);
        for child in children {
            if let To::Branch(branch) = child.to {
                branches[branch as usize].slot = (base + usize::from(child.label)) as u32;
            }
        }
    };
    for (several, index) in [true, false]
        .into_iter()
        .flat_map(|several| (0..below.len()).map(move |index| (several, index)))
    {
        if below[index] > 0 && (below[index] > 1) == several {
            put(&mut space, branches, index);
        }
    }
    for branch in branches.iter_mut().skip(1) {
        if branch.entry == DETACHED {
            let slot = space.nodes.first_free();
            space.nodes.take(slot);
            branch.slot = slot as u32;
        }
    }
    for (index, &below) in below.iter().enumerate() {
        if below == 0 {
            put(&mut space, branches, index);
        }
    }
    let used = space.leaves.iter().map(|leaves| leaves.used);
    let used = used.fold(space.nodes.used, usize::max);
    match used < SMALL {
        true => used,
        // A reader that finds all bases this far from the end need not look at the bitmaps.
        false => used.max(end),
    }
}

/// A trie of fewer slots is kept as short as possible.
const SMALL: usize = 4096;

/// A base has so many children at most.
const LABELS: usize = 256;

/// What is taken: slots by nodes, leaf words by their numbers, bases by parents of nodes.
#[derive(Default)]
struct Space {
    nodes: Taken,
    leaves: [Taken; 4],
    bases: Taken,
    /// In which block of 64 bases the search for a branch with so many nodes and leaves below starts. Holes
    /// that are left behind fill up with smaller ones.
    start_block: Vec<usize>,
}

impl Space {
    /// Takes the first base that fits `children`.
    fn place(&mut self, children: &[Child]) -> usize {
        const LEAVES: usize = 32;
        let below = children
            .iter()
            .filter(|child| matches!(child.to, To::Branch(_)))
            .count();
        let kind = below * LEAVES + (children.len() - below).min(LEAVES - 1);
        if kind >= self.start_block.len() {
            self.start_block.resize(kind + 1, 0);
        }
        let base = self.first_base(children, self.start_block[kind]);
        self.start_block[kind] = base / 64;
        if below > 0 {
            self.bases.take(base);
        }
        for child in children {
            self.taken_by(child).take(base + usize::from(child.label));
        }
        base
    }

    /// Where such a child takes a slot.
    fn taken_by(&mut self, child: &Child) -> &mut Taken {
        match child.to {
            To::Branch(_) => &mut self.nodes,
            _ => &mut self.leaves[usize::from(child.label & 3)],
        }
    }

    /// The first base, from block `start` of 64 on, that every child fits and no parent of nodes has.
    fn first_base(&mut self, children: &[Child], start: usize) -> usize {
        let mut block = start;
        loop {
            let mut taken = self.bases.window(block * 64);
            for child in children {
                if taken == u64::MAX {
                    break;
                }
                let slot = block * 64 + usize::from(child.label);
                taken |= self.taken_by(child).window(slot);
            }
            if taken != u64::MAX {
                return block * 64 + taken.trailing_ones() as usize;
            }
            block += 1;
        }
    }
}

/// Which places are taken: a bitmap that grows on demand.
#[derive(Default)]
struct Taken {
    words: Vec<u64>,
    /// Up to here no place is free.
    full_until: usize,
    /// One past the last taken place.
    used: usize,
}

impl Taken {
    fn take(&mut self, at: usize) {
        let word = at / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (at % 64);
        self.used = self.used.max(at + 1);
    }

    fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(0)
    }

    /// The 64 places from `at` on; set bits are taken.
    fn window(&self, at: usize) -> u64 {
        let (word, shift) = (at / 64, at % 64);
        let low = self.word(word) >> shift;
        match shift {
            0 => low,
            _ => low | self.word(word + 1) << (64 - shift),
        }
    }

    /// The first free place.
    fn first_free(&mut self) -> usize {
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
            .filter(|n| n.children != [0; 4] && n.entry == DETACHED);
        let attached = trie.head.nodes - detached.count() as u32;
        assert_eq!(children, attached + trie.head.leaves + trie.head.tails);
    }
}

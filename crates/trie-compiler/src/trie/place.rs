//! Where the nodes of a trie and its leaves stand.
//!
//! Invariant: a slot has one node at most, and a leaf word one owner; no two parents of nodes have one base.

use trie_format::DETACHED;

use super::as_indices;
use super::draft::{Branch, Child, To};

/// Gives every branch its slot and base; returns the number of slots.
pub(super) fn place(branches: &mut [Branch], children: &[Child]) -> usize {
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

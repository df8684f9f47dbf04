//! A trie before its nodes have places: texts cut where they part.
//!
//! Invariant: every key is in exactly one branch, leaf or step of a tail.

use std::ops::Range;

use trie_format::trie::{MAX_LABELS, StepKind, TailStep};
use trie_format::{DETACHED, NO_ID, Skip, TAIL};

use super::{Key, as_indices};
use crate::CompileError;

/// A place where texts part, before it has a slot.
#[derive(Debug)]
pub(super) struct Branch {
    /// The keys that go on from here.
    pub(super) keys: Range<u32>,
    /// Length of what they have in common, in bytes.
    pub(super) depth: u32,
    /// The node's piece, or [`NO_ID`]: a number among the keys.
    pub(super) key: u32,
    pub(super) entry: u16,
    pub(super) skip: [u8; 2],
    /// Its children, in order of their labels.
    pub(super) children: Range<u32>,
    pub(super) slot: u32,
    pub(super) base: u32,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Child {
    pub(super) label: u8,
    pub(super) to: To,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum To {
    /// The branch with this number.
    Branch(u32),
    /// The id of a piece that no other goes on from.
    Leaf(u32),
    /// A place in the tails.
    Tail(u32),
}

/// The trie while it is put together.
pub(super) struct Draft<'k, 'a> {
    all: &'k [Key<'a>],
    pub(super) branches: Vec<Branch>,
    pub(super) children: Vec<Child>,
    pub(super) tails: Vec<u8>,
    /// Steps of tails that lead to a branch: where the step's target is, and which branch.
    pub(super) targets: Vec<(usize, u32)>,
}

impl<'k, 'a> Draft<'k, 'a> {
    /// Cuts `all` where they part; branches in breadth-first order.
    pub(super) fn new(all: &'k [Key<'a>]) -> Result<Self, CompileError> {
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

//! Stage 3: a double array. A child of the node at `s` stands at `base[s] + byte`, and is one if its
//! `check` says `s`. (Aoe 1989; placed breadth-first, each node at the first base that fits, as the
//! published engine does.)

use std::collections::VecDeque;
use std::ops::Range;

use crate::fixture::{Piece, Vocabulary};
use crate::ladder::viterbi::Trie;

/// In `check`: nobody's child. In `id`: no piece ends here.
pub const NONE: u32 = u32::MAX;

/// A slot of the array.
#[derive(Clone, Copy)]
pub struct Slot {
    /// Where the children's slots start.
    pub base: u32,
    /// The parent's slot, or [`NONE`].
    pub check: u32,
    /// The piece that ends here, or [`NONE`].
    pub id: u32,
}

const EMPTY: Slot = Slot {
    base: 0,
    check: NONE,
    id: NONE,
};

/// The trie.
///
/// Invariant: `base + 255` is in bounds for every slot, and every id but [`NONE`] has a score.
pub struct DoubleArray {
    slots: Vec<Slot>,
    scores: Vec<f64>,
}

impl DoubleArray {
    /// Builds the trie.
    #[must_use]
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let pieces = &vocabulary.pieces;
        let ids = pieces.iter().map(|piece| piece.id + 1).max().unwrap_or(0);
        let mut scores = vec![0.0; ids as usize];
        for piece in pieces {
            scores[piece.id as usize] = piece.score;
        }
        let mut slots = place(pieces);
        let end = slots
            .iter()
            .map(|slot| slot.base as usize)
            .max()
            .unwrap_or(0)
            + 256;
        slots.resize(end.max(slots.len()), EMPTY);
        Self { slots, scores }
    }

    /// All slots.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The score of every id.
    #[must_use]
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }
}

/// A node that has a slot and whose children have none yet: a range of the sorted pieces.
struct Pending {
    slot: usize,
    depth: usize,
    pieces: Range<usize>,
}

/// Places the trie of the sorted `pieces`, the root at 0.
fn place(pieces: &[Piece]) -> Vec<Slot> {
    let mut slots = vec![EMPTY];
    slots[0].check = 0;
    let mut free = FreeLinks::default();
    free.next(0, &slots);
    let root = Pending {
        slot: 0,
        depth: 0,
        pieces: 0..pieces.len(),
    };
    let mut queue = VecDeque::from([root]);
    while let Some(Pending {
        slot,
        depth,
        pieces: mut range,
    }) = queue.pop_front()
    {
        if pieces
            .get(range.start)
            .is_some_and(|piece| !range.is_empty() && piece.text.len() == depth)
        {
            slots[slot].id = pieces[range.start].id;
            range.start += 1;
        }
        let children: Vec<(usize, Range<usize>)> = pieces[range.clone()]
            .chunk_by(|a, b| a.text[depth] == b.text[depth])
            .scan(range.start, |start, group| {
                let begin = *start;
                *start += group.len();
                Some((usize::from(group[0].text[depth]), begin..*start))
            })
            .collect();
        let Some(first) = children.first().map(|(byte, _)| *byte) else {
            continue;
        };
        let mut candidate = free.next(first + 1, &slots);
        let is_free = |slots: &[Slot], at: usize| slots.get(at).is_none_or(|s| s.check == NONE);
        while !children
            .iter()
            .all(|(byte, _)| is_free(&slots, candidate - first + byte))
        {
            candidate = free.next(candidate + 1, &slots);
        }
        let base = candidate - first;
        slots[slot].base = base as u32;
        for (byte, pieces) in children {
            let child = base + byte;
            if child >= slots.len() {
                slots.resize(child + 1, EMPTY);
            }
            slots[child].check = slot as u32;
            queue.push_back(Pending {
                slot: child,
                depth: depth + 1,
                pieces,
            });
        }
    }
    slots
}

/// Where to look for the next free slot; chains of taken slots are shortened as they are followed.
#[derive(Default)]
struct FreeLinks(Vec<usize>);

impl FreeLinks {
    fn next(&mut self, from: usize, slots: &[Slot]) -> usize {
        let known = self.0.len();
        self.0.extend((known..slots.len()).map(|slot| slot + 1));
        let mut free = from;
        while slots.get(free).is_some_and(|slot| slot.check != NONE) {
            free = self.0[free];
        }
        let mut link = from;
        while link < free {
            link = std::mem::replace(&mut self.0[link], free);
        }
        free
    }
}

impl Trie for DoubleArray {
    type Node<'a> = u32;

    #[inline(always)]
    fn root(&self) -> u32 {
        0
    }

    #[inline(always)]
    fn child(&self, node: u32, byte: u8) -> Option<u32> {
        // SAFETY: `node` is the root or came from this function; the type's invariant.
        let slot = unsafe { self.slots.get_unchecked(node as usize) };
        let child = slot.base + u32::from(byte);
        // SAFETY: the type's invariant.
        (unsafe { self.slots.get_unchecked(child as usize) }.check == node).then_some(child)
    }

    #[inline(always)]
    fn piece(&self, node: u32) -> Option<(u32, f64)> {
        // SAFETY: `node` is the root or came from `child`; ids below NONE have scores.
        unsafe {
            let id = self.slots.get_unchecked(node as usize).id;
            (id != NONE).then(|| (id, *self.scores.get_unchecked(id as usize)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_its_pieces_and_nothing_else() {
        let mut texts: Vec<Vec<u8>> = (0..2000u32)
            .map(|i| format!("{:b}z{}", i * 7919 % 65536, i % 13).into_bytes())
            .collect();
        texts.sort_unstable();
        texts.dedup();
        let pieces = texts
            .iter()
            .zip(0..)
            .map(|(text, id)| Piece {
                text: text.clone(),
                id,
                score: -f64::from(id),
            })
            .collect();
        let vocabulary = Vocabulary::of_pieces(pieces);
        let trie = DoubleArray::new(&vocabulary);
        let walk = |text: &[u8]| {
            let mut node = trie.root();
            for &byte in text {
                node = trie.child(node, byte)?;
            }
            trie.piece(node)
        };
        for (text, id) in texts.iter().zip(0..) {
            assert_eq!(walk(text), Some((id, -f64::from(id))));
        }
        assert_eq!(walk(b""), None);
        assert_eq!(walk(b"2"), None);
        assert_eq!(walk(b"1z\xff"), None);
    }
}

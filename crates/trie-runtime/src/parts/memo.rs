//! Answers found before: a fixed number of them, so that scratch space does not grow with the input.
//!
//! Invariant: an entry is given for a key that is equal in full, of the same model, and holds for every sum before it
//! that is no further from zero than its limit.

use trie_format::parts::PartKey;

use crate::simd::prefetch;

/// An answer with more tokens is not remembered.
pub(super) const MAX_TOKENS: usize = 4;

/// Sets of two entries: a megabyte.
const SETS: usize = 8192;
const SET_BITS: u32 = SETS.trailing_zeros();

/// A part or word and its tokens: a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Entry {
    key: PartKey,
    /// The answer holds where the sum before it is no further from zero.
    pub(super) limit: f32,
    /// The tokens' lengths in bytes; 0 behind the last.
    pub(super) lens: [u8; MAX_TOKENS],
    /// Their ids and path scores.
    pub(super) tokens: [(u32, f32); MAX_TOKENS],
}

const _: () = assert!(size_of::<Entry>() == 64);

impl Entry {
    const EMPTY: Self = Self {
        key: PartKey::EMPTY,
        limit: 0.0,
        lens: [0; MAX_TOKENS],
        tokens: [(0, 0.0); MAX_TOKENS],
    };
}

/// An answer in the making.
pub(super) struct Answer {
    entry: Entry,
    len: usize,
}

impl Answer {
    /// No tokens, for any sum.
    pub(super) fn new() -> Self {
        let entry = Entry {
            limit: f32::MAX,
            ..Entry::EMPTY
        };
        Self { entry, len: 0 }
    }

    /// Adds a token.
    #[inline(always)]
    pub(super) fn push(&mut self, len: usize, id: u32, score: f32) {
        match (
            self.entry.lens.get_mut(self.len),
            self.entry.tokens.get_mut(self.len),
            u8::try_from(len),
        ) {
            (Some(to), Some(token), Ok(len)) => {
                *to = len;
                *token = (id, score);
                self.len += 1;
            }
            _ => self.refuse(),
        }
    }

    /// The answer only holds up to this sum.
    #[inline(always)]
    pub(super) fn limit(&mut self, limit: f32) {
        self.entry.limit = self.entry.limit.min(limit);
    }

    /// The answer is not to be remembered.
    pub(super) fn refuse(&mut self) {
        self.entry.limit = f32::NEG_INFINITY;
    }
}

/// The answers of one model, by key. Of those that meet in a set, the second is the latest, and the first the last one
/// that was asked for again: so words that come once do not displace those that come often, even where all
/// words of a text are more than there is room for (Qureshi et al. 2007, "Adaptive insertion policies for
/// high performance caching": LIP).
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// The image whose answers these are.
    owner: [u8; 16],
    /// Empty until there is something to remember.
    sets: Vec<[Entry; 2]>,
}

impl Memo {
    /// Forgets what another model has left.
    #[inline(always)]
    pub(super) fn belong_to(&mut self, owner: &[u8; 16]) {
        if self.owner != *owner {
            self.owner = *owner;
            self.sets.fill([Entry::EMPTY; 2]);
        }
    }

    /// Has the processor fetch where an entry with this hash would be.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u64) {
        if let Some(set) = self.sets.get((hash >> (64 - SET_BITS)) as usize) {
            prefetch(set);
        }
    }

    /// The entry with this key.
    #[inline(always)]
    pub(super) fn find(&mut self, key: &PartKey, hash: u64) -> Option<&Entry> {
        let [first, second] = self.sets.get_mut((hash >> (64 - SET_BITS)) as usize)?;
        if first.key == *key {
            return Some(first);
        }
        if second.key == *key {
            std::mem::swap(first, second);
            return Some(first);
        }
        None
    }

    /// Remembers an answer, if it is one to be remembered.
    pub(super) fn insert(&mut self, key: PartKey, hash: u64, answer: &Answer) {
        if answer.entry.limit < 0.0 || answer.len == 0 {
            return;
        }
        if self.sets.is_empty() {
            self.sets.resize(SETS, [Entry::EMPTY; 2]);
        }
        if let Some([first, second]) = self.sets.get_mut((hash >> (64 - SET_BITS)) as usize) {
            let place = match first.key == key || first.key.is_empty() {
                true => first,
                false => second,
            };
            *place = Entry {
                key,
                ..answer.entry
            };
        }
    }

    /// Bytes that are held.
    pub(super) fn allocated_bytes(&self) -> usize {
        self.sets.capacity() * size_of::<[Entry; 2]>()
    }
}

//! Answers found before: a fixed number of them, so that scratch space does not grow with the input.
//!
//! Invariant: an entry is given for a key that is equal in full, of the same model, and holds for every sum before it
//! that is no further from zero than its limit.

use trie_format::parts::PartKey;

use crate::simd::prefetch;

/// An answer with more tokens is not remembered.
const MAX_TOKENS: usize = 12;

/// The text of a unit that is too long for a [`PartKey`]: at most [`LongKey::MAX_BYTES`] bytes, then zeros, and in the last
/// byte their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LongKey([u64; 10]);

impl LongKey {
    pub(super) const MAX_BYTES: usize = 79;

    /// The key of `text`, if it is short enough.
    #[inline(always)]
    pub(super) fn new(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; Self::MAX_BYTES + 1];
        let (body, _) = bytes.split_at_mut(Self::MAX_BYTES);
        body.get_mut(..text.len())?.copy_from_slice(text);
        bytes[Self::MAX_BYTES] = text.len() as u8;
        let mut words = [0; 10];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Some(Self(words))
    }

    /// Where to look for the key.
    #[inline(always)]
    pub(super) fn hash(&self) -> u64 {
        let mut hash = 0u64;
        for &[first, second] in self.0.as_chunks().0 {
            let product = u128::from(first ^ 0x9e37_79b9_7f4a_7c15 ^ hash)
                * u128::from(second ^ 0xc2b2_ae3d_27d4_eb4f);
            hash = (product >> 64) as u64 ^ product as u64;
        }
        hash.wrapping_mul(0xd6e8_feb8_6659_fd93)
    }
}

/// What can be a unit's key. The default is no unit's.
pub(super) trait Key: Copy + PartialEq {
    const EMPTY: Self;
}

impl Key for PartKey {
    const EMPTY: Self = Self::EMPTY;
}

impl Key for LongKey {
    const EMPTY: Self = Self([0; 10]);
}

/// A unit and its tokens, of which there are at most `TOKENS`: whole cache lines.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Entry<K, const TOKENS: usize> {
    key: K,
    /// The answer holds where the sum before it is no further from zero.
    pub(super) limit: f32,
    /// The tokens' lengths in bytes; 0 behind the last.
    pub(super) lens: [u8; TOKENS],
    /// Their ids and path scores.
    pub(super) tokens: [(u32, f32); TOKENS],
}

const _: () = assert!(size_of::<Entry<PartKey, 4>>() == 64);
const _: () = assert!(size_of::<Entry<LongKey, MAX_TOKENS>>() == 192);

impl<K: Key, const TOKENS: usize> Entry<K, TOKENS> {
    const EMPTY: Self = Self {
        key: K::EMPTY,
        limit: 0.0,
        lens: [0; TOKENS],
        tokens: [(0, 0.0); TOKENS],
    };
}

/// An answer in the making.
pub(super) struct Answer {
    limit: f32,
    lens: [u8; MAX_TOKENS],
    tokens: [(u32, f32); MAX_TOKENS],
    len: usize,
}

impl Answer {
    /// No tokens, for any sum.
    pub(super) fn new() -> Self {
        Self {
            limit: f32::MAX,
            lens: [0; MAX_TOKENS],
            tokens: [(0, 0.0); MAX_TOKENS],
            len: 0,
        }
    }

    /// Adds a token.
    #[inline(always)]
    pub(super) fn push(&mut self, len: usize, id: u32, score: f32) {
        match (
            self.lens.get_mut(self.len),
            self.tokens.get_mut(self.len),
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
        self.limit = self.limit.min(limit);
    }

    /// The answer is not to be remembered.
    pub(super) fn refuse(&mut self) {
        self.limit = f32::NEG_INFINITY;
    }

    /// The entry that remembers it, if it is to be and has few enough tokens.
    fn entry<K: Key, const TOKENS: usize>(&self, key: K) -> Option<Entry<K, TOKENS>> {
        (self.limit >= 0.0 && (1..=TOKENS).contains(&self.len)).then_some(Entry {
            key,
            limit: self.limit,
            lens: *self.lens.first_chunk()?,
            tokens: *self.tokens.first_chunk()?,
        })
    }
}

/// The answers of one model.
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// The image whose answers these are.
    owner: [u8; 16],
    /// A megabyte.
    pub(super) short: Table<PartKey, 4, 8192>,
    /// Three quarters of a megabyte.
    pub(super) long: Table<LongKey, MAX_TOKENS, 2048>,
}

impl Memo {
    /// Forgets what another model has left.
    #[inline(always)]
    pub(super) fn belong_to(&mut self, owner: &[u8; 16]) {
        if self.owner != *owner {
            self.owner = *owner;
            self.short.clear();
            self.long.clear();
        }
    }

    /// Makes room for answers, unless there is.
    #[inline(always)]
    pub(super) fn prepare(&mut self) {
        if self.short.sets.is_empty() {
            self.short.allocate();
            self.long.allocate();
        }
    }

    /// Bytes that are held.
    pub(super) fn allocated_bytes(&self) -> usize {
        self.short.allocated_bytes() + self.long.allocated_bytes()
    }
}

/// Answers by key, in `SETS` (a power of two) sets of two. Of those that meet in a set, the second is the latest, and the
/// first the last one that was asked for again: so words that come once do not displace those that come often, even
/// where all words of a text are more than there is room for (Qureshi et al. 2007, "Adaptive insertion policies for
/// high performance caching": LIP).
#[derive(Debug)]
pub(super) struct Table<K, const TOKENS: usize, const SETS: usize> {
    /// Empty until there is something to remember.
    sets: Vec<[Entry<K, TOKENS>; 2]>,
}

impl<K, const TOKENS: usize, const SETS: usize> Default for Table<K, TOKENS, SETS> {
    fn default() -> Self {
        Self { sets: Vec::new() }
    }
}

impl<K: Key, const TOKENS: usize, const SETS: usize> Table<K, TOKENS, SETS> {
    const SHIFT: u32 = u64::BITS - SETS.trailing_zeros();

    /// Has the processor fetch where an entry with this hash would be.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u64) {
        if let Some(set) = self.sets.get((hash >> Self::SHIFT) as usize) {
            prefetch(set);
        }
    }

    /// The entry with this key.
    #[inline(always)]
    pub(super) fn find(&mut self, key: &K, hash: u64) -> Option<&Entry<K, TOKENS>> {
        let [first, second] = self.sets.get_mut((hash >> Self::SHIFT) as usize)?;
        if first.key == *key {
            return Some(first);
        }
        if second.key == *key {
            std::mem::swap(first, second);
            return Some(first);
        }
        None
    }

    /// Remembers an answer, if it is one to be remembered and there is room.
    pub(super) fn insert(&mut self, key: K, hash: u64, answer: &Answer) {
        if let Some(entry) = answer.entry(key)
            && let Some([first, second]) = self.sets.get_mut((hash >> Self::SHIFT) as usize)
        {
            match first.key == key || first.key == K::EMPTY {
                true => *first = entry,
                false => *second = entry,
            }
        }
    }

    fn allocate(&mut self) {
        self.sets.resize(SETS, [Entry::EMPTY; 2]);
    }

    fn clear(&mut self) {
        self.sets.fill([Entry::EMPTY; 2]);
    }

    fn allocated_bytes(&self) -> usize {
        self.sets.capacity() * size_of::<[Entry<K, TOKENS>; 2]>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_keys_tell_texts_apart() {
        let text = [b'x'; 90];
        let mut keys = Vec::new();
        for len in 0..=LongKey::MAX_BYTES {
            let key = LongKey::new(&text[..len]).expect("short enough");
            assert!(!keys.contains(&key));
            assert!(len == 0 || key != LongKey::EMPTY);
            keys.push(key);
        }
        assert_eq!(LongKey::new(&text[..80]), None);
        assert_eq!(LongKey::new(&text), None);
        assert_ne!(LongKey::new(b"a"), LongKey::new(b"a\0"));
    }

    #[test]
    fn what_is_asked_for_again_stays() {
        let mut memo = Memo::default();
        memo.prepare();
        let mut answer = Answer::new();
        answer.push(3, 7, -1.0);
        let key = |text: &[u8]| PartKey::new(text).expect("short enough");
        let [often, once, latest] = [key(b"often"), key(b"once"), key(b"latest")];
        // All meet in one set.
        memo.short.insert(once, 0, &answer);
        memo.short.insert(often, 0, &answer);
        assert!(memo.short.find(&often, 0).is_some());
        memo.short.insert(latest, 0, &answer);
        assert!(memo.short.find(&often, 0).is_some());
        assert!(memo.short.find(&once, 0).is_none());
        assert!(memo.short.find(&latest, 0).is_some());
        answer.refuse();
        memo.short.insert(once, 1 << 63, &answer);
        assert!(memo.short.find(&once, 1 << 63).is_none());
        memo.belong_to(&[1; 16]);
        assert!(memo.short.find(&often, 0).is_none());
    }
}

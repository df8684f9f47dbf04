//! Parts: where in normalized text every segmentation has a boundary, and which answers are known beforehand.
//!
//! Two neighbouring characters are *joined* if some piece has them side by side. Between two that are not,
//! every segmentation has a boundary, so the text on either side is segmented by itself: a *part*. A *baked*
//! part is one whose best segmentation is a single piece, by more than rounding can take away.
//!
//! Invariant: an answer is given for a key that is equal in full; a hash only says where to look.

use bytemuck::{Pod, Zeroable};

/// A baked part has at most so many bytes, without the U+2581 that it may begin with.
pub const MAX_KEY_BYTES: usize = 22;

/// No baked part is given out where the sum of the scores before it is beyond this.
pub const MAX_BAKED_SUM: f32 = 98_000.0;

/// The greatest path score, of either sign, with which there can be parts: what is within one key then stays
/// within 2,000 of the sum before it.
pub const MAX_MAGNITUDE: f32 = 80.0;

/// The text of a part of at most [`MAX_KEY_BYTES`] bytes, besides a U+2581 that it may begin with.
///
/// Three words, little-endian: the bytes without that U+2581, filled up with zeros, then their number, plus 128
/// with U+2581, then a zero. The key of all zeros is no part's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct PartKey([u64; 3]);

/// For each number of bytes, the bits of so many in three words.
const MASKS: [[u64; 3]; MAX_KEY_BYTES + 1] = {
    let mut masks = [[0; 3]; MAX_KEY_BYTES + 1];
    let mut len = 1;
    while len < masks.len() {
        masks[len] = masks[len - 1];
        masks[len][(len - 1) / 8] |= 0xff << (8 * ((len - 1) % 8));
        len += 1;
    }
    masks
};

impl PartKey {
    /// U+2581, which stands for a space.
    pub const SPACE: [u8; 3] = [0xe2, 0x96, 0x81];

    /// No part's key.
    pub const EMPTY: Self = Self([0; 3]);

    const NO_BYTES: u64 = 0x0000_ffff_ffff_ffff;

    /// The key of `text`, if it is short enough. `text` is not empty.
    #[must_use]
    pub fn new(text: &[u8]) -> Option<Self> {
        let body = text.strip_prefix(&Self::SPACE);
        let after_space = body.is_some();
        let body = body.unwrap_or(text);
        let mut bytes = [0; 24];
        bytes
            .get_mut(..body.len().min(MAX_KEY_BYTES + 1))?
            .copy_from_slice(body.get(..body.len().min(MAX_KEY_BYTES + 1))?);
        (body.len() <= MAX_KEY_BYTES).then(|| Self::of_window(&bytes, body.len(), after_space))
    }

    /// The key of the first `len` bytes of `window`, behind U+2581 or not.
    ///
    /// `len` is at most [`MAX_KEY_BYTES`]; more is taken for that.
    #[inline(always)]
    #[must_use]
    pub fn of_window(window: &[u8; 24], len: usize, after_space: bool) -> Self {
        let (words, _) = window.as_chunks::<8>();
        let [first, second, third] = MASKS[if len < MASKS.len() {
            len
        } else {
            MAX_KEY_BYTES
        }];
        let word = |index: usize| words.get(index).map_or(0, |&word| u64::from_le_bytes(word));
        Self([
            word(0) & first,
            word(1) & second,
            word(2) & third | Self::mark(len, after_space),
        ])
    }

    /// The key of one character of `len` bytes, given as a little-endian number, that is not U+2581.
    #[inline(always)]
    #[must_use]
    pub const fn of_character(bytes: u32, len: usize) -> Self {
        Self([bytes as u64, 0, Self::mark(len, false)])
    }

    const fn mark(len: usize, after_space: bool) -> u64 {
        (len as u64 | (after_space as u64) << 7) << 48
    }

    /// Where to look for the key.
    #[inline(always)]
    #[must_use]
    pub const fn hash(&self) -> u64 {
        let [a, b, c] = self.0;
        let first = a ^ c.wrapping_mul(0x1656_67b1_9e37_79f9);
        let second = b ^ c.rotate_left(16);
        let product =
            (first ^ 0x9e37_79b9_7f4a_7c15) as u128 * (second ^ 0xc2b2_ae3d_27d4_eb4f) as u128;
        ((product >> 64) as u64 ^ product as u64).wrapping_mul(0xd6e8_feb8_6659_fd93)
    }

    /// Number of bytes, without U+2581.
    #[must_use]
    pub const fn body_len(&self) -> usize {
        (self.0[2] >> 48 & 0x7f) as usize
    }

    /// Whether the part begins with U+2581.
    #[must_use]
    pub const fn after_space(&self) -> bool {
        self.0[2] >> 55 & 1 != 0
    }

    /// The bytes without U+2581, and zeros.
    #[must_use]
    pub fn body(&self) -> [u8; 24] {
        let [a, b, c] = self.0;
        let mut bytes = [0; 24];
        for (to, word) in bytes.chunks_exact_mut(8).zip([a, b, c & Self::NO_BYTES]) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Whether this is no part's key.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        matches!(self.0, [0, 0, 0])
    }
}

/// A part and the piece that its best segmentation is.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct BakedPart {
    /// The part's text; the empty key where there is none.
    pub key: PartKey,
    /// The piece.
    pub id: u32,
    /// Its path score.
    pub score: f32,
}

const _: () = assert!(size_of::<BakedPart>() == 32);

/// Two places for baked parts: a cache line.
pub type Bucket = [BakedPart; 2];

/// The table of baked parts. A part is in one of its key's two buckets, or in none.
#[derive(Debug, Clone, Copy)]
pub struct BakedParts<'a> {
    buckets: &'a [Bucket],
}

impl<'a> BakedParts<'a> {
    /// The table that `buckets` are.
    #[must_use]
    pub const fn new(buckets: &'a [Bucket]) -> Self {
        Self { buckets }
    }

    /// The two buckets of a hash among `count`.
    #[inline(always)]
    #[must_use]
    pub const fn places(hash: u64, count: usize) -> [usize; 2] {
        let count = count as u64;
        [
            (((hash >> 32) * count) >> 32) as usize,
            (((hash & 0xffff_ffff) * count) >> 32) as usize,
        ]
    }

    /// The baked part with this key, which is not the empty one.
    #[inline(always)]
    #[must_use]
    pub fn find(&self, key: &PartKey, hash: u64) -> Option<&'a BakedPart> {
        for place in Self::places(hash, self.buckets.len()) {
            let [first, second] = self.buckets.get(place)?;
            if first.key == *key {
                return Some(first);
            }
            if second.key == *key {
                return Some(second);
            }
        }
        None
    }

    /// All buckets.
    #[must_use]
    pub const fn buckets(&self) -> &'a [Bucket] {
        self.buckets
    }

    /// Checks ids, scores and key lengths; names the place that breaks a rule, and the rule.
    pub(crate) fn validate(&self, piece_count: u32) -> Result<(), (usize, &'static str)> {
        for (index, part) in self.buckets.as_flattened().iter().enumerate() {
            if part.id >= piece_count {
                return Err((index, "ids must be below the piece count"));
            }
            if !(-MAX_MAGNITUDE..=MAX_MAGNITUDE).contains(&part.score) {
                return Err((index, "scores must be within the magnitude"));
            }
            if part.key.body_len() > MAX_KEY_BYTES {
                return Err((index, "a key has at most 22 bytes"));
            }
        }
        Ok(())
    }
}

/// What the joined-pairs section begins with.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PairsHeader {
    /// No path score of a piece or an unknown character is further from zero.
    pub magnitude: f32,
    /// [`PairsHeader::LEADING_SPACE`] or 0.
    pub flags: u32,
    /// Zero.
    pub reserved: [u64; 7],
}

impl PairsHeader {
    /// No piece has U+2581 but at its beginning.
    pub const LEADING_SPACE: u32 = 1;
}

/// A character's bytes as a little-endian number, as [`JoinedPairs`] takes it.
#[must_use]
pub fn bytes_of(character: char) -> u32 {
    let mut bytes = [0; 4];
    character.encode_utf8(&mut bytes);
    u32::from_le_bytes(bytes)
}

/// Words of 64 bits for the pairs of ASCII characters.
pub const ASCII_PAIR_WORDS: usize = 128 * 128 / 64;

/// Which characters are joined. One-sided: that two are not is certain.
#[derive(Debug, Clone, Copy)]
pub struct JoinedPairs<'a> {
    header: &'a PairsHeader,
    ascii: &'a [u64; ASCII_PAIR_WORDS],
    /// A power of two of words.
    others: &'a [u64],
    /// 64 minus the logarithm of the number of bits in `others`.
    shift: u32,
}

impl<'a> JoinedPairs<'a> {
    /// The section that `bytes`, on an 8-byte boundary, are; `None` if the length cannot be right.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (header, rest) = bytes.split_at_checked(size_of::<PairsHeader>())?;
        let words: &[u64] = bytemuck::try_cast_slice(rest).ok()?;
        let (ascii, others) = words.split_first_chunk()?;
        if !others.len().is_power_of_two() {
            return None;
        }
        Some(Self {
            header: bytemuck::try_from_bytes(header).ok()?,
            ascii,
            others,
            shift: 58 - others.len().trailing_zeros(),
        })
    }

    /// No path score is further from zero.
    #[must_use]
    pub const fn magnitude(&self) -> f32 {
        self.header.magnitude
    }

    /// No piece has U+2581 but at its beginning.
    #[must_use]
    pub const fn leading_space(&self) -> bool {
        self.header.flags & PairsHeader::LEADING_SPACE != 0
    }

    /// The word and the bit for a pair of ASCII characters.
    #[inline(always)]
    #[must_use]
    pub const fn ascii_place(first: u8, second: u8) -> (usize, u32) {
        let index = (first as usize & 0x7f) << 7 | second as usize & 0x7f;
        (index / 64, index as u32 % 64)
    }

    /// The bit, among `2^(64 - shift)`, for another pair: of characters' bytes as little-endian numbers.
    #[inline(always)]
    #[must_use]
    pub const fn other_bit(first: u32, second: u32, shift: u32) -> usize {
        let pair = first as u64 | (second as u64) << 32;
        ((pair ^ pair >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as usize
    }

    /// Whether two neighbouring characters, their bytes as little-endian numbers, may be joined.
    #[inline(always)]
    #[must_use]
    pub fn may_join(&self, first: u32, second: u32) -> bool {
        if first | second < 0x80 {
            let (word, bit) = Self::ascii_place(first as u8, second as u8);
            self.ascii.get(word).is_none_or(|word| word >> bit & 1 != 0)
        } else {
            let bit = Self::other_bit(first, second, self.shift);
            // The number of words is a power of two.
            let word = (bit / 64) & (self.others.len() - 1);
            self.others
                .get(word)
                .is_none_or(|word| word >> (bit % 64) & 1 != 0)
        }
    }

    /// Checks the header; names the rule that is broken.
    pub(crate) fn validate(&self) -> Result<(), &'static str> {
        if !(0.0..=MAX_MAGNITUDE).contains(&self.header.magnitude) {
            return Err("the magnitude must be from 0 to 80");
        }
        if self.header.flags & !PairsHeader::LEADING_SPACE != 0 {
            return Err("unknown flags are set");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_texts_apart() {
        let key = |text: &[u8]| PartKey::new(text).unwrap();
        let texts: [&[u8]; 8] = [
            b"a",
            b"a\0",
            "\u{2581}".as_bytes(),
            "\u{2581}a".as_bytes(),
            "\u{2581}\u{2581}".as_bytes(),
            b"0123456789012345678901",
            "\u{2581}0123456789012345678901".as_bytes(),
            b"\xe2\x96",
        ];
        for (index, text) in texts.into_iter().enumerate() {
            for other in &texts[..index] {
                assert_ne!(key(text), key(other));
            }
            let key = key(text);
            assert!(!key.is_empty());
            let body = text.strip_prefix(&PartKey::SPACE);
            assert_eq!(key.after_space(), body.is_some());
            assert_eq!(&key.body()[..key.body_len()], body.unwrap_or(text));
        }
        assert_eq!(PartKey::new(b"01234567890123456789012"), None);
        assert_eq!(PartKey::new(&[b'x'; 100]), None);
    }

    #[test]
    fn what_is_behind_a_key_does_not_matter() {
        for len in 0..=MAX_KEY_BYTES {
            let text = [b'x'; MAX_KEY_BYTES];
            let mut window = [0xff; 24];
            window[..len].copy_from_slice(&text[..len]);
            let expected = PartKey::new(&text[..len]).unwrap();
            assert_eq!(PartKey::of_window(&window, len, false), expected);
        }
    }

    #[test]
    fn sections_of_odd_length_are_refused() {
        let bytes = [0u64; 8 + ASCII_PAIR_WORDS + 4];
        let parse = |len: usize| JoinedPairs::parse(bytemuck::cast_slice(&bytes[..len]));
        assert!(parse(8 + ASCII_PAIR_WORDS + 4).is_some());
        assert!(parse(8 + ASCII_PAIR_WORDS + 1).is_some());
        assert!(parse(8 + ASCII_PAIR_WORDS + 3).is_none());
        assert!(parse(8 + ASCII_PAIR_WORDS).is_none());
        assert!(parse(7).is_none());
        assert!(
            !parse(8 + ASCII_PAIR_WORDS + 1)
                .unwrap()
                .may_join(0x4e_b8e4, 0x41)
        );
    }
}

//! What an image says about parts.

use trie_format::parts::{BakedPart, MAX_KEY_BYTES, PartKey};
use trie_format::{Automaton, BakedParts, JoinedPairs, ValidImage};

use crate::simd::prefetch;
use crate::trie::Trie;
use crate::utf8::announced_len;
use crate::viterbi::UnkScore;

/// The bytes of a character, as a little-endian number, and how many they are.
pub(super) type Character = (u32, usize);

/// Text between two places where every segmentation has a boundary, and none inside that is known.
pub(super) struct Part {
    /// Where it ends.
    pub(super) end: usize,
    /// Its key, if it is short enough to have one.
    pub(super) key: Option<PartKey>,
    /// The character that follows.
    pub(super) next: Option<Character>,
}

/// The pieces of an image that has parts. Made anew for each call, in constant time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(super) trie: Trie<'a>,
    pub(super) unk: UnkScore,
    /// The unknown piece, which Hugging Face `tokenizers` takes for an unknown character.
    unk_id: u32,
    pairs: JoinedPairs<'a>,
    baked: BakedParts<'a>,
    /// Images of format 1.0 have none, nor those of scores that are no float32: there the pass goes from start to start.
    pub(super) automaton: Option<Automaton<'a>>,
    image_id: &'a [u8; 16],
}

impl<'a> Parts<'a> {
    /// The parts of an image, if it has any.
    #[inline(always)]
    pub(crate) fn new(image: &ValidImage<'a>) -> Option<Self> {
        let (pairs, baked) = image.parts()?;
        Some(Self {
            trie: Trie::pieces(image),
            unk: UnkScore::new(image),
            unk_id: image.metadata().unk_id.to_native(),
            pairs,
            baked,
            automaton: image.automaton(),
            image_id: &image.header().image_id,
        })
    }

    /// What tells models apart.
    pub(super) fn owner(&self) -> &'a [u8; 16] {
        self.image_id
    }

    /// Whether U+2581 always begins a part.
    #[inline(always)]
    pub(super) fn has_words(&self) -> bool {
        self.pairs.leading_space()
    }

    /// No score of a token is further from zero.
    #[inline(always)]
    pub(super) fn magnitude(&self) -> f32 {
        self.pairs.magnitude()
    }

    /// The path score of a token that may be remembered: not of unknown characters, which join others beside them, and
    /// none that is no float32.
    #[inline(always)]
    pub(super) fn score(&self, id: u32) -> Option<f32> {
        let piece = self.trie.piece(id).filter(|_| id != self.unk_id)?;
        (piece.score64 == f64::from(piece.score)).then_some(piece.score)
    }

    /// Whether two neighbouring characters, as [`character`] gives them, may be joined.
    #[inline(always)]
    pub(super) fn may_join(&self, first: u32, second: u32) -> bool {
        self.pairs.may_join(first, second)
    }

    /// Has the processor fetch where a baked part with this hash would most likely be.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u64) {
        let buckets = self.baked.buckets();
        let [place, _] = BakedParts::places(hash, buckets.len());
        if let Some(bucket) = buckets.get(place) {
            prefetch(bucket);
        }
    }

    /// The baked part with this key.
    #[inline(always)]
    pub(super) fn find(&self, key: &PartKey, hash: u64) -> Option<&'a BakedPart> {
        self.baked.find(key, hash)
    }

    /// The end of the part that the character at `at` is in, or that begins there; `None` if it may be further than
    /// `text` goes, which is not the `last`.
    #[inline(always)]
    pub(super) fn end(&self, text: &[u8], at: usize, last: bool) -> Option<usize> {
        match character(text, at).map(|first| self.boundary(text, at, first)) {
            Some((end, Some(_))) => Some(end),
            _ => last.then_some(text.len()),
        }
    }

    /// The boundary that follows the character `first`, which is at `at`: where it is, and the character behind it, if
    /// that is whole; else how far whole characters go.
    #[inline(always)]
    fn boundary(
        &self,
        text: &[u8],
        at: usize,
        (mut before, len): Character,
    ) -> (usize, Option<Character>) {
        let mut end = at + len;
        while let Some((next, len)) = character(text, end) {
            if !self.pairs.may_join(before, next) {
                return (end, Some((next, len)));
            }
            before = next;
            end += len;
        }
        (end, None)
    }

    /// The part that begins at `at`, with the character `first` if that is known; `None` at the end of `text`, and if
    /// the part may be longer than `text` goes, which is not the `last`.
    #[inline(always)]
    pub(super) fn part(
        &self,
        text: &[u8],
        at: usize,
        first: Option<Character>,
        last: bool,
    ) -> Option<Part> {
        let Some((first, len)) = first.or_else(|| character(text, at)) else {
            // Less than a character, at most.
            let end = text.len();
            return (last && at < end).then(|| Part {
                end,
                key: key(text, at, end),
                next: None,
            });
        };
        let (end, next) = match self.boundary(text, at, (first, len)) {
            (_, None) if last => (text.len(), None),
            (_, None) => return None,
            found => found,
        };
        // Half of the parts of Chinese text are one character.
        let key = if end == at + len && first != Self::SPACE {
            Some(PartKey::of_character(first, len))
        } else {
            key(text, at, end)
        };
        Some(Part { end, key, next })
    }

    /// U+2581.
    pub(super) const SPACE: u32 =
        u32::from_le_bytes([PartKey::SPACE[0], PartKey::SPACE[1], PartKey::SPACE[2], 0]);

    /// Where the last whole character of `text` begins; 0 if there is none.
    pub(super) fn last_whole_char(&self, text: &[u8]) -> usize {
        // A character has no more than four bytes, and less than one may follow it.
        let from = text.len().saturating_sub(8);
        (from..text.len())
            .rev()
            .find(|&at| !is_inside(text, at) && character(text, at).is_some())
            .unwrap_or(0)
    }
}

/// The key of the part from `at` to `end`, if it is short enough to have one.
#[inline(always)]
fn key(text: &[u8], at: usize, end: usize) -> Option<PartKey> {
    let body = at
        + if text.get(at..)?.starts_with(&PartKey::SPACE) {
            3
        } else {
            0
        };
    match text.get(body..)?.first_chunk() {
        Some(window) => {
            let len = end.checked_sub(body)?;
            (len <= MAX_KEY_BYTES).then(|| PartKey::of_window(window, len, body != at))
        }
        None => PartKey::new(text.get(at..end)?),
    }
}

/// Whether the byte at `at` goes on a character.
pub(super) fn is_inside(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80)
}

/// The character at `at`; `None` if it does not end inside `text`.
#[inline(always)]
pub(super) fn character(text: &[u8], at: usize) -> Option<Character> {
    let rest = text.get(at..)?;
    match rest.first_chunk() {
        Some(four) => {
            let (mask, len) = CHARACTERS[usize::from(four[0] >> 4)];
            Some((u32::from_le_bytes(*four) & mask, len as usize))
        }
        None => {
            let len = announced_len(*rest.first()?);
            let mut four = [0; 4];
            four.get_mut(..len)?.copy_from_slice(rest.get(..len)?);
            Some((u32::from_le_bytes(four), len))
        }
    }
}

/// By the upper half of a character's first byte: the bits of its bytes in a little-endian number, and how many bytes it
/// has.
const CHARACTERS: [(u32, u32); 16] = {
    let mut all = [(0, 0); 16];
    let mut upper = 0;
    while upper < 16 {
        let len = announced_len((upper as u8) << 4);
        all[upper] = (u32::MAX >> (32 - 8 * len), len as u32);
        upper += 1;
    }
    all
};

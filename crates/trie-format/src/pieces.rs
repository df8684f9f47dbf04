//! The piece table: text, score and type of every id, and the ids of what the trie does not hold.

use core::cmp::Ordering;

use bytemuck::{Pod, Zeroable};

use crate::metadata::PieceType;

/// Pieces that an entry of the piece index is about.
pub const PIECES_PER_ENTRY: usize = 8;

/// Set in [`IndexEntry::start`] if the ends do not fit a byte.
pub const WIDE: u32 = 1 << 31;

/// Where the texts of eight pieces end, and what types they have: a quarter of a cache line.
///
/// The texts of the pieces stand end to end, by id. If those of an entry are longer than 255 bytes together, it
/// is *wide*: its ends are `u32`s in the two entries that the first four of its bytes give the number of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct IndexEntry {
    /// Where the first text begins in the piece texts; with [`WIDE`] if the entry is wide.
    pub start: u32,
    /// Four bits for each type, from the lowest on; 0 for pieces that there are not.
    pub types: u32,
    /// Where each text ends, from the start; those of pieces that there are not are empty.
    pub ends: [u8; PIECES_PER_ENTRY],
}

/// Borrowed piece sections. Look-ups check their bounds, so a malformed table gives wrong answers at
/// worst; [`ImageView::validate`](crate::ImageView::validate) finds what is malformed.
#[derive(Debug, Clone, Copy)]
pub struct PieceTable<'a> {
    /// An entry for every eight pieces, then the ends of wide entries.
    pub(crate) index: &'a [IndexEntry],
    pub(crate) texts: &'a [u8],
    pub(crate) scores: &'a [f32],
    pub(crate) named: &'a [u32],
}

impl<'a> PieceTable<'a> {
    /// Number of pieces.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.scores.len() as u32
    }

    /// Whether there is no piece.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// The entry of piece `id`, and its number in there.
    #[inline]
    fn entry(&self, id: u32) -> Option<(&'a IndexEntry, u32)> {
        if id >= self.len() {
            return None;
        }
        let entry = self.index.get(id as usize / PIECES_PER_ENTRY)?;
        Some((entry, id % PIECES_PER_ENTRY as u32))
    }

    /// The text of piece `id`; not always UTF-8.
    #[inline]
    #[must_use]
    pub fn text(&self, id: u32) -> Option<&'a [u8]> {
        let (entry, at) = self.entry(id)?;
        if entry.start >= WIDE {
            return self.wide_text(entry, at as usize);
        }
        let start = entry.start as usize;
        let ends = u64::from_le_bytes(entry.ends);
        let from = (ends << 8) >> (8 * at) & 0xff;
        let to = ends >> (8 * at) & 0xff;
        self.texts.get(start + from as usize..start + to as usize)
    }

    #[cold]
    fn wide_text(&self, entry: &IndexEntry, at: usize) -> Option<&'a [u8]> {
        let start = (entry.start - WIDE) as usize;
        let ends = self.wide_ends(entry)?;
        let from = match at {
            0 => 0,
            _ => ends[at - 1] as usize,
        };
        self.texts
            .get(start.checked_add(from)?..start.checked_add(ends[at] as usize)?)
    }

    /// The ends of a wide entry.
    fn wide_ends(&self, entry: &IndexEntry) -> Option<&'a [u32; PIECES_PER_ENTRY]> {
        let (number, _) = entry.ends.split_first_chunk::<4>()?;
        let number = u32::from_le_bytes(*number) as usize;
        let entries = self.index.get(number..number.checked_add(2)?)?;
        bytemuck::cast_slice::<_, u32>(entries).try_into().ok()
    }

    /// The score of piece `id` as the model states it (a natural logarithm, for trained pieces).
    #[must_use]
    pub fn score(&self, id: u32) -> Option<f32> {
        self.scores.get(id as usize).copied()
    }

    /// The scores of all pieces, by id.
    #[must_use]
    pub fn scores(&self) -> &'a [f32] {
        self.scores
    }

    /// The type of piece `id`.
    #[inline]
    #[must_use]
    pub fn piece_type(&self, id: u32) -> Option<PieceType> {
        let (entry, at) = self.entry(id)?;
        PieceType::from_number((entry.types >> (4 * at) & 15) as u8)
    }

    /// The id of the piece with this text among those that the trie does not hold: reserved pieces
    /// (control, unknown, byte) if `reserved`, else unused ones. The first by id, if several.
    #[must_use]
    pub fn find_named(&self, text: &[u8], reserved: bool) -> Option<u32> {
        let start = self
            .named
            .partition_point(|&id| self.text(id).unwrap_or_default() < text);
        self.named[start..]
            .iter()
            .copied()
            .take_while(|&id| self.text(id) == Some(text))
            .find(|&id| {
                self.piece_type(id)
                    .is_some_and(|t| t.is_reserved() == reserved)
            })
    }

    /// The ids of the pieces that the trie does not hold, in order of their texts.
    #[must_use]
    pub fn named(&self) -> &'a [u32] {
        self.named
    }

    /// Checks the index, scores and the order of the named ids. One linear pass.
    ///
    /// Returns the index of the first element that breaks a rule, which of the three sections it is in
    /// (0 index, 1 scores, 2 named ids), and the rule.
    pub(crate) fn validate(&self) -> Result<(), (u8, usize, &'static str)> {
        self.validate_index()
            .map_err(|(index, rule)| (0, index, rule))?;
        const BLOCK: usize = 256;
        for (block, scores) in self.scores.chunks(BLOCK).enumerate() {
            if !scores.iter().fold(true, |sound, s| sound & s.is_finite()) {
                let at = scores.iter().position(|s| !s.is_finite());
                let index = block * BLOCK + at.unwrap_or(0);
                return Err((1, index, "scores must be finite"));
            }
        }
        if let Some(i) = self.named.iter().position(|&id| id >= self.len()) {
            return Err((2, i, "ids must be below the piece count"));
        }
        let in_order = |a: u32, b: u32| match self.text(a).cmp(&self.text(b)) {
            Ordering::Less => true,
            Ordering::Equal => a < b,
            Ordering::Greater => false,
        };
        match self.named.windows(2).position(|w| !in_order(w[0], w[1])) {
            Some(i) => Err((2, i + 1, "ids must be sorted by text, then by id")),
            None => Ok(()),
        }
    }

    /// Checks that the texts follow each other to the end of all texts, and that types are known.
    fn validate_index(&self) -> Result<(), (usize, &'static str)> {
        let count = self.scores.len();
        let mut end = 0;
        for (i, entry) in self
            .index
            .iter()
            .take(count.div_ceil(PIECES_PER_ENTRY))
            .enumerate()
        {
            let pieces = (count - i * PIECES_PER_ENTRY).min(PIECES_PER_ENTRY);
            if !has_known_types(entry.types, pieces as u32) {
                return Err((
                    i,
                    "types must be 1 to 6, and 0 for pieces that there are not",
                ));
            }
            if (entry.start & !WIDE) as usize != end {
                return Err((i, "texts must follow each other"));
            }
            let (sorted, last) = if entry.start < WIDE {
                (
                    entry.ends.is_sorted(),
                    usize::from(entry.ends[PIECES_PER_ENTRY - 1]),
                )
            } else {
                let ends = self
                    .wide_ends(entry)
                    .ok_or((i, "ends of a wide entry must lie inside the section"))?;
                (ends.is_sorted(), ends[PIECES_PER_ENTRY - 1] as usize)
            };
            if !sorted {
                return Err((i, "texts must not end before they begin"));
            }
            end += last;
        }
        if end != self.texts.len() {
            return Err((self.index.len(), "the last text must end the texts"));
        }
        Ok(())
    }
}

/// Whether the first `pieces` types are known, and the others 0.
fn has_known_types(types: u32, pieces: u32) -> bool {
    const ONES: u32 = 0x1111_1111;
    let present = u32::MAX >> (4 * (PIECES_PER_ENTRY as u32 - pieces));
    // Nothing above 6: 7 would become 8, and what is above has that bit.
    let too_great = (types | types.wrapping_add(ONES)) & (8 * ONES);
    // Nothing is 0: 7 more, and every type has that bit.
    let not_zero = types.wrapping_add(7 * ONES) & (8 * ONES);
    types & !present == 0 && too_great == 0 && not_zero == (8 * ONES) & present
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_apart_eight_at_a_time() {
        for pieces in 1..=8 {
            for at in 0..8 {
                for t in 0..16u32 {
                    let ones = 0x1111_1111 >> (4 * (8 - pieces));
                    let types = ones & !(15 << (4 * at)) | t << (4 * at);
                    let expected = if at < pieces {
                        (1..=6).contains(&t)
                    } else {
                        t == 0
                    };
                    assert_eq!(
                        has_known_types(types, pieces),
                        expected,
                        "{types:08x} {pieces}"
                    );
                }
            }
        }
    }

    fn table<'a>(index: &'a [IndexEntry], texts: &'a [u8], scores: &'a [f32]) -> PieceTable<'a> {
        PieceTable {
            index,
            texts,
            scores,
            named: &[],
        }
    }

    #[test]
    fn texts_of_plain_and_wide_entries() {
        let mut number = [0; 8];
        number[0] = 2;
        let words: [u32; 8] = [300, 300, 301, 301, 301, 301, 301, 301];
        let index = [
            IndexEntry {
                start: 0,
                types: 0x1111_1111,
                ends: [1, 1, 3, 3, 3, 3, 3, 4],
            },
            IndexEntry {
                start: 4 | WIDE,
                types: 0x111,
                ends: number,
            },
            bytemuck::cast_slice(&words)[0],
            bytemuck::cast_slice(&words)[1],
        ];
        let texts = [b'x'; 305];
        let scores = [0.0; 11];
        let pieces = table(&index, &texts, &scores);
        assert_eq!(pieces.validate(), Ok(()));
        let lengths: [Option<usize>; 12] =
            core::array::from_fn(|id| pieces.text(id as u32).map(<[u8]>::len));
        let expected = [1, 0, 2, 0, 0, 0, 0, 1, 300, 0, 1].map(Some);
        assert_eq!(lengths[..11], expected);
        assert_eq!(lengths[11], None);
        assert!(table(&index, &texts[..304], &scores).validate().is_err());
        assert!(table(&index[..3], &texts, &scores).validate().is_err());
        let mut broken = index;
        broken[0].ends[1] = 0;
        assert!(table(&broken, &texts, &scores).validate().is_err());
    }
}

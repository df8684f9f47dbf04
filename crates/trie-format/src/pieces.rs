//! The piece table: text, score and type of every id, and the ids of what the trie does not hold.

use core::cmp::Ordering;

use crate::metadata::PieceType;

/// Borrowed piece sections. Look-ups check their bounds, so a malformed table gives wrong answers at
/// worst; [`ImageView::validate`](crate::ImageView::validate) finds what is malformed.
#[derive(Debug, Clone, Copy)]
pub struct PieceTable<'a> {
    /// `piece_count + 1` ends, the first 0.
    pub(crate) offsets: &'a [u32],
    pub(crate) texts: &'a [u8],
    pub(crate) scores: &'a [f32],
    pub(crate) types: &'a [u8],
    pub(crate) named: &'a [u32],
}

impl<'a> PieceTable<'a> {
    /// Number of pieces.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.types.len() as u32
    }

    /// Whether there is no piece.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// The text of piece `id`; not always UTF-8.
    #[must_use]
    pub fn text(&self, id: u32) -> Option<&'a [u8]> {
        let start = *self.offsets.get(id as usize)? as usize;
        let end = *self.offsets.get((id as usize).checked_add(1)?)? as usize;
        self.texts.get(start..end)
    }

    /// The score of piece `id` as the model states it (a natural logarithm, for trained pieces).
    #[must_use]
    pub fn score(&self, id: u32) -> Option<f32> {
        self.scores.get(id as usize).copied()
    }

    /// The type of piece `id`.
    #[must_use]
    pub fn piece_type(&self, id: u32) -> Option<PieceType> {
        PieceType::from_number(*self.types.get(id as usize)?)
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

    /// Checks offsets, types, scores and the order of the named ids. One linear pass.
    ///
    /// Returns the index of the first element that breaks a rule, which of the five sections it is in
    /// (0 offsets, 1 scores, 2 types, 3 named ids), and the rule.
    pub(crate) fn validate(&self) -> Result<(), (u8, usize, &'static str)> {
        if self.offsets.first() != Some(&0) {
            return Err((0, 0, "the first offset must be 0"));
        }
        if let Some(i) = self.offsets.windows(2).position(|w| w[0] > w[1]) {
            return Err((0, i + 1, "offsets must not decrease"));
        }
        if self.offsets.last().map(|&end| end as usize) != Some(self.texts.len()) {
            return Err((
                0,
                self.offsets.len() - 1,
                "the last offset must end the texts",
            ));
        }
        if let Some(i) = self.scores.iter().position(|s| !s.is_finite()) {
            return Err((1, i, "scores must be finite"));
        }
        if let Some(i) = self
            .types
            .iter()
            .position(|&t| PieceType::from_number(t).is_none())
        {
            return Err((2, i, "types must be 1 to 6"));
        }
        if let Some(i) = self.named.iter().position(|&id| id >= self.len()) {
            return Err((3, i, "ids must be below the piece count"));
        }
        let in_order = |a: u32, b: u32| match self.text(a).cmp(&self.text(b)) {
            Ordering::Less => true,
            Ordering::Equal => a < b,
            Ordering::Greater => false,
        };
        match self.named.windows(2).position(|w| !in_order(w[0], w[1])) {
            Some(i) => Err((3, i + 1, "ids must be sorted by text, then by id")),
            None => Ok(()),
        }
    }
}

//! The best segmentation of normalized text: Viterbi over byte positions, as in the reference's
//! `EncodeOptimized` (`unigram_model.cc`).
//!
//! This is the plain pass: the oracle for every faster one, and the fallback. Starts are visited left to
//! right and a candidate must be strictly better, so that on a tie the earliest start wins. What differs
//! between references is the arithmetic, in [`Arithmetic`].

use trie_format::{NO_ID, ValidImage};

use crate::ids::Piece;
use crate::trie::Trie;

/// The best path to a byte position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell<Score> {
    /// Sum of the path's scores, in the reference's arithmetic.
    pub(crate) score: Score,
    /// Length in bytes of the path's last token; 0 where no path ends.
    pub(crate) len: u32,
    /// The last token's id, or [`NO_ID`] for an unknown character.
    pub(crate) id: u32,
}

impl<Score: Copy> Cell<Score> {
    /// The best path's score.
    pub(crate) fn score(&self) -> Score {
        self.score
    }
}

/// Path score of an unknown character.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnkScore {
    single: f32,
    double: f64,
}

impl UnkScore {
    pub(crate) fn new(image: &ValidImage<'_>) -> Self {
        Self {
            single: image.metadata().unk_score.to_native(),
            double: image.metadata().unk_score64.to_native(),
        }
    }
}

/// How a reference adds and compares path scores.
pub(crate) trait Arithmetic {
    /// What is kept of a path's score.
    type Score: Kept;
    /// A sum before it is kept.
    type Sum: Copy;
    /// The score of the empty path.
    const ZERO: Self::Score = Self::Score::ZERO;
    /// What is kept differs from the true sum by at most so much, for each unit that it is from zero.
    const ROUNDING: f64;
    /// Whether [`Arithmetic::rebase`] does anything.
    const REBASES: bool = false;

    /// A path's score extended by `piece`.
    fn extend(till_here: Self::Score, piece: Piece) -> Self::Sum;

    /// What is kept of a path's score extended by a piece whose path score is the same in single and in double
    /// precision.
    fn extend_single(till_here: Self::Score, score: f32) -> Self::Score;

    /// A path's score extended by an unknown character.
    fn extend_unknown(till_here: Self::Score, unk: UnkScore) -> Self::Sum;

    /// Whether `sum` is better than what is kept.
    fn is_better(sum: Self::Sum, kept: Self::Score) -> bool;

    /// What is kept of `sum`.
    fn keep(sum: Self::Sum) -> Self::Score;

    /// Re-bases all open paths, if the reference does so at a start with the first cell's score.
    #[inline(always)]
    fn rebase(_ahead: &mut [Cell<Self::Score>], _max_piece_bytes: usize) {}
}

/// A kept score.
pub(crate) trait Kept: Copy + Into<f64> + PartialOrd {
    /// The score of the empty path.
    const ZERO: Self;
    /// What a position holds that no path has reached: every finite score is better.
    const UNREACHED: Self;

    /// Whether it is no further from zero than `limit`.
    fn is_within(self, limit: f32) -> bool;
}

impl Kept for f32 {
    const ZERO: Self = 0.0;
    const UNREACHED: Self = Self::NEG_INFINITY;

    #[inline(always)]
    fn is_within(self, limit: f32) -> bool {
        self.abs() <= limit
    }
}

impl Kept for f64 {
    const ZERO: Self = 0.0;
    const UNREACHED: Self = Self::NEG_INFINITY;

    #[inline(always)]
    fn is_within(self, limit: f32) -> bool {
        self.abs() <= limit.into()
    }
}

/// Half the distance between 1 and the next float32.
const SINGLE_ROUNDING: f64 = f32::EPSILON as f64 / 2.0;

/// sentencepiece 0.2.2 and 0.2.3.
pub(crate) struct Single;

impl Arithmetic for Single {
    type Score = f32;
    type Sum = f32;
    const ROUNDING: f64 = SINGLE_ROUNDING;
    const REBASES: bool = true;

    #[inline(always)]
    fn extend_single(till_here: f32, score: f32) -> f32 {
        score + till_here
    }

    #[inline(always)]
    fn extend(till_here: f32, piece: Piece) -> f32 {
        piece.score + till_here
    }

    #[inline(always)]
    fn extend_unknown(till_here: f32, unk: UnkScore) -> f32 {
        unk.single + till_here
    }

    #[inline(always)]
    fn is_better(sum: f32, kept: f32) -> bool {
        sum > kept
    }

    #[inline(always)]
    fn keep(sum: f32) -> f32 {
        sum
    }

    #[inline(always)]
    fn rebase(ahead: &mut [Cell<f32>], max_piece_bytes: usize) {
        if ahead[0].score.abs() > 100_000.0 {
            rebase_to_first(ahead, max_piece_bytes);
        }
    }
}

/// sentencepiece up to 0.2.1.
pub(crate) struct Mixed;

impl Arithmetic for Mixed {
    type Score = f32;
    type Sum = f64;
    const ROUNDING: f64 = SINGLE_ROUNDING;

    #[inline(always)]
    fn extend_single(till_here: f32, score: f32) -> f32 {
        (f64::from(score) + f64::from(till_here)) as f32
    }

    #[inline(always)]
    fn extend(till_here: f32, piece: Piece) -> f64 {
        piece.score64 + f64::from(till_here)
    }

    #[inline(always)]
    fn extend_unknown(till_here: f32, unk: UnkScore) -> f64 {
        // Neither operand is a double there, so the sum is rounded before it is compared.
        f64::from(unk.single + till_here)
    }

    #[inline(always)]
    fn is_better(sum: f64, kept: f32) -> bool {
        sum > f64::from(kept)
    }

    #[inline(always)]
    fn keep(sum: f64) -> f32 {
        sum as f32
    }
}

/// Hugging Face `tokenizers`.
pub(crate) struct Double;

impl Arithmetic for Double {
    type Score = f64;
    type Sum = f64;
    const ROUNDING: f64 = f64::EPSILON / 2.0;

    #[inline(always)]
    fn extend_single(till_here: f64, score: f32) -> f64 {
        f64::from(score) + till_here
    }

    #[inline(always)]
    fn extend(till_here: f64, piece: Piece) -> f64 {
        piece.score64 + till_here
    }

    #[inline(always)]
    fn extend_unknown(till_here: f64, unk: UnkScore) -> f64 {
        unk.double + till_here
    }

    #[inline(always)]
    fn is_better(sum: f64, kept: f64) -> bool {
        sum > kept
    }

    #[inline(always)]
    fn keep(sum: f64) -> f64 {
        sum
    }
}

/// Fills `cells` with the best path to each byte position of `text`.
///
/// Afterwards `cells[text.len()]` and every cell that its path leads through are reached.
pub(crate) fn segment<A: Arithmetic>(
    trie: Trie<'_>,
    unk: UnkScore,
    text: &[u8],
    cells: &mut Vec<Cell<A::Score>>,
) {
    let unreached = Cell {
        score: A::Score::UNREACHED,
        len: 0,
        id: NO_ID,
    };
    cells.clear();
    cells.resize(text.len() + 1, unreached);
    cells[0].score = A::Score::ZERO;
    let mut start = 0;
    while start < text.len() {
        start += contribute::<A>(trie, unk, text, cells, start);
    }
}

/// Gives all candidates of the starts from `start` to before `end` to `cells`, and returns the next start.
///
/// A start's candidates are the tokens that begin there: the pieces that `text` has there or, if none of them
/// is one character long, one unknown character. `cells` go as far as any of them can end.
#[inline(always)]
pub(crate) fn extend<A: Arithmetic>(
    trie: Trie<'_>,
    unk: UnkScore,
    text: &[u8],
    cells: &mut [Cell<A::Score>],
    mut start: usize,
    end: usize,
) -> usize {
    while start < end {
        start += contribute::<A>(trie, unk, text, cells, start);
    }
    start
}

/// Gives the candidates of `start` to `cells`, and returns how long its character is.
#[inline(always)]
fn contribute<A: Arithmetic>(
    trie: Trie<'_>,
    unk: UnkScore,
    text: &[u8],
    cells: &mut [Cell<A::Score>],
    start: usize,
) -> usize {
    // The cells that tokens from here can end at; the first is the start itself.
    let rest = &text[start..];
    let ahead = &mut cells[start..];
    A::rebase(ahead, trie.max_bytes());
    let till_here = ahead[0].score;
    let (char_len, single) = trie.starting(rest, |len, piece| {
        relax::<A>(&mut ahead[len], A::extend(till_here, piece), len, piece.id);
    });
    if !single {
        let sum = A::extend_unknown(till_here, unk);
        relax::<A>(&mut ahead[char_len], sum, char_len, NO_ID);
    }
    char_len
}

#[inline(always)]
fn relax<A: Arithmetic>(cell: &mut Cell<A::Score>, sum: A::Sum, len: usize, id: u32) {
    // A sum that has overflowed is not better than an unreached position, but reaches it all the same.
    if A::is_better(sum, cell.score) || cell.len == 0 {
        *cell = Cell {
            score: A::keep(sum),
            len: len as u32,
            id,
        };
    }
}

/// Subtracts the first cell's score from every open path's.
#[cold]
fn rebase_to_first(ahead: &mut [Cell<f32>], max_piece_bytes: usize) {
    let offset = ahead[0].score;
    // Nothing that was reached so far lies further ahead than a piece or a character is long.
    let reach = max_piece_bytes.max(4).min(ahead.len() - 1);
    for cell in &mut ahead[1..=reach] {
        if cell.len != 0 {
            cell.score -= offset;
        }
    }
    ahead[0].score = 0.0;
}

/// The tokens of the best path, last first: start, end (bytes) and id ([`NO_ID`] for an unknown).
pub(crate) fn backtrack<Score>(cells: &[Cell<Score>]) -> impl Iterator<Item = (usize, usize, u32)> {
    let mut end = cells.len().saturating_sub(1);
    std::iter::from_fn(move || {
        let cell = cells.get(end).filter(|cell| cell.len != 0)?;
        let start = end.checked_sub(cell.len as usize)?;
        let token = (start, end, cell.id);
        end = start;
        Some(token)
    })
}

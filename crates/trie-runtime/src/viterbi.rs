//! The best segmentation of normalized text: Viterbi over byte positions, as in the reference's
//! `EncodeOptimized` (`unigram_model.cc`).
//!
//! This is the plain pass: the oracle for every faster one, and the fallback. Starts are visited left to
//! right and a candidate must be strictly better, so that on a tie the earliest start wins. What differs
//! between references is the arithmetic, in [`Arithmetic`].

use trie_format::{NO_ID, Node};

use crate::trie::Trie;
use crate::utf8::announced_len;

/// The best path to a byte position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell<Score> {
    /// Sum of the path's scores, in the reference's arithmetic.
    score: Score,
    /// Length in bytes of the path's last token; 0 where no path ends.
    len: u32,
    /// The last token's id, or [`NO_ID`] for an unknown character.
    id: u32,
}

/// Path score of an unknown character.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnkScore {
    pub(crate) single: f32,
    pub(crate) double: f64,
}

/// How a reference adds and compares path scores.
pub(crate) trait Arithmetic {
    /// What is kept of a path's score.
    type Score: Copy + Default + Into<f64>;

    /// A path's score extended by `node`'s piece, and the value to compare it by.
    fn extend(till_here: Self::Score, node: &Node) -> (Self::Score, f64);

    /// A path's score extended by an unknown character, and the value to compare it by.
    fn extend_unknown(till_here: Self::Score, unk: UnkScore) -> (Self::Score, f64);

    /// Re-bases all open paths, if the reference does so at a start with the first cell's score.
    #[inline(always)]
    fn rebase(_ahead: &mut [Cell<Self::Score>], _max_piece_bytes: usize) {}
}

/// sentencepiece 0.2.2 and 0.2.3.
pub(crate) struct Single;

impl Arithmetic for Single {
    type Score = f32;

    #[inline(always)]
    fn extend(till_here: f32, node: &Node) -> (f32, f64) {
        let sum = node.score + till_here;
        (sum, f64::from(sum))
    }

    #[inline(always)]
    fn extend_unknown(till_here: f32, unk: UnkScore) -> (f32, f64) {
        let sum = unk.single + till_here;
        (sum, f64::from(sum))
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

    #[inline(always)]
    fn extend(till_here: f32, node: &Node) -> (f32, f64) {
        let sum = node.score64 + f64::from(till_here);
        (sum as f32, sum)
    }

    #[inline(always)]
    fn extend_unknown(till_here: f32, unk: UnkScore) -> (f32, f64) {
        // Neither operand is a double there.
        Single::extend_unknown(till_here, unk)
    }
}

/// Hugging Face `tokenizers`.
pub(crate) struct Double;

impl Arithmetic for Double {
    type Score = f64;

    #[inline(always)]
    fn extend(till_here: f64, node: &Node) -> (f64, f64) {
        let sum = node.score64 + till_here;
        (sum, sum)
    }

    #[inline(always)]
    fn extend_unknown(till_here: f64, unk: UnkScore) -> (f64, f64) {
        let sum = unk.double + till_here;
        (sum, sum)
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
        score: A::Score::default(),
        len: 0,
        id: NO_ID,
    };
    cells.clear();
    cells.resize(text.len() + 1, unreached);
    let mut start = 0;
    while start < text.len() {
        // The cells that tokens from here can end at; the first is the start itself.
        let ahead = &mut cells[start..];
        A::rebase(ahead, trie.max_bytes());
        let till_here = ahead[0].score;
        let char_len = announced_len(text[start]).min(text.len() - start);
        let mut single = false;
        trie.prefixes(&text[start..], |len, node| {
            let (score, compared) = A::extend(till_here, node);
            relax(&mut ahead[len], score, compared, len, node.id);
            single |= len == char_len;
        });
        if !single {
            let (score, compared) = A::extend_unknown(till_here, unk);
            relax(&mut ahead[char_len], score, compared, char_len, NO_ID);
        }
        start += char_len;
    }
}

#[inline(always)]
fn relax<Score: Copy + Into<f64>>(
    cell: &mut Cell<Score>,
    score: Score,
    compared: f64,
    len: usize,
    id: u32,
) {
    if compared > cell.score.into() || cell.len == 0 {
        *cell = Cell {
            score,
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

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
pub(crate) struct Cell {
    /// Sum of the path's scores, in the reference's arithmetic.
    score: f32,
    /// Length in bytes of the path's last token; 0 where no path ends.
    len: u32,
    /// The last token's id, or [`NO_ID`] for an unknown character.
    id: u32,
}

const UNREACHED: Cell = Cell {
    score: 0.0,
    len: 0,
    id: NO_ID,
};

/// How a reference adds and compares path scores.
pub(crate) trait Arithmetic {
    /// Beyond this absolute value at a start, all open paths are re-based to the start's score.
    const REBASE_BEYOND: Option<f32>;

    /// A path's score extended by `node`'s piece, and the value to compare it by.
    fn extend(till_here: f32, node: &Node) -> (f32, f64);
}

/// sentencepiece 0.2.2 and 0.2.3.
pub(crate) struct Single;

impl Arithmetic for Single {
    const REBASE_BEYOND: Option<f32> = Some(100_000.0);

    #[inline(always)]
    fn extend(till_here: f32, node: &Node) -> (f32, f64) {
        let sum = node.score + till_here;
        (sum, f64::from(sum))
    }
}

/// sentencepiece up to 0.2.1.
pub(crate) struct Mixed;

impl Arithmetic for Mixed {
    const REBASE_BEYOND: Option<f32> = None;

    #[inline(always)]
    fn extend(till_here: f32, node: &Node) -> (f32, f64) {
        let sum = node.score64 + f64::from(till_here);
        (sum as f32, sum)
    }
}

/// Fills `cells` with the best path to each byte position of `text`.
///
/// Afterwards `cells[text.len()]` and every cell that its path leads through are reached.
pub(crate) fn segment<A: Arithmetic>(
    trie: Trie<'_>,
    unk_score: f32,
    text: &[u8],
    cells: &mut Vec<Cell>,
) {
    cells.clear();
    cells.resize(text.len() + 1, UNREACHED);
    let mut start = 0;
    while start < text.len() {
        // The cells that tokens from here can end at; the first is the start itself.
        let ahead = &mut cells[start..];
        if let Some(beyond) = A::REBASE_BEYOND
            && ahead[0].score.abs() > beyond
        {
            rebase(ahead, trie.max_bytes());
        }
        let till_here = ahead[0].score;
        let char_len = announced_len(text[start]).min(text.len() - start);
        let mut single = false;
        trie.prefixes(&text[start..], |len, node| {
            let (score, compared) = A::extend(till_here, node);
            relax(&mut ahead[len], score, compared, len, node.id);
            single |= len == char_len;
        });
        if !single {
            // Single precision in every reference: neither operand is a double.
            let score = unk_score + till_here;
            relax(
                &mut ahead[char_len],
                score,
                f64::from(score),
                char_len,
                NO_ID,
            );
        }
        start += char_len;
    }
}

#[inline(always)]
fn relax(cell: &mut Cell, score: f32, compared: f64, len: usize, id: u32) {
    if compared > f64::from(cell.score) || cell.len == 0 {
        *cell = Cell {
            score,
            len: len as u32,
            id,
        };
    }
}

/// Subtracts the first cell's score from every open path's.
#[cold]
fn rebase(ahead: &mut [Cell], max_piece_bytes: usize) {
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
pub(crate) fn backtrack(cells: &[Cell]) -> impl Iterator<Item = (usize, usize, u32)> {
    let mut end = cells.len().saturating_sub(1);
    std::iter::from_fn(move || {
        let cell = cells.get(end).filter(|cell| cell.len != 0)?;
        let start = end.checked_sub(cell.len as usize)?;
        let token = (start, end, cell.id);
        end = start;
        Some(token)
    })
}

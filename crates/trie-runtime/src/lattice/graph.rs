//! The lattice: every piece at every character of a normalized text (`PopulateNodes` in `unigram_model.cc`).
//!
//! Positions are characters, not bytes. A piece that ends inside a character counts to that character's end,
//! and counts as a character's own piece if it is no longer than one: the one-pass segmentation in
//! `viterbi` goes by bytes in both, and so the two disagree on text that is no UTF-8. A user-defined piece's
//! score goes by its characters here, by its bytes there. All that is the reference's own.

use std::ops::{Add, Range};

use trie_format::{ArchivedReference, NO_ID, PieceType, ValidImage};

use super::LatticeError;
use crate::ids::Piece;
use crate::trie::Trie;
use crate::utf8::announced_len;

/// Most nodes of a lattice: some 12 million characters with an ordinary vocabulary. The reference has no
/// such bound; a vocabulary of nested pieces would let it ask for memory that is thousands of times the text.
pub(crate) const MAX_NODES: usize = 1 << 26;

/// Arithmetic on path scores.
pub(crate) trait Score: Copy + PartialOrd + Add<Output = Self> + Into<f64> {
    /// The score of the empty path.
    const ZERO: Self;

    /// A normal piece's score.
    fn of(piece: Piece) -> Self;

    /// An unknown character's score.
    fn unknown(image: &ValidImage<'_>) -> Self;

    /// A user-defined piece's score, if it is not [`Score::of`] it.
    fn user_defined(rule: UserDefined, characters: usize) -> Option<Self>;
}

impl Score for f32 {
    const ZERO: Self = 0.0;

    fn of(piece: Piece) -> Self {
        piece.score
    }

    fn unknown(image: &ValidImage<'_>) -> Self {
        image.metadata().unk_score.to_native()
    }

    fn user_defined(rule: UserDefined, characters: usize) -> Option<Self> {
        match rule {
            UserDefined::Tenths => Some((0.1 * (characters as f64 - 1.0)) as Self),
            UserDefined::Greatest(greatest) => {
                Some((f64::from(characters as Self * greatest) - 0.1) as Self)
            }
            UserDefined::AsNormal => None,
        }
    }
}

impl Score for f64 {
    const ZERO: Self = 0.0;

    fn of(piece: Piece) -> Self {
        piece.score64
    }

    fn unknown(image: &ValidImage<'_>) -> Self {
        image.metadata().unk_score64.to_native()
    }

    fn user_defined(_: UserDefined, _: usize) -> Option<Self> {
        None
    }
}

/// What a user-defined piece is worth.
#[derive(Debug, Clone, Copy)]
pub(crate) enum UserDefined {
    /// A tenth for every character after the first (sentencepiece 0.2.2 and later).
    Tenths,
    /// The greatest normal score for every character, less a tenth (up to 0.2.1).
    Greatest(f32),
    /// Its own score (Hugging Face: there they are ordinary entries).
    AsNormal,
}

impl UserDefined {
    pub(crate) fn new(image: &ValidImage<'_>) -> Self {
        match image.metadata().reference {
            ArchivedReference::SentencePiece023 => Self::Tenths,
            ArchivedReference::HuggingFace023 => Self::AsNormal,
            ArchivedReference::SentencePiece021 => {
                let pieces = image.pieces();
                let normal = |id: &u32| pieces.piece_type(*id) == Some(PieceType::Normal);
                let scores = (0..pieces.len())
                    .filter(normal)
                    .filter_map(|id| pieces.score(id));
                Self::Greatest(scores.fold(f32::MIN_POSITIVE, f32::max))
            }
        }
    }
}

/// A piece in the text; the first and the last node of a lattice are its empty ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<S> {
    /// Positions, in characters.
    pub(crate) begin: u32,
    pub(crate) end: u32,
    /// The piece, or [`NO_ID`] for an unknown character (and for the ends).
    pub(crate) id: u32,
    pub(crate) score: S,
}

/// A token of a path: bytes `start..end` of the normalized text, and the piece, or [`NO_ID`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) id: u32,
}

/// All segmentations of a text.
#[derive(Debug)]
pub(crate) struct Lattice<S> {
    /// Byte offset of every position; the last is the text's length.
    offsets: Vec<u32>,
    /// [`BOS`], then the pieces by beginning and length, then the end of the text.
    nodes: Vec<Node<S>>,
    /// The nodes that end at position `p` are `ending[ending_from[p]..ending_from[p + 1]]`, in order.
    ending: Vec<u32>,
    ending_from: Vec<u32>,
}

/// The node that every path begins with.
pub(crate) const BOS: u32 = 0;

impl<S: Score> Lattice<S> {
    /// The lattice of `text`.
    pub(crate) fn new(image: &ValidImage<'_>, text: &[u8]) -> Result<Self, LatticeError> {
        let too_large = LatticeError::TooLarge { bytes: text.len() };
        if text.len() >= MAX_NODES {
            return Err(too_large);
        }
        let mut offsets = Vec::with_capacity(text.len() + 1);
        let mut at = 0;
        while let Some(&first) = text.get(at) {
            offsets.push(at as u32);
            at += announced_len(first).min(text.len() - at);
        }
        offsets.push(at as u32);
        let last = (offsets.len() - 1) as u32;

        let trie = Trie::pieces(image);
        let pieces = image.pieces();
        let unknown = S::unknown(image);
        let mut user_defined = None;
        let empty = |at: u32| Node {
            begin: at,
            end: at,
            id: NO_ID,
            score: S::ZERO,
        };
        let mut nodes = vec![empty(0)];
        for begin in 0..last {
            let start = offsets[begin as usize] as usize;
            let mut end = begin;
            let mut has_single = false;
            trie.prefixes(&text[start..], |len, piece| {
                while (offsets[end as usize] as usize) < start + len {
                    end += 1;
                }
                let score = match pieces.piece_type(piece.id) {
                    Some(PieceType::UserDefined) => {
                        let rule = *user_defined.get_or_insert_with(|| UserDefined::new(image));
                        S::user_defined(rule, (end - begin) as usize)
                    }
                    _ => None,
                };
                has_single |= end == begin + 1;
                nodes.push(Node {
                    begin,
                    end,
                    id: piece.id,
                    score: score.unwrap_or_else(|| S::of(piece)),
                });
            });
            if !has_single {
                nodes.push(Node {
                    begin,
                    end: begin + 1,
                    id: NO_ID,
                    score: unknown,
                });
            }
            if nodes.len() >= MAX_NODES {
                return Err(too_large);
            }
        }
        let (ending, ending_from) = by_end(&nodes, last);
        nodes.push(empty(last));
        Ok(Self {
            offsets,
            nodes,
            ending,
            ending_from,
        })
    }

    /// The node that every path ends with.
    pub(crate) fn eos(&self) -> u32 {
        (self.nodes.len() - 1) as u32
    }

    /// The last position.
    pub(crate) fn last(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn node(&self, node: u32) -> Node<S> {
        self.nodes[node as usize]
    }

    /// All nodes: the empty beginning, the pieces in order, the empty end.
    pub(crate) fn nodes(&self) -> &[Node<S>] {
        &self.nodes
    }

    /// The nodes that end where `node` begins, in the order in which they were found.
    pub(crate) fn before(&self, node: u32) -> &[u32] {
        self.ending_at(self.node(node).begin as usize)
    }

    /// The nodes that end at position `at`, in the order in which they were found.
    pub(crate) fn ending_at(&self, at: usize) -> &[u32] {
        let range = self.ending_range(at);
        &self.ending[range]
    }

    fn ending_range(&self, at: usize) -> Range<usize> {
        self.ending_from[at] as usize..self.ending_from[at + 1] as usize
    }

    /// The token that `node` stands for.
    pub(crate) fn token(&self, node: u32) -> Token {
        let node = self.node(node);
        Token {
            start: self.offsets[node.begin as usize] as usize,
            end: self.offsets[node.end as usize] as usize,
            id: node.id,
        }
    }
}

/// The nodes by the position that they end at; a stable counting sort.
fn by_end<S>(nodes: &[Node<S>], last: u32) -> (Vec<u32>, Vec<u32>) {
    let mut from = vec![0u32; last as usize + 2];
    for node in nodes {
        from[node.end as usize + 1] += 1;
    }
    for at in 1..from.len() {
        from[at] += from[at - 1];
    }
    let mut next = from.clone();
    let mut ending = vec![0u32; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        let slot = &mut next[node.end as usize];
        ending[*slot as usize] = index as u32;
        *slot += 1;
    }
    (ending, from)
}

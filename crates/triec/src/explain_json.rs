//! `triec explain --json`: one object a text.

use serde::Serialize;
use trie_runtime::{Explanation, LatticePiece, Runner, Segment, Tokenizer};

use crate::error::CliError;
use crate::jsonl::PieceOut;

#[derive(Serialize)]
struct Object<'a> {
    text: PieceOut<'a>,
    normalized: PieceOut<'a>,
    ids: &'a [u32],
    /// Parts that are segmented each by itself.
    segments: Vec<SegmentOut<'a>>,
}

#[derive(Serialize)]
struct SegmentOut<'a> {
    start: usize,
    end: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    added_token: Option<u32>,
    candidates: Vec<Candidate<'a>>,
    best: Vec<Chosen<'a>>,
    runners_up: Vec<RunnerOut<'a>>,
}

#[derive(Serialize)]
struct Candidate<'a> {
    #[serde(flatten)]
    piece: Piece<'a>,
    on_best_path: bool,
}

#[derive(Serialize)]
struct Chosen<'a> {
    #[serde(flatten)]
    piece: Piece<'a>,
    so_far: f64,
}

#[derive(Serialize)]
struct RunnerOut<'a> {
    score: f64,
    behind: f64,
    pieces: Vec<Piece<'a>>,
}

/// A place in the normalized text, in bytes, and what could be there; `id` is `null` for an unknown character.
#[derive(Serialize)]
struct Piece<'a> {
    start: usize,
    end: usize,
    id: Option<u32>,
    piece: PieceOut<'a>,
    score: f64,
}

/// The line for a text.
pub(crate) fn line(
    tokenizer: &Tokenizer,
    text: &[u8],
    explanation: &Explanation,
) -> Result<String, CliError> {
    let normalized = &explanation.normalized;
    let piece = |piece: &LatticePiece| Piece {
        start: piece.start,
        end: piece.end,
        id: piece.id,
        // A piece that ends inside a character has less text than it covers.
        piece: PieceOut::new(match piece.id.and_then(|id| tokenizer.piece(id)) {
            Some(text) => text,
            None => normalized.get(piece.start..piece.end).unwrap_or_default(),
        }),
        score: piece.score,
    };
    let runner = |runner: &Runner| RunnerOut {
        score: runner.score,
        behind: runner.behind,
        pieces: runner.pieces.iter().map(piece).collect(),
    };
    let segment = |segment: &Segment| {
        let mut best = segment.best.iter().peekable();
        let candidate = |(index, candidate): (usize, &LatticePiece)| Candidate {
            piece: piece(candidate),
            on_best_path: best.next_if(|&&best| best == index).is_some(),
        };
        let chosen = segment.best.iter().zip(&segment.running);
        let chosen = chosen.filter_map(|(&index, &so_far)| {
            let piece = piece(segment.pieces.get(index)?);
            Some(Chosen { piece, so_far })
        });
        SegmentOut {
            start: segment.start,
            end: segment.end,
            added_token: segment.added_token,
            best: chosen.collect(),
            runners_up: segment.runners.iter().map(runner).collect(),
            candidates: segment.pieces.iter().enumerate().map(candidate).collect(),
        }
    };
    let object = Object {
        text: PieceOut::new(text),
        normalized: PieceOut::new(normalized),
        ids: &explanation.ids,
        segments: explanation.segments.iter().map(segment).collect(),
    };
    let line = serde_json::to_string(&object);
    let line = line.map_err(|error| CliError::write("standard output", error.into()))?;
    Ok(line + "\n")
}

//! The lattice for people: what the encoder had to choose from, what it chose, and what came close.

use trie_format::{NO_ID, Reference, ValidImage};

use super::LatticeError;
use super::graph::{Lattice, Score, Token};
use super::nbest::nbest;
use crate::hf;
use crate::hf::words::Part;
use crate::scratch::Scratch;
use crate::tokenizer::Tokenizer;
use crate::trie::Trie;
use crate::utf8::announced_len;
use crate::viterbi::{Arithmetic, Cell, Double, Mixed, Single, UnkScore, backtrack, segment};

/// How the ids of a text come about.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The text as it was segmented; under the Hugging Face reference the words, end to end.
    pub normalized: Vec<u8>,
    /// The ids, without special tokens around them.
    pub ids: Vec<u32>,
    /// The parts that were segmented each by itself: under a sentencepiece reference the whole text, under
    /// the Hugging Face reference every word, and added tokens.
    pub segments: Vec<Segment>,
}

/// A part of a text that was segmented by itself.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Segment {
    /// First byte in the normalized text.
    pub start: usize,
    /// The byte after its last one.
    pub end: usize,
    /// The added token that it is, which leaves nothing to choose.
    pub added_token: Option<u32>,
    /// Every piece that could be used, by beginning and length.
    pub pieces: Vec<LatticePiece>,
    /// The chosen path: indexes of `pieces`.
    pub best: Vec<usize>,
    /// The path score after each piece of the chosen path, as the encoder has kept it.
    pub running: Vec<f64>,
    /// The next best paths.
    pub runners: Vec<Runner>,
}

/// A piece at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LatticePiece {
    /// First byte in the normalized text.
    pub start: usize,
    /// The byte after its last one.
    pub end: usize,
    /// The piece; `None` for a character that no piece is.
    pub id: Option<u32>,
    /// What it adds to a path's score.
    pub score: f64,
}

/// A path that was not chosen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Runner {
    /// Its pieces.
    pub pieces: Vec<LatticePiece>,
    /// Its path score.
    pub score: f64,
    /// How much less that is than the chosen path's. On a tie, 0: the encoder prefers the earlier
    /// beginning of the last piece.
    pub behind: f64,
}

impl Tokenizer {
    /// How the ids of `input` come about: all candidates, the chosen path, and up to `runners` paths that came
    /// next. For people and tools that explain; memory is linear in the text.
    ///
    /// # Errors
    /// 512 runners and more; a text too large for a lattice.
    pub fn explain(
        &self,
        input: impl AsRef<[u8]>,
        runners: usize,
    ) -> Result<Explanation, LatticeError> {
        if runners >= super::MAX_CANDIDATES {
            return Err(LatticeError::TooMany { asked: runners });
        }
        let image = self.image().view();
        let input = input.as_ref();
        let mut explanation = Explanation {
            normalized: Vec::new(),
            ids: self.encode_to_vec(input),
            segments: Vec::new(),
        };
        let Some(pipeline) = image.pipeline() else {
            let mut scratch = Scratch::new();
            let text = self.normalize(input, &mut scratch);
            explanation.normalized.extend_from_slice(text);
            if !text.is_empty() {
                let segment = match Reference::from(image.metadata().reference) {
                    Reference::SentencePiece021 => explain::<Mixed, f32>(image, text, 0, runners),
                    _ => explain::<Single, f32>(image, text, 0, runners),
                };
                explanation.segments.push(segment?);
            }
            return Ok(explanation);
        };
        let mut failure = None;
        hf::words::for_each(image, &pipeline, input, false, &mut |part| {
            let start = explanation.normalized.len();
            let (Part::Word(text) | Part::Added(_, text)) = part;
            explanation.normalized.extend_from_slice(text.as_bytes());
            let segment = match part {
                Part::Added(id, _) => Ok(Segment {
                    start,
                    end: start + text.len(),
                    added_token: Some(id),
                    pieces: Vec::new(),
                    best: Vec::new(),
                    running: Vec::new(),
                    runners: Vec::new(),
                }),
                Part::Word(_) => explain::<Double, f64>(image, text.as_bytes(), start, runners),
            };
            match segment {
                Ok(segment) => explanation.segments.push(segment),
                Err(error) => failure = Some(error),
            }
        });
        failure.map_or(Ok(explanation), Err)
    }
}

/// Explains `text`, which is at `offset` in the normalized text.
fn explain<A, S>(
    image: &ValidImage<'_>,
    text: &[u8],
    offset: usize,
    runners: usize,
) -> Result<Segment, LatticeError>
where
    A: Arithmetic<Score: Into<f64>, Sum: Into<f64>>,
    S: Score,
{
    let lattice = Lattice::<S>::new(image, text)?;
    let pieces = pieces::<A>(image, text, offset);
    let mut cells: Vec<Cell<A::Score>> = Vec::new();
    segment::<A>(Trie::pieces(image), UnkScore::new(image), text, &mut cells);
    let mut chosen: Vec<Token> = backtrack(&cells)
        .map(|(start, end, id)| Token { start, end, id })
        .collect();
    chosen.reverse();
    let key = |piece: &LatticePiece| (piece.start, piece.end, piece.id.unwrap_or(NO_ID));
    let index_of = |token: &Token| {
        let wanted = (offset + token.start, offset + token.end, token.id);
        pieces
            .binary_search_by(|piece| key(piece).cmp(&wanted))
            .ok()
    };
    let best: Vec<usize> = chosen.iter().filter_map(index_of).collect();
    let kept = |token: &Token| cells.get(token.end).map(|cell| cell.score().into());
    let running = chosen.iter().filter_map(kept).collect();

    let mut best_score = None;
    let mut found = Vec::new();
    for path in nbest(&lattice, runners + 1) {
        let nodes = path.nodes.iter();
        let tokens = nodes.clone().map(|&node| lattice.token(node));
        let score: f64 = path.score.into();
        if tokens.clone().eq(chosen.iter().copied()) {
            best_score = Some(score);
            continue;
        }
        let pieces = nodes.zip(tokens).map(|(&node, token)| LatticePiece {
            start: offset + token.start,
            end: offset + token.end,
            id: (token.id != NO_ID).then_some(token.id),
            score: lattice.node(node).score.into(),
        });
        found.push((pieces.collect(), score));
    }
    found.truncate(runners);
    let best_score = best_score.unwrap_or_else(|| {
        let scores = best.iter().rev().map(|&index| pieces[index].score);
        scores.sum()
    });
    let runner = |(pieces, score): (Vec<LatticePiece>, f64)| Runner {
        pieces,
        score,
        behind: best_score - score,
    };
    Ok(Segment {
        start: offset,
        end: offset + text.len(),
        added_token: None,
        best,
        running,
        runners: found.into_iter().map(runner).collect(),
        pieces,
    })
}

/// Every piece that the encoder looks at, by beginning and end.
fn pieces<A>(image: &ValidImage<'_>, text: &[u8], offset: usize) -> Vec<LatticePiece>
where
    A: Arithmetic<Sum: Into<f64>>,
{
    let trie = Trie::pieces(image);
    let unk = UnkScore::new(image);
    let mut pieces = Vec::new();
    let mut start = 0;
    while let Some(&first) = text.get(start) {
        let char_len = announced_len(first).min(text.len() - start);
        let piece = |len: usize, id: Option<u32>, score: A::Sum| LatticePiece {
            start: offset + start,
            end: offset + start + len,
            id,
            score: score.into(),
        };
        let at = pieces.len();
        let mut single = false;
        trie.prefixes(&text[start..], |len, found| {
            pieces.push(piece(len, Some(found.id), A::extend(A::ZERO, found)));
            single |= len == char_len;
        });
        if !single {
            // Among the others by length.
            let longer = |piece: &&LatticePiece| piece.end > offset + start + char_len;
            let longer = pieces[at..].iter().filter(longer).count();
            let unknown = piece(char_len, None, A::extend_unknown(A::ZERO, unk));
            pieces.insert(pieces.len() - longer, unknown);
        }
        start += char_len;
    }
    pieces
}

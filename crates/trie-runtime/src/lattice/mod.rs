//! Other segmentations than the best: n-best, sampling, entropy, and a view of the whole lattice.
//!
//! ```text
//! graph     the lattice: every piece at every character
//! heap      a priority queue that breaks ties as the reference's does
//! search    best-first search from the end, with the reference's limits
//! nbest     the best path, and the n best
//! forward   sums over all paths; entropy
//! random    where chance comes from
//! sample    drawing paths, with and without replacement
//! explain   the lattice for people: candidates, the chosen path, runners-up
//! ```
//!
//! The reference is sentencepiece's lattice, which is another encoder than its one-pass `Encode`: positions are
//! characters, nothing is re-based, and on a tie it may choose otherwise. So the first of the n best need not
//! be what [`Tokenizer::encode`] gives. `EXACTNESS.md` says where this module departs from the reference.
//!
//! Off the hot path: every call allocates. Memory is linear in the text, as long as no more than
//! [`graph::MAX_NODES`] pieces occur in it; the n-best search makes at most 500,000 hypotheses.
//!
//! Sources: Kudo 2018, "Subword regularization" (<https://arxiv.org/abs/1804.10959>) for sampling
//! segmentations; Nagata 1994 for n-best; Scott 2002 for forward filtering, backward sampling; Kool et al. 2019 for
//! sampling without replacement.

mod explain;
mod forward;
mod graph;
mod heap;
mod nbest;
mod random;
mod sample;
mod search;

use trie_format::{NO_ID, PieceType, Reference, ValidImage};

pub use explain::{Explanation, LatticePiece, Runner, Segment};
pub use random::SplitMix64;

use crate::error::DecodeError;
use crate::scratch::Scratch;
use crate::tokenizer::Tokenizer;
use crate::utf8::announced_len;
use forward::Forward;
use graph::{Lattice, Score, Token, UserDefined};
use nbest::{Best, nbest};
use sample::{Drawn, choose_score, sample};
use search::Path;

/// Most candidates that can be asked for, as in sentencepiece.
pub const MAX_CANDIDATES: usize = 512;

/// A segmentation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// Its ids, as [`Tokenizer::encode`] would give them: without special tokens, runs of unknown characters
    /// fused or as bytes.
    pub ids: Vec<u32>,
    /// What the call says: a path score (natural logarithm, not normalized) or a log-probability.
    pub score: f32,
}

/// What to draw a segmentation from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SampleFrom {
    /// All segmentations of the text (sentencepiece: `nbest_size < 0`).
    All,
    /// The best so many (`nbest_size`, at most [`MAX_CANDIDATES`]); of 0 or 1, it is what
    /// [`Tokenizer::encode`] gives.
    Best(usize),
}

/// How to draw several segmentations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Replacement {
    /// Each is drawn from all; scores are log-probabilities.
    With,
    /// No segmentation twice; scores are the logarithms of the probability that the segmentation is among those
    /// drawn, given the least perturbed score that was not (for estimators weighted by inverse probability).
    Without,
    /// As [`Replacement::Without`], but the first is always the best one, whose score is 0.
    WithoutBestFirst,
}

/// Why there is no answer about other segmentations.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LatticeError {
    /// The image's reference has no such thing.
    #[error(
        "Hugging Face tokenizers has neither n-best nor sampling to be exact to: compile the `.model` for \
         sentencepiece"
    )]
    NoReference,
    /// More candidates than [`MAX_CANDIDATES`].
    #[error("{asked} candidates are too many: ask for at most {MAX_CANDIDATES}")]
    TooMany {
        /// How many were asked for.
        asked: usize,
    },
    /// The smoothing parameter is negative or no number.
    #[error("alpha is {alpha}: it must be finite and not negative")]
    BadAlpha {
        /// The parameter.
        alpha: f32,
    },
    /// An id that has no score.
    #[error(transparent)]
    Id(#[from] DecodeError),
    /// The text has too many segmentations to hold.
    #[error(
        "the lattice of a text of {bytes} bytes is too large: encode it in parts, by line or paragraph"
    )]
    TooLarge {
        /// Length of the normalized text.
        bytes: usize,
    },
    /// The text is too long to draw so many different segmentations.
    #[error(
        "the search for {asked} different segmentations of a text of {bytes} bytes ran into its limits: \
         ask for fewer, or encode it in parts, by line or paragraph"
    )]
    GaveUp {
        /// How many were asked for.
        asked: usize,
        /// Length of the normalized text.
        bytes: usize,
    },
}

impl Tokenizer {
    /// The `n` best segmentations of `input` with their path scores, best first, as sentencepiece's
    /// `NBestEncode`: fewer if there are not so many; the best one alone if the search runs into its limits
    /// (texts of tens of thousands of characters).
    ///
    /// For an `n` of 0 or 1 it is what [`Tokenizer::encode`] gives, and the score is 0, as it is there.
    /// [`Tokenizer::score_of`] knows better.
    ///
    /// # Errors
    /// The Hugging Face reference, more than [`MAX_CANDIDATES`], a text too large for a lattice.
    pub fn nbest(&self, input: impl AsRef<[u8]>, n: usize) -> Result<Vec<Candidate>, LatticeError> {
        let image = self.sentencepiece()?;
        if n > MAX_CANDIDATES {
            return Err(LatticeError::TooMany { asked: n });
        }
        let mut scratch = Scratch::new();
        let text = self.normalize(input.as_ref(), &mut scratch);
        if n <= 1 || text.is_empty() {
            return Ok(vec![Candidate {
                ids: self.encode_to_vec(input),
                score: 0.0,
            }]);
        }
        let lattice = Lattice::<f32>::new(image, text)?;
        let paths = nbest(&lattice, n);
        Ok(candidates(image, text, &lattice, paths))
    }

    /// A segmentation of `input`, drawn at random: with a probability in proportion to `exp(alpha * score)`, as
    /// sentencepiece's `SampleEncode`. An `alpha` of 0 makes all equally likely; the greater, the likelier
    /// the best.
    ///
    /// `random` gives 64 random bits a call, such as [`SplitMix64::next_u64`]. The distribution is the
    /// reference's, the sequence is not.
    ///
    /// # Errors
    /// As [`Tokenizer::nbest`]; an `alpha` that is negative or not finite.
    pub fn sample(
        &self,
        input: impl AsRef<[u8]>,
        alpha: f32,
        from: SampleFrom,
        mut random: impl FnMut() -> u64,
    ) -> Result<Vec<u32>, LatticeError> {
        let image = self.sentencepiece()?;
        check(alpha)?;
        let candidates = match from {
            SampleFrom::Best(n) => self.nbest(input, n)?,
            SampleFrom::All => {
                let mut scratch = Scratch::new();
                let text = self.normalize(input.as_ref(), &mut scratch);
                let lattice = Lattice::new(image, text)?;
                let forward = Forward::new(&lattice, alpha);
                let path = sample(&lattice, &forward, &mut random);
                candidates(image, text, &lattice, [path])
            }
        };
        let scores = candidates.iter().map(|candidate| candidate.score);
        let chosen = match candidates.len() {
            0 | 1 => 0,
            _ => choose_score(scores, alpha, &mut random),
        };
        let chosen = candidates.into_iter().nth(chosen);
        Ok(chosen.map_or_else(Vec::new, |candidate| candidate.ids))
    }

    /// `samples` segmentations of `input`, drawn at random as by [`Tokenizer::sample`] from all, each with the
    /// score that `replacement` says, as sentencepiece's `SampleEncodeAndScore` (up to 0.2.1, which has
    /// been the last to have it). Without replacement they are fewer if there are not so many.
    ///
    /// # Errors
    /// As [`Tokenizer::sample`]; without replacement, more than [`MAX_CANDIDATES`], or a text so long that
    /// the search gives up.
    pub fn sample_with_scores(
        &self,
        input: impl AsRef<[u8]>,
        samples: usize,
        alpha: f32,
        replacement: Replacement,
        mut random: impl FnMut() -> u64,
    ) -> Result<Vec<Candidate>, LatticeError> {
        let image = self.sentencepiece()?;
        check(alpha)?;
        let replaces = replacement == Replacement::With;
        if samples > MAX_CANDIDATES && !replaces {
            return Err(LatticeError::TooMany { asked: samples });
        }
        let mut scratch = Scratch::new();
        let text = self.normalize(input.as_ref(), &mut scratch);
        let lattice = Lattice::new(image, text)?;
        let forward = Forward::new(&lattice, alpha);
        if replaces {
            let paths = (0..samples).map(|_| sample(&lattice, &forward, &mut random));
            return Ok(candidates(image, text, &lattice, paths));
        }
        let best = (replacement == Replacement::WithoutBestFirst && samples > 0)
            .then(|| Best::new(&lattice).path(&lattice).nodes);
        let count = samples - usize::from(best.is_some());
        let drawn = Drawn::new(&lattice, &forward, count, best.as_deref(), &mut random);
        let mut drawn = drawn.map_err(|_| LatticeError::GaveUp {
            asked: samples,
            bytes: text.len(),
        })?;
        let paths = std::mem::take(&mut drawn.paths);
        let paths = paths.into_iter().map(|Path { nodes, score }| Path {
            nodes,
            score: drawn.inclusion(score),
        });
        let best = best.map(|nodes| Path { nodes, score: 0.0 });
        Ok(candidates(
            image,
            text,
            &lattice,
            best.into_iter().chain(paths),
        ))
    }

    /// The Shannon entropy, in nats, of the distribution that [`Tokenizer::sample`] draws from
    /// ([`SampleFrom::All`]), as sentencepiece's `CalculateEntropy` (up to 0.2.1).
    ///
    /// # Errors
    /// As [`Tokenizer::sample`].
    pub fn entropy(&self, input: impl AsRef<[u8]>, alpha: f32) -> Result<f32, LatticeError> {
        self.forward(input.as_ref(), alpha, |lattice, forward| {
            forward.entropy(lattice)
        })
    }

    /// The logarithm of the summed `exp(alpha * score)` of all segmentations of `input`: a segmentation's
    /// log-probability is `alpha` times its path score, less this.
    ///
    /// # Errors
    /// As [`Tokenizer::sample`].
    pub fn log_normalizer(&self, input: impl AsRef<[u8]>, alpha: f32) -> Result<f32, LatticeError> {
        self.forward(input.as_ref(), alpha, |_, forward| forward.total())
    }

    fn forward(
        &self,
        input: &[u8],
        alpha: f32,
        answer: impl FnOnce(&Lattice<f32>, &Forward) -> f32,
    ) -> Result<f32, LatticeError> {
        let image = self.sentencepiece()?;
        check(alpha)?;
        let mut scratch = Scratch::new();
        let lattice = Lattice::new(image, self.normalize(input, &mut scratch))?;
        Ok(answer(&lattice, &Forward::new(&lattice, alpha)))
    }

    /// The path score of `ids`: the sum of their pieces' scores, added from the last to the first in single
    /// precision as the n-best search adds them, so that it is bit for bit the score of a [`Candidate`] of
    /// [`Tokenizer::nbest`] with these ids.
    ///
    /// Unknown characters have left no trace but their ids: an unknown id counts for one character, byte pieces for
    /// one for each that they form. Control and unused pieces are never part
    /// of a path and count for nothing.
    ///
    /// # Errors
    /// The Hugging Face reference; the first id that is not in the vocabulary.
    pub fn score_of(&self, ids: &[u32]) -> Result<f32, LatticeError> {
        let image = self.sentencepiece()?;
        let pieces = image.pieces();
        let unknown = <f32 as Score>::unknown(image);
        let mut rule = None;
        let mut bytes = Vec::new();
        let mut scores = Vec::with_capacity(ids.len());
        for &id in ids {
            let (Some(piece_type), Some(text)) = (pieces.piece_type(id), pieces.text(id)) else {
                return Err(DecodeError::UnknownId {
                    id,
                    count: pieces.len(),
                }
                .into());
            };
            if piece_type == PieceType::Byte {
                bytes.push(byte_of(image, id));
                continue;
            }
            scores.extend((0..characters(&bytes)).map(|_| unknown));
            bytes.clear();
            scores.push(match piece_type {
                PieceType::Unknown => unknown,
                PieceType::UserDefined => {
                    let rule = *rule.get_or_insert_with(|| UserDefined::new(image));
                    let score = f32::user_defined(rule, characters(text));
                    score.or(pieces.score(id)).unwrap_or_default()
                }
                PieceType::Normal => pieces.score(id).unwrap_or_default(),
                _ => continue,
            });
        }
        scores.extend((0..characters(&bytes)).map(|_| unknown));
        Ok(scores.iter().rev().fold(0.0, |sum, score| score + sum))
    }

    /// The image, if its reference is a sentencepiece.
    fn sentencepiece(&self) -> Result<&ValidImage<'_>, LatticeError> {
        let image = self.image().view();
        match Reference::from(image.metadata().reference) {
            Reference::HuggingFace023 => Err(LatticeError::NoReference),
            _ => Ok(image),
        }
    }
}

fn check(alpha: f32) -> Result<(), LatticeError> {
    match alpha.is_finite() && alpha >= 0.0 {
        true => Ok(()),
        false => Err(LatticeError::BadAlpha { alpha }),
    }
}

/// The byte that byte piece `id` is for.
fn byte_of(image: &ValidImage<'_>, id: u32) -> u8 {
    let ids = image.byte_ids().map_or(&[][..], |ids| &ids[..]);
    ids.iter().position(|&byte_id| byte_id == id).unwrap_or(0) as u8
}

/// How many characters `bytes` are, as the lattice counts.
fn characters(mut bytes: &[u8]) -> usize {
    let mut count = 0;
    while let Some(&first) = bytes.first() {
        bytes = bytes.get(announced_len(first)..).unwrap_or_default();
        count += 1;
    }
    count
}

fn candidates(
    image: &ValidImage<'_>,
    text: &[u8],
    lattice: &Lattice<f32>,
    paths: impl IntoIterator<Item = Path<f32>>,
) -> Vec<Candidate> {
    let candidate = |Path { nodes, score }: Path<f32>| Candidate {
        ids: ids(image, text, nodes.iter().map(|&node| lattice.token(node))),
        score,
    };
    paths.into_iter().map(candidate).collect()
}

/// The ids of a path: unknown characters become their bytes' pieces if the model has byte fallback, else a run
/// of them becomes one unknown piece.
fn ids(image: &ValidImage<'_>, text: &[u8], tokens: impl Iterator<Item = Token>) -> Vec<u32> {
    let unk = image.metadata().unk_id.to_native();
    let mut ids = Vec::new();
    let mut after_unknown = false;
    for token in tokens {
        let is_unknown = token.id == NO_ID;
        match image.byte_ids() {
            _ if !is_unknown => ids.push(token.id),
            Some(byte_ids) => {
                let bytes = &text[token.start..token.end];
                ids.extend(bytes.iter().map(|&byte| byte_ids[usize::from(byte)]));
            }
            None if after_unknown => {}
            None => ids.push(unk),
        }
        after_unknown = is_unknown;
    }
    ids
}

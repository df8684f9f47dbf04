//! Seams: where a text can be taken apart and its pieces encoded one after the other.
//!
//! # When a prefix is settled
//!
//! A *seam* is a place inside a word. It is between the second and the third of four characters
//! `c0 c1 | c2 c3` that follow each other in the input, if
//!
//! 1. each of the four [stands alone](stands_alone) under the normalizers, and is neither white space (to the
//!    added tokens) nor a space or replacement of a Metaspace;
//! 2. every pre-tokenizer that splits keeps `c1 c2` in one part; all of them decide that by these two alone;
//! 3. no added token can be found in the raw text that ends behind `c0` and begins before `c2`, or that begins
//!    with `c2`: no walk through their trie from any byte before `c1` reaches `c1`, none from `c1` reaches the
//!    seam, and none from `c2` gets through `c2`;
//! 4. the same of the added tokens of normalized text, where `c1` ends what the normalizers make of the text
//!    before the seam: no walk reaches its end, and none from `c2` gets through `c2`.
//!
//! Then for any text `A c0 c1 c2 c3 B` every step does to `A c0 c1` and to `c2 c3 B` what it does to the whole,
//! whatever `A` and `B` are:
//!
//! - *Added tokens* are found from left to right. None is in progress at the seam (3), so the search stands
//!   there in the whole text too. One before it looks no further than `c1`, one behind it no further than
//!   `c2`, for word characters and for white space to take, as both are given and no white space.
//! - *Normalizers*, by induction over the steps: before each, the text is `A' c1 c2 B'`. Replacing looks for
//!   texts and runs that contain neither; character rules and stripping pass both over; the Unicode forms
//!   treat what is before a starter that never composes backwards apart from what begins with it, and both
//!   are such. Precompiled, of which there is one, goes grapheme by grapheme: up to it all four characters
//!   are there, so `c1` and `c2` are graphemes of their own, and have no rule. Prepend is for the text's
//!   beginning alone, and left out behind a seam.
//! - *Pre-tokenizers* look at one character and the one before. Metaspace prepends to beginnings of parts, and
//!   there is none at a seam (2).
//!
//! So the word that is open at the seam goes on behind it, and all that is carried over is its open
//! segmentation ([`crate::segment`]): tokens are final once the window has settled them, and an unknown run
//! once something else follows. Offsets need one thing more: where Precompiled drops characters at a part's
//! beginning, the reference's offsets are late by as many to the part's end ([`Track::keep_late`]), and what is
//! late is carried over too.
//!
//! Text without seams is kept until there is one, or the text ends: where every other character is a space,
//! a mark, or changed by the normalizers (Korean under NFD, Chinese under BERT's normalizer), or where a
//! Replace takes almost everything.
//!
//! [`Track::keep_late`]: trie_normalize::Track::keep_late

use trie_format::pipeline::{CharClass, SplitBehavior, StepKind};
use trie_format::{PipelineView, ValidImage};
use trie_normalize::{stands_alone, str_of};

use crate::ids::Below;
use crate::trie::Trie;
use crate::utf8::valid_len;

/// Finds seams under a pipeline.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seams<'a> {
    image: ValidImage<'a>,
    pipeline: PipelineView<'a>,
    raw: Option<Trie<'a, Below>>,
    normalized: Option<Trie<'a, Below>>,
}

impl<'a> Seams<'a> {
    pub(super) fn new(image: &ValidImage<'a>, pipeline: &PipelineView<'a>) -> Self {
        Self {
            image: *image,
            pipeline: *pipeline,
            raw: Trie::added(image, false),
            normalized: Trie::added(image, true),
        }
    }

    /// The last seam of `input` behind byte `after`, but for what normalized text decides.
    pub(super) fn last(&self, input: &[u8], after: usize) -> Option<usize> {
        (after + 1..input.len())
            .rev()
            .find(|&at| self.is_seam(input, at))
    }

    fn is_seam(&self, input: &[u8], at: usize) -> bool {
        let seam = || {
            let c2 = char_at(input, at)?;
            let c3 = char_at(input, at + c2.len_utf8())?;
            let c1 = char_before(input, at)?;
            let at1 = at - c1.len_utf8();
            let c0 = char_before(input, at1)?;
            let stand = [c1, c2, c0, c3].into_iter().all(|c| self.stands_alone(c));
            let apart = stand && self.is_one_part(c1, c2);
            Some(apart && self.is_outside_tokens(input, at1, at, c2))
        };
        seam().unwrap_or(false)
    }

    /// Condition 1.
    fn stands_alone(&self, character: char) -> bool {
        let is_blank =
            self.pipeline
                .steps()
                .iter()
                .any(|step| match StepKind::from_number(step.kind) {
                    Some(StepKind::Metaspace) => {
                        character == ' '
                            || str_of(self.pipeline.step_text(step)).contains(character)
                    }
                    Some(StepKind::AddedClasses) => {
                        self.class(step.n[2], step.n[3]).contains(character)
                    }
                    _ => false,
                });
        !is_blank && stands_alone(self.image.charsmap(), &self.pipeline, character)
    }

    /// Condition 2.
    fn is_one_part(&self, c1: char, c2: char) -> bool {
        self.pipeline
            .steps()
            .iter()
            .all(|step| match StepKind::from_number(step.kind) {
                Some(StepKind::SplitClass) => {
                    let class = self.class(step.n[0], step.n[1]);
                    let behavior = SplitBehavior::from_number(step.flags);
                    is_kept(behavior, class.contains(c1), class.contains(c2))
                }
                Some(StepKind::Words) => {
                    let word = self.class(step.n[0], step.n[1]);
                    let space = self.class(step.n[2], step.n[3]);
                    let is_space = space.contains(c1) || space.contains(c2);
                    !is_space && word.contains(c1) == word.contains(c2)
                }
                _ => true,
            })
    }

    /// Condition 3, and of condition 4 what `c2` says.
    fn is_outside_tokens(&self, input: &[u8], at1: usize, at: usize, c2: char) -> bool {
        let mut buffer = [0; 4];
        let c2 = c2.encode_utf8(&mut buffer).as_bytes();
        let enters =
            |trie: &Option<Trie<'_, Below>>| trie.is_some_and(|trie| trie.goes_through(c2));
        !enters(&self.raw)
            && !enters(&self.normalized)
            && self.raw.is_none_or(|trie| {
                !reaches_end(trie, &input[..at1]) && !trie.goes_through(&input[at1..at])
            })
    }

    /// Condition 4 for `normalized`, which the text of a part before the seam has become.
    pub(super) fn is_outside_normalized_tokens(&self, normalized: &str) -> bool {
        let text = normalized.as_bytes();
        self.normalized.is_none_or(|trie| !reaches_end(trie, text))
    }

    /// Whether normalized text has a say.
    pub(super) fn needs_normalized(&self) -> bool {
        self.normalized.is_some()
    }

    fn class(&self, start: u32, len: u32) -> CharClass<'a> {
        self.pipeline.class(start, len)
    }
}

/// Whether a split keeps two characters in one part, by whether they are in its class.
fn is_kept(behavior: Option<SplitBehavior>, first: bool, second: bool) -> bool {
    match behavior {
        Some(SplitBehavior::MergedWithNext) => !second,
        Some(SplitBehavior::MergedWithPrevious) => !first,
        Some(SplitBehavior::Contiguous) => first == second,
        _ => !first && !second,
    }
}

/// Whether a walk from some byte of `text` reaches its end.
fn reaches_end(trie: Trie<'_, Below>, text: &[u8]) -> bool {
    let first = text.len().saturating_sub(trie.max_bytes());
    (first..text.len()).any(|start| trie.goes_through(&text[start..]))
}

fn char_at(input: &[u8], at: usize) -> Option<char> {
    let rest = input.get(at..)?;
    let character = rest.get(..valid_len(rest)?)?;
    std::str::from_utf8(character).ok()?.chars().next()
}

fn char_before(input: &[u8], at: usize) -> Option<char> {
    (1..=at.min(4)).find_map(|len| char_at(input, at - len).filter(|c| c.len_utf8() == len))
}

//! Walks over the image's tries.
//!
//! One of this crate's modules with `unsafe`: the walk indexes nodes unchecked, which a [`ValidImage`]
//! makes sound. What it reads from tails it checks as it goes: nothing is known of those.

#![allow(unsafe_code)]

use trie_format::trie::{End, StepKind, TrieView, met};
use trie_format::{Child, First, NO_ID, Node, Skip, TAIL, ValidImage};

/// A piece that a walk has come to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) id: u32,
    /// Its path score in single precision.
    pub(crate) score: f32,
    /// Its path score in double precision.
    pub(crate) score64: f64,
}

/// What a trie's ids stand for.
pub(crate) trait Ids: Copy {
    /// What a walk reports.
    type Found;

    /// What `node`, which has an id, stands for.
    fn of_node(&self, node: &Node) -> Self::Found;

    /// What `id` stands for; `None` if it is not below the number of ids, as those in tails may be.
    fn of_id(&self, id: u32) -> Option<Self::Found>;
}

/// The path scores of all pieces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scores<'a> {
    of_model: &'a [f32],
    /// As many, or none if they are those of the model.
    of_paths: &'a [f64],
}

impl Ids for Scores<'_> {
    type Found = Piece;

    #[inline(always)]
    fn of_node(&self, node: &Node) -> Piece {
        let double = self.of_paths.get(node.id as usize);
        Piece {
            id: node.id,
            score: node.score,
            score64: double.copied().unwrap_or(node.score.into()),
        }
    }

    #[inline(always)]
    fn of_id(&self, id: u32) -> Option<Piece> {
        let score = *self.of_model.get(id as usize)?;
        Some(match self.of_paths.get(id as usize) {
            Some(&score64) => Piece {
                id,
                score: score64 as f32,
                score64,
            },
            None => Piece {
                id,
                score,
                score64: score.into(),
            },
        })
    }
}

/// Ids below this number, with nothing to them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Below(u32);

impl Ids for Below {
    type Found = u32;

    #[inline(always)]
    fn of_node(&self, node: &Node) -> u32 {
        node.id
    }

    #[inline(always)]
    fn of_id(&self, id: u32) -> Option<u32> {
        (id < self.0).then_some(id)
    }
}

/// A trie of a validated image: of all pieces, if nothing else is said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trie<'a, I = Scores<'a>> {
    /// Its nodes are not empty; every announced child lies inside (point 1 of [`ValidImage`]).
    view: TrieView<'a>,
    ids: I,
    /// No walk goes deeper, in bytes.
    max_bytes: usize,
}

impl<'a> Trie<'a> {
    /// The trie of all pieces that take part in segmentation.
    #[inline(always)]
    pub(crate) fn pieces(image: &ValidImage<'a>) -> Self {
        Self {
            view: image.nodes(),
            ids: Scores {
                of_model: image.pieces().scores(),
                of_paths: image.path_scores(),
            },
            max_bytes: image.metadata().max_piece_bytes.to_native() as usize,
        }
    }

    /// The piece with this id, if it is one.
    #[inline(always)]
    pub(crate) fn piece(&self, id: u32) -> Option<Piece> {
        self.ids.of_id(id)
    }

    /// Like [`Trie::prefixes`], from what `first` says of the first character of `input`, which is `char_len` bytes
    /// long, on; returns whether that character is a piece.
    #[inline(always)]
    pub(crate) fn prefixes_behind(
        &self,
        first: First,
        char_len: usize,
        input: &[u8],
        mut found: impl FnMut(usize, Piece),
    ) -> bool {
        let mut single = false;
        match first {
            First::Nothing => {}
            First::Leaf(id) => {
                if let Some(piece) = self.ids.of_id(id) {
                    found(char_len, piece);
                    single = true;
                }
            }
            First::Node(slot) => {
                let Some(node) = self.view.nodes().get(slot) else {
                    return false;
                };
                single = node.id != NO_ID;
                self.prefixes_from(node, node.skip_number(), input, char_len, &mut found);
            }
            First::Walk => self.prefixes(input, |len, piece| {
                single |= len == char_len;
                found(len, piece);
            }),
        }
        single
    }
}

impl<'a> Trie<'a, Below> {
    /// The trie of user-defined symbols.
    pub(crate) fn symbols(image: &ValidImage<'a>) -> Option<Self> {
        Some(Self {
            view: image.symbol_nodes()?,
            ids: Below(image.pieces().len()),
            max_bytes: image.metadata().max_symbol_bytes.to_native() as usize,
        })
    }

    /// The trie of the added tokens that are looked for in the text as it is (or in normalized text).
    pub(crate) fn added(image: &ValidImage<'a>, normalized: bool) -> Option<Self> {
        let view = match normalized {
            false => image.added_nodes(),
            true => image.normalized_added_nodes(),
        };
        let tokens = image.pipeline()?.added_tokens().len();
        Some(Self {
            view: view?,
            ids: Below(tokens as u32),
            max_bytes: image.metadata().max_added_bytes.to_native() as usize,
        })
    }
}

impl<I: Ids> Trie<'_, I> {
    /// No text in the trie is longer, in bytes.
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Calls `found` with the length in bytes of every text of the trie that `input` begins with, shortest first,
    /// and what it stands for.
    ///
    /// A place where texts part is one cache line, one bit test, one addition; what is between two is in the same
    /// line, or in a tail. The tests hold it to [`TrieView::walk`].
    #[inline(always)]
    pub(crate) fn prefixes(&self, input: &[u8], mut found: impl FnMut(usize, I::Found)) {
        // SAFETY: the array is not empty.
        let root = unsafe { self.view.nodes().get_unchecked(0) };
        self.prefixes_from(root, Skip::NONE, input, 0, &mut found);
    }

    /// [`Trie::prefixes`] from `node` on, whose label is the last of the first `at` bytes of `input`; `skip` is the number
    /// of what stands between the label and the node's children.
    #[inline(always)]
    fn prefixes_from<'n>(
        &'n self,
        mut node: &'n Node,
        mut skip: Skip,
        input: &[u8],
        mut at: usize,
        found: &mut impl FnMut(usize, I::Found),
    ) {
        let window = input.get(..self.max_bytes).unwrap_or(input);
        let nodes = self.view.nodes();
        loop {
            if node.id != NO_ID && skip.id_first() {
                found(at, self.ids.of_node(node));
            }
            if !skip.is_empty() {
                let is_met = match window.get(at..).and_then(|rest| rest.first_chunk()) {
                    Some(two) => skip.is_met(node.skip, *two),
                    None => skip.len() == 1 && window.get(at) == Some(&node.skip[0]),
                };
                if !is_met {
                    return;
                }
                at += skip.len();
                if node.id != NO_ID && !skip.id_first() {
                    found(at, self.ids.of_node(node));
                }
            }
            let Some(&byte) = window.get(at) else { return };
            if !node.has_child(byte) {
                return;
            }
            let slot = node.base as usize + usize::from(byte);
            // SAFETY: the bitmap of a validated node announces only children inside the array.
            let child = unsafe { nodes.get_unchecked(slot) };
            at += 1;
            match child.as_child(byte) {
                Child::Node(next) => (node, skip) = (child, next),
                Child::Leaf(id) if id < TAIL => {
                    if let Some(piece) = self.ids.of_id(id) {
                        found(at, piece);
                    }
                    return;
                }
                Child::Leaf(word) => {
                    let tail = (word - TAIL) as usize;
                    match self.tail(window, at, tail, found) {
                        Some((next, after)) => (at, node, skip) = (next, after, Skip::NONE),
                        None => return,
                    }
                }
            }
        }
    }

    /// Goes on from `at` along the tail at `place`, to the node that it leads to, if it does; and where that is.
    #[inline(always)]
    fn tail<'w>(
        &'w self,
        window: &[u8],
        mut at: usize,
        mut place: usize,
        found: &mut impl FnMut(usize, I::Found),
    ) -> Option<(usize, &'w Node)> {
        let begin = place;
        loop {
            let step = self.view.step(place)?;
            if step.labels.is_empty() && place != begin {
                return None;
            }
            at = met(window, at, step.labels).ok()?;
            place = step.next;
            match step.kind {
                StepKind::More => {}
                StepKind::Piece => found(at, self.ids.of_id(step.target)?),
                StepKind::Leaf => {
                    found(at, self.ids.of_id(step.target)?);
                    return None;
                }
                StepKind::Node => return Some((at, self.view.nodes().get(step.target as usize)?)),
            }
        }
    }

    /// Whether some text of the trie begins with all of `input` and is longer: what follows `input` would
    /// matter to [`Trie::prefixes`].
    #[inline(always)]
    pub(crate) fn may_go_on(&self, input: &[u8]) -> bool {
        input.len() < self.max_bytes && self.view.walk(input, |_, _| {}) == End::Inside
    }

    /// Whether some text of the trie begins with all of `start`, or is it.
    pub(crate) fn goes_through(&self, start: &[u8]) -> bool {
        self.view.walk(start, |_, _| {}) != End::Off
    }

    /// The id of exactly this text.
    pub(crate) fn find(&self, text: &[u8]) -> Option<u32> {
        let id = self.view.find(text)?;
        self.ids.of_id(id).map(|_| id)
    }
}

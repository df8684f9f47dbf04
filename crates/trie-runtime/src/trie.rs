//! Walks over the image's tries.
//!
//! One of this crate's modules with `unsafe`: the walk indexes nodes unchecked, which a [`ValidImage`]
//! makes sound. What it reads from tails it checks as it goes: nothing is known of those.

#![allow(unsafe_code)]

use trie_format::trie::{End, MAX_LABELS, StepKind, TrieView};
use trie_format::{Child, First, FirstChars, NO_ID, Node, Skip, TAIL, ValidImage};

use crate::ids::{Below, Ids, Piece, Scores};
use crate::utf8::{announced_len, first_four, place};

/// What a step of a tail does behind so many labels.
struct Step {
    labels: u32,
    kind: StepKind,
    target: u32,
}

impl Step {
    #[inline(always)]
    fn new(head: [u8; 4]) -> Self {
        let head = u32::from_le_bytes(head);
        Self {
            labels: head & MAX_LABELS as u32,
            kind: StepKind::of(head),
            target: head >> 8,
        }
    }
}

/// A trie of a validated image: of all pieces, if nothing else is said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trie<'a, I = Scores<'a>> {
    /// Its nodes are not empty; every announced child lies inside (point 1 of [`ValidImage`]).
    view: TrieView<'a>,
    ids: I,
    /// Where walks are behind their first character.
    first: Option<FirstChars<'a>>,
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
            first: image.first_chars(),
            max_bytes: image.metadata().max_piece_bytes.to_native() as usize,
        }
    }

    /// The piece with this id, if it is one.
    #[inline(always)]
    pub(crate) fn piece(&self, id: u32) -> Option<Piece> {
        self.ids.of_id(id)
    }

    /// The trie without the table of first characters: every walk begins at the root. For the oracles.
    pub(crate) fn from_root(image: &ValidImage<'a>) -> Self {
        Self {
            first: None,
            ..Self::pieces(image)
        }
    }

    /// Like [`Trie::prefixes`]; returns the length in bytes of the character that `input`, which is not empty, begins with,
    /// and whether that character is a piece.
    #[inline(always)]
    pub(crate) fn starting(&self, input: &[u8], found: impl FnMut(usize, Piece)) -> (usize, bool) {
        let (char_len, first) = self.first(input);
        (
            char_len,
            self.prefixes_behind(first, char_len, input, found),
        )
    }

    /// The piece that `character` is, if it is one.
    #[inline(always)]
    pub(crate) fn single(&self, character: &[u8]) -> Option<Piece> {
        let mut single = None;
        self.starting(character, |len, piece| {
            if len == character.len() {
                single = Some(piece);
            }
        });
        single
    }

    /// The length of the character that `input` begins with, and where a walk is behind it.
    #[inline(always)]
    fn first(&self, input: &[u8]) -> (usize, First) {
        let byte = input.first().copied().unwrap_or_default();
        let announced = || (announced_len(byte).min(input.len()), First::Walk);
        let Some(first) = &self.first else {
            return announced();
        };
        let (block, bits, len) = if byte < 0x80 {
            (usize::from(byte >> 6), byte.into(), 1)
        } else if let Some(place) = place(first_four(input)) {
            place
        } else {
            return announced();
        };
        (len.min(input.len()), first.get(block, bits))
    }

    /// [`Trie::prefixes`] from what `first` says of the first character of `input`, which is `char_len` bytes long, on;
    /// returns whether that character is a piece.
    #[inline(always)]
    fn prefixes_behind(
        &self,
        first: First,
        char_len: usize,
        input: &[u8],
        mut found: impl FnMut(usize, Piece),
    ) -> bool {
        let mut single = false;
        let mut at = char_len;
        let (node, skip) = match first {
            First::Nothing => return false,
            First::Leaf(id) => {
                let piece = self.ids.of_id(id);
                return piece.map(|piece| found(char_len, piece)).is_some();
            }
            First::Node(slot) => {
                let Some(node) = self.view.nodes().get(slot) else {
                    return false;
                };
                single = node.id != NO_ID;
                (node, node.skip_number())
            }
            First::Tail(place) => {
                let window = input.get(..self.max_bytes).unwrap_or(input);
                let after = self.tail(window, &mut at, place, &mut |len, piece| {
                    single |= len == char_len;
                    found(len, piece);
                });
                match after {
                    Some(node) => (node, Skip::NONE),
                    None => return single,
                }
            }
            First::Walk => {
                self.prefixes(input, |len, piece| {
                    single |= len == char_len;
                    found(len, piece);
                });
                return single;
            }
        };
        self.prefixes_from(node, skip, input, at, &mut found);
        single
    }
}

impl<'a> Trie<'a, Below> {
    /// The trie of user-defined symbols.
    pub(crate) fn symbols(image: &ValidImage<'a>) -> Option<Self> {
        Some(Self {
            view: image.symbol_nodes()?,
            ids: Below(image.pieces().len()),
            first: None,
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
            first: None,
            max_bytes: image.metadata().max_added_bytes.to_native() as usize,
        })
    }
}

impl<'a, I: Ids> Trie<'a, I> {
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
    fn prefixes_from(
        &self,
        mut node: &'a Node,
        mut skip: Skip,
        input: &[u8],
        mut at: usize,
        found: &mut impl FnMut(usize, I::Found),
    ) {
        let window = input.get(..self.max_bytes).unwrap_or(input);
        let nodes = self.view.nodes();
        loop {
            if !skip.is_empty() {
                match self.skip(node, skip, window, at, found) {
                    Some(next) => at = next,
                    None => return,
                }
            }
            // Most nodes are followed by one that skips nothing: these few lines are most of a walk.
            let (byte, child) = loop {
                if node.id != NO_ID && skip.is_empty() {
                    found(at, self.ids.of_node(node));
                }
                let Some(&byte) = window.get(at) else { return };
                if !node.has_child(byte) {
                    return;
                }
                let slot = node.base as usize + usize::from(byte);
                // SAFETY: the bitmap of a validated node announces only children inside the array.
                let child = unsafe { nodes.get_unchecked(slot) };
                at += 1;
                if child.entry != u16::from(byte) {
                    break (byte, child);
                }
                (node, skip) = (child, Skip::NONE);
            };
            match child.as_child(byte) {
                Child::Node(next) => (node, skip) = (child, next),
                Child::Leaf(id) if id < TAIL => {
                    if let Some(piece) = self.ids.of_id(id) {
                        found(at, piece);
                    }
                    return;
                }
                Child::Leaf(word) => match self.tail(window, &mut at, word - TAIL, found) {
                    Some(after) => (node, skip) = (after, Skip::NONE),
                    None => return,
                },
            }
        }
    }

    /// Goes on from `at` behind what `node` skips, if `window` goes on with that; its piece ends there or before.
    #[inline(always)]
    fn skip(
        &self,
        node: &Node,
        skip: Skip,
        window: &[u8],
        at: usize,
        found: &mut impl FnMut(usize, I::Found),
    ) -> Option<usize> {
        if node.id != NO_ID && skip.id_first() {
            found(at, self.ids.of_node(node));
        }
        let is_met = match window.get(at..).and_then(|rest| rest.first_chunk()) {
            Some(two) => skip.is_met(node.skip, *two),
            None => skip.len() == 1 && window.get(at) == Some(&node.skip[0]),
        };
        if !is_met {
            return None;
        }
        let at = at + skip.len();
        if node.id != NO_ID && !skip.id_first() {
            found(at, self.ids.of_node(node));
        }
        Some(at)
    }

    /// Goes on along the tail at `place`, to the node that it leads to, if it does.
    #[inline(always)]
    fn tail(
        &self,
        window: &[u8],
        at: &mut usize,
        mut place: u32,
        found: &mut impl FnMut(usize, I::Found),
    ) -> Option<&'a Node> {
        let begin = place;
        let mut rest = window.get(*at..)?;
        loop {
            let step = self.step(place, rest)?;
            if step.labels == 0 && place != begin {
                return None;
            }
            rest = rest.get(step.labels as usize..)?;
            *at = window.len() - rest.len();
            place = place.wrapping_add(4 + step.labels);
            match step.kind {
                StepKind::Leaf | StepKind::Piece => {
                    found(*at, self.ids.of_id(step.target)?);
                    if step.kind == StepKind::Leaf {
                        return None;
                    }
                }
                StepKind::Node => return self.view.nodes().get(step.target as usize),
                StepKind::More => {}
            }
        }
    }

    /// The step at `place`, if `rest` goes on with its labels.
    #[inline(always)]
    fn step(&self, place: u32, rest: &[u8]) -> Option<Step> {
        let place = place as usize;
        let tails = self.view.tails();
        let (step, labels) = match tails.get(place..place + 12) {
            Some(bytes) => {
                let (head, labels) = bytes.split_first_chunk::<4>()?;
                (Step::new(*head), labels.first_chunk::<8>())
            }
            None => (Step::new(*tails.get(place..)?.first_chunk()?), None),
        };
        let len = step.labels as usize;
        let input = rest.get(..len)?;
        if len == 0 {
            return Some(step);
        }
        // Most steps have a few labels: they are compared in one go, with what is behind them masked.
        let is_met = match (labels, rest.first_chunk::<8>()) {
            (Some(labels), Some(input)) if len < 8 => {
                let differ = u64::from_le_bytes(*labels) ^ u64::from_le_bytes(*input);
                differ & !(u64::MAX << (8 * len)) == 0
            }
            _ => {
                let labels = tails.get(place + 4..place + 4 + len)?;
                labels.iter().zip(input).all(|(a, b)| a == b)
            }
        };
        is_met.then_some(step)
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

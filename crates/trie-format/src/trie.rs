//! A trie section: nodes, and the tails that leaf words lead to.
//!
//! ```text
//! head (64)  node (64) × slots  tails
//! ```
//!
//! A *tail* is what follows a byte after which texts part no more, or not before a piece has ended or some more
//! bytes have passed than a node can skip. It is a chain of steps, each four bytes and its labels: first the
//! input has to have the labels, then the step does what its kind says. So a walk reads one line for a place
//! where texts part, and one for all that is left of a piece.
//!
//! Nothing about tails is checked beforehand: whoever walks checks, at every step, that it lies inside the
//! section and that its target exists, and that every step but the first has labels, so that a walk ends with
//! its input. That is why [`TrieView::step`] gives an `Option`.

use bytemuck::{Pod, Zeroable};

use crate::metadata::NO_ID;
use crate::node::{Child, NODE_LEN, Node, TAIL, validate_nodes};

/// The first line of a trie section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct TrieHead {
    /// Number of lines that follow.
    pub slots: u32,
    /// How many of them are nodes; for people.
    pub nodes: u32,
    /// Children that are ids in leaf words; for people.
    pub leaves: u32,
    /// Children that are tails; for people.
    pub tails: u32,
    /// Zero; readers ignore it.
    pub reserved: [u32; 12],
}

const _: () = assert!(size_of::<TrieHead>() == NODE_LEN);

/// What a step of a tail does, once its labels have been met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum StepKind {
    /// The target is the id of the piece that ends here; no other goes on.
    Leaf = 0,
    /// The target is the id of the piece that ends here; the next step follows.
    Piece = 1,
    /// The target is the slot of the node to go on with.
    Node = 2,
    /// Nothing: the next step follows.
    More = 3,
}

impl StepKind {
    /// The kind of a step with this `head`.
    #[inline(always)]
    #[must_use]
    pub const fn of(head: u32) -> Self {
        match head >> 6 & 3 {
            0 => Self::Leaf,
            1 => Self::Piece,
            2 => Self::Node,
            _ => Self::More,
        }
    }
}

/// A step of a tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailStep<'a> {
    /// What the step does.
    pub kind: StepKind,
    /// An id or a slot.
    pub target: u32,
    /// What the input has to go on with first.
    pub labels: &'a [u8],
    /// Where the next step is.
    pub next: usize,
}

impl TailStep<'_> {
    /// The four bytes before the labels.
    #[must_use]
    pub fn head(&self) -> [u8; 4] {
        let [low, middle, high, _] = self.target.to_le_bytes();
        let len = self.labels.len().min(MAX_LABELS) as u8;
        [len | (self.kind as u8) << 6, low, middle, high]
    }
}

/// No step has more labels.
pub const MAX_LABELS: usize = 63;

/// What there is after an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// No text begins with it.
    Off,
    /// Some text begins with it and is longer.
    Inside,
    /// It is a text, and none is longer.
    Leaf,
}

/// What the walk comes to by one byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Edge<'a> {
    /// A node: its slot, the bytes to skip before its children, and whether its piece ends before those.
    Node {
        /// Where the node is.
        slot: usize,
        /// The node.
        node: &'a Node,
        /// What stands before its children.
        skip: &'a [u8],
        /// Whether its piece ends before that.
        id_first: bool,
    },
    /// A piece that no other goes on from.
    Leaf(u32),
    /// A tail that begins at this place.
    Tail(usize),
}

/// A borrowed trie.
#[derive(Debug, Clone, Copy)]
pub struct TrieView<'a> {
    head: &'a TrieHead,
    nodes: &'a [Node],
    tails: &'a [u8],
}

impl<'a> TrieView<'a> {
    /// The trie of these parts, for a compiler.
    #[must_use]
    pub fn new(head: &'a TrieHead, nodes: &'a [Node], tails: &'a [u8]) -> Self {
        Self { head, nodes, tails }
    }

    /// The trie in `section`, which starts on a 64-byte boundary. Constant time.
    pub(crate) fn parse(section: &'a [u8]) -> Result<Self, &'static str> {
        let (head, rest) = section
            .split_at_checked(NODE_LEN)
            .ok_or("a trie has a head")?;
        let head: &TrieHead =
            bytemuck::try_from_bytes(head).map_err(|_| "a trie starts on a 64-byte boundary")?;
        let (nodes, tails) = (head.slots as usize)
            .checked_mul(NODE_LEN)
            .and_then(|len| rest.split_at_checked(len))
            .ok_or("the nodes must lie inside the section")?;
        let nodes =
            bytemuck::try_cast_slice(nodes).map_err(|_| "a trie starts on a 64-byte boundary")?;
        Ok(Self { head, nodes, tails })
    }

    /// Checks the nodes: see [`ValidImage`](crate::ValidImage).
    pub(crate) fn validate(&self, piece_count: u32) -> Result<(), (usize, &'static str)> {
        validate_nodes(self.nodes, piece_count)
    }

    /// How many there are of what.
    #[must_use]
    pub fn head(&self) -> &'a TrieHead {
        self.head
    }

    /// The nodes; the first is the root.
    #[must_use]
    pub fn nodes(&self) -> &'a [Node] {
        self.nodes
    }

    /// All tails.
    #[must_use]
    pub fn tails(&self) -> &'a [u8] {
        self.tails
    }

    /// The step at `at`, if it lies inside the tails.
    #[inline(always)]
    #[must_use]
    pub fn step(&self, at: usize) -> Option<TailStep<'a>> {
        let (head, rest) = self.tails.get(at..)?.split_first_chunk::<4>()?;
        let word = u32::from_le_bytes(*head);
        let len = word as usize & MAX_LABELS;
        Some(TailStep {
            kind: StepKind::of(word),
            target: word >> 8,
            labels: rest.get(..len)?,
            next: at + 4 + len,
        })
    }

    /// Where `byte` leads from `node`; `None` if nowhere, or out of the section.
    #[must_use]
    pub fn edge(&self, node: &Node, byte: u8) -> Option<Edge<'a>> {
        let slot = node.child(byte)?;
        let node = self.nodes.get(slot)?;
        let of_node = |len, id_first| Edge::Node {
            slot,
            node,
            skip: &node.skip[..len],
            id_first,
        };
        Some(match node.as_child(byte) {
            Child::Node(skip) => of_node(skip.len(), skip.id_first()),
            Child::Leaf(word) if word < TAIL => Edge::Leaf(word),
            Child::Leaf(word) => Edge::Tail((word - TAIL) as usize),
        })
    }

    /// Calls `found` with the length in bytes and the id of every text of the trie that `input` begins with,
    /// shortest first, and returns what there is after all of `input`.
    ///
    /// The plain walk, which checks all that it reads: for tools, and the oracle of the runtime's.
    pub fn walk(&self, input: &[u8], mut found: impl FnMut(usize, u32)) -> End {
        let Some(mut node) = self.nodes.first() else {
            return End::Off;
        };
        let mut at = 0;
        loop {
            let Some(&byte) = input.get(at) else {
                return match node.child_count() {
                    0 => End::Leaf,
                    _ => End::Inside,
                };
            };
            at += 1;
            match self.edge(node, byte) {
                None => return End::Off,
                Some(Edge::Leaf(id)) => {
                    found(at, id);
                    return if at == input.len() {
                        End::Leaf
                    } else {
                        End::Off
                    };
                }
                Some(Edge::Node {
                    node: child,
                    skip,
                    id_first,
                    ..
                }) => {
                    if id_first && child.id != NO_ID {
                        found(at, child.id);
                    }
                    match met(input, at, skip) {
                        Ok(next) => at = next,
                        Err(end) => return end,
                    }
                    if !id_first && child.id != NO_ID {
                        found(at, child.id);
                    }
                    node = child;
                }
                Some(Edge::Tail(first)) => {
                    let mut place = first;
                    loop {
                        let Some(step) = self.step(place) else {
                            return End::Off;
                        };
                        if step.labels.is_empty() && place != first {
                            return End::Off;
                        }
                        match met(input, at, step.labels) {
                            Ok(next) => at = next,
                            Err(end) => return end,
                        }
                        place = step.next;
                        match step.kind {
                            StepKind::More => {}
                            StepKind::Piece => found(at, step.target),
                            StepKind::Leaf => {
                                found(at, step.target);
                                return if at == input.len() {
                                    End::Leaf
                                } else {
                                    End::Off
                                };
                            }
                            StepKind::Node => {
                                let Some(next) = self.nodes.get(step.target as usize) else {
                                    return End::Off;
                                };
                                if next.id != NO_ID {
                                    found(at, next.id);
                                }
                                node = next;
                                break;
                            }
                        }
                    }
                }
            }
        }
    }

    /// The id of exactly this text.
    #[must_use]
    pub fn find(&self, text: &[u8]) -> Option<u32> {
        let mut last = None;
        self.walk(text, |len, id| {
            if len == text.len() {
                last = Some(id);
            }
        });
        last
    }
}

/// The place behind `labels`, with which `input` goes on at `at`; else what there is after all of `input`.
#[inline(always)]
pub fn met(input: &[u8], mut at: usize, labels: &[u8]) -> Result<usize, End> {
    for label in labels {
        match input.get(at) {
            None => return Err(End::Inside),
            Some(byte) if byte != label => return Err(End::Off),
            Some(_) => at += 1,
        }
    }
    Ok(at)
}

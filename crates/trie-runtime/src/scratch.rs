//! The caller's buffers.

use crate::hf;
use crate::output::Output;
use crate::sequence::Sequence;
use crate::sp::stream::Stream;
use crate::viterbi::Cell;

/// Buffers of one thread's encodes and decodes.
///
/// They grow to the largest input seen and never shrink: from then on nothing is allocated. What a call
/// returns is borrowed from here until the next call.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The first sequence's tokens, and the second's of a pair.
    pub(crate) first: Sequence,
    pub(crate) second: Sequence,
    /// Both with special tokens, cut and padded.
    pub(crate) output: Output,
    /// Which window of each sequence is being written.
    pub(crate) choice: Vec<usize>,
    /// What segmentation works in.
    pub(crate) work: Work,
    /// Normalized or decoded text.
    pub(crate) text: Vec<u8>,
    /// Text before denormalization.
    pub(crate) raw: Vec<u8>,
}

/// What segmentation works in.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Best path to each byte position of a text.
    pub(crate) cells: Vec<Cell<f32>>,
    /// The state of an encode in blocks.
    pub(crate) stream: Stream,
    /// Best paths in double precision, of one word.
    pub(crate) cells64: Vec<Cell<f64>>,
    /// What the steps around a Hugging Face model work in.
    pub(crate) steps: hf::Buffers,
}

impl Work {
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Cell<f32>>()
            + self.stream.allocated_bytes()
            + self.cells64.capacity() * size_of::<Cell<f64>>()
            + self.steps.allocated_bytes()
    }
}

impl Scratch {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Buffers for inputs that are up to `bytes` long after normalization.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        let mut scratch = Self::default();
        scratch.first.normalized.reserve(bytes);
        scratch.first.ids.reserve(bytes);
        scratch
    }

    /// Bytes that the buffers hold.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        self.first.allocated_bytes()
            + self.second.allocated_bytes()
            + self.output.allocated_bytes()
            + self.choice.capacity() * size_of::<usize>()
            + self.work.allocated_bytes()
            + self.text.capacity()
            + self.raw.capacity()
    }
}

//! The caller's buffers.

use crate::hf;
use crate::viterbi::Cell;

/// Buffers of one thread's encodes and decodes.
///
/// They grow to the largest input seen and never shrink: from then on nothing is allocated. What a call
/// returns is borrowed from here until the next call.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The input after normalization, or decoded text.
    pub(crate) normalized: Vec<u8>,
    /// Text before denormalization.
    pub(crate) raw: Vec<u8>,
    /// Best path to each byte position of `normalized`.
    pub(crate) cells: Vec<Cell<f32>>,
    /// The same in double precision, of one word.
    pub(crate) cells64: Vec<Cell<f64>>,
    /// Token ids.
    pub(crate) ids: Vec<u32>,
    /// Byte range in `normalized` of each token, where asked for.
    pub(crate) spans: Vec<(usize, usize)>,
    /// What the steps around a Hugging Face model work in.
    pub(crate) steps: hf::Buffers,
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
        Self {
            normalized: Vec::with_capacity(bytes),
            cells: Vec::with_capacity(bytes + 1),
            ids: Vec::with_capacity(bytes),
            ..Self::default()
        }
    }

    /// Bytes that the buffers hold.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        self.normalized.capacity()
            + self.raw.capacity()
            + self.cells.capacity() * size_of::<Cell<f32>>()
            + self.cells64.capacity() * size_of::<Cell<f64>>()
            + self.steps.allocated_bytes()
            + self.ids.capacity() * size_of::<u32>()
            + self.spans.capacity() * size_of::<(usize, usize)>()
    }
}

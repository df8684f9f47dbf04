//! The caller's buffers.

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
    pub(crate) cells: Vec<Cell>,
    /// Token ids.
    pub(crate) ids: Vec<u32>,
    /// Byte range in `normalized` of each token, where asked for.
    pub(crate) spans: Vec<(usize, usize)>,
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
            raw: Vec::new(),
            cells: Vec::with_capacity(bytes + 1),
            ids: Vec::with_capacity(bytes),
            spans: Vec::new(),
        }
    }

    /// Bytes that the buffers hold.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        self.normalized.capacity()
            + self.raw.capacity()
            + self.cells.capacity() * size_of::<Cell>()
            + self.ids.capacity() * size_of::<u32>()
            + self.spans.capacity() * size_of::<(usize, usize)>()
    }
}

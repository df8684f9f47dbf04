//! One sequence's tokens: what segmentation hands on to special tokens, truncation and padding.
//!
//! Invariant: `spans` and `offsets`, where asked for, are as long as `ids`.

/// One sequence's tokens, before special tokens and truncation.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    /// The text as it was segmented; under the Hugging Face reference its words, end to end.
    pub(crate) normalized: Vec<u8>,
    /// Token ids.
    pub(crate) ids: Vec<u32>,
    /// Byte range of each token in `normalized`; filled if asked for.
    pub(crate) spans: Vec<(usize, usize)>,
    /// Byte range of each token in the input, in the reference's convention; filled if asked for.
    pub(crate) offsets: Vec<(usize, usize)>,
    /// Whether these are all tokens: encoding was not stopped early.
    pub(crate) complete: bool,
}

/// What is asked of one sequence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask {
    /// Names of special tokens inside the text are text.
    pub(crate) special_tokens_as_text: bool,
    /// Fill [`Sequence::spans`].
    pub(crate) spans: bool,
    /// Fill [`Sequence::offsets`].
    pub(crate) offsets: bool,
    /// Encoding may stop once this many tokens are final.
    pub(crate) limit: usize,
}

impl Ask {
    /// Ids of the whole text, nothing else.
    pub(crate) const IDS: Self = Self {
        special_tokens_as_text: false,
        spans: false,
        offsets: false,
        limit: usize::MAX,
    };
}

impl Sequence {
    /// Forgets the tokens, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.normalized.clear();
        self.ids.clear();
        self.spans.clear();
        self.offsets.clear();
        self.complete = false;
    }

    /// Bytes that the buffers hold.
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.normalized.capacity()
            + self.ids.capacity() * size_of::<u32>()
            + (self.spans.capacity() + self.offsets.capacity()) * size_of::<(usize, usize)>()
    }
}

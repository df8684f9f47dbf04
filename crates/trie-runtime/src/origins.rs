//! Where in the input each byte of normalized text comes from, if anyone wants to know.
//!
//! As in the reference: a byte comes from where the character, rule or symbol that it was made of begins. The
//! text's end comes from the input's end or, where spaces are cut at the end, from where the first of them
//! came from.

/// Notes origins. The one that does not is free of cost.
pub(crate) trait Origins {
    /// `count` more bytes come from the input at `at`, counted from where this call's input begins.
    fn same(&mut self, at: usize, count: usize);

    /// The characters of `text` stand in the input as they are, the first at `at`.
    fn text(&mut self, at: usize, text: &[u8]);

    /// Where the end of the text comes from, counted likewise, when the text is cut to `len` bytes.
    fn cut(&mut self, len: usize) -> usize;
}

/// Notes nothing.
pub(crate) struct Unnoted;

impl Origins for Unnoted {
    #[inline(always)]
    fn same(&mut self, _: usize, _: usize) {}

    #[inline(always)]
    fn text(&mut self, _: usize, _: &[u8]) {}

    #[inline(always)]
    fn cut(&mut self, _: usize) -> usize {
        0
    }
}

/// Notes origins in a list, as places in the whole input.
pub(crate) struct Noted<'o> {
    pub(crate) list: &'o mut Vec<usize>,
    /// Where in the whole input this call's input begins.
    pub(crate) base: usize,
}

impl Origins for Noted<'_> {
    #[inline(always)]
    fn same(&mut self, at: usize, count: usize) {
        let len = self.list.len() + count;
        self.list.resize(len, self.base + at);
    }

    #[inline(always)]
    fn text(&mut self, at: usize, text: &[u8]) {
        let mut start = self.base + at;
        self.list
            .extend(text.iter().enumerate().map(|(index, byte)| {
                // All bytes of a character come from where it begins.
                if byte & 0xc0 != 0x80 {
                    start = self.base + at + index;
                }
                start
            }));
    }

    fn cut(&mut self, len: usize) -> usize {
        let end = self.list.get(len).map_or(0, |&at| at - self.base);
        self.list.truncate(len);
        end
    }
}

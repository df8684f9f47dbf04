//! Where in the input each byte of normalized text comes from, if anyone wants to know.
//!
//! As in the reference: a byte comes from where the character, rule or symbol that it was made of begins. The
//! text's end comes from the input's end or, where spaces are cut at the end, from where the first of them
//! came from.

/// Notes origins. The one that does not is free of cost.
pub(crate) trait Origins {
    /// `count` more bytes come from the input at `at`, counted from where this call's input begins.
    fn same(&mut self, at: usize, count: usize);

    /// `count` more bytes come from as many bytes of the input, the first at `at`.
    fn run(&mut self, at: usize, count: usize);

    /// Where the end of the text comes from, counted likewise, when the text is cut to `len` bytes.
    fn cut(&mut self, len: usize) -> usize;
}

/// Notes nothing.
pub(crate) struct Unnoted;

impl Origins for Unnoted {
    #[inline(always)]
    fn same(&mut self, _: usize, _: usize) {}

    #[inline(always)]
    fn run(&mut self, _: usize, _: usize) {}

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
    fn run(&mut self, at: usize, count: usize) {
        let start = self.base + at;
        self.list.extend(start..start + count);
    }

    fn cut(&mut self, len: usize) -> usize {
        let end = self.list.get(len).map_or(0, |&at| at - self.base);
        self.list.truncate(len);
        end
    }
}

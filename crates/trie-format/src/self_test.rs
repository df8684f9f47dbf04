//! Texts and the ids that they are known to have, for a reader to try itself on.
//!
//! The section is a list of `u32`s. For each text: its length in bytes, the number of its ids, the ids, and the text,
//! filled up with zeros to a multiple of four bytes.
//!
//! Invariant: walks are checked at every step. What is wrong in here gives a failed self-test and nothing worse.

/// The pairs of a self-test section, in order.
#[derive(Debug, Clone, Copy)]
pub struct SelfTest<'a> {
    words: &'a [u32],
}

impl<'a> SelfTest<'a> {
    pub(crate) fn new(words: &'a [u32]) -> Self {
        Self { words }
    }

    /// Checks that the pairs fill the section exactly. Returns the index of the word at which the first pair begins
    /// that does not fit. One linear pass.
    pub(crate) fn validate(mut self) -> Result<(), usize> {
        let len = self.words.len();
        while !self.words.is_empty() {
            let start = len - self.words.len();
            self.next().ok_or(start)?;
        }
        Ok(())
    }
}

impl<'a> Iterator for SelfTest<'a> {
    /// A text, not necessarily UTF-8, and its ids, without special tokens.
    type Item = (&'a [u8], &'a [u32]);

    fn next(&mut self) -> Option<Self::Item> {
        let (&[text_len, id_count], rest) = self.words.split_first_chunk()?;
        let (ids, rest) = rest.split_at_checked(id_count as usize)?;
        let (text, rest) = rest.split_at_checked((text_len as usize).div_ceil(4))?;
        let text: &[u8] = bytemuck::cast_slice(text);
        self.words = rest;
        Some((text.get(..text_len as usize)?, ids))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_in_order() {
        let words = [
            5,
            2,
            7,
            8,
            u32::from_le_bytes(*b"abcd"),
            u32::from(b'e'),
            0,
            0,
            1,
            0,
            255,
        ];
        let test = SelfTest::new(&words);
        assert_eq!(test.validate(), Ok(()));
        let pairs: [(&[u8], &[u32]); 3] = [(b"abcde", &[7, 8]), (b"", &[]), (b"\xff", &[])];
        assert!(test.eq(pairs));
    }

    #[test]
    fn pairs_that_do_not_fit_are_refused() {
        for (words, at) in [
            (&[0][..], 0),
            (&[0, 1], 0),
            (&[1, 0], 0),
            (&[0, 0, u32::MAX, u32::MAX], 2),
            (&[0, 0, 9, 0, 1, 1], 2),
        ] {
            assert_eq!(SelfTest::new(words).validate(), Err(at), "{words:?}");
        }
    }
}

//! Input that is not UTF-8, made so.

use crate::utf8::valid_len;

/// A copy of an input in which U+FFFD stands for each byte that is not UTF-8.
#[derive(Debug, Default)]
pub(crate) struct Repaired {
    text: String,
    /// Where in the text, in order, a U+FFFD stands for one byte.
    single: Vec<usize>,
}

impl Repaired {
    /// `input` as text, and where a character of three bytes stands for one of its bytes. `tokenizers` takes
    /// no bytes; each one that is not UTF-8 becomes U+FFFD, as in SentencePiece.
    pub(crate) fn text_of<'t>(&'t mut self, input: &'t [u8]) -> (&'t str, &'t [usize]) {
        match std::str::from_utf8(input) {
            Ok(text) => (text, &[]),
            Err(_) => {
                self.repair(input);
                (&self.text, &self.single)
            }
        }
    }

    fn repair(&mut self, input: &[u8]) {
        self.text.clear();
        self.single.clear();
        let mut rest = input;
        while !rest.is_empty() {
            let len = valid_len(rest);
            let (character, after) = rest.split_at(len.unwrap_or(1));
            match std::str::from_utf8(character) {
                Ok(text) => self.text.push_str(text),
                Err(_) => {
                    self.single.push(self.text.len());
                    self.text.push(char::REPLACEMENT_CHARACTER);
                }
            }
            rest = after;
        }
    }

    /// Bytes that the buffers hold.
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.text.capacity() + self.single.capacity() * size_of::<usize>()
    }
}

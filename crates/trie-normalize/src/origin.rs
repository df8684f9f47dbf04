//! Which bytes of a text come from the first character of the input.
//!
//! `Metaspace` with `first` asks of every word whether its offset in the input is 0. `tokenizers` keeps an
//! offset for every byte; offsets never fall, so the bytes with offset 0 are a prefix, and its length says it
//! all. Characters that one became share its offset: of `½` as `1⁄2` each part begins the input.

use std::str::Chars;

/// Follows one transformation of a text, character by character.
#[derive(Debug)]
pub(crate) struct Origin<'t> {
    /// What is still to be replaced of the text before, and where in it that begins.
    rest: Chars<'t>,
    at: usize,
    /// The length of the prefix before.
    before: usize,
    /// The length of the prefix so far.
    after: usize,
}

impl<'t> Origin<'t> {
    /// `before` bytes of `text` come from the first character.
    pub(crate) fn new(text: &'t str, before: usize) -> Self {
        Self {
            rest: text.chars(),
            at: 0,
            before,
            after: 0,
        }
    }

    /// `character` comes next. `change` as in `tokenizers`: 1 is a further character for the one before, 0
    /// replaces a character, -N replaces N + 1.
    #[inline]
    pub(crate) fn push(&mut self, character: char, change: isize) {
        if self.is_done() {
            return;
        }
        let from = if change > 0 {
            self.at.saturating_sub(1)
        } else {
            self.at
        };
        if from < self.before {
            self.after += character.len_utf8();
        }
        if change <= 0 {
            let replaced = self.rest.by_ref().take(change.unsigned_abs() + 1);
            self.at += replaced.map(char::len_utf8).sum::<usize>();
        }
    }

    /// Whether nothing that comes next can belong to the prefix.
    pub(crate) fn is_done(&self) -> bool {
        self.at > self.before
    }

    /// The length of the prefix of the new text.
    pub(crate) fn after(&self) -> usize {
        self.after
    }
}

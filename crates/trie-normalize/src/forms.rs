//! Unicode normalization forms, with the changes that `tokenizers` follows offsets by.
//!
//! Over the tables of `unicode-normalization-alignments`, whose own iterators put more than four characters
//! between two starters on the heap. Invariant: the characters and changes are those iterators'; nothing is
//! allocated once the buffers have grown.

use unicode_normalization_alignments::char::{
    canonical_combining_class, compose, decompose_canonical, decompose_compatible,
};

/// A character and its change: 0 replaces a character of the text before, 1 is a further one for the character
/// before it, -N replaces N + 1.
type Changed = (char, isize);

/// A normalization form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    /// Compatibility decompositions too: NFKC, NFKD.
    pub(crate) compatible: bool,
    /// Composed again: NFC, NFKC.
    pub(crate) composed: bool,
}

/// What the normalization forms work in.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    /// Decomposed characters since the last starter, with their combining classes.
    pending: Vec<(u8, Changed)>,
    composer: Composer,
}

impl Forms {
    /// Bytes that the buffers hold.
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.pending.capacity() * size_of::<(u8, Changed)>()
            + self.composer.after.capacity() * size_of::<Changed>()
    }

    /// Hands `text` in normalization form `form` to `emit`.
    pub(crate) fn write(&mut self, form: Form, text: &str, mut emit: impl FnMut(char, isize)) {
        let Self { pending, composer } = self;
        pending.clear();
        composer.clear();
        let mut ordered = |pending: &mut Vec<(u8, Changed)>| {
            // Stable: within a class the order stays.
            pending.sort_by_key(|(class, _)| *class);
            for (class, changed) in pending.drain(..) {
                if form.composed {
                    composer.push(class, changed, &mut emit);
                } else {
                    emit(changed.0, changed.1);
                }
            }
        };
        for character in text.chars() {
            let mut change = 0;
            let push = |part: char| {
                let class = canonical_combining_class(part);
                if class == 0 {
                    ordered(pending);
                }
                pending.push((class, (part, change)));
                change = 1;
            };
            if form.compatible {
                decompose_compatible(character, push);
            } else {
                decompose_canonical(character, push);
            }
        }
        ordered(pending);
        if form.composed {
            composer.finish(&mut emit);
        }
    }
}

/// Composes a starter with what follows it (Unicode, section 3.11, D117).
#[derive(Debug, Default)]
struct Composer {
    starter: Option<Changed>,
    /// What has not been composed with the starter.
    after: Vec<Changed>,
    /// The class of the last of it.
    last_class: Option<u8>,
}

impl Composer {
    fn clear(&mut self) {
        self.starter = None;
        self.after.clear();
        self.last_class = None;
    }

    fn push(&mut self, class: u8, next: Changed, emit: &mut impl FnMut(char, isize)) {
        let Some(starter) = self.starter else {
            match class {
                0 => self.starter = Some(next),
                _ => emit(next.0, next.1),
            }
            return;
        };
        let is_blocked = self.last_class.is_some_and(|last| last >= class);
        if !is_blocked && let Some(composed) = compose(starter.0, next.0) {
            self.starter = Some((composed, starter.1 + next.1 - 1));
        } else if class == 0 {
            self.finish(emit);
            self.starter = Some(next);
        } else {
            self.after.push(next);
            self.last_class = Some(class);
        }
    }

    /// Hands on the starter and what follows it.
    fn finish(&mut self, emit: &mut impl FnMut(char, isize)) {
        for (character, change) in self.starter.take().into_iter().chain(self.after.drain(..)) {
            emit(character, change);
        }
        self.last_class = None;
    }
}

#[cfg(test)]
mod tests {
    use unicode_normalization_alignments::UnicodeNormalization;

    use super::*;

    fn check(text: &str) {
        let mut forms = Forms::default();
        for compatible in [false, true] {
            for composed in [false, true] {
                let form = Form {
                    compatible,
                    composed,
                };
                let mut found = Vec::new();
                forms.write(form, text, |character, change| {
                    found.push((character, change))
                });
                let expected: Vec<Changed> = match (compatible, composed) {
                    (false, false) => text.nfd().collect(),
                    (false, true) => text.nfc().collect(),
                    (true, false) => text.nfkd().collect(),
                    (true, true) => text.nfkc().collect(),
                };
                assert_eq!(found, expected, "{text:?} {form:?}");
            }
        }
    }

    #[test]
    fn every_character_alone_and_after_another_is_the_librarys() {
        for character in '\0'..=char::MAX {
            check(character.encode_utf8(&mut [0; 4]));
        }
        let marks = [
            '\u{301}', '\u{327}', '\u{309a}', '\u{5b0}', '\u{e38}', '\u{1161}', '\u{11a8}', 'a',
        ];
        for character in ('\0'..='\u{3100}')
            .chain('\u{ac00}'..='\u{ac40}')
            .chain('\u{fb00}'..='\u{fe00}')
        {
            for mark in marks {
                check(&[character, mark].iter().collect::<String>());
                check(
                    &['\u{302}', character, mark, '\u{323}', mark]
                        .iter()
                        .collect::<String>(),
                );
            }
        }
    }

    #[test]
    fn runs_of_marks_in_any_order_are_the_librarys() {
        let alphabet: Vec<char> = "a\u{e9}\u{301}\u{302}\u{323}\u{327}\u{31b}\u{345}\u{fdfa}\u{1100}\u{1161}\u{11a8}\u{ac00}\u{1e0b}\u{34f} "
            .chars()
            .collect();
        let mut state = 1u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.push(alphabet[(state >> 33) as usize % alphabet.len()]);
            }
            check(&text);
        }
    }
}

//! Replacing texts and runs of characters, for normalizers and decoders.

use trie_format::pipeline::CharClass;

use crate::track::{Prefix, Track};

/// What is replaced.
#[derive(Debug, Clone, Copy)]
pub enum Pattern<'a> {
    /// This text.
    Literal(&'a str),
    /// `min` to `max` characters of a class, as many as there are.
    Run {
        /// The class.
        class: CharClass<'a>,
        /// Fewest characters; at least 1.
        min: u32,
        /// Most characters.
        max: u32,
    },
}

/// Calls `found` with the start and end of every occurrence of `literal`, from the left, without overlap.
#[inline]
pub fn for_each_match(text: &str, literal: &str, mut found: impl FnMut(usize, usize)) {
    let mut characters = literal.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        // To set up a search for a text takes longer than to search a word.
        for (start, matched) in text.match_indices(character) {
            found(start, start + matched.len());
        }
        return;
    }
    for (start, matched) in text.match_indices(literal) {
        found(start, start + matched.len());
    }
}

/// Appends `text` to `out`, every occurrence of `pattern` as `content`.
pub fn replace(text: &str, pattern: Pattern<'_>, content: &str, out: &mut String) {
    replace_tracked(text, 0, pattern, content, &mut Prefix::default(), out);
}

/// [`replace`], told to `track`; `text` is at `base` of the text that it follows. A replacement comes from
/// the last character that it replaces.
pub fn replace_tracked<T: Track>(
    text: &str,
    base: usize,
    pattern: Pattern<'_>,
    content: &str,
    track: &mut T,
    out: &mut String,
) {
    let mut copied = 0;
    let mut found = |start: usize, end: usize, out: &mut String| {
        out.push_str(&text[copied..start]);
        track.copy(base + copied, base + start);
        out.push_str(content);
        track.push((base + end).saturating_sub(1), content.len());
        copied = end;
    };
    match pattern {
        Pattern::Literal(literal) => {
            for_each_match(text, literal, |start, end| found(start, end, out));
        }
        Pattern::Run { class, min, max } => {
            let mut run = (0, 0u32);
            for (at, character) in text.char_indices() {
                if class.contains(character) {
                    if run.1 == 0 {
                        run.0 = at;
                    }
                    run.1 += 1;
                    if run.1 == max {
                        found(run.0, at + character.len_utf8(), out);
                        run.1 = 0;
                    }
                } else {
                    if run.1 >= min {
                        found(run.0, at, out);
                    }
                    run.1 = 0;
                }
            }
            if run.1 >= min {
                found(run.0, text.len(), out);
            }
        }
    }
    out.push_str(&text[copied..]);
    track.copy(base + copied, base + text.len());
}

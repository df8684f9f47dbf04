//! Character classes as `tokenizers` sees them, each from the source that it uses.

use trie_format::pipeline::CharRange;
use unicode_categories::UnicodeCategories;

/// A class that a step needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// `char::is_whitespace`.
    Whitespace,
    /// `char::is_numeric`.
    Numeric,
    /// ASCII punctuation and the general categories P*.
    Punctuation,
    /// `\w` of the regex crate.
    Word,
    /// `\s` of the regex crate.
    RegexSpace,
}

impl Class {
    /// The class as sorted, disjoint ranges.
    pub(crate) fn ranges(self) -> Vec<CharRange> {
        match self {
            Self::Whitespace => ranges_where(char::is_whitespace),
            Self::Numeric => ranges_where(char::is_numeric),
            Self::Punctuation => ranges_where(|c| c.is_ascii_punctuation() || c.is_punctuation()),
            Self::Word => regex_class(r"\w"),
            Self::RegexSpace => regex_class(r"\s"),
        }
    }
}

/// The characters that `wanted` holds for.
fn ranges_where(wanted: impl Fn(char) -> bool) -> Vec<CharRange> {
    let mut ranges: Vec<CharRange> = Vec::new();
    for character in ('\0'..=char::MAX).filter(|&c| wanted(c)) {
        let code = u32::from(character);
        match ranges.last_mut() {
            Some(range) if range.last + 1 == code => range.last = code,
            _ => ranges.push(CharRange {
                first: code,
                last: code,
            }),
        }
    }
    ranges
}

/// The class that a regular expression of one class stands for; empty if it is none.
fn regex_class(expression: &str) -> Vec<CharRange> {
    use regex_syntax::hir::{Class as HirClass, HirKind};
    let hir = regex_syntax::parse(expression).ok();
    match hir.as_ref().map(|hir| hir.kind()) {
        Some(HirKind::Class(HirClass::Unicode(class))) => class
            .ranges()
            .iter()
            .map(|range| CharRange {
                first: u32::from(range.start()),
                last: u32::from(range.end()),
            })
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_they_should() {
        let holds = |class: Class, character: char| {
            let code = u32::from(character);
            class
                .ranges()
                .iter()
                .any(|range| (range.first..=range.last).contains(&code))
        };
        assert!(holds(Class::Word, 'é') && holds(Class::Word, '_') && !holds(Class::Word, '-'));
        assert!(holds(Class::RegexSpace, '\u{3000}') && !holds(Class::RegexSpace, 'a'));
        assert!(holds(Class::Whitespace, '\u{85}') && !holds(Class::Whitespace, '\u{200b}'));
        assert!(holds(Class::Numeric, '½') && holds(Class::Punctuation, '。'));
        assert!(holds(Class::Punctuation, '$'));
    }
}

//! Character-local normalizers: what one character becomes, whatever stands next to it.
//!
//! A chain of them becomes one table of character rules, so that the runtime runs one step for all.

use unicode_categories::UnicodeCategories;
use unicode_normalization_alignments::char::is_combining_mark;

/// A normalizer that looks at one character at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Local {
    Nmt,
    Lowercase,
    /// `StripAccents`: drops combining marks.
    StripAccents,
    /// `BertNormalizer`: drops controls, makes white space spaces.
    BertCleanText,
    /// `BertNormalizer`: puts spaces around Chinese characters.
    BertChineseChars,
    /// `BertNormalizer`: drops nonspacing marks.
    BertStripMarks,
}

impl Local {
    fn push(self, character: char, out: &mut String) {
        match self {
            Self::Nmt => out.extend(nmt(character)),
            Self::Lowercase => out.extend(character.to_lowercase()),
            Self::StripAccents => out.extend((!is_combining_mark(character)).then_some(character)),
            Self::BertCleanText => out.extend(bert_clean(character)),
            Self::BertChineseChars if is_chinese(character) => {
                out.extend([' ', character, ' ']);
            }
            Self::BertChineseChars => out.push(character),
            Self::BertStripMarks => {
                out.extend((!character.is_mark_nonspacing()).then_some(character));
            }
        }
    }
}

/// The characters that `chain` changes, in order, with what they become.
pub(crate) fn rules(chain: &[Local]) -> Vec<(char, String)> {
    let mut text = String::new();
    let mut next = String::new();
    let mut rules = Vec::new();
    for character in '\0'..=char::MAX {
        text.clear();
        text.push(character);
        for local in chain {
            next.clear();
            text.chars().for_each(|c| local.push(c, &mut next));
            std::mem::swap(&mut text, &mut next);
        }
        if !text.chars().eq([character]) {
            rules.push((character, text.clone()));
        }
    }
    rules
}

/// The rules of neural machine translation, as `tokenizers` has them.
fn nmt(character: char) -> Option<char> {
    match u32::from(character) {
        0x01..=0x08 | 0x0b | 0x0e..=0x1f | 0x7f | 0x8f | 0x9f => None,
        0x09
        | 0x0a
        | 0x0c
        | 0x0d
        | 0x1680
        | 0x200b..=0x200f
        | 0x2028
        | 0x2029
        | 0x2581
        | 0xfeff
        | 0xfffd => Some(' '),
        _ => Some(character),
    }
}

fn bert_clean(character: char) -> Option<char> {
    match character {
        '\t' | '\n' | '\r' => Some(' '),
        '\0' | '\u{fffd}' => None,
        c if c.is_other() => None,
        c if c.is_whitespace() => Some(' '),
        c => Some(c),
    }
}

/// The CJK blocks that BERT's tokenizer treats as words of one character.
fn is_chinese(character: char) -> bool {
    matches!(
        u32::from(character),
        0x4e00..=0x9fff
            | 0x3400..=0x4dbf
            | 0x20000..=0x2a6df
            | 0x2a700..=0x2b73f
            | 0x2b740..=0x2b81f
            | 0x2b920..=0x2ceaf
            | 0xf900..=0xfaff
            | 0x2f800..=0x2fa1f
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_become_one_table() {
        let rules = rules(&[Local::Nmt, Local::Lowercase]);
        let becomes = |character: char| {
            let at = rules.binary_search_by_key(&character, |rule| rule.0).ok()?;
            Some(rules[at].1.as_str())
        };
        assert_eq!(becomes('A'), Some("a"));
        assert_eq!(becomes('a'), None);
        assert_eq!(becomes('\t'), Some(" "));
        assert_eq!(becomes('\u{1}'), Some(""));
        assert_eq!(becomes('İ'), Some("i\u{307}"));
    }
}

//! Characters that normalization leaves as they are, so that the runtime need not look at the rules.
//!
//! Invariant: a set bit is a promise: see "Plain characters" in `FORMAT.md`.

use trie_format::{CharsmapView, PLAIN_WORDS};

use crate::trie::Key;

/// The plain-chars section of a normalizer with these rules and symbols (sorted by text).
pub(crate) fn plain_chars(charsmap: Option<CharsmapView<'_>>, symbols: &[Key<'_>]) -> Vec<u64> {
    let mut words = vec![0u64; PLAIN_WORDS];
    let bmp = ('\0'..='\u{ffff}').filter(|&character| is_plain(character, charsmap, symbols));
    for character in bmp {
        let code = u32::from(character) as usize;
        if let Some(word) = words.get_mut(code / 64) {
            *word |= 1 << (code % 64);
        }
    }
    words
}

fn is_plain(character: char, charsmap: Option<CharsmapView<'_>>, symbols: &[Key<'_>]) -> bool {
    let mut buffer = [0; 4];
    let bytes = character.encode_utf8(&mut buffer).as_bytes();
    if meets_symbol(bytes, symbols) {
        return false;
    }
    let Some(charsmap) = charsmap else {
        return true;
    };
    if charsmap.longest_match(bytes).is_some() {
        return false;
    }
    match bytes {
        // A rule may well begin with it, but not go on in ASCII.
        [first] => (0..0x80).all(|second| !charsmap.may_begin_with(&[*first, second])),
        _ => !charsmap.may_begin_with(bytes),
    }
}

/// Whether one of `symbols`, which are sorted, begins with `bytes` or is what `bytes` begin with.
fn meets_symbol(bytes: &[u8], symbols: &[Key<'_>]) -> bool {
    let find = |text: &[u8]| symbols.partition_point(|symbol| symbol.text < text);
    let begins = symbols
        .get(find(bytes))
        .is_some_and(|symbol| symbol.text.starts_with(bytes));
    let is_part = |len: usize| {
        let part = bytes.get(..len).unwrap_or_default();
        symbols
            .get(find(part))
            .is_some_and(|symbol| symbol.text == part)
    };
    begins || (1..bytes.len()).any(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &[u8]) -> Key<'_> {
        Key {
            text,
            id: 0,
            score: 0.0,
            score64: 0.0,
        }
    }

    #[test]
    fn what_begins_a_symbol_is_not_plain() {
        let symbols = [key(b"ab"), key("\u{e9}x".as_bytes()), key(b"\xe0")];
        assert!(symbols.is_sorted_by(|a, b| a.text < b.text));
        let words = plain_chars(None, &symbols);
        let has = |character: char| {
            let code = u32::from(character) as usize;
            words[code / 64] >> (code % 64) & 1 != 0
        };
        assert!(has('b') && has(' ') && has('\u{e8}') && has('\u{1000}') && has('\u{ffff}'));
        assert!(!has('a') && !has('\u{e9}') && !has('\u{800}') && !has('\u{fff}'));
    }

    #[test]
    fn surrogates_are_no_characters() {
        let words = plain_chars(None, &[]);
        assert_eq!(words[0xd800 / 64], 0);
        assert_eq!(words[0xdfff / 64], 0);
        assert_eq!(words[0], u64::MAX);
    }
}

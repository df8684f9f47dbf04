//! Characters that normalization leaves as they are, so that the runtime need not look at the rules.
//!
//! Invariant: a set bit is a promise: see "Plain characters" in `FORMAT.md`.

use trie_format::{CharsmapView, PlainChars};

use crate::trie::Key;

/// The plain-chars section of a normalizer with these rules and symbols (sorted by text).
pub(crate) fn plain_chars(charsmap: Option<CharsmapView<'_>>, symbols: &[Key<'_>]) -> PlainChars {
    let mut chars = PlainChars::NONE;
    let mut following = Vec::new();
    for character in '\0'..='\u{ffff}' {
        let mut buffer = [0; 4];
        let bytes = character.encode_utf8(&mut buffer).as_bytes();
        if meets_symbol(bytes, symbols) {
            continue;
        }
        following.clear();
        let is_plain = charsmap.is_none_or(|charsmap| {
            charsmap.longest_match(bytes).is_none() && follow(charsmap, bytes, &mut following)
        });
        if is_plain {
            set(&mut chars.plain, character);
            following
                .iter()
                .for_each(|&next| set(&mut chars.followers, next));
        }
    }
    for (plain, followers) in chars.plain.iter_mut().zip(chars.followers) {
        *plain &= !followers;
    }
    chars
}

/// Sets the bit of a character.
fn set(words: &mut [u64], character: char) {
    let code = u32::from(character) as usize;
    // Characters beyond the bits are taken for followers anyway.
    if let Some(word) = words.get_mut(code / 64) {
        *word |= 1 << (code % 64);
    }
}

/// Puts the characters that keys go on with after `start` into `following`; false if some key does not go on
/// with a whole character.
fn follow(charsmap: CharsmapView<'_>, start: &[u8], following: &mut Vec<char>) -> bool {
    if !charsmap.may_begin_with(start) {
        return true;
    }
    let mut text = start.to_vec();
    extend(charsmap, start.len(), &mut text, following)
}

/// [`follow`], where `text` is the start and less than a character more.
fn extend(
    charsmap: CharsmapView<'_>,
    start: usize,
    text: &mut Vec<u8>,
    following: &mut Vec<char>,
) -> bool {
    for byte in 0..=u8::MAX {
        text.push(byte);
        let goes_on = charsmap.may_begin_with(text);
        let is_whole = goes_on
            && match std::str::from_utf8(&text[start..]) {
                Ok(next) => {
                    following.extend(next.chars());
                    true
                }
                Err(error) => {
                    // A key that ends inside a character, or is none, is for the rules alone.
                    let is_key = charsmap
                        .longest_match(text)
                        .is_some_and(|(len, _)| len == text.len());
                    error.error_len().is_none()
                        && !is_key
                        && extend(charsmap, start, text, following)
                }
            };
        text.pop();
        if goes_on && !is_whole {
            return false;
        }
    }
    true
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
        let chars = plain_chars(None, &symbols);
        let has = |code: u16| chars.is_plain(code);
        assert!(has(b'b'.into()) && has(b' '.into()) && has(0xe8) && has(0x1000) && has(0xffff));
        assert!(!has(b'a'.into()) && !has(0xe9) && !has(0x800) && !has(0xfff));
    }

    #[test]
    fn surrogates_are_no_characters() {
        let chars = plain_chars(None, &[]);
        assert!(!chars.is_plain(0xd800) && !chars.is_plain(0xdfff));
        assert_eq!(chars.plain[0], u64::MAX);
    }
}

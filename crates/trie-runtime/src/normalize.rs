//! Normalization as SentencePiece does it (`normalizer.cc`): at each position a user-defined symbol is
//! kept as it is, else the longest rule is applied, else one character is copied; then the whitespace
//! switches.
//!
//! Invariant: the output depends on the input's bytes alone; an invalid byte becomes one U+FFFD, which
//! is not looked up again.

use trie_format::{CharsmapView, NormalizerFlags, ValidImage};

use crate::trie::Trie;
use crate::utf8::valid_len;

const SPACE_SYMBOL: &[u8] = "\u{2581}".as_bytes();
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// The reference looks at no more than this many symbols at a position.
const MAX_SYMBOL_MATCHES: usize = 64;

/// Rules and switches of an image's normalizer or denormalizer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Normalizer<'a> {
    charsmap: Option<CharsmapView<'a>>,
    symbols: Option<Trie<'a>>,
    flags: NormalizerFlags,
}

impl<'a> Normalizer<'a> {
    pub(crate) fn new(image: &ValidImage<'a>) -> Self {
        Self {
            charsmap: image.charsmap(),
            symbols: Trie::symbols(image),
            flags: (&image.metadata().normalizer).into(),
        }
    }

    /// The denormalizer, if the model has one.
    pub(crate) fn denormalizer(image: &ValidImage<'a>) -> Option<Self> {
        Some(Self {
            charsmap: Some(image.denormalizer()?),
            symbols: None,
            flags: (&image.metadata().denormalizer).into(),
        })
    }

    /// Normalizes `input` into `out`, replacing what was there.
    pub(crate) fn normalize(&self, input: &[u8], out: &mut Vec<u8>) {
        out.clear();
        let mut rest = input;
        let flags = self.flags;
        if flags.remove_extra_whitespaces {
            while !rest.is_empty() {
                let (text, consumed) = self.prefix(rest);
                if text != b" " {
                    break;
                }
                rest = &rest[consumed..];
            }
        }
        if rest.is_empty() {
            return;
        }
        let space = if flags.escape_whitespaces {
            SPACE_SYMBOL
        } else {
            b" "
        };
        if flags.add_dummy_prefix && !flags.whitespace_as_suffix {
            out.extend_from_slice(space);
        }
        let mut after_space = flags.remove_extra_whitespaces;
        while !rest.is_empty() {
            let (mut text, consumed) = self.prefix(rest);
            rest = &rest[consumed..];
            if after_space {
                text = text.trim_prefix_spaces();
            }
            let Some(&last) = text.last() else { continue };
            push_with_spaces(text, space, out);
            after_space = flags.remove_extra_whitespaces && last == b' ';
        }
        if flags.remove_extra_whitespaces {
            while out.ends_with(space) {
                out.truncate(out.len() - space.len());
            }
        }
        if flags.add_dummy_prefix && flags.whitespace_as_suffix {
            out.extend_from_slice(space);
        }
    }

    /// What the beginning of `input`, which is not empty, becomes, and how many bytes that covers.
    #[inline(always)]
    fn prefix<'t>(&self, input: &'t [u8]) -> (&'t [u8], usize)
    where
        'a: 't,
    {
        if let Some(len) = self
            .symbols
            .and_then(|symbols| longest_symbol(symbols, input))
        {
            return (&input[..len], len);
        }
        if let Some((len, text)) = self.charsmap.and_then(|map| map.longest_match(input)) {
            return (text, len);
        }
        match valid_len(input) {
            Some(len) => (&input[..len], len),
            None => (REPLACEMENT, 1),
        }
    }
}

fn longest_symbol(symbols: Trie<'_>, input: &[u8]) -> Option<usize> {
    let mut matches = 0;
    let mut longest = None;
    symbols.prefixes(input, |len, _| {
        if matches < MAX_SYMBOL_MATCHES {
            longest = Some(len);
        }
        matches += 1;
    });
    longest
}

/// Appends `text`, each space as `space`.
#[inline(always)]
fn push_with_spaces(text: &[u8], space: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        if byte == b' ' {
            out.extend_from_slice(space);
        } else {
            out.push(byte);
        }
    }
}

trait TrimSpaces {
    fn trim_prefix_spaces(&self) -> &Self;
}

impl TrimSpaces for [u8] {
    /// Without the spaces (U+0020) that it begins with.
    fn trim_prefix_spaces(&self) -> &Self {
        let spaces = self.iter().take_while(|&&byte| byte == b' ').count();
        &self[spaces..]
    }
}

//! Normalization as SentencePiece does it (`normalizer.cc`): at each position a user-defined symbol is
//! kept as it is, else the longest rule is applied, else one character is copied; then the whitespace
//! switches.
//!
//! Invariant: the output depends on the input's bytes alone; an invalid byte becomes one U+FFFD, which
//! is not looked up again.

use trie_format::parts::PartKey;
use trie_format::{CharsmapView, NormalizerFlags, ValidImage};

use crate::ids::Below;
use crate::origins::{Origins, Unnoted};
use crate::plain::Plain;
use crate::trie::Trie;
use crate::utf8::{is_cut, valid_len};

const SPACE_SYMBOL_BYTES: [u8; 3] = PartKey::SPACE;
const SPACE_SYMBOL: &[u8] = &SPACE_SYMBOL_BYTES;
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// The reference looks at no more than this many symbols at a position.
const MAX_SYMBOL_MATCHES: usize = 64;

/// How far a text has been normalized.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Progress {
    /// Whether spaces at the beginning are behind.
    begun: bool,
    /// Whether spaces that follow are dropped.
    after_space: bool,
}

impl Progress {
    /// Before the first byte.
    pub(crate) fn new() -> Self {
        Self::default()
    }
}

/// Rules and switches of an image's normalizer or denormalizer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Normalizer<'a> {
    charsmap: Option<CharsmapView<'a>>,
    symbols: Option<Trie<'a, Below>>,
    flags: NormalizerFlags,
    plain: Plain<'a>,
}

impl<'a> Normalizer<'a> {
    /// The image's normalizer.
    pub(crate) fn new(image: &ValidImage<'a>) -> Self {
        Self {
            charsmap: image.charsmap(),
            symbols: Trie::symbols(image),
            flags: (&image.metadata().normalizer).into(),
            plain: Plain::new(image),
        }
    }

    /// The image's normalizer, which looks at the rules for every character.
    pub(crate) fn by_rules(image: &ValidImage<'a>) -> Self {
        Self {
            plain: Plain::NONE,
            ..Self::new(image)
        }
    }

    /// The denormalizer, if the model has one.
    pub(crate) fn denormalizer(image: &ValidImage<'a>) -> Option<Self> {
        Some(Self {
            charsmap: Some(image.denormalizer()?),
            symbols: None,
            flags: (&image.metadata().denormalizer).into(),
            plain: Plain::NONE,
        })
    }

    /// Normalizes `input` into `out`, replacing what was there.
    pub(crate) fn normalize(&self, input: &[u8], out: &mut Vec<u8>) {
        out.clear();
        let mut progress = Progress::new();
        self.advance::<true>(input, &mut progress, out, &mut Unnoted);
        self.finish(0, progress, out, &mut Unnoted);
    }

    /// Appends to `out` what `input`, the next of a text, becomes, as far as what follows cannot matter; to its
    /// end, if it is the `LAST` of the text. Returns how many bytes that covers: the next input begins there.
    ///
    /// Spaces at the end, and U+2581, may still be dropped: see [`Normalizer::finish`].
    #[inline(always)]
    pub(crate) fn advance<const LAST: bool>(
        &self,
        input: &[u8],
        progress: &mut Progress,
        out: &mut Vec<u8>,
        origins: &mut impl Origins,
    ) -> usize {
        let mut rest = input;
        let flags = self.flags;
        let space = self.space();
        let at = |rest: &[u8]| input.len() - rest.len();
        if !progress.begun {
            loop {
                if rest.is_empty() || (!LAST && self.needs_more(rest)) {
                    return at(rest);
                }
                if !flags.remove_extra_whitespaces {
                    break;
                }
                let (text, consumed) = self.prefix(rest);
                if text != b" " {
                    break;
                }
                rest = &rest[consumed..];
            }
            progress.begun = true;
            progress.after_space = flags.remove_extra_whitespaces;
            if flags.add_dummy_prefix && !flags.whitespace_as_suffix {
                origins.same(at(rest), space.len());
                out.extend_from_slice(space);
            }
        }
        let mut after_space = progress.after_space;
        while let Some(first) = rest.first() {
            if first.is_ascii_graphic() && self.plain.has_words() {
                let start = at(rest);
                let len = self.plain.words_len(rest, |from, bytes, len, is_word| {
                    origins.text(start + from, bytes.get(..len).unwrap_or_default());
                    let end = out.len() + len;
                    // A copy of a fixed length is two instructions.
                    out.extend_from_slice(bytes);
                    out.truncate(end);
                    if len > 0 {
                        after_space = is_word && flags.remove_extra_whitespaces;
                    }
                    if is_word {
                        origins.same(start + from + len, space.len());
                        self.push_space(out);
                    }
                });
                rest = &rest[len..];
            }
            let plain = self.plain.run_len::<LAST>(rest);
            if plain > 0 {
                origins.text(at(rest), rest.get(..plain).unwrap_or_default());
                push_run(rest, plain, out);
                rest = &rest[plain..];
                after_space = false;
            }
            if self.plain.begins_with_space::<LAST>(rest) {
                if !after_space {
                    origins.same(at(rest), space.len());
                    self.push_space(out);
                }
                rest = &rest[1..];
                after_space = flags.remove_extra_whitespaces;
                continue;
            }
            if plain > 0 {
                continue;
            }
            if !LAST && self.needs_more(rest) {
                break;
            }
            let (mut text, consumed) = self.prefix(rest);
            let origin = at(rest);
            rest = &rest[consumed..];
            if after_space {
                text = text.trim_prefix_spaces();
            }
            let Some(&last) = text.last() else { continue };
            let before = out.len();
            push_with_spaces(text, space, out);
            origins.same(origin, out.len() - before);
            after_space = flags.remove_extra_whitespaces && last == b' ';
        }
        progress.after_space = after_space;
        at(rest)
    }

    /// Ends the text, all of whose input has been through [`Normalizer::advance`]: spaces at its end, a suffix.
    /// Returns where the text's end comes from; the input's end is at `end`.
    pub(crate) fn finish(
        &self,
        mut end: usize,
        progress: Progress,
        out: &mut Vec<u8>,
        origins: &mut impl Origins,
    ) -> usize {
        if !progress.begun {
            return end;
        }
        let space = self.space();
        if self.flags.remove_extra_whitespaces {
            while out.ends_with(space) {
                out.truncate(out.len() - space.len());
                end = origins.cut(out.len());
            }
        }
        if self.flags.add_dummy_prefix && self.flags.whitespace_as_suffix {
            origins.same(end, space.len());
            out.extend_from_slice(space);
        }
        end
    }

    /// Whether spaces at the end of the text are dropped.
    pub(crate) fn drops_spaces(&self) -> bool {
        self.flags.remove_extra_whitespaces
    }

    /// What a space becomes.
    pub(crate) fn space(&self) -> &'static [u8] {
        if self.flags.escape_whitespaces {
            SPACE_SYMBOL
        } else {
            b" "
        }
    }

    /// Appends [`Normalizer::space`].
    #[inline(always)]
    fn push_space(&self, out: &mut Vec<u8>) {
        // Pushing what is of a fixed length is no call.
        if self.flags.escape_whitespaces {
            out.extend_from_slice(&SPACE_SYMBOL_BYTES);
        } else {
            out.push(b' ');
        }
    }

    /// Whether what follows `input` may matter to what its beginning becomes.
    #[inline(always)]
    fn needs_more(&self, input: &[u8]) -> bool {
        is_cut(input)
            || self.symbols.is_some_and(|symbols| symbols.may_go_on(input))
            || self.charsmap.is_some_and(|map| map.may_begin_with(input))
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

fn longest_symbol(symbols: Trie<'_, Below>, input: &[u8]) -> Option<usize> {
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

/// Appends the first `len` bytes of `text`, which are mostly a word.
#[inline(always)]
fn push_run(text: &[u8], len: usize, out: &mut Vec<u8>) {
    match text.first_chunk::<32>() {
        // A copy of a fixed length is two instructions, another one a call.
        Some(window) if len <= window.len() => {
            let end = out.len() + len;
            out.extend_from_slice(window);
            out.truncate(end);
        }
        _ => out.extend_from_slice(text.get(..len).unwrap_or_default()),
    }
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

//! Decoder steps, tokens to text.

use std::borrow::Cow;

use trie_format::pipeline::{Step, StepKind};
use trie_format::{PieceType, PipelineView, ValidImage};

use crate::error::DecodeError;
use crate::options::DecodeOptions;

use trie_normalize::{Pattern, pattern_of, replace, str_of};

/// A list of token texts in one buffer.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) text: String,
    /// Where each token ends in `text`.
    pub(super) ends: Vec<usize>,
}

impl Tokens {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub(super) fn push(&mut self, token: &str) {
        self.text.push_str(token);
        self.ends.push(self.text.len());
    }

    /// Pushes `token` with every occurrence of `pattern` as `content`.
    fn push_replaced(&mut self, token: &str, pattern: Pattern<'_>, content: &str) {
        replace(token, pattern, content, &mut self.text);
        self.ends.push(self.text.len());
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.text[start..end])
    }
}

/// The token text of `id`; `None` for a special one, if those are skipped.
pub(super) fn token_text<'a>(
    image: &ValidImage<'a>,
    id: u32,
    options: &DecodeOptions,
) -> Result<Option<Cow<'a, str>>, DecodeError> {
    let pieces = image.pieces();
    let text = pieces.text(id).ok_or(DecodeError::UnknownId {
        id,
        count: pieces.len(),
    })?;
    let is_special = pieces.piece_type(id) == Some(PieceType::Control);
    let is_skipped = options.skip_special_tokens && is_special;
    Ok((!is_skipped).then(|| String::from_utf8_lossy(text)))
}

/// What decoding works in.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// The tokens at hand, and those that a step is writing.
    tokens: Tokens,
    next: Tokens,
    /// A run of byte tokens.
    bytes: Vec<u8>,
}

impl Lists {
    pub(super) fn allocated_bytes(&self) -> usize {
        let ends = self.tokens.ends.capacity() + self.next.ends.capacity();
        self.tokens.text.capacity()
            + self.next.text.capacity()
            + self.bytes.capacity()
            + ends * size_of::<usize>()
    }
}

/// The text of `ids` in `out`.
pub(crate) fn decode_ids<'o>(
    image: &ValidImage<'_>,
    pipeline: &PipelineView<'_>,
    ids: &[u32],
    options: &DecodeOptions,
    lists: &mut Lists,
    out: &'o mut Vec<u8>,
) -> Result<&'o [u8], DecodeError> {
    lists.tokens.clear();
    for &id in ids {
        if let Some(token) = token_text(image, id, options)? {
            lists.tokens.push(&token);
        }
    }
    Ok(decode(pipeline, lists, out))
}

/// The text of tokens in `out`.
pub(crate) fn decode_pieces<'o, Piece: AsRef<[u8]>>(
    pipeline: &PipelineView<'_>,
    pieces: impl IntoIterator<Item = Piece>,
    lists: &mut Lists,
    out: &'o mut Vec<u8>,
) -> &'o [u8] {
    lists.tokens.clear();
    for piece in pieces {
        lists.tokens.push(&String::from_utf8_lossy(piece.as_ref()));
    }
    decode(pipeline, lists, out)
}

/// Puts into `out` what the decoder steps make of the tokens at hand. Without a decoder, they are joined by
/// spaces.
fn decode<'o>(pipeline: &PipelineView<'_>, lists: &mut Lists, out: &'o mut Vec<u8>) -> &'o [u8] {
    out.clear();
    let Lists {
        tokens,
        next,
        bytes,
    } = lists;
    let mut decoded = false;
    for step in pipeline.steps() {
        next.clear();
        if decode_step(pipeline, step, tokens, next, bytes) {
            decoded = true;
            std::mem::swap(tokens, next);
        }
    }
    // After an odd number of steps they have changed places: the next list finds both as large.
    next.clear();
    next.text.reserve_exact(tokens.text.capacity());
    next.ends.reserve_exact(tokens.ends.capacity());
    for (i, token) in tokens.iter().enumerate() {
        if i > 0 && !decoded {
            out.push(b' ');
        }
        out.extend_from_slice(token.as_bytes());
    }
    out
}

/// Puts the tokens after `step` into `next`, if it is a decoder step.
fn decode_step(
    pipeline: &PipelineView<'_>,
    step: &Step,
    tokens: &Tokens,
    next: &mut Tokens,
    bytes: &mut Vec<u8>,
) -> bool {
    let text = str_of(pipeline.step_text(step));
    match StepKind::from_number(step.kind) {
        Some(StepKind::DecodeMetaspace) => {
            for (i, token) in tokens.iter().enumerate() {
                let space = if i == 0 && step.flags != 2 { "" } else { " " };
                next.push_replaced(token, Pattern::Literal(text), space);
            }
        }
        Some(StepKind::DecodeReplaceLiteral | StepKind::DecodeReplaceRun) => {
            for token in tokens.iter() {
                next.push_replaced(token, pattern_of(pipeline, step), text);
            }
        }
        Some(StepKind::DecodeStrip) => {
            for token in tokens.iter() {
                next.push(strip(token, text, step.n[0], step.n[1]));
            }
        }
        Some(StepKind::DecodeByteFallback) => byte_fallback(tokens, next, bytes),
        Some(StepKind::DecodeFuse) => next.push(&tokens.text),
        _ => return false,
    }
    true
}

/// Strips `content` up to `start` times from the beginning and up to `stop` times from the end of what the
/// token was at first (`Strip` in `tokenizers`).
pub(super) fn strip<'t>(token: &'t str, content: &str, start: u32, stop: u32) -> &'t str {
    let mut from = 0;
    for _ in 0..start {
        match token[from..].strip_prefix(content) {
            Some(_) => from += content.len(),
            None => break,
        }
    }
    let mut to = token.len();
    for _ in 0..stop {
        match token[..to].strip_suffix(content) {
            Some(_) => to -= content.len(),
            None => break,
        }
    }
    token.get(from..to).unwrap_or_default()
}

/// The byte that a token `<0xHH>` names.
pub(super) fn byte_of(token: &str) -> Option<u8> {
    let hex = token.strip_prefix("<0x")?.strip_suffix('>')?;
    // The reference too takes `+5` for a number.
    (hex.len() == 2)
        .then(|| u8::from_str_radix(hex, 16).ok())
        .flatten()
}

/// Runs of byte tokens become one token of their text, or one U+FFFD for each byte if they are no UTF-8.
fn byte_fallback(tokens: &Tokens, next: &mut Tokens, bytes: &mut Vec<u8>) {
    bytes.clear();
    let flush = |bytes: &mut Vec<u8>, next: &mut Tokens| {
        match std::str::from_utf8(bytes) {
            Ok("") => {}
            Ok(text) => next.push(text),
            Err(_) => bytes.iter().for_each(|_| next.push("\u{fffd}")),
        }
        bytes.clear();
    };
    for token in tokens.iter() {
        match byte_of(token) {
            Some(byte) => bytes.push(byte),
            None => {
                flush(bytes, next);
                next.push(token);
            }
        }
    }
    flush(bytes, next);
}

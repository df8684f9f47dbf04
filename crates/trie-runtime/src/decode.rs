//! From ids back to text, as SentencePiece does it (`DecodeOptimized` in `sentencepiece_processor.cc`).

use trie_format::{ArchivedReference, NormalizerFlags, PieceType, ValidImage};

use crate::error::DecodeError;
use crate::utf8::valid_len;

const SPACE_SYMBOL: &[u8] = "\u{2581}".as_bytes();
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// Builds text from pieces, one at a time.
pub(crate) struct Decoder<'a, 'o> {
    image: ValidImage<'a>,
    flags: NormalizerFlags,
    out: &'o mut Vec<u8>,
    state: DecoderState,
}

/// What a decoder remembers of the pieces before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecoderState {
    /// Where in the text the bytes of byte pieces begin that may be the beginning of a character.
    bytes_from: Option<usize>,
    /// Whether a leading space symbol would be the dummy prefix.
    at_start: bool,
}

impl DecoderState {
    /// Before the first piece.
    pub(crate) fn new() -> Self {
        Self {
            bytes_from: None,
            at_start: true,
        }
    }

    /// The first `len` bytes of the text, which are final, are taken away.
    pub(crate) fn take(&mut self, len: usize) {
        self.at_start &= len == 0;
        self.bytes_from = self.bytes_from.map(|from| from.saturating_sub(len));
    }
}

impl<'a, 'o> Decoder<'a, 'o> {
    /// A decoder that replaces what is in `out`.
    pub(crate) fn new(image: ValidImage<'a>, out: &'o mut Vec<u8>) -> Self {
        out.clear();
        Self::resume(image, out, DecoderState::new())
    }

    /// A decoder that goes on where another one was, with its text and state.
    pub(crate) fn resume(image: ValidImage<'a>, out: &'o mut Vec<u8>, state: DecoderState) -> Self {
        Self {
            flags: (&image.metadata().normalizer).into(),
            image,
            out,
            state,
        }
    }

    /// Appends what `id` stands for.
    pub(crate) fn push_id(&mut self, id: u32) -> Result<(), DecodeError> {
        let pieces = self.image.pieces();
        let Some(text) = pieces.text(id) else {
            return Err(DecodeError::UnknownId {
                id,
                count: pieces.len(),
            });
        };
        // The older reference looks the text up again: a reserved piece hides an ordinary one of its name.
        let hidden_by = (self.image.metadata().reference == ArchivedReference::SentencePiece021)
            .then(|| pieces.find_named(text, true))
            .flatten();
        self.push_piece(text, hidden_by.or(Some(id)));
        Ok(())
    }

    /// Appends what the piece `text` with this id stands for; a text that is no piece stands for itself.
    pub(crate) fn push_piece(&mut self, text: &[u8], id: Option<u32>) {
        let pieces = self.image.pieces();
        let piece_type = id.and_then(|id| pieces.piece_type(id));
        let is_named = id.and_then(|id| pieces.text(id)) == Some(text);
        self.push(text, piece_type.unwrap_or(PieceType::Unknown), is_named);
    }

    fn push(&mut self, text: &[u8], piece_type: PieceType, is_named: bool) {
        if piece_type == PieceType::Byte
            && let Some(byte) = byte_of(text)
        {
            self.push_byte(byte);
            return;
        }
        self.flush_bytes();
        self.state.at_start &= self.out.is_empty();
        if piece_type == PieceType::Control {
            return;
        }
        let mut shown = text;
        let mut dummy_seen = false;
        if self.state.at_start
            && (self.flags.add_dummy_prefix || self.flags.remove_extra_whitespaces)
            && let Some(stripped) = text.strip_prefix(SPACE_SYMBOL)
        {
            shown = stripped;
            // With extra whitespace removed, every leading space goes, not just the first.
            dummy_seen = !self.flags.remove_extra_whitespaces;
        }
        if piece_type == PieceType::Unknown {
            let surface = self.image.text(&self.image.metadata().unk_surface);
            self.out.extend_from_slice(match surface {
                Some(surface) if is_named => surface,
                _ => text,
            });
        } else {
            push_unescaped(shown, self.out);
        }
        self.state.at_start &= !dummy_seen && self.out.is_empty();
    }

    /// Appends the byte of a byte piece. Of the bytes that are pending, those that form a character, or
    /// can form none whatever follows, are pending no more.
    fn push_byte(&mut self, byte: u8) {
        let from = self.state.bytes_from.take().unwrap_or(self.out.len());
        self.out.push(byte);
        let from = self.replace_invalid(from, true);
        self.state.bytes_from = (from < self.out.len()).then_some(from);
    }

    /// No byte piece follows the pending bytes: they are no character.
    fn flush_bytes(&mut self) {
        if let Some(from) = self.state.bytes_from.take() {
            self.replace_invalid(from, false);
        }
    }

    /// Makes each byte from `at` on that is not part of a character U+FFFD; if more may follow, up to what
    /// may be the beginning of one. Returns where that is. Only a few bytes: a character is never longer.
    fn replace_invalid(&mut self, mut at: usize, more_may_follow: bool) -> usize {
        while at < self.out.len() {
            let rest = &self.out[at..];
            match valid_len(rest) {
                Some(len) => at += len,
                None if more_may_follow && is_unfinished(rest) => break,
                None => {
                    self.out.splice(at..=at, REPLACEMENT.iter().copied());
                    at += REPLACEMENT.len();
                }
            }
        }
        at
    }

    /// What to go on with, and how much of the text is final.
    pub(crate) fn pause(self) -> (DecoderState, usize) {
        let len = self.out.len();
        (self.state, self.state.bytes_from.unwrap_or(len))
    }

    /// Ends the text.
    pub(crate) fn finish(mut self) {
        self.flush_bytes();
    }
}

/// Whether bytes that follow can make one character of `bytes`, which are not empty.
fn is_unfinished(bytes: &[u8]) -> bool {
    let error = std::str::from_utf8(bytes).err();
    error.is_some_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// The byte that a byte piece's text `<0xHH>` names.
fn byte_of(text: &[u8]) -> Option<u8> {
    let hex = std::str::from_utf8(text.get(3..5)?).ok()?;
    u8::from_str_radix(hex, 16).ok()
}

/// Appends `text`, each space symbol as a space.
fn push_unescaped(mut text: &[u8], out: &mut Vec<u8>) {
    while let Some(at) = text
        .windows(SPACE_SYMBOL.len())
        .position(|w| w == SPACE_SYMBOL)
    {
        out.extend_from_slice(&text[..at]);
        out.push(b' ');
        text = &text[at + SPACE_SYMBOL.len()..];
    }
    out.extend_from_slice(text);
}

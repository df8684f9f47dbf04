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
    /// Where in `out` the bytes of byte pieces begin that no other piece has followed yet.
    bytes_from: Option<usize>,
    /// Whether a leading space symbol would be the dummy prefix.
    at_start: bool,
}

impl<'a, 'o> Decoder<'a, 'o> {
    /// A decoder that replaces what is in `out`.
    pub(crate) fn new(image: ValidImage<'a>, out: &'o mut Vec<u8>) -> Self {
        out.clear();
        Self {
            flags: (&image.metadata().normalizer).into(),
            image,
            out,
            bytes_from: None,
            at_start: true,
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
            self.bytes_from.get_or_insert(self.out.len());
            self.out.push(byte);
            return;
        }
        self.flush_bytes();
        self.at_start &= self.out.is_empty();
        if piece_type == PieceType::Control {
            return;
        }
        let mut shown = text;
        let mut dummy_seen = false;
        if self.at_start
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
        self.at_start &= !dummy_seen && self.out.is_empty();
    }

    /// Makes the pending bytes valid UTF-8: each byte that is not part of a character becomes U+FFFD.
    fn flush_bytes(&mut self) {
        let Some(from) = self.bytes_from.take() else {
            return;
        };
        if std::str::from_utf8(&self.out[from..]).is_ok() {
            return;
        }
        let mut at = from;
        while at < self.out.len() {
            match valid_len(&self.out[at..]) {
                Some(len) => at += len,
                None => {
                    self.out.splice(at..=at, REPLACEMENT.iter().copied());
                    at += REPLACEMENT.len();
                }
            }
        }
    }

    /// Ends the text.
    pub(crate) fn finish(mut self) {
        self.flush_bytes();
    }
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

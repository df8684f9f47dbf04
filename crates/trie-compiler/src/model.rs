//! A checked SentencePiece model: what sentencepiece 0.2.3 would load.
//!
//! Invariant: a [`Model`] exists only if every rule holds that the reference checks when it loads a
//! Unigram model (`ModelInterface::InitializePieces`, `unigram::Model`, `Normalizer::Init`).

use std::collections::HashMap;

use prost::Message;
use trie_format::{MAX_PIECE_BYTES, NormalizerFlags, PieceType};

use crate::charsmap::Charsmap;
use crate::error::{CompileError, PieceName};
use crate::proto::{ModelProto, NormalizerSpec, SentencePiece, TrainerSpec, last_known};

/// The piece that third-party converters add by mistake, and that the reference passes over.
const NUL_PIECE: &[u8] = b"\0";

pub(crate) struct Piece {
    pub(crate) text: Vec<u8>,
    pub(crate) score: f32,
    pub(crate) piece_type: PieceType,
}

impl Piece {
    /// Whether the reference keeps this piece out of its look-up tables.
    pub(crate) fn is_passed_over(&self) -> bool {
        self.text == NUL_PIECE && self.piece_type == PieceType::Unused
    }
}

/// Rules and whitespace switches of a normalizer or denormalizer.
pub(crate) struct Normalizer {
    pub(crate) flags: NormalizerFlags,
    pub(crate) charsmap: Option<Charsmap>,
}

pub(crate) struct Model {
    /// In the model's order.
    pub(crate) pieces: Vec<Piece>,
    pub(crate) byte_fallback: bool,
    pub(crate) unk_surface: Vec<u8>,
    pub(crate) bos_piece: Vec<u8>,
    pub(crate) eos_piece: Vec<u8>,
    pub(crate) pad_piece: Vec<u8>,
    pub(crate) normalizer: Normalizer,
    /// Present only if it has rules; without, the reference ignores its switches too.
    pub(crate) denormalizer: Option<Normalizer>,
}

impl Model {
    /// Parses and checks a serialized `ModelProto`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, CompileError> {
        let proto = ModelProto::decode(bytes)?;
        let trainer = proto.trainer_spec.unwrap_or_default();
        check_model_type(&trainer)?;
        let byte_fallback = trainer.byte_fallback.unwrap_or(false);
        let pieces: Vec<Piece> = proto
            .pieces
            .into_iter()
            .map(|piece| read_piece(piece, byte_fallback))
            .collect();
        check_pieces(&pieces, byte_fallback)?;

        let suffix = trainer.treat_whitespace_as_suffix.unwrap_or(false);
        let normalizer = Normalizer::new(
            proto.normalizer_spec.unwrap_or_default(),
            suffix,
            "normalizer_spec",
        )?;
        let denormalizer = proto
            .denormalizer_spec
            .map(|spec| Normalizer::new(spec, false, "denormalizer_spec"))
            .transpose()?
            .filter(|denormalizer| denormalizer.charsmap.is_some());
        let named = |name: Option<Vec<u8>>, default: &str| {
            name.filter(|name| !name.is_empty())
                .unwrap_or_else(|| default.into())
        };
        Ok(Self {
            pieces,
            byte_fallback,
            unk_surface: trainer.unk_surface.unwrap_or_else(|| " \u{2047} ".into()),
            bos_piece: named(trainer.bos_piece, "<s>"),
            eos_piece: named(trainer.eos_piece, "</s>"),
            pad_piece: named(trainer.pad_piece, "<pad>"),
            normalizer,
            denormalizer,
        })
    }
}

fn check_model_type(trainer: &TrainerSpec) -> Result<(), CompileError> {
    let name = last_known(&trainer.model_types, |number| match number {
        1 => Some("UNIGRAM"),
        2 => Some("BPE"),
        3 => Some("WORD"),
        4 => Some("CHAR"),
        _ => None,
    });
    match name {
        None | Some("UNIGRAM") => Ok(()),
        Some(other) => Err(CompileError::ModelType(other)),
    }
}

fn read_piece(piece: SentencePiece, byte_fallback: bool) -> Piece {
    let text = piece.piece.unwrap_or_default();
    let stated = last_known(&piece.types, |number| {
        u8::try_from(number).ok().and_then(PieceType::from_number)
    });
    let piece_type = if byte_fallback && text == NUL_PIECE {
        PieceType::Unused
    } else {
        stated.unwrap_or(PieceType::Normal)
    };
    Piece {
        text,
        score: piece.score.unwrap_or(0.0),
        piece_type,
    }
}

/// The byte that a byte piece's name stands for.
pub(crate) fn byte_of(name: &[u8]) -> Option<u8> {
    let hex = name.strip_prefix(b"<0x")?.strip_suffix(b">")?;
    let upper = |b: &u8| b.is_ascii_digit() || (b'A'..=b'F').contains(b);
    if hex.len() != 2 || !hex.iter().all(upper) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()
}

fn check_pieces(pieces: &[Piece], byte_fallback: bool) -> Result<(), CompileError> {
    let mut reserved = HashMap::new();
    let mut ordinary = HashMap::with_capacity(pieces.len());
    let mut unknown = None;
    let mut byte_seen = [false; 256];
    for (index, piece) in pieces.iter().enumerate() {
        let name = || PieceName::new(&piece.text);
        let len = piece.text.len();
        if len == 0 {
            return Err(CompileError::EmptyPiece { index });
        }
        if len > MAX_PIECE_BYTES as usize {
            return Err(CompileError::PieceTooLong { index, len });
        }
        if !piece.score.is_finite() {
            return Err(CompileError::BadScore {
                index,
                name: name(),
                score: piece.score,
            });
        }
        if piece.is_passed_over() {
            continue;
        }
        if piece.text.contains(&0) {
            return Err(CompileError::NulInPiece {
                index,
                name: name(),
            });
        }
        let texts = if piece.piece_type.is_reserved() {
            &mut reserved
        } else {
            &mut ordinary
        };
        if let Some(first) = texts.insert(piece.text.as_slice(), index) {
            return Err(CompileError::DuplicatePiece {
                index,
                first,
                name: name(),
            });
        }
        match piece.piece_type {
            PieceType::Unknown => {
                if let Some(first) = unknown.replace(index) {
                    return Err(CompileError::SecondUnknown {
                        index,
                        first,
                        name: name(),
                    });
                }
            }
            PieceType::Byte if !byte_fallback => {
                return Err(CompileError::BytePieceWithoutFallback {
                    index,
                    name: name(),
                });
            }
            PieceType::Byte => match byte_of(&piece.text) {
                Some(byte) => byte_seen[usize::from(byte)] = true,
                None => {
                    return Err(CompileError::BadBytePiece {
                        index,
                        name: name(),
                    });
                }
            },
            _ => {}
        }
    }
    if unknown.is_none() && !byte_fallback {
        return Err(CompileError::NoUnknown);
    }
    if let (true, Some(byte)) = (byte_fallback, byte_seen.iter().position(|&seen| !seen)) {
        return Err(CompileError::MissingBytePiece { byte: byte as u8 });
    }
    if ordinary.is_empty() {
        return Err(CompileError::NoPieces);
    }
    Ok(())
}

impl Normalizer {
    fn new(spec: NormalizerSpec, suffix: bool, field: &'static str) -> Result<Self, CompileError> {
        Ok(Self {
            flags: NormalizerFlags {
                add_dummy_prefix: spec.add_dummy_prefix.unwrap_or(true),
                remove_extra_whitespaces: spec.remove_extra_whitespaces.unwrap_or(true),
                escape_whitespaces: spec.escape_whitespaces.unwrap_or(true),
                whitespace_as_suffix: suffix,
            },
            charsmap: spec
                .precompiled_charsmap
                .filter(|blob| !blob.is_empty())
                .map(|blob| Charsmap::split(&blob, field))
                .transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_names_are_two_upper_case_hex_digits() {
        assert_eq!(byte_of(b"<0x0A>"), Some(10));
        assert_eq!(byte_of(b"<0xFF>"), Some(255));
        for name in ["<0x0a>", "<0xA>", "<0x+A>", "<0xZZ>", "0x0A", "<0x0A> "] {
            assert_eq!(byte_of(name.as_bytes()), None, "{name}");
        }
    }
}

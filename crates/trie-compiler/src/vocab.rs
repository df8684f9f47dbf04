//! Ids and path scores: the model's pieces under a numbering and a reference.
//!
//! Invariant: `entries` is indexed by the id that users see; everything the runtime reads from an image
//! is in those ids, so no look-up is translated at run time.

use trie_format::{IdMap, MAX_PIECES, NO_ID, PieceType, Reference};

use crate::error::{CompileError, PieceName};
use crate::model::{Model, byte_of};
use crate::trie::Key;

/// Penalty of an unknown character below the lowest ordinary score (the reference's `kUnkPenalty`).
const UNK_PENALTY: f32 = 10.0;

pub(crate) struct Entry<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) score: f32,
    pub(crate) piece_type: PieceType,
    /// Kept out of every look-up by text.
    pub(crate) passed_over: bool,
}

pub(crate) struct Vocab<'a> {
    /// By id.
    pub(crate) entries: Vec<Entry<'a>>,
    pub(crate) unk_id: u32,
    pub(crate) bos_id: u32,
    pub(crate) eos_id: u32,
    pub(crate) pad_id: u32,
    pub(crate) mask_id: u32,
    /// Path score of an unknown character.
    pub(crate) unk_score: f64,
    /// What takes part in segmentation, sorted by text.
    pub(crate) trie_keys: Vec<Key<'a>>,
    /// What the normalizer leaves alone, sorted by text.
    pub(crate) symbol_keys: Vec<Key<'a>>,
    /// Ids that are found by text but are not in the trie, sorted by text, then id.
    pub(crate) named_ids: Vec<u32>,
    /// The id of every byte's fallback piece, or [`NO_ID`]; if there is byte fallback.
    pub(crate) byte_ids: Option<[u32; 256]>,
}

/// How the reference scores a piece on a path.
struct PathScores {
    reference: Reference,
    /// Greatest score of a normal piece, at least `f32::MIN_POSITIVE`.
    max_score: f32,
}

impl PathScores {
    fn of(&self, entry: &Entry<'_>) -> (f32, f64) {
        if entry.piece_type != PieceType::UserDefined {
            return (entry.score, f64::from(entry.score));
        }
        let bytes = entry.text.len();
        match self.reference {
            Reference::SentencePiece021 => {
                let score = f64::from(bytes as f32 * self.max_score) - 0.1;
                (score as f32, score)
            }
            _ => {
                let score = (0.1 * (bytes - 1) as f64) as f32;
                (score, f64::from(score))
            }
        }
    }
}

impl<'a> Vocab<'a> {
    /// The vocabulary of a SentencePiece model under a SentencePiece reference.
    pub(crate) fn new(
        model: &'a Model,
        ids: IdMap,
        reference: Reference,
    ) -> Result<Self, CompileError> {
        let entries = model_vocab(model, ids)?;
        let normal = |start: f32, pick: fn(f32, f32) -> f32| {
            entries
                .iter()
                .filter(|entry| entry.piece_type == PieceType::Normal)
                .map(|entry| entry.score)
                .fold(start, pick)
        };
        let unk_score = normal(f32::MAX, f32::min) - UNK_PENALTY;
        let path_scores = PathScores {
            reference,
            max_score: normal(f32::MIN_POSITIVE, f32::max),
        };
        path_scores.check(&entries)?;
        let first = |wanted: &dyn Fn(&Entry<'_>) -> bool| {
            entries
                .iter()
                .position(wanted)
                .map_or(NO_ID, |id| id as u32)
        };
        let control =
            |name: &[u8]| first(&|e| e.piece_type == PieceType::Control && e.text == name);
        let is_symbol = |entry: &Entry<'_>| entry.piece_type == PieceType::UserDefined;
        Ok(Self {
            unk_id: first(&|e| e.piece_type == PieceType::Unknown),
            bos_id: control(&model.bos_piece),
            eos_id: control(&model.eos_piece),
            pad_id: control(&model.pad_piece),
            mask_id: control(b"<mask>"),
            unk_score: f64::from(unk_score),
            trie_keys: path_scores.keys(&entries, |entry| {
                entry.piece_type == PieceType::Normal || is_symbol(entry)
            }),
            symbol_keys: path_scores.keys(&entries, is_symbol),
            named_ids: named_ids(&entries, |entry| {
                entry.piece_type.is_reserved() || entry.piece_type == PieceType::Unused
            }),
            byte_ids: model.byte_fallback.then(|| byte_ids(&entries)),
            entries,
        })
    }
}

impl PathScores {
    fn check(&self, entries: &[Entry<'_>]) -> Result<(), CompileError> {
        let overflowing = entries.iter().find(|entry| {
            let (single, double) = self.of(entry);
            !(single.is_finite() && double.is_finite())
        });
        match overflowing {
            Some(entry) => Err(CompileError::SymbolScore {
                name: PieceName::new(entry.text),
                reference: self.reference.name(),
            }),
            None => Ok(()),
        }
    }

    fn keys<'a>(&self, entries: &[Entry<'a>], wanted: impl Fn(&Entry<'_>) -> bool) -> Vec<Key<'a>> {
        let mut keys: Vec<Key<'a>> = entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| !entry.passed_over && wanted(entry))
            .map(|(id, entry)| {
                let (score, score64) = self.of(entry);
                Key {
                    text: entry.text,
                    id: id as u32,
                    score,
                    score64,
                }
            })
            .collect();
        keys.sort_unstable_by_key(|key| key.text);
        keys
    }
}

/// The ids of the wanted entries that can be looked up, sorted by text, then id.
pub(crate) fn named_ids(entries: &[Entry<'_>], wanted: impl Fn(&Entry<'_>) -> bool) -> Vec<u32> {
    let mut ids: Vec<u32> = (0..entries.len() as u32)
        .filter(|&id| {
            let entry = &entries[id as usize];
            !entry.passed_over && wanted(entry)
        })
        .collect();
    ids.sort_unstable_by_key(|&id| (entries[id as usize].text, id));
    ids
}

/// The id of every byte's piece.
fn byte_ids(entries: &[Entry<'_>]) -> [u32; 256] {
    let mut ids = [NO_ID; 256];
    for (id, entry) in entries.iter().enumerate() {
        if let (PieceType::Byte, Some(byte)) = (entry.piece_type, byte_of(entry.text)) {
            ids[usize::from(byte)] = id as u32;
        }
    }
    ids
}

/// The model's pieces by id.
pub(crate) fn model_vocab(model: &Model, ids: IdMap) -> Result<Vec<Entry<'_>>, CompileError> {
    let entries = match ids {
        IdMap::Fairseq => fairseq_entries(model)?,
        _ => model_entries(model).collect(),
    };
    check_count(entries.len())?;
    Ok(entries)
}

/// Ids have three bytes in an image.
pub(crate) fn check_count(count: usize) -> Result<(), CompileError> {
    match count <= MAX_PIECES as usize {
        true => Ok(()),
        false => Err(CompileError::TooLarge {
            what: "the number of pieces",
            limit: u64::from(MAX_PIECES),
        }),
    }
}

fn model_entries(model: &Model) -> impl Iterator<Item = Entry<'_>> {
    model.pieces.iter().map(|piece| Entry {
        text: &piece.text,
        score: piece.score,
        piece_type: piece.piece_type,
        passed_over: piece.is_passed_over(),
    })
}

/// The order of fairseq's XLM-R dictionaries, as in transformers' `XLMRobertaTokenizer`.
fn fairseq_entries(model: &Model) -> Result<Vec<Entry<'_>>, CompileError> {
    let expected: [(&[u8], PieceType); 3] = [
        (b"<unk>", PieceType::Unknown),
        (b"<s>", PieceType::Control),
        (b"</s>", PieceType::Control),
    ];
    for (index, (text, piece_type)) in expected.into_iter().enumerate() {
        let piece = model.pieces.get(index);
        if piece.is_none_or(|piece| piece.text != text || piece.piece_type != piece_type) {
            return Err(CompileError::FairseqOrder {
                index,
                name: PieceName::new(piece.map_or(b"", |piece| &piece.text)),
            });
        }
    }
    let added = |text: &'static str| Entry {
        text: text.as_bytes(),
        score: 0.0,
        piece_type: PieceType::Control,
        passed_over: false,
    };
    let is_added = |text: &[u8]| text == b"<pad>" || text == b"<mask>";
    if let Some(index) = model.pieces.iter().position(|piece| is_added(&piece.text)) {
        return Err(CompileError::FairseqName {
            index,
            name: PieceName::new(&model.pieces[index].text),
        });
    }
    let mut entries: Vec<Entry<'_>> = model_entries(model).collect();
    // <unk> <s> </s> becomes <s> </s> <unk>, and <pad> goes between the first two.
    entries[..3].rotate_left(1);
    entries.insert(1, added("<pad>"));
    entries.push(added("<mask>"));
    Ok(entries)
}

//! Ids and path scores under the Hugging Face reference.
//!
//! Every text of the vocabulary takes part in segmentation, whatever it is for; of equal texts the last id
//! counts. Added tokens outside the vocabulary have ids of their own and are only cut from the text.

use std::collections::HashSet;

use trie_format::{NO_ID, PieceType};

use super::pipeline::HfModel;
use super::steps::keep_last_of_equals;
use crate::error::{CompileError, PieceName};
use crate::model::byte_of;
use crate::trie::Key;
use crate::vocab::{Entry, Vocab, check_count, named_ids};

/// Penalty of an unknown character below the lowest score.
const UNK_PENALTY: f64 = 10.0;

/// The vocabulary of `model`; `added_texts` are the added tokens as they are decoded.
pub(crate) fn vocab<'a>(
    model: &'a HfModel,
    added_texts: &'a [String],
) -> Result<Vocab<'a>, CompileError> {
    let added_end = model
        .added_tokens
        .iter()
        .map(|token| token.id as usize + 1)
        .max();
    let count = model.vocab.len().max(added_end.unwrap_or(0));
    check_count(count)?;
    // Ids that nothing has are passed over.
    let hole = || Entry {
        text: b"",
        score: 0.0,
        piece_type: PieceType::Unused,
        passed_over: true,
    };
    let mut entries: Vec<Entry<'_>> = model
        .vocab
        .iter()
        .map(|(text, score)| Entry {
            text: text.as_bytes(),
            score: *score as f32,
            piece_type: PieceType::Normal,
            passed_over: false,
        })
        .collect();
    entries.resize_with(count, hole);
    if let Some(unknown) = model.unk_id.and_then(|id| entries.get_mut(id as usize)) {
        unknown.piece_type = PieceType::Unknown;
    }
    let trie_keys = trie_keys(model);
    let byte_ids = model.byte_fallback.then(|| byte_ids(&trie_keys));
    for id in byte_ids.iter().flatten().filter(|&&id| id != NO_ID) {
        entries[*id as usize].piece_type = PieceType::Byte;
    }
    for (token, text) in model.added_tokens.iter().zip(added_texts) {
        let entry = &mut entries[token.id as usize];
        entry.text = text.as_bytes();
        entry.passed_over = false;
        if token.id as usize >= model.vocab.len() {
            entry.piece_type = PieceType::UserDefined;
        }
    }
    // What decoding skips is told by the text: so is another entry with it, and a special token that
    // normalization changed is not.
    let specials = model.added_tokens.iter().filter(|token| token.special);
    let specials: HashSet<&[u8]> = specials.map(|token| token.content.as_bytes()).collect();
    for entry in entries
        .iter_mut()
        .filter(|entry| specials.contains(entry.text))
    {
        entry.piece_type = PieceType::Control;
    }
    if let Some((id, entry)) = entries
        .iter()
        .enumerate()
        .find(|(_, e)| !e.score.is_finite())
    {
        return Err(CompileError::BadScore {
            index: id,
            name: PieceName::new(entry.text),
            score: entry.score,
        });
    }
    let lowest = model
        .vocab
        .iter()
        .map(|(_, score)| *score)
        .fold(f64::INFINITY, f64::min);
    let outside = model.vocab.len();
    let named = {
        let mut ids = named_ids(&entries, |_| true);
        ids.retain(|&id| id as usize >= outside);
        ids
    };
    let find = |names: &[&str]| special(model, names);
    Ok(Vocab {
        unk_id: model.unk_id.unwrap_or(NO_ID),
        bos_id: find(&["<s>", "[CLS]"]),
        eos_id: find(&["</s>", "[SEP]"]),
        pad_id: match &model.padding {
            Some(padding) if (padding.pad_id as usize) < count => padding.pad_id,
            _ => find(&["<pad>", "[PAD]"]),
        },
        mask_id: find(&["<mask>", "[MASK]"]),
        unk_score: lowest - UNK_PENALTY,
        trie_keys,
        symbol_keys: Vec::new(),
        named_ids: named,
        byte_ids,
        entries,
    })
}

fn trie_keys(model: &HfModel) -> Vec<Key<'_>> {
    let mut keys: Vec<Key<'_>> = model
        .vocab
        .iter()
        .enumerate()
        .filter(|(_, (text, _))| !text.is_empty())
        .map(|(id, (text, score))| Key {
            text: text.as_bytes(),
            id: id as u32,
            score: *score as f32,
            score64: *score,
        })
        .collect();
    keep_last_of_equals(&mut keys);
    keys
}

/// The id of each byte's piece, where the vocabulary has one.
fn byte_ids(keys: &[Key<'_>]) -> [u32; 256] {
    let mut ids = [NO_ID; 256];
    for key in keys {
        if let Some(byte) = byte_of(key.text) {
            ids[usize::from(byte)] = key.id;
        }
    }
    ids
}

/// The id of the first of `names` that is a special added token.
fn special(model: &HfModel, names: &[&str]) -> u32 {
    let find = |name: &&str| {
        let token = model
            .added_tokens
            .iter()
            .find(|token| token.special && token.content == *name)?;
        Some(token.id)
    };
    names.iter().find_map(find).unwrap_or(NO_ID)
}

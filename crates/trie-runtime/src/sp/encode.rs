//! The whole way from text to ids under a SentencePiece reference.

use trie_format::{NO_ID, Reference, ValidImage};

use super::model::Model;
use super::stream::Stream;
use crate::normalize::Normalizer;
use crate::scratch::Work;
use crate::sequence::{Ask, Sequence};
use crate::trie::Trie;
use crate::viterbi::{Mixed, Single, UnkScore, backtrack, segment};

/// A text that is not wanted whole is encoded in blocks of so many bytes.
const LEAST_BLOCK: usize = 256;
const GREATEST_BLOCK: usize = 16 << 10;

/// Encodes `input` into `out`.
pub(crate) fn sequence(
    image: &ValidImage<'_>,
    input: &[u8],
    ask: Ask,
    work: &mut Work,
    out: &mut Sequence,
) {
    out.clear();
    let model = Model::new(image);
    if model.has_parts() || ask.spans || ask.offsets || ask.limit != usize::MAX {
        in_blocks(&model, input, ask, &mut work.stream, out);
        return;
    }
    Normalizer::new(image).normalize(input, &mut out.normalized);
    segment_normalized(image, work, out);
}

/// Encodes the text that is in `out.normalized`: its ids, by the plain pass. Measured on English, the window's
/// 1,024 cells instead of one for each byte of the text make 7 % more instructions and no difference in time.
pub(crate) fn segment_normalized(image: &ValidImage<'_>, work: &mut Work, out: &mut Sequence) {
    let trie = Trie::pieces(image);
    let unk = UnkScore::new(image);
    let (text, cells) = (&out.normalized, &mut work.cells);
    match image.metadata().reference.into() {
        Reference::SentencePiece021 => segment::<Mixed>(trie, unk, text, cells),
        _ => segment::<Single>(trie, unk, text, cells),
    }
    collect(image, work, out);
    out.ids.reverse();
    out.complete = true;
}

/// Appends the best path's ids, last first: unknown characters become their bytes' pieces if the model has
/// byte fallback, else a run of them becomes one unknown piece.
fn collect(image: &ValidImage<'_>, work: &Work, out: &mut Sequence) {
    let unk = image.metadata().unk_id.to_native();
    let byte_ids = image.byte_ids();
    let Sequence {
        normalized, ids, ..
    } = out;
    let mut after_unknown = false;
    for (start, end, id) in backtrack(&work.cells) {
        let is_unknown = id == NO_ID;
        match byte_ids {
            Some(byte_ids) if is_unknown => {
                let bytes = normalized[start..end].iter().rev();
                ids.extend(bytes.map(|&byte| byte_ids[usize::from(byte)]));
            }
            _ if is_unknown && after_unknown => {}
            _ => ids.push(if is_unknown { unk } else { id }),
        }
        after_unknown = is_unknown;
    }
}

/// Encodes `input` until enough tokens are final. What follows is not looked at.
fn in_blocks(model: &Model<'_>, input: &[u8], ask: Ask, stream: &mut Stream, out: &mut Sequence) {
    let mut block_len = ask
        .limit
        .saturating_mul(2)
        .clamp(LEAST_BLOCK, GREATEST_BLOCK);
    stream.begin(model);
    let mut rest = input;
    loop {
        let (block, after) = rest.split_at(rest.len().min(block_len));
        stream.push(model, block, after.is_empty(), ask, out);
        if after.is_empty() || out.ids.len() >= ask.limit {
            return;
        }
        rest = after;
        // What is missing, if the text goes on as it began, and what the last tokens wait for.
        let missing = ask.limit - out.ids.len();
        let bytes = (input.len() - rest.len()) / out.ids.len().max(1) + 1;
        block_len = missing
            .saturating_mul(bytes)
            .saturating_add(LEAST_BLOCK / 2)
            .clamp(LEAST_BLOCK, GREATEST_BLOCK);
    }
}

//! The whole way from text to ids under a SentencePiece reference.

use trie_format::{NO_ID, Reference, ValidImage};

use crate::normalize::{Normalizer, PlainAscii};
use crate::scratch::Work;
use crate::sequence::{Ask, Sequence};
use crate::trie::Trie;
use crate::viterbi::{Mixed, Single, UnkScore, backtrack, segment};

/// Encodes `input` into `out`.
pub(crate) fn sequence(
    image: &ValidImage<'_>,
    plain: PlainAscii,
    input: &[u8],
    ask: Ask,
    work: &mut Work,
    out: &mut Sequence,
) {
    out.clear();
    Normalizer::new(image, plain).normalize(input, &mut out.normalized);
    segment_normalized(image, ask, work, out);
}

/// Encodes the text that is in `out.normalized`.
pub(crate) fn segment_normalized(
    image: &ValidImage<'_>,
    ask: Ask,
    work: &mut Work,
    out: &mut Sequence,
) {
    let trie = Trie::pieces(image);
    let unk = UnkScore::new(image);
    let (text, cells) = (&out.normalized, &mut work.cells);
    match image.metadata().reference.into() {
        Reference::SentencePiece021 => segment::<Mixed>(trie, unk, text, cells),
        _ => segment::<Single>(trie, unk, text, cells),
    }
    if ask.spans {
        collect::<true>(image, work, out);
        out.spans.reverse();
    } else {
        collect::<false>(image, work, out);
    }
    out.ids.reverse();
    out.complete = true;
}

/// Appends the best path's ids, last first: unknown characters become their bytes' pieces if the model has
/// byte fallback, else a run of them becomes one unknown piece.
fn collect<const SPANS: bool>(image: &ValidImage<'_>, work: &Work, out: &mut Sequence) {
    let unk = image.metadata().unk_id.to_native();
    let byte_ids = image.byte_ids();
    let Sequence {
        normalized,
        ids,
        spans,
        ..
    } = out;
    let mut after_unknown = false;
    for (start, end, id) in backtrack(&work.cells) {
        let is_unknown = id == NO_ID;
        match byte_ids {
            Some(byte_ids) if is_unknown => {
                for (at, &byte) in normalized[start..end].iter().enumerate().rev() {
                    ids.push(byte_ids[usize::from(byte)]);
                    if SPANS {
                        spans.push((start + at, start + at + 1));
                    }
                }
            }
            _ if is_unknown && after_unknown => {
                if let (true, Some(run)) = (SPANS, spans.last_mut()) {
                    run.0 = start;
                }
            }
            _ => {
                ids.push(if is_unknown { unk } else { id });
                if SPANS {
                    spans.push((start, end));
                }
            }
        }
        after_unknown = is_unknown;
    }
}

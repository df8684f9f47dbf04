//! [`crate::semantics`] for images of the Hugging Face reference.
//!
//! There every text of the vocabulary takes part in segmentation, whatever it is for; of equal texts the last
//! id counts. Ids outside the vocabulary are those of added tokens (the named ids) or nobody's.

use std::collections::HashSet;

use trie_format::pipeline::{AddedToken, Step, StepKind};
use trie_format::{PieceType, PipelineView, ValidImage};
use trie_runtime::Tokenizer;

use crate::semantics::{Finding, same_scores, shown};
use crate::tree::tree;

/// The ids of added tokens that are looked for in normalized text. Their pieces have the normalized texts,
/// which need not be those that the vocabulary has for these ids.
fn renamed(image: &ValidImage<'_>) -> HashSet<u32> {
    let tokens = image
        .pipeline()
        .map_or(&[][..], |pipeline| pipeline.added_tokens());
    let raw: HashSet<u32> = image
        .added_nodes()
        .and_then(|trie| tree(trie, "trie of added tokens").ok())
        .map(|tree| tree.keys.iter().map(|&(id, _)| id).collect())
        .unwrap_or_default();
    let tokens = tokens.iter().zip(0u32..);
    let normalized = tokens.filter(|(_, position)| !raw.contains(position));
    normalized.map(|(token, _)| token.id).collect()
}

/// The ids of the vocabulary that have a text of their own.
fn vocabulary<'a>(image: &ValidImage<'a>) -> impl Iterator<Item = (u32, &'a [u8])> {
    let pieces = *image.pieces();
    let mut passed_over = renamed(image);
    passed_over.extend(pieces.named());
    (0..pieces.len())
        .filter(move |id| !passed_over.contains(id))
        .filter_map(move |id| Some((id, pieces.text(id).filter(|text| !text.is_empty())?)))
}

/// The trie is a tree of as many nodes as the metadata says, and every leaf ends a piece.
pub(crate) fn trie(image: &ValidImage<'_>, _: &Tokenizer) -> Finding {
    let tree = tree(image.nodes(), "trie")?;
    same_scores(image, &tree)?;
    let (nodes, keys) = (tree.nodes, tree.keys.len() as u64);
    let stated = image.metadata().node_count.to_native();
    if nodes != u64::from(stated) {
        return Err(format!(
            "the trie has {nodes} nodes, the metadata says {stated}"
        ));
    }
    let texts: HashSet<&[u8]> = vocabulary(image).map(|(_, text)| text).collect();
    let expected = texts.len() as u64;
    if !(expected..=expected + renamed(image).len() as u64).contains(&keys) {
        return Err(format!(
            "the trie holds {keys} pieces, the vocabulary {expected} texts"
        ));
    }
    Ok(format!("trie: {nodes} nodes, {keys} pieces"))
}

/// Every text of the vocabulary is in the trie, with the last id that has it, and that id's score.
pub(crate) fn pieces(image: &ValidImage<'_>, _: &Tokenizer) -> Finding {
    let pieces = image.pieces();
    let (mut longest, mut found) = (0, 0u64);
    let mut lowest = f64::INFINITY;
    for (id, text) in vocabulary(image) {
        let wrong = |what: &str| Err(format!("piece {id} {} {what}", shown(Some(text))));
        let Some(last) = image.nodes().find(text) else {
            return wrong("is not in the trie");
        };
        if last < id || pieces.text(last) != Some(text) {
            return wrong("is in the trie with the id of another");
        }
        let score = pieces.score(last).unwrap_or_default();
        let path_score = image.path_scores().get(last as usize).copied();
        let score64 = path_score.unwrap_or(score.into());
        if score64 as f32 != score {
            return wrong("has another path score");
        }
        lowest = lowest.min(score64);
        longest = longest.max(text.len());
        found += 1;
    }
    let metadata = image.metadata();
    let stated = metadata.max_piece_bytes.to_native();
    if longest != stated as usize {
        return Err(format!(
            "the longest piece has {longest} bytes, the metadata says {stated}"
        ));
    }
    // Scores of hidden and empty texts, which the trie does not hold, count too.
    let unknown = metadata.unk_score64.to_native();
    if unknown > lowest - 10.0 {
        return Err(format!(
            "the unknown score is {unknown}, but must be 10 below the least, {lowest}"
        ));
    }
    Ok(format!(
        "pieces: {found} found by a walk, the longest of {longest} bytes"
    ))
}

/// Every text looks up to its id, or to a later one of the same text.
pub(crate) fn look_ups(image: &ValidImage<'_>, tokenizer: &Tokenizer) -> Finding {
    let pieces = image.pieces();
    let mut looked_up = 0u64;
    let renamed = renamed(image);
    for id in (0..pieces.len()).filter(|id| !renamed.contains(id)) {
        let text = pieces.text(id).unwrap_or_default();
        if text.is_empty() {
            continue;
        }
        let found = tokenizer.piece_to_id(text);
        if !found.is_some_and(|found| found >= id && pieces.text(found) == Some(text)) {
            let found = found.map_or("nothing".into(), |found| format!("id {found}"));
            return Err(format!(
                "piece {id} {} looks up to {found}",
                shown(Some(text))
            ));
        }
        looked_up += 1;
    }
    Ok(format!("look-ups: {looked_up} texts lead to their ids"))
}

/// The steps stand in the order in which they run, and what is searched in halves is sorted.
pub(crate) fn steps(image: &ValidImage<'_>, _: &Tokenizer) -> Finding {
    let Some(pipeline) = image.pipeline() else {
        return Err("there are no steps".into());
    };
    let steps = pipeline.steps();
    // Kinds are numbered in groups of 32, in this order.
    if let Some(at) = steps
        .windows(2)
        .position(|two| two[0].kind / 32 > two[1].kind / 32)
    {
        return Err(format!("step {} belongs before step {at}", at + 1));
    }
    for (index, step) in steps.iter().enumerate() {
        check_step(image, &pipeline, step).map_err(|what| format!("step {index} {what}"))?;
    }
    Ok(format!("steps: {} in order", steps.len()))
}

fn check_step(
    image: &ValidImage<'_>,
    pipeline: &PipelineView<'_>,
    step: &Step,
) -> Result<(), String> {
    let most = match StepKind::from_number(step.kind) {
        Some(StepKind::Precompiled) if image.charsmap().is_none() => {
            return Err("needs a rule table, but there is none".into());
        }
        Some(StepKind::MapChars) => {
            let rules = pipeline.rules(step.n[0], step.n[1]);
            if !rules.is_sorted_by(|a, b| a.character < b.character) {
                return Err("has character rules that are not sorted".into());
            }
            0
        }
        Some(StepKind::Strip) => 3,
        Some(StepKind::Metaspace) if step.flags & 3 < 3 => 6,
        Some(StepKind::SplitClass) => 4,
        Some(StepKind::DecodeMetaspace) => 2,
        _ => 0,
    };
    if step.flags > most {
        return Err(format!("has unknown flags {}", step.flags));
    }
    Ok(())
}

/// Added tokens are in one of the two tries, and the pieces of special ones are control pieces.
pub(crate) fn added_tokens(image: &ValidImage<'_>, tokenizer: &Tokenizer) -> Finding {
    let tokens = image
        .pipeline()
        .map_or(&[][..], |pipeline| pipeline.added_tokens());
    let tries = [image.added_nodes(), image.normalized_added_nodes()];
    let mut keys = 0;
    for trie in tries.into_iter().flatten() {
        keys += tree(trie, "trie of added tokens")?.keys.len();
    }
    if keys > tokens.len() {
        return Err(format!(
            "the tries hold {keys} added tokens, but there are {}",
            tokens.len()
        ));
    }
    let mut longest = 0;
    for (position, token) in tokens.iter().enumerate() {
        let text = tokenizer.piece(token.id).unwrap_or_default();
        let wrong = |what: &str| {
            let name = shown(Some(text));
            Err(format!("added token {position} {name} {what}"))
        };
        if token.flags > 15 {
            return wrong("has unknown flags");
        }
        let [raw, normalized] = tries.map(|trie| trie.and_then(|trie| trie.find(text)));
        if raw.is_some_and(|found| found as usize == position) {
            let is_special = token.flags & AddedToken::SPECIAL != 0;
            if is_special && tokenizer.piece_type(token.id) != Some(PieceType::Control) {
                return wrong("is special, but its piece is not a control piece");
            }
            longest = longest.max(text.len());
            continue;
        }
        // A token that normalizes to nothing is never found; of equal ones the last is.
        let is_found = normalized.is_some_and(|found| found as usize >= position);
        if !(is_found || text.is_empty()) {
            return wrong("is in neither trie");
        }
        longest = longest.max(text.len());
    }
    let stated = image.metadata().max_added_bytes.to_native();
    if longest != stated as usize {
        return Err(format!(
            "the longest added token has {longest} bytes, the metadata says {stated}"
        ));
    }
    Ok(format!("added tokens: {}", tokens.len()))
}

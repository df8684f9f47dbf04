//! What an image says of parts has to follow from its pieces: which characters are joined, and which answers hold
//! whatever stands before.

use trie_format::ValidImage;
use trie_format::parts::{BakedParts, JoinedPairs, MAX_BAKED_SUM, PartKey, bytes_of};
use trie_runtime::Tokenizer;

use crate::semantics::{Finding, shown};

/// Half the distance of two float32 numbers where baked parts are still given out: what an addition can be wrong by.
const ROUNDING: f64 = f32::EPSILON as f64 / 2.0 * 65_536.0;

const _: () = assert!(MAX_BAKED_SUM < 131_072.0 - 2_000.0);

/// Every piece's characters are joined, no score is beyond the magnitude, and every baked part is its best
/// segmentation by more than rounding can take away.
pub(crate) fn parts(image: &ValidImage<'_>, _: &Tokenizer) -> Finding {
    let Some((pairs, baked)) = image.parts() else {
        return Ok("parts: none stated".into());
    };
    let scores = PathScores::of(image);
    let is_beyond = |score: f64| score.abs() > f64::from(pairs.magnitude());
    if is_beyond(scores.unk) {
        return Err("an unknown character's score is beyond the magnitude".into());
    }
    let pieces = image.pieces();
    let mut joined = 0;
    for id in 0..pieces.len() {
        // Added tokens outside the vocabulary are pieces, too, but take no part in segmentation.
        let is_key = |text: &&[u8]| image.nodes().find(text) == Some(id);
        let Some(text) = pieces.text(id).filter(is_key) else {
            continue;
        };
        let wrong = |what: &str| Err(format!("piece {id} {}{what}", shown(Some(text))));
        if is_beyond(scores.get(id)) {
            return wrong("'s score is beyond the magnitude");
        }
        match joined_pairs(text, &pairs) {
            Some(count) => joined += count,
            None => return wrong(" has neighbours that are said not to be joined, or is no text"),
        }
    }
    let count = baked_parts(image, &scores, &baked)?;
    Ok(format!(
        "parts: {joined} neighbours in pieces are joined, {count} baked answers hold"
    ))
}

/// How many neighbours the characters of `text` are; `None` if two are not joined, or U+2581 is where it is said not
/// to be.
fn joined_pairs(text: &[u8], pairs: &JoinedPairs<'_>) -> Option<usize> {
    let text = std::str::from_utf8(text).ok()?;
    let mut count = 0;
    for (first, second) in text.chars().zip(text.chars().skip(1)) {
        if second == '\u{2581}' && pairs.leading_space()
            || !pairs.may_join(bytes_of(first), bytes_of(second))
        {
            return None;
        }
        count += 1;
    }
    Some(count)
}

/// How many baked parts there are; what is wrong with the first that is.
fn baked_parts(
    image: &ValidImage<'_>,
    scores: &PathScores<'_>,
    baked: &BakedParts<'_>,
) -> Result<usize, String> {
    let mut count = 0;
    let mut best = Vec::new();
    for part in baked.buckets().as_flattened() {
        if part.key.is_empty() {
            continue;
        }
        let text = image.pieces().text(part.id).unwrap_or_default();
        let wrong = |what: &str| {
            let text = shown(Some(text));
            Err(format!("the baked part {text}, piece {}, {what}", part.id))
        };
        if PartKey::new(text).as_ref() != Some(&part.key) {
            return wrong("has another text");
        }
        if part.id == image.metadata().unk_id.to_native() {
            return wrong("is the unknown piece");
        }
        let score = scores.get(part.id);
        if f64::from(part.score) != score {
            return wrong("has another score");
        }
        let is_found = baked.find(&part.key, part.key.hash());
        if is_found.is_none_or(|found| found != part) {
            return wrong("is in the wrong place");
        }
        let rival = best_of_several(image, scores, text, &mut best);
        let chars = text.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        if score - rival <= 2.0 * chars as f64 * ROUNDING {
            return wrong("is not the best by enough");
        }
        count += 1;
    }
    Ok(count)
}

/// The path scores of all pieces, and of an unknown character.
struct PathScores<'a> {
    of_model: &'a [f32],
    of_paths: &'a [f64],
    unk: f64,
}

impl<'a> PathScores<'a> {
    fn of(image: &ValidImage<'a>) -> Self {
        Self {
            of_model: image.pieces().scores(),
            of_paths: image.path_scores(),
            unk: image.metadata().unk_score64.to_native(),
        }
    }

    fn get(&self, id: u32) -> f64 {
        let path = self.of_paths.get(id as usize).copied();
        let model = || self.of_model.get(id as usize).map(|&score| score.into());
        path.or_else(model).unwrap_or_default()
    }
}

/// The best score of `text` in more than one token.
fn best_of_several(
    image: &ValidImage<'_>,
    scores: &PathScores<'_>,
    text: &[u8],
    best: &mut Vec<f64>,
) -> f64 {
    best.clear();
    best.resize(text.len() + 1, f64::NEG_INFINITY);
    best[0] = 0.0;
    let is_start = |at: usize| text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80);
    for start in (0..text.len()).filter(|&at| is_start(at)) {
        let till_here = best[start];
        let mut relax = |end: usize, score: f64| {
            if (start, end) != (0, text.len()) {
                best[end] = best[end].max(till_here + score);
            }
        };
        let after = (start + 1..).find(|&at| is_start(at)).unwrap_or(text.len());
        // An unknown character never beats a piece, so that it does no harm where there is one.
        relax(after, scores.unk);
        image
            .nodes()
            .walk(&text[start..], |len, id| relax(start + len, scores.get(id)));
    }
    best[text.len()]
}

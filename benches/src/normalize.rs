//! The published engine's normaliser: every grapheme cluster is looked up in the precompiled table,
//! then every character of those that are not there; runs of spaces collapse on the way.

use spm_precompiled::Precompiled;
use unicode_segmentation::UnicodeSegmentation;

use crate::Result;

/// Longer clusters are never looked up whole.
const WHOLE_CLUSTER_BYTES: usize = 6;

/// What stands for a space in prepared text.
const METASPACE: &str = "\u{2581}";

/// The normaliser and its rules.
pub struct GraphemeNormalizer {
    rules: Precompiled,
}

impl GraphemeNormalizer {
    /// A normaliser from a rule table in SentencePiece's own layout.
    ///
    /// # Errors
    /// If the table is malformed.
    pub fn new(charsmap: &[u8]) -> Result<Self> {
        let rules = Precompiled::from(charsmap).map_err(|e| e.to_string())?;
        Ok(Self { rules })
    }

    /// Normalises `text` into `out`; spaces stay spaces.
    pub fn normalize(&self, text: &str, out: &mut String) {
        out.clear();
        out.reserve(text.len());
        let mut after_space = false;
        for cluster in text.graphemes(true) {
            if cluster.len() < WHOLE_CLUSTER_BYTES
                && let Some(replacement) = self.rules.transform(cluster)
            {
                push_collapsed(replacement, out, &mut after_space);
                continue;
            }
            for (start, character) in cluster.char_indices() {
                let part = &cluster[start..start + character.len_utf8()];
                match self.rules.transform(part) {
                    Some(replacement) => push_collapsed(replacement, out, &mut after_space),
                    None => push_character(character, out, &mut after_space),
                }
            }
        }
    }
}

#[inline]
fn push_collapsed(text: &str, out: &mut String, after_space: &mut bool) {
    for character in text.chars() {
        push_character(character, out, after_space);
    }
}

#[inline]
fn push_character(character: char, out: &mut String, after_space: &mut bool) {
    let space = character == ' ';
    if !(space && *after_space) {
        out.push(character);
    }
    *after_space = space;
}

/// Puts the space before the first word and escapes all spaces: what Viterbi runs on.
pub fn prepare(normalized: &str, out: &mut String) {
    out.clear();
    if normalized.is_empty() {
        return;
    }
    if !normalized.starts_with(' ') {
        out.push_str(METASPACE);
    }
    for character in normalized.chars() {
        if character == ' ' {
            out.push_str(METASPACE);
        } else {
            out.push(character);
        }
    }
}

//! Normalizer steps, text to text.

use trie_format::pipeline::{CharClass, Step, StepKind};
use trie_format::{CharsmapView, PipelineView};
use unicode_normalization_alignments::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use crate::replace::{Pattern, replace};

/// Normalizes `input` into `text`, with `next` to work in. `charsmap` is the table of the Precompiled step.
///
/// Returns whether `text` begins with what the first byte of `input` became: steps that drop characters at
/// the beginning move it on.
pub fn normalize(
    charsmap: Option<CharsmapView<'_>>,
    pipeline: &PipelineView<'_>,
    input: &str,
    text: &mut String,
    next: &mut String,
) -> bool {
    text.clear();
    text.push_str(input);
    let mut at_start = true;
    for step in pipeline.steps() {
        let Some(kind) = StepKind::from_number(step.kind) else {
            continue;
        };
        next.clear();
        match kind {
            StepKind::Precompiled => match charsmap {
                Some(charsmap) => precompiled(charsmap, text, next),
                None => continue,
            },
            StepKind::ReplaceLiteral | StepKind::ReplaceRun => {
                let content = str_of(pipeline.step_text(step));
                at_start &= !replace(text, pattern_of(pipeline, step), content, next);
            }
            StepKind::Strip => {
                let class = pipeline.class(step.n[0], step.n[1]);
                at_start &= !strip(class, step.flags, text, next);
            }
            StepKind::Prepend => {
                if !text.is_empty() {
                    next.push_str(str_of(pipeline.step_text(step)));
                }
                next.push_str(text);
            }
            StepKind::Nfc => next.extend(text.nfc().map(|(c, _)| c)),
            StepKind::Nfd => next.extend(text.nfd().map(|(c, _)| c)),
            StepKind::Nfkc => next.extend(text.nfkc().map(|(c, _)| c)),
            StepKind::Nfkd => next.extend(text.nfkd().map(|(c, _)| c)),
            StepKind::MapChars => at_start &= !map_chars(pipeline, step, text, next),
            _ => continue,
        }
        std::mem::swap(text, next);
    }
    at_start
}

/// The text in `bytes`: texts of validated steps are UTF-8; what is not is taken for empty.
#[must_use]
pub fn str_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// What a replacing step looks for.
#[must_use]
pub fn pattern_of<'a>(pipeline: &PipelineView<'a>, step: &Step) -> Pattern<'a> {
    match StepKind::from_number(step.kind) {
        Some(StepKind::ReplaceLiteral | StepKind::DecodeReplaceLiteral) => {
            Pattern::Literal(str_of(pipeline.text(step.n[0], step.n[1])))
        }
        _ => Pattern::Run {
            class: pipeline.class(step.n[0], step.n[1]),
            min: step.n[2],
            max: step.n[3],
        },
    }
}

/// Grapheme by grapheme: a short one is looked up whole, where the *shortest* rule that fits its beginning
/// replaces all of it; else each of its characters is looked up (`Precompiled` in `tokenizers`).
fn precompiled(charsmap: CharsmapView<'_>, text: &str, out: &mut String) {
    /// Graphemes of this many bytes and more are not looked up whole.
    const LONG: usize = 6;
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&first) = bytes.get(at) {
        let grapheme = match bytes.get(at + 1) {
            // Two ASCII characters are one grapheme only as CR LF.
            Some(&second) if !(first.is_ascii() && second.is_ascii()) || first == b'\r' => {
                text[at..].graphemes(true).next().unwrap_or_default()
            }
            _ => &text[at..=at],
        };
        if grapheme.is_empty() {
            return;
        }
        at += grapheme.len();
        let whole = (grapheme.len() < LONG)
            .then(|| charsmap.shortest_match(grapheme.as_bytes()))
            .flatten();
        if let Some(replacement) = whole {
            out.push_str(str_of(replacement));
            continue;
        }
        for (start, character) in grapheme.char_indices() {
            let part = &grapheme[start..start + character.len_utf8()];
            match charsmap.shortest_match(part.as_bytes()) {
                Some(replacement) => out.push_str(str_of(replacement)),
                None => out.push_str(part),
            }
        }
    }
}

/// Drops white space at the ends; returns whether there was some at the left.
fn strip(class: CharClass<'_>, flags: u32, text: &str, out: &mut String) -> bool {
    let is_space = |c: char| class.contains(c);
    let mut kept = text;
    if flags & 1 != 0 {
        kept = kept.trim_start_matches(is_space);
    }
    let stripped_left = kept.len() != text.len();
    if flags & 2 != 0 {
        kept = kept.trim_end_matches(is_space);
    }
    out.push_str(kept);
    stripped_left
}

/// Applies character rules; returns whether the first character was dropped.
fn map_chars(pipeline: &PipelineView<'_>, step: &Step, text: &str, out: &mut String) -> bool {
    let rules = pipeline.rules(step.n[0], step.n[1]);
    let mut dropped_first = false;
    for (at, character) in text.char_indices() {
        match pipeline.mapped(rules, character) {
            Some(replacement) => {
                dropped_first |= at == 0 && replacement.is_empty();
                out.push_str(str_of(replacement));
            }
            None => out.push(character),
        }
    }
    dropped_first
}

//! Normalizer steps, text to text.

use trie_format::pipeline::{CharClass, Step, StepKind};
use trie_format::{CharsmapView, PipelineView};
use unicode_normalization_alignments::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use crate::origin::Origin;
use crate::replace::{Pattern, replace_tracked};

/// Normalizes `input` into `text`, with `next` to work in. `charsmap` is the table of the Precompiled step.
///
/// Returns how many bytes at the beginning of `text` come from the first character of `input`.
pub fn normalize(
    charsmap: Option<CharsmapView<'_>>,
    pipeline: &PipelineView<'_>,
    input: &str,
    text: &mut String,
    next: &mut String,
) -> usize {
    text.clear();
    text.push_str(input);
    let mut from_start = input.chars().next().map_or(0, char::len_utf8);
    for step in pipeline.steps() {
        let Some(kind) = StepKind::from_number(step.kind) else {
            continue;
        };
        next.clear();
        match kind {
            StepKind::Precompiled => match charsmap {
                Some(charsmap) => from_start = precompiled(charsmap, text, from_start, next),
                None => continue,
            },
            StepKind::ReplaceLiteral | StepKind::ReplaceRun => {
                let content = str_of(pipeline.step_text(step));
                let pattern = pattern_of(pipeline, step);
                from_start = replace_tracked(text, pattern, content, from_start, next);
            }
            StepKind::Strip => {
                let class = pipeline.class(step.n[0], step.n[1]);
                let stripped = strip(class, step.flags, text, next);
                from_start = from_start.saturating_sub(stripped).min(next.len());
            }
            StepKind::Prepend => {
                if !text.is_empty() {
                    next.push_str(str_of(pipeline.step_text(step)));
                }
                if from_start > 0 {
                    from_start += next.len();
                }
                next.push_str(text);
            }
            StepKind::Nfc => from_start = transform(text, text.nfc(), from_start, next),
            StepKind::Nfd => from_start = transform(text, text.nfd(), from_start, next),
            StepKind::Nfkc => from_start = transform(text, text.nfkc(), from_start, next),
            StepKind::Nfkd => from_start = transform(text, text.nfkd(), from_start, next),
            StepKind::MapChars => from_start = map_chars(pipeline, step, text, from_start, next),
            _ => continue,
        }
        std::mem::swap(text, next);
    }
    from_start
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

/// Writes what a Unicode normalization makes of `text`, with the changes that it tells.
fn transform(
    text: &str,
    characters: impl Iterator<Item = (char, isize)>,
    from_start: usize,
    out: &mut String,
) -> usize {
    let mut origin = Origin::new(text, from_start);
    for (character, change) in characters {
        origin.push(character, change);
        out.push(character);
    }
    origin.after()
}

/// Grapheme by grapheme: a short one is looked up whole, where the *shortest* rule that fits its beginning
/// replaces all of it; else each of its characters is looked up (`Precompiled` in `tokenizers`).
fn precompiled(
    charsmap: CharsmapView<'_>,
    text: &str,
    from_start: usize,
    out: &mut String,
) -> usize {
    /// Graphemes of this many bytes and more are not looked up whole.
    const LONG: usize = 6;
    let bytes = text.as_bytes();
    let mut origin = Replacements {
        origin: Origin::new(text, from_start),
        last: None,
    };
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
            break;
        }
        at += grapheme.len();
        let whole = (grapheme.len() < LONG)
            .then(|| charsmap.shortest_match(grapheme.as_bytes()))
            .flatten();
        if let Some(replacement) = whole {
            out.push_str(str_of(replacement));
            origin.push(grapheme, str_of(replacement));
            continue;
        }
        for (start, character) in grapheme.char_indices() {
            let part = &grapheme[start..start + character.len_utf8()];
            let replacement = charsmap
                .shortest_match(part.as_bytes())
                .map_or(part, str_of);
            out.push_str(replacement);
            origin.push(part, replacement);
        }
    }
    origin.after()
}

/// Follows the changes of [`precompiled`]: what a longer text loses counts for the character before, and at
/// the beginning, where there is none, for nothing, so that all that follows moves on.
struct Replacements<'t> {
    origin: Origin<'t>,
    last: Option<(char, isize)>,
}

impl Replacements<'_> {
    #[inline]
    fn push(&mut self, old: &str, new: &str) {
        if self.origin.is_done() {
            return;
        }
        let (old, count) = (old.chars().count(), new.chars().count());
        for (index, character) in new.chars().enumerate() {
            if let Some((last, change)) = self.last.replace((character, isize::from(index >= old)))
            {
                self.origin.push(last, change);
            }
        }
        if let Some((_, change)) = &mut self.last {
            *change -= old.saturating_sub(count) as isize;
        }
    }

    fn after(mut self) -> usize {
        if let Some((last, change)) = self.last {
            self.origin.push(last, change);
        }
        self.origin.after()
    }
}

/// Drops white space at the ends; returns how many bytes at the left.
fn strip(class: CharClass<'_>, flags: u32, text: &str, out: &mut String) -> usize {
    let is_space = |c: char| class.contains(c);
    let mut kept = text;
    if flags & 1 != 0 {
        kept = kept.trim_start_matches(is_space);
    }
    let stripped_left = text.len() - kept.len();
    if flags & 2 != 0 {
        kept = kept.trim_end_matches(is_space);
    }
    out.push_str(kept);
    stripped_left
}

/// Applies character rules. What a character becomes has its offset.
fn map_chars(
    pipeline: &PipelineView<'_>,
    step: &Step,
    text: &str,
    from_start: usize,
    out: &mut String,
) -> usize {
    let rules = pipeline.rules(step.n[0], step.n[1]);
    let mut still_from_start = 0;
    for (at, character) in text.char_indices() {
        match pipeline.mapped(rules, character) {
            Some(replacement) => out.push_str(str_of(replacement)),
            None => out.push(character),
        }
        if at < from_start {
            still_from_start = out.len();
        }
    }
    still_from_start
}

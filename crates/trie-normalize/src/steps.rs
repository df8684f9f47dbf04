//! Normalizer steps, text to text.

use trie_format::pipeline::{CharClass, Step, StepKind};
use trie_format::{CharsmapView, PipelineView};
use unicode_segmentation::UnicodeSegmentation;

use crate::forms::{Form, Forms};
use crate::replace::{Pattern, replace_tracked};
use crate::track::{Changes, Track};

/// What normalization works in, to be kept from text to text.
#[derive(Debug, Default)]
pub struct Room {
    /// The text that a step is writing.
    next: String,
    forms: Forms,
}

impl Room {
    /// Bytes that the buffers hold.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        self.next.capacity() + self.forms.allocated_bytes()
    }
}

/// Normalizes `input` into `text`, with `room` to work in, as `track` follows. `charsmap` is the table of the
/// Precompiled step.
///
/// `track` has begun with `input`; afterwards it is at `text`. `continues`: `input` goes on after another part
/// of the same text, so that nothing is put before it.
pub fn normalize<T: Track>(
    charsmap: Option<CharsmapView<'_>>,
    pipeline: &PipelineView<'_>,
    input: &str,
    continues: bool,
    track: &mut T,
    text: &mut String,
    room: &mut Room,
) {
    let Room { next, forms } = room;
    text.clear();
    text.push_str(input);
    for step in pipeline.steps() {
        let Some(kind) = StepKind::from_number(step.kind) else {
            continue;
        };
        next.clear();
        match kind {
            StepKind::Precompiled => match charsmap {
                Some(charsmap) => precompiled(charsmap, text, track, next),
                None => continue,
            },
            StepKind::ReplaceLiteral | StepKind::ReplaceRun => {
                let content = str_of(pipeline.step_text(step));
                let pattern = pattern_of(pipeline, step);
                replace_tracked(text, 0, pattern, content, track, next);
            }
            StepKind::Strip => {
                let class = pipeline.class(step.n[0], step.n[1]);
                strip(class, step.flags, text, track, next);
            }
            StepKind::Prepend => {
                if !text.is_empty() && !continues {
                    let prefix = str_of(pipeline.step_text(step));
                    next.push_str(prefix);
                    track.push(0, prefix.len());
                }
                next.push_str(text);
                track.copy(0, text.len());
            }
            StepKind::Nfc | StepKind::Nfd | StepKind::Nfkc | StepKind::Nfkd => {
                let form = Form {
                    compatible: matches!(kind, StepKind::Nfkc | StepKind::Nfkd),
                    composed: matches!(kind, StepKind::Nfc | StepKind::Nfkc),
                };
                transform(text, form, forms, track, next);
            }
            StepKind::MapChars => map_chars(pipeline, step, text, track, next),
            _ => continue,
        }
        track.turn();
        std::mem::swap(text, next);
    }
    // After an odd number of steps they have changed places: the next text finds both as large.
    next.clear();
    next.reserve_exact(text.capacity());
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
fn transform<T: Track>(text: &str, form: Form, forms: &mut Forms, track: &mut T, out: &mut String) {
    let mut changes = Changes::new(text, track);
    forms.write(form, text, |character, change| {
        changes.push(character, change);
        out.push(character);
    });
}

/// Grapheme by grapheme: a short one is looked up whole, where the *shortest* rule that fits its beginning
/// replaces all of it; else each of its characters is looked up (`Precompiled` in `tokenizers`).
fn precompiled<T: Track>(charsmap: CharsmapView<'_>, text: &str, track: &mut T, out: &mut String) {
    /// Graphemes of this many bytes and more are not looked up whole.
    const LONG: usize = 6;
    let bytes = text.as_bytes();
    let mut late = track.take_late();
    let before = if late.is_empty() {
        text
    } else {
        late.push_str(text);
        &late
    };
    let mut replacements = Replacements {
        changes: Changes::new(before, track),
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
            replacements.push(grapheme, str_of(replacement));
            continue;
        }
        for (start, character) in grapheme.char_indices() {
            let part = &grapheme[start..start + character.len_utf8()];
            let replacement = charsmap
                .shortest_match(part.as_bytes())
                .map_or(part, str_of);
            out.push_str(replacement);
            replacements.push(part, replacement);
        }
    }
    let rest = replacements.finish();
    track.keep_late(rest);
    track.give_back(late);
}

/// Follows the changes of [`precompiled`]: what a longer text loses counts for the character before, and at
/// the beginning, where there is none, for nothing, so that all that follows moves on.
struct Replacements<'t, 'k, T: Track> {
    changes: Changes<'t, 'k, T>,
    last: Option<(char, isize)>,
}

impl<'t, T: Track> Replacements<'t, '_, T> {
    #[inline(always)]
    fn push(&mut self, old: &str, new: &str) {
        if !self.changes.is_done() {
            self.follow(old, new);
        }
    }

    fn follow(&mut self, old: &str, new: &str) {
        let (old, count) = (old.chars().count(), new.chars().count());
        for (index, character) in new.chars().enumerate() {
            if let Some((last, change)) = self.last.replace((character, isize::from(index >= old)))
            {
                self.changes.push(last, change);
            }
        }
        if let Some((_, change)) = &mut self.last {
            *change -= old.saturating_sub(count) as isize;
        }
    }

    /// Returns what has not been replaced: as much as was lost at the beginning.
    fn finish(mut self) -> &'t str {
        if let Some((last, change)) = self.last {
            self.changes.push(last, change);
        }
        self.changes.rest()
    }
}

/// Drops white space at the ends.
fn strip<T: Track>(class: CharClass<'_>, flags: u32, text: &str, track: &mut T, out: &mut String) {
    let is_space = |c: char| class.contains(c);
    let mut kept = text;
    if flags & 1 != 0 {
        kept = kept.trim_start_matches(is_space);
    }
    let start = text.len() - kept.len();
    if flags & 2 != 0 {
        kept = kept.trim_end_matches(is_space);
    }
    out.push_str(kept);
    track.copy(start, start + kept.len());
}

/// Applies character rules. What a character becomes has its place.
fn map_chars<T: Track>(
    pipeline: &PipelineView<'_>,
    step: &Step,
    text: &str,
    track: &mut T,
    out: &mut String,
) {
    let rules = pipeline.rules(step.n[0], step.n[1]);
    for (at, character) in text.char_indices() {
        let before = out.len();
        match pipeline.mapped(rules, character) {
            Some(replacement) => out.push_str(str_of(replacement)),
            None => out.push(character),
        }
        track.push(at, out.len() - before);
    }
}

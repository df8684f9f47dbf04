//! Pre-tokenizer steps, text to words.

use trie_format::PipelineView;
use trie_format::pipeline::{CharClass, SplitBehavior, Step, StepKind};

use super::{Buffers, Part};
use trie_normalize::{Pattern, Track, for_each_match, replace_tracked, str_of};

/// Runs the pre-tokenizer steps over the parts in `buffers`, which `track` follows. `continues`: the first
/// part is not the beginning of one.
pub(super) fn pre_tokenize<T: Track>(
    pipeline: &PipelineView<'_>,
    continues: bool,
    buffers: &mut Buffers,
    track: &mut T,
) {
    for step in pipeline.steps() {
        buffers.next_parts.clear();
        match StepKind::from_number(step.kind) {
            Some(StepKind::Metaspace) => metaspace(pipeline, step, continues, buffers, track),
            Some(StepKind::SplitClass) => {
                let class = pipeline.class(step.n[0], step.n[1]);
                let behavior =
                    SplitBehavior::from_number(step.flags).unwrap_or(SplitBehavior::Isolated);
                each_part(buffers, |text, push| {
                    split_class(class, behavior, text, push)
                });
            }
            Some(StepKind::Words) => {
                let word = pipeline.class(step.n[0], step.n[1]);
                let space = pipeline.class(step.n[2], step.n[3]);
                each_part(buffers, |text, push| split_words(word, space, text, push));
            }
            _ => continue,
        }
        let Buffers {
            parts, next_parts, ..
        } = &mut *buffers;
        std::mem::swap(parts, next_parts);
        next_parts.clear();
        next_parts.reserve_exact(parts.capacity());
    }
}

/// Splits every part where `split` says; empty parts are left out.
fn each_part(buffers: &mut Buffers, split: impl Fn(&str, &mut dyn FnMut(usize, usize))) {
    let Buffers {
        text,
        parts,
        next_parts,
        ..
    } = buffers;
    for part in parts.iter() {
        let Some(part_text) = text.get(part.start..part.end) else {
            continue;
        };
        split(part_text, &mut |start, end| {
            if start < end {
                next_parts.push(Part {
                    start: part.start + start,
                    end: part.start + end,
                });
            }
        });
    }
}

/// Spaces become the replacement, which is also prepended, and splits before it (`Metaspace`).
fn metaspace<T: Track>(
    pipeline: &PipelineView<'_>,
    step: &Step,
    continues: bool,
    buffers: &mut Buffers,
    track: &mut T,
) {
    let replacement = str_of(pipeline.step_text(step));
    let Buffers {
        text,
        next_text,
        parts,
        next_parts,
        ..
    } = buffers;
    next_text.clear();
    for part in parts.iter() {
        let Some(part_text) = text.get(part.start..part.end) else {
            continue;
        };
        let begin = next_text.len();
        let prepend = match step.flags & 3 {
            _ if continues && begin == 0 => false,
            0 => true,
            1 => track.is_first(part.start),
            _ => false,
        };
        if prepend && !part_text.starts_with(' ') && !part_text.starts_with(replacement) {
            next_text.push_str(replacement);
            track.push(part.start, replacement.len());
        }
        let space = Pattern::Literal(" ");
        replace_tracked(part_text, part.start, space, replacement, track, next_text);
        let mut push = |start: usize, end: usize| {
            if start < end {
                next_parts.push(Part { start, end });
            }
        };
        let mut start = begin;
        if step.flags & 4 != 0 {
            for_each_match(&next_text[begin..], replacement, |at, _| {
                push(start, begin + at);
                start = begin + at;
            });
        }
        push(start, next_text.len());
    }
    track.turn();
    std::mem::swap(text, next_text);
    // They change places: the next text finds both as large.
    next_text.clear();
    next_text.reserve_exact(text.capacity());
}

fn split_class(
    class: CharClass<'_>,
    behavior: SplitBehavior,
    text: &str,
    push: &mut dyn FnMut(usize, usize),
) {
    let mut start = 0;
    let mut previous = None;
    for (at, character) in text.char_indices() {
        let is_match = class.contains(character);
        let after = at + character.len_utf8();
        let boundary_before = match behavior {
            SplitBehavior::Removed | SplitBehavior::Isolated => is_match || previous == Some(true),
            SplitBehavior::MergedWithNext => is_match,
            SplitBehavior::MergedWithPrevious => previous == Some(true),
            _ => previous.is_some_and(|previous| previous != is_match),
        };
        if boundary_before {
            push(start, at);
            start = at;
        }
        if is_match && behavior == SplitBehavior::Removed {
            start = after;
        }
        previous = Some(is_match);
    }
    push(start, text.len());
}

fn split_words(
    word: CharClass<'_>,
    space: CharClass<'_>,
    text: &str,
    push: &mut dyn FnMut(usize, usize),
) {
    // Of the two kinds of run that are kept, the one that is open: of words?
    let mut open: Option<bool> = None;
    let mut start = 0;
    for (at, character) in text.char_indices() {
        let kind = if word.contains(character) {
            Some(true)
        } else if space.contains(character) {
            None
        } else {
            Some(false)
        };
        if kind != open {
            if open.is_some() {
                push(start, at);
            }
            (open, start) = (kind, at);
        }
    }
    if open.is_some() {
        push(start, text.len());
    }
}

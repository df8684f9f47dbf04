//! The whole way from text to ids.

use trie_format::pipeline::StepKind;
use trie_format::{NO_ID, PipelineView, ValidImage};
use trie_normalize::normalize;

use super::added::{Classes, cut};
use super::split::pre_tokenize;
use super::{Buffers, Part};
use crate::scratch::Scratch;
use crate::tokenizer::EncodeOptions;
use crate::trie::Trie;
use crate::utf8::valid_len;
use crate::viterbi::{Double, UnkScore, backtrack, segment};

/// What does not change during an encode.
struct Encoder<'a> {
    image: ValidImage<'a>,
    pipeline: PipelineView<'a>,
    trie: Trie<'a>,
    unk: UnkScore,
    unk_id: u32,
}

/// Encodes `input` into the ids and spans of `scratch`. The spans are of `scratch.normalized`, which
/// gathers the words as they were segmented.
pub(crate) fn encode(
    image: &ValidImage<'_>,
    pipeline: &PipelineView<'_>,
    input: &[u8],
    options: &EncodeOptions,
    scratch: &mut Scratch,
) {
    let encoder = Encoder::new(image, pipeline, scratch);
    // Without special tokens it is still the template that says where the text goes.
    let mut has_template = false;
    for step in pipeline.steps() {
        if step.kind != StepKind::TemplateSingle as u32 {
            continue;
        }
        has_template = true;
        match step.n[0] {
            0 => encoder.sequence(input, options, scratch),
            _ if options.add_special_tokens => push_id(step.n[1], scratch),
            _ => {}
        }
    }
    if !has_template {
        encoder.sequence(input, options, scratch);
    }
}

/// Encodes `word`, which is segmented as it is, into the ids and spans of `scratch`.
pub(crate) fn encode_word(
    image: &ValidImage<'_>,
    pipeline: &PipelineView<'_>,
    word: &[u8],
    scratch: &mut Scratch,
) {
    Encoder::new(image, pipeline, scratch).word(word, scratch);
}

/// What the normalizer steps make of `input`, borrowed from `scratch`.
pub(crate) fn normalize_only<'s>(
    image: &ValidImage<'_>,
    pipeline: &PipelineView<'_>,
    input: &[u8],
    scratch: &'s mut Scratch,
) -> &'s [u8] {
    let Buffers {
        repaired,
        normalized,
        next_text,
        ..
    } = &mut scratch.steps;
    let text = as_text(input, repaired);
    normalize(image.charsmap(), pipeline, text, normalized, next_text);
    normalized.as_bytes()
}

/// An id that no text stands behind.
fn push_id(id: u32, scratch: &mut Scratch) {
    let end = scratch.normalized.len();
    scratch.ids.push(id);
    scratch.spans.push((end, end));
}

impl<'a> Encoder<'a> {
    /// An encoder of an image; clears the results in `scratch`.
    fn new(image: &ValidImage<'a>, pipeline: &PipelineView<'a>, scratch: &mut Scratch) -> Self {
        scratch.ids.clear();
        scratch.spans.clear();
        scratch.normalized.clear();
        Self {
            image: *image,
            pipeline: *pipeline,
            trie: Trie::pieces(image),
            unk: UnkScore::new(image),
            unk_id: image.metadata().unk_id.to_native(),
        }
    }

    fn word(&self, word: &[u8], scratch: &mut Scratch) {
        segment::<Double>(self.trie, self.unk, word, &mut scratch.cells64);
        self.collect(word, scratch);
    }

    fn sequence(&self, input: &[u8], options: &EncodeOptions, scratch: &mut Scratch) {
        // The buffers leave the scratch for the time of the call, so that both can be borrowed.
        let mut buffers = std::mem::take(&mut scratch.steps);
        let mut repaired = std::mem::take(&mut buffers.repaired);
        let text = as_text(input, &mut repaired);
        self.text(text, options, &mut buffers, scratch);
        buffers.repaired = repaired;
        scratch.steps = buffers;
    }

    /// Cuts added tokens from `text` and encodes what is between them.
    fn text(
        &self,
        text: &str,
        options: &EncodeOptions,
        buffers: &mut Buffers,
        scratch: &mut Scratch,
    ) {
        let tokens = self.pipeline.added_tokens();
        let classes = Classes::new(&self.pipeline);
        let keep = options.special_tokens_as_text;
        let raw = Trie::added(&self.image, false);
        let mut found = std::mem::take(&mut buffers.found);
        cut(text, raw, tokens, classes, keep, &mut found);
        for outer in &found {
            if let Some(id) = outer.id {
                push_id(id, scratch);
                continue;
            }
            let Some(part) = text.get(outer.start..outer.end) else {
                continue;
            };
            let mut normalized = std::mem::take(&mut buffers.normalized);
            let mut from_start = normalize(
                self.image.charsmap(),
                &self.pipeline,
                part,
                &mut normalized,
                &mut buffers.next_text,
            );
            if outer.start > 0 {
                from_start = 0;
            }
            let trie = Trie::added(&self.image, true);
            let mut inner_found = std::mem::take(&mut buffers.found_normalized);
            cut(&normalized, trie, tokens, classes, keep, &mut inner_found);
            for inner in &inner_found {
                match (inner.id, normalized.get(inner.start..inner.end)) {
                    (Some(id), _) => push_id(id, scratch),
                    (None, Some(part)) => {
                        let from_start = from_start.saturating_sub(inner.start);
                        self.words(part, from_start, buffers, scratch);
                    }
                    _ => {}
                }
            }
            buffers.found_normalized = inner_found;
            buffers.normalized = normalized;
        }
        buffers.found = found;
    }

    /// Pre-tokenizes `text` and segments each word.
    fn words(&self, text: &str, from_start: usize, buffers: &mut Buffers, scratch: &mut Scratch) {
        buffers.text.clear();
        buffers.text.push_str(text);
        buffers.parts.clear();
        buffers.parts.push(Part {
            start: 0,
            end: text.len(),
            from_start: from_start.min(text.len()),
        });
        pre_tokenize(&self.pipeline, buffers);
        for part in &buffers.parts {
            if let Some(word) = buffers.text.get(part.start..part.end) {
                self.word(word.as_bytes(), scratch);
            }
        }
    }

    /// Appends the ids of the best path through `word`: a run of unknown characters, together with literal
    /// unknown pieces, is looked up as one text, else becomes its bytes' pieces or one unknown piece.
    fn collect(&self, word: &[u8], scratch: &mut Scratch) {
        let Scratch {
            normalized,
            cells64,
            ids,
            spans,
            ..
        } = scratch;
        let offset = normalized.len();
        normalized.extend_from_slice(word);
        let first = ids.len();
        let mut run: Option<(usize, usize)> = None;
        // Last token first; a run ends where its beginning is known.
        for (start, end, id) in backtrack(cells64) {
            if id == NO_ID || id == self.unk_id {
                run = Some((start, run.map_or(end, |(_, run_end)| run_end)));
                continue;
            }
            if let Some((start, end)) = run.take() {
                self.push_unknown(word, start, end, offset, ids, spans);
            }
            ids.push(id);
            spans.push((offset + start, offset + end));
        }
        if let Some((start, end)) = run {
            self.push_unknown(word, start, end, offset, ids, spans);
        }
        ids[first..].reverse();
        spans[first..].reverse();
    }

    fn push_unknown(
        &self,
        word: &[u8],
        start: usize,
        end: usize,
        offset: usize,
        ids: &mut Vec<u32>,
        spans: &mut Vec<(usize, usize)>,
    ) {
        let text = &word[start..end];
        let span = (offset + start, offset + end);
        if let Some(id) = self.trie.find(text) {
            ids.push(id);
            spans.push(span);
            return;
        }
        if let Some(byte_ids) = self.image.byte_ids() {
            let id_of = |byte: &u8| byte_ids[usize::from(*byte)];
            if text.iter().all(|byte| id_of(byte) != NO_ID) {
                for byte in text.iter().rev() {
                    ids.push(id_of(byte));
                    spans.push(span);
                }
                return;
            }
        }
        ids.push(self.unk_id);
        spans.push(span);
    }
}

/// `input` as text. `tokenizers` takes no bytes; here each one that is not UTF-8 becomes U+FFFD, as in
/// SentencePiece, in a copy in `repaired`.
pub(super) fn as_text<'t>(input: &'t [u8], repaired: &'t mut String) -> &'t str {
    std::str::from_utf8(input).unwrap_or_else(|_| {
        repair(input, repaired);
        repaired
    })
}

fn repair(input: &[u8], out: &mut String) {
    out.clear();
    let mut rest = input;
    while !rest.is_empty() {
        let len = valid_len(rest);
        let (character, after) = rest.split_at(len.unwrap_or(1));
        match std::str::from_utf8(character) {
            Ok(text) => out.push_str(text),
            Err(_) => out.push('\u{fffd}'),
        }
        rest = after;
    }
}

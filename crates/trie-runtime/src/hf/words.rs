//! The words that a text is segmented by, and the added tokens between them, for tools that explain.

use trie_format::{PipelineView, ValidImage};
use trie_normalize::normalize;

use super::added::{Classes, cut};
use super::encode::as_text;
use super::split::pre_tokenize;
use super::{Buffers, Part as TextPart};
use crate::tokenizer::EncodeOptions;
use crate::trie::Trie;

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part<'t> {
    /// Segmented by itself.
    Word(&'t str),
    /// An added token.
    Added(u32),
}

/// Calls `visit` with the words and added tokens of `input`, in order.
pub(crate) fn for_each(
    image: &ValidImage<'_>,
    pipeline: &PipelineView<'_>,
    input: &[u8],
    options: &EncodeOptions,
    visit: &mut dyn FnMut(Part<'_>),
) {
    let tokens = pipeline.added_tokens();
    let classes = Classes::new(pipeline);
    let keep = options.special_tokens_as_text;
    let mut repaired = String::new();
    let text = as_text(input, &mut repaired);
    let (mut found, mut inner_found) = (Vec::new(), Vec::new());
    let (mut normalized, mut next) = (String::new(), String::new());
    let mut buffers = Buffers::default();
    let raw = Trie::added(image, false);
    cut(text, raw, tokens, classes, keep, &mut found);
    for outer in &found {
        let part = match (outer.id, text.get(outer.start..outer.end)) {
            (Some(id), _) => {
                visit(Part::Added(id));
                continue;
            }
            (None, part) => part.unwrap_or_default(),
        };
        let charsmap = image.charsmap();
        let from_start = normalize(charsmap, pipeline, part, &mut normalized, &mut next);
        let from_start = if outer.start > 0 { 0 } else { from_start };
        let trie = Trie::added(image, true);
        cut(&normalized, trie, tokens, classes, keep, &mut inner_found);
        for inner in &inner_found {
            match (inner.id, normalized.get(inner.start..inner.end)) {
                (Some(id), _) => visit(Part::Added(id)),
                (None, part) => {
                    let part = part.unwrap_or_default();
                    let from_start = from_start.saturating_sub(inner.start).min(part.len());
                    buffers.text.clear();
                    buffers.text.push_str(part);
                    buffers.parts.clear();
                    buffers.parts.push(TextPart {
                        start: 0,
                        end: part.len(),
                        from_start,
                    });
                    pre_tokenize(pipeline, &mut buffers);
                    let words = buffers.parts.iter();
                    let words = words.filter_map(|part| buffers.text.get(part.start..part.end));
                    words.for_each(|word| visit(Part::Word(word)));
                }
            }
        }
    }
}

//! The words that a text is segmented by, and the added tokens between them, for tools that explain.
//!
//! The same way as in `encode`, without what makes that one fast; a test holds the two together.

use trie_format::{PipelineView, ValidImage};
use trie_normalize::{Prefix, Room, Track, normalize};

use super::added::{Classes, cut};
use super::repair::Repaired;
use super::split::pre_tokenize;
use super::{Buffers, Part as TextPart, Tracks};
use crate::trie::Trie;

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part<'t> {
    /// Segmented by itself.
    Word(&'t str),
    /// An added token, and its text as it was found.
    Added(u32, &'t str),
}

/// Calls `visit` with the words and added tokens of `input`, in order.
pub(crate) fn for_each(
    image: &ValidImage<'_>,
    pipeline: &PipelineView<'_>,
    input: &[u8],
    special_tokens_as_text: bool,
    visit: &mut dyn FnMut(Part<'_>),
) {
    let tokens = pipeline.added_tokens();
    let classes = Classes::new(pipeline);
    let keep = special_tokens_as_text;
    let mut repaired = Repaired::default();
    let (text, _) = repaired.text_of(input);
    let (mut found, mut inner_found) = (Vec::new(), Vec::new());
    let (mut normalized, mut room) = (String::new(), Room::default());
    let mut tracks = Tracks::<Prefix>::default();
    let mut buffers = Buffers::default();
    let raw = Trie::added(image, false);
    cut(text, raw, tokens, classes, keep, &mut found);
    for outer in &found {
        let part = text.get(outer.start..outer.end).unwrap_or_default();
        if let Some(id) = outer.id {
            visit(Part::Added(id, part));
            continue;
        }
        let charsmap = image.charsmap();
        let track = &mut tracks.text;
        track.begin(part, outer.start, outer.start == 0);
        let (normalized, room) = (&mut normalized, &mut room);
        normalize(charsmap, pipeline, part, false, track, normalized, room);
        let trie = Trie::added(image, true);
        cut(normalized, trie, tokens, classes, keep, &mut inner_found);
        for inner in &inner_found {
            let part = normalized.get(inner.start..inner.end).unwrap_or_default();
            if let Some(id) = inner.id {
                visit(Part::Added(id, part));
                continue;
            }
            let Tracks { text, words, .. } = &mut tracks;
            words.begin_part(text, inner.start, inner.end);
            buffers.text.clear();
            buffers.text.push_str(part);
            buffers.parts.clear();
            buffers.parts.push(TextPart {
                start: 0,
                end: part.len(),
            });
            pre_tokenize(pipeline, false, &mut buffers, words);
            let words = buffers.parts.iter();
            let words = words.filter_map(|part| buffers.text.get(part.start..part.end));
            words.for_each(|word| visit(Part::Word(word)));
        }
    }
}

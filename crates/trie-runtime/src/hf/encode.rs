//! The whole way from text to ids.

use trie_format::pipeline::AddedToken;
use trie_format::{NO_ID, PipelineView, ValidImage};
use trie_normalize::{Prefix, Track, normalize};

use super::added::{Classes, cut};
use super::split::pre_tokenize;
use super::{Buffers, Part, Tracks};
use crate::scratch::Work;
use crate::sequence::{Ask, Sequence};
use crate::trie::Trie;
use crate::viterbi::{Cell, Double, UnkScore, backtrack, segment};

/// What does not change during an encode. With `SPANS`, it records the words and the tokens' spans.
struct Encoder<'a, const SPANS: bool> {
    image: ValidImage<'a>,
    pipeline: PipelineView<'a>,
    trie: Trie<'a>,
    unk: UnkScore,
    unk_id: u32,
    added: Added<'a>,
}

/// How added tokens are looked for.
#[derive(Clone, Copy)]
struct Added<'a> {
    tokens: &'a [AddedToken],
    classes: Classes<'a>,
    /// Special ones are text.
    keep_special_text: bool,
}

/// Encodes `input` into `out`. The spans are of `out.normalized`, which gathers the words and the added
/// tokens as they were found; with offsets, there are spans too.
pub(crate) fn sequence(
    image: &ValidImage<'_>,
    pipeline: &PipelineView<'_>,
    input: &[u8],
    ask: Ask,
    work: &mut Work,
    out: &mut Sequence,
) {
    out.clear();
    // The buffers leave the work space for the time of the call, so that both can be borrowed.
    let mut buffers = std::mem::take(&mut work.steps);
    let mut repaired = std::mem::take(&mut buffers.repaired);
    let (text, single) = repaired.text_of(input);
    let cells = &mut work.cells64;
    if ask.offsets {
        let mut tracks = std::mem::take(&mut buffers.alignments);
        tracks.text.set_input(0, single);
        let encoder = Encoder::<true>::new(image, pipeline, ask);
        encoder.text(text, &mut tracks, &mut buffers, cells, out);
        buffers.alignments = tracks;
    } else {
        let mut tracks = Tracks::<Prefix>::default();
        if ask.spans {
            let encoder = Encoder::<true>::new(image, pipeline, ask);
            encoder.text(text, &mut tracks, &mut buffers, cells, out);
        } else {
            let encoder = Encoder::<false>::new(image, pipeline, ask);
            encoder.text(text, &mut tracks, &mut buffers, cells, out);
        }
    }
    buffers.repaired = repaired;
    work.steps = buffers;
    out.complete = true;
}

/// Encodes `word`, which is segmented as it is, into `out`.
pub(crate) fn word(
    image: &ValidImage<'_>,
    pipeline: &PipelineView<'_>,
    word: &[u8],
    work: &mut Work,
    out: &mut Sequence,
) {
    out.clear();
    let encoder = Encoder::<false>::new(image, pipeline, Ask::IDS);
    encoder.word(word, 0, &Prefix::default(), &mut work.cells64, out);
    out.complete = true;
}

/// What the normalizer steps make of `input`, in buffers of `work`.
pub(crate) fn normalize_only<'w>(
    image: &ValidImage<'_>,
    pipeline: &PipelineView<'_>,
    input: &[u8],
    work: &'w mut Work,
) -> &'w [u8] {
    let Buffers {
        repaired,
        normalized,
        next_text,
        ..
    } = &mut work.steps;
    let (text, _) = repaired.text_of(input);
    let track = &mut Prefix::default();
    normalize(
        image.charsmap(),
        pipeline,
        text,
        track,
        normalized,
        next_text,
    );
    normalized.as_bytes()
}

/// Appends an added token, which was found as `text` and comes from `range` of the input.
fn push_added<const SPANS: bool>(
    id: u32,
    text: &str,
    range: Option<(usize, usize)>,
    out: &mut Sequence,
) {
    out.ids.push(id);
    if SPANS {
        let start = out.normalized.len();
        out.normalized.extend_from_slice(text.as_bytes());
        out.spans.push((start, out.normalized.len()));
    }
    out.offsets.extend(range);
}

impl<'a, const SPANS: bool> Encoder<'a, SPANS> {
    fn new(image: &ValidImage<'a>, pipeline: &PipelineView<'a>, ask: Ask) -> Self {
        Self {
            image: *image,
            pipeline: *pipeline,
            trie: Trie::pieces(image),
            unk: UnkScore::new(image),
            unk_id: image.metadata().unk_id.to_native(),
            added: Added {
                tokens: pipeline.added_tokens(),
                classes: Classes::new(pipeline),
                keep_special_text: ask.special_tokens_as_text,
            },
        }
    }

    /// Cuts added tokens from `text` and encodes what is between them.
    fn text<T: Track>(
        &self,
        text: &str,
        tracks: &mut Tracks<T>,
        buffers: &mut Buffers,
        cells: &mut Vec<Cell<f64>>,
        out: &mut Sequence,
    ) {
        let Added {
            tokens,
            classes,
            keep_special_text: keep,
        } = self.added;
        let raw = Trie::added(&self.image, false);
        let mut found = std::mem::take(&mut buffers.found);
        cut(text, raw, tokens, classes, keep, &mut found);
        for outer in &found {
            let Some(part) = text.get(outer.start..outer.end) else {
                continue;
            };
            if let Some(id) = outer.id {
                let range = tracks.text.input_range(outer.start, outer.end);
                push_added::<SPANS>(id, part, range, out);
                continue;
            }
            let mut normalized = std::mem::take(&mut buffers.normalized);
            tracks.text.begin(part, outer.start, outer.start == 0);
            normalize(
                self.image.charsmap(),
                &self.pipeline,
                part,
                &mut tracks.text,
                &mut normalized,
                &mut buffers.next_text,
            );
            let trie = Trie::added(&self.image, true);
            let mut inner_found = std::mem::take(&mut buffers.found_normalized);
            cut(&normalized, trie, tokens, classes, keep, &mut inner_found);
            for inner in &inner_found {
                let Some(part) = normalized.get(inner.start..inner.end) else {
                    continue;
                };
                if let Some(id) = inner.id {
                    let range = tracks.text.range(inner.start, inner.end);
                    push_added::<SPANS>(id, part, range, out);
                    continue;
                }
                let Tracks { text, words } = tracks;
                words.begin_part(text, inner.start, inner.end);
                self.words(part, words, buffers, cells, out);
            }
            buffers.found_normalized = inner_found;
            buffers.normalized = normalized;
        }
        buffers.found = found;
    }

    /// Pre-tokenizes `text` and segments each word.
    fn words<T: Track>(
        &self,
        text: &str,
        track: &mut T,
        buffers: &mut Buffers,
        cells: &mut Vec<Cell<f64>>,
        out: &mut Sequence,
    ) {
        buffers.text.clear();
        buffers.text.push_str(text);
        buffers.parts.clear();
        buffers.parts.push(Part {
            start: 0,
            end: text.len(),
        });
        pre_tokenize(&self.pipeline, buffers, track);
        for part in &buffers.parts {
            if let Some(word) = buffers.text.get(part.start..part.end) {
                self.word(word.as_bytes(), part.start, track, cells, out);
            }
        }
    }

    /// Segments `word`, which is at `at` of the text that `track` follows.
    fn word<T: Track>(
        &self,
        word: &[u8],
        at: usize,
        track: &T,
        cells: &mut Vec<Cell<f64>>,
        out: &mut Sequence,
    ) {
        segment::<Double>(self.trie, self.unk, word, cells);
        let base = out.normalized.len();
        if SPANS {
            out.normalized.extend_from_slice(word);
        }
        let mut tokens = Tokens::<T, SPANS> {
            first: [out.ids.len(), out.spans.len(), out.offsets.len()],
            out,
            track,
            at,
            base,
        };
        self.collect(word, cells, &mut tokens);
        tokens.turn_around();
    }

    /// Appends the best path through `word`, last token first: a run of unknown characters, together with
    /// literal unknown pieces, is looked up as one text, else becomes its bytes' pieces or one unknown piece.
    fn collect<T: Track>(
        &self,
        word: &[u8],
        cells: &[Cell<f64>],
        tokens: &mut Tokens<'_, '_, T, SPANS>,
    ) {
        let mut run: Option<(usize, usize)> = None;
        // A run ends where its beginning is known.
        for (start, end, id) in backtrack(cells) {
            if id == NO_ID || id == self.unk_id {
                run = Some((start, run.map_or(end, |(_, run_end)| run_end)));
                continue;
            }
            if let Some((start, end)) = run.take() {
                self.push_unknown(&word[start..end], start, tokens);
            }
            tokens.push(id, start, end);
        }
        if let Some((start, end)) = run {
            self.push_unknown(&word[start..end], start, tokens);
        }
    }

    /// Appends what a run of unknown characters, which begins at `start`, becomes.
    fn push_unknown<T: Track>(
        &self,
        text: &[u8],
        start: usize,
        tokens: &mut Tokens<'_, '_, T, SPANS>,
    ) {
        let end = start + text.len();
        if let Some(id) = self.trie.find(text) {
            tokens.push(id, start, end);
            return;
        }
        if let Some(byte_ids) = self.image.byte_ids() {
            let id_of = |byte: &u8| byte_ids[usize::from(*byte)];
            if text.iter().all(|byte| id_of(byte) != NO_ID) {
                for byte in text.iter().rev() {
                    tokens.push(id_of(byte), start, end);
                }
                return;
            }
        }
        tokens.push(self.unk_id, start, end);
    }
}

/// Where a word's tokens go.
struct Tokens<'o, 't, T, const SPANS: bool> {
    out: &'o mut Sequence,
    /// How long the lists were before.
    first: [usize; 3],
    /// Follows the text that the word is at `at` of.
    track: &'t T,
    at: usize,
    /// Where the word is in the normalized text.
    base: usize,
}

impl<T: Track, const SPANS: bool> Tokens<'_, '_, T, SPANS> {
    #[inline]
    fn push(&mut self, id: u32, start: usize, end: usize) {
        self.out.ids.push(id);
        if SPANS {
            self.out.spans.push((self.base + start, self.base + end));
        }
        let range = self.track.range(self.at + start, self.at + end);
        if let Some(range) = range {
            self.out.offsets.push(range);
        }
    }

    /// Puts the tokens in order.
    fn turn_around(self) {
        let [ids, spans, offsets] = self.first;
        self.out.ids[ids..].reverse();
        if SPANS {
            self.out.spans[spans..].reverse();
            self.out.offsets[offsets..].reverse();
        }
    }
}

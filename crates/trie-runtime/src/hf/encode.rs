//! The whole way from text to ids.

use trie_format::pipeline::AddedToken;
use trie_format::{PipelineView, ValidImage};
use trie_normalize::{Prefix, Track, normalize};

use super::added::{Classes, Found, cut};
use super::open::OpenWord;
use super::seam::Seams;
use super::split::pre_tokenize;
use super::tokens::{Tokens, Vocabulary};
use super::{Buffers, Part, Tracks};
use crate::scratch::Work;
use crate::sequence::{Ask, Sequence};
use crate::trie::Trie;
use crate::viterbi::{Cell, Double, UnkScore, backtrack, segment};

/// What does not change during an encode. With `SPANS`, it records the words and the tokens' spans.
pub(super) struct Encoder<'a, const SPANS: bool> {
    image: ValidImage<'a>,
    pipeline: PipelineView<'a>,
    vocabulary: Vocabulary<'a, SPANS>,
    unk: UnkScore,
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

/// A piece of a text, between two seams or its ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'t> {
    pub(super) text: &'t str,
    /// It begins the text; else a word is open.
    pub(super) begins: bool,
    /// It ends the text; else it leaves a word open.
    pub(super) ends: bool,
}

/// Which words of a text go on beyond it.
#[derive(Debug, Clone, Copy)]
struct Joins {
    /// The first one began before it.
    first: bool,
    /// The last one is not at its end.
    last: bool,
}

/// Input bytes looked at for each token that is asked for: as many as a token mostly has.
const BYTES_PER_TOKEN: usize = 5;

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
    let mut len = ask.limit.saturating_mul(BYTES_PER_TOKEN);
    if len >= input.len() {
        whole(image, pipeline, input, ask, work, out);
        out.complete = true;
        return;
    }
    let mut flow = std::mem::take(&mut work.steps.flow);
    flow.begin();
    let mut at = 0;
    while out.ids.len() < ask.limit && !out.complete {
        let rest = input.get(at..).unwrap_or_default();
        let next = rest.get(..len).unwrap_or(rest);
        out.complete = next.len() == rest.len();
        let used = flow.feed(image, pipeline, next, out.complete, ask, work, out);
        at += used;
        len = match used {
            0 => len.saturating_mul(2),
            _ => ask
                .limit
                .saturating_sub(out.ids.len())
                .saturating_mul(BYTES_PER_TOKEN),
        };
    }
    work.steps.flow = flow;
}

/// Encodes `input` as one piece.
fn whole(
    image: &ValidImage<'_>,
    pipeline: &PipelineView<'_>,
    input: &[u8],
    ask: Ask,
    work: &mut Work,
    out: &mut Sequence,
) {
    // The buffers leave the work space for the time of the call, so that both can be borrowed.
    let mut buffers = std::mem::take(&mut work.steps);
    let mut repaired = std::mem::take(&mut buffers.repaired);
    let (text, single) = repaired.text_of(input);
    let piece = Piece {
        text,
        begins: true,
        ends: true,
    };
    let cells = &mut work.cells64;
    let open = &mut OpenWord::default();
    if ask.offsets {
        let mut tracks = std::mem::take(&mut buffers.alignments);
        tracks.text.set_input(0, single);
        let encoder = Encoder::<true>::new(image, pipeline, ask);
        encoder.piece(piece, &mut tracks, &mut buffers, cells, open, out);
        buffers.alignments = tracks;
    } else {
        let mut tracks = Tracks::<Prefix>::default();
        if ask.spans {
            let encoder = Encoder::<true>::new(image, pipeline, ask);
            encoder.piece(piece, &mut tracks, &mut buffers, cells, open, out);
        } else {
            let encoder = Encoder::<false>::new(image, pipeline, ask);
            encoder.piece(piece, &mut tracks, &mut buffers, cells, open, out);
        }
    }
    buffers.repaired = repaired;
    work.steps = buffers;
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
        room,
        ..
    } = &mut work.steps;
    let (text, _) = repaired.text_of(input);
    let track = &mut Prefix::default();
    normalize(
        image.charsmap(),
        pipeline,
        text,
        false,
        track,
        normalized,
        room,
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
    pub(super) fn new(image: &ValidImage<'a>, pipeline: &PipelineView<'a>, ask: Ask) -> Self {
        Self {
            image: *image,
            pipeline: *pipeline,
            vocabulary: Vocabulary::new(image),
            unk: UnkScore::new(image),
            added: Added {
                tokens: pipeline.added_tokens(),
                classes: Classes::new(pipeline),
                keep_special_text: ask.special_tokens_as_text,
            },
        }
    }

    /// Where texts can be taken apart.
    pub(super) fn seams(&self) -> Seams<'a> {
        Seams::new(&self.image, &self.pipeline)
    }

    /// Cuts added tokens from a text: from what a step before has made of it, if it is `normalized`.
    fn cut(&self, text: &str, normalized: bool, found: &mut Vec<Found>) {
        let Added {
            tokens,
            classes,
            keep_special_text: keep,
        } = self.added;
        let trie = Trie::added(&self.image, normalized);
        cut(text, trie, tokens, classes, keep, found);
    }

    /// What the normalizers make of the last part of a piece, behind its last added token.
    pub(super) fn last_part<'b>(
        &self,
        piece: &[u8],
        begins: bool,
        buffers: &'b mut Buffers,
    ) -> &'b str {
        let Buffers {
            repaired,
            found,
            normalized,
            room,
            ..
        } = buffers;
        let (text, _) = repaired.text_of(piece);
        self.cut(text, false, found);
        let continues = !begins && found.len() == 1;
        let part = found.last().and_then(|last| text.get(last.start..last.end));
        normalize(
            self.image.charsmap(),
            &self.pipeline,
            part.unwrap_or_default(),
            continues,
            &mut Prefix::default(),
            normalized,
            room,
        );
        normalized
    }

    /// Cuts added tokens from a piece and encodes what is between them. `open` is the word that is open at
    /// its ends, which `tracks.open` follows.
    pub(super) fn piece<T: Track>(
        &self,
        piece: Piece<'_>,
        tracks: &mut Tracks<T>,
        buffers: &mut Buffers,
        cells: &mut Vec<Cell<f64>>,
        open: &mut OpenWord,
        out: &mut Sequence,
    ) {
        let mut found = std::mem::take(&mut buffers.found);
        self.cut(piece.text, false, &mut found);
        for (index, outer) in found.iter().enumerate() {
            let Some(part) = piece.text.get(outer.start..outer.end) else {
                continue;
            };
            if let Some(id) = outer.id {
                let range = tracks.text.input_range(outer.start, outer.end);
                push_added::<SPANS>(id, part, range, out);
                continue;
            }
            let joins = Joins {
                first: !piece.begins && index == 0,
                last: !piece.ends && index + 1 == found.len(),
            };
            if joins.first {
                tracks.text.resume(part, outer.start);
            } else {
                let is_first = piece.begins && outer.start == 0;
                tracks.text.begin(part, outer.start, is_first);
            }
            let mut normalized = std::mem::take(&mut buffers.normalized);
            normalize(
                self.image.charsmap(),
                &self.pipeline,
                part,
                joins.first,
                &mut tracks.text,
                &mut normalized,
                &mut buffers.room,
            );
            self.normalized(&normalized, joins, tracks, buffers, cells, open, out);
            buffers.normalized = normalized;
        }
        buffers.found = found;
    }

    /// Cuts added tokens from normalized text and encodes what is between them.
    #[allow(clippy::too_many_arguments)]
    fn normalized<T: Track>(
        &self,
        normalized: &str,
        joins: Joins,
        tracks: &mut Tracks<T>,
        buffers: &mut Buffers,
        cells: &mut Vec<Cell<f64>>,
        open: &mut OpenWord,
        out: &mut Sequence,
    ) {
        let mut found = std::mem::take(&mut buffers.found_normalized);
        self.cut(normalized, true, &mut found);
        for (index, inner) in found.iter().enumerate() {
            let Some(part) = normalized.get(inner.start..inner.end) else {
                continue;
            };
            if let Some(id) = inner.id {
                let range = tracks.text.range(inner.start, inner.end);
                push_added::<SPANS>(id, part, range, out);
                continue;
            }
            let Tracks { text, words, .. } = tracks;
            words.begin_part(text, inner.start, inner.end);
            let joins = Joins {
                first: joins.first && index == 0,
                last: joins.last && index + 1 == found.len(),
            };
            self.split(part, joins.first, words, buffers);
            if joins.first || joins.last {
                self.joined_words(joins, tracks, buffers, cells, open, out);
            } else {
                self.words(0, buffers.parts.len(), words, buffers, cells, out);
            }
        }
        buffers.found_normalized = found;
    }

    /// Pre-tokenizes `text` into the parts of `buffers`. `continues`: it does not begin with the beginning of
    /// a word.
    fn split<T: Track>(&self, text: &str, continues: bool, track: &mut T, buffers: &mut Buffers) {
        buffers.text.clear();
        buffers.text.push_str(text);
        buffers.parts.clear();
        buffers.parts.push(Part {
            start: 0,
            end: text.len(),
        });
        pre_tokenize(&self.pipeline, continues, buffers, track);
    }

    /// Segments the words `first..end` of `buffers`.
    fn words<T: Track>(
        &self,
        first: usize,
        end: usize,
        track: &T,
        buffers: &Buffers,
        cells: &mut Vec<Cell<f64>>,
        out: &mut Sequence,
    ) {
        for part in buffers.parts.get(first..end).unwrap_or_default() {
            if let Some(word) = buffers.text.get(part.start..part.end) {
                self.word(word.as_bytes(), part.start, track, cells, out);
            }
        }
    }

    /// Segments the words of `buffers`, of which the first and the last may be parts of one.
    fn joined_words<T: Track>(
        &self,
        joins: Joins,
        tracks: &mut Tracks<T>,
        buffers: &mut Buffers,
        cells: &mut Vec<Cell<f64>>,
        open: &mut OpenWord,
        out: &mut Sequence,
    ) {
        let Tracks {
            words, open: track, ..
        } = tracks;
        let count = buffers.parts.len();
        let mut push = |part: Option<&Part>, ends: bool, out: &mut Sequence| {
            if let Some(part) = part {
                let range = (part.start, part.end);
                let (vocabulary, unk) = (&self.vocabulary, self.unk);
                open.push(
                    vocabulary,
                    unk,
                    &buffers.text,
                    range,
                    words,
                    track,
                    ends,
                    out,
                );
            }
        };
        let first = usize::from(joins.first);
        if joins.first {
            push(buffers.parts.first(), !(joins.last && count == 1), out);
        }
        let last = count - usize::from(joins.last && count > first);
        self.words(first, last, words, buffers, cells, out);
        if last < count {
            push(buffers.parts.last(), false, out);
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
        segment::<Double>(self.vocabulary.trie, self.unk, word, cells);
        let base = out.normalized.len();
        if SPANS {
            out.normalized.extend_from_slice(word);
        }
        let first = [out.ids.len(), out.spans.len(), out.offsets.len()];
        let mut tokens = Tokens::<T, SPANS> {
            out,
            track,
            at,
            base,
            backwards: true,
        };
        self.vocabulary.collect(word, backtrack(cells), &mut tokens);
        out.ids[first[0]..].reverse();
        if SPANS {
            out.spans[first[1]..].reverse();
            out.offsets[first[2]..].reverse();
        }
    }
}

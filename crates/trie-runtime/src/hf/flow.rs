//! A text encoded piece by piece, between [seams](super::seam).
//!
//! Invariant: what was given so far is what encoding the whole text at once gives first, whatever follows.

use trie_format::{PipelineView, ValidImage};
use trie_normalize::{Alignments, Prefix, Track};

use super::encode::{Encoder, Piece};
use super::open::OpenWord;
use super::{Buffers, Tracks};
use crate::scratch::Work;
use crate::sequence::{Ask, Sequence};

/// A text on its way.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// Bytes of input before the next piece.
    base: usize,
    /// There is no seam up to here in what follows.
    examined: usize,
    /// With less input than this it is not looked for one: the last try was in vain.
    wait_for: usize,
    open: OpenWord,
    alignments: Tracks<Alignments>,
}

impl Flow {
    /// Begins a new text.
    pub(crate) fn begin(&mut self) {
        (self.base, self.examined, self.wait_for) = (0, 0, 0);
        self.open.begin();
        self.alignments.open.drop_front(usize::MAX);
    }

    /// Encodes as much of `input` as can be, which is all of it if it is the `last` of the text, and appends
    /// the tokens that are final to `out`. Returns how many bytes that was; the next input goes on there.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn feed(
        &mut self,
        image: &ValidImage<'_>,
        pipeline: &PipelineView<'_>,
        input: &[u8],
        last: bool,
        ask: Ask,
        work: &mut Work,
        out: &mut Sequence,
    ) -> usize {
        let mut buffers = std::mem::take(&mut work.steps);
        let used = if ask.offsets {
            let encoder = Encoder::<true>::new(image, pipeline, ask);
            let mut tracks = std::mem::take(&mut self.alignments);
            let used = self.feed_with(&encoder, input, last, &mut tracks, &mut buffers, work, out);
            self.alignments = tracks;
            used
        } else {
            let mut tracks = Tracks::<Prefix>::default();
            if ask.spans {
                let encoder = Encoder::<true>::new(image, pipeline, ask);
                self.feed_with(&encoder, input, last, &mut tracks, &mut buffers, work, out)
            } else {
                let encoder = Encoder::<false>::new(image, pipeline, ask);
                self.feed_with(&encoder, input, last, &mut tracks, &mut buffers, work, out)
            }
        };
        work.steps = buffers;
        used
    }

    #[allow(clippy::too_many_arguments)]
    fn feed_with<T: Track, const SPANS: bool>(
        &mut self,
        encoder: &Encoder<'_, SPANS>,
        input: &[u8],
        last: bool,
        tracks: &mut Tracks<T>,
        buffers: &mut Buffers,
        work: &mut Work,
        out: &mut Sequence,
    ) -> usize {
        let Some(end) = self.end_of_piece(encoder, input, last, buffers) else {
            return 0;
        };
        let mut repaired = std::mem::take(&mut buffers.repaired);
        let (text, single) = repaired.text_of(&input[..end]);
        tracks.text.set_input(self.base, single);
        let piece = Piece {
            text,
            begins: self.base == 0,
            ends: last,
        };
        encoder.piece(
            piece,
            tracks,
            buffers,
            &mut work.cells64,
            &mut self.open,
            out,
        );
        buffers.repaired = repaired;
        if last {
            self.begin();
        } else {
            self.base += end;
            self.examined -= end.min(self.examined);
        }
        end
    }

    /// Where the next piece of `input` ends.
    fn end_of_piece<const SPANS: bool>(
        &mut self,
        encoder: &Encoder<'_, SPANS>,
        input: &[u8],
        last: bool,
        buffers: &mut Buffers,
    ) -> Option<usize> {
        if last {
            return Some(input.len());
        }
        if input.len() < self.wait_for {
            return None;
        }
        let seams = encoder.seams();
        let seam = seams.last(input, self.examined);
        // The last places lack the characters behind them.
        const UNDECIDED: usize = 2 * 4;
        self.examined = self.examined.max(input.len().saturating_sub(UNDECIDED));
        let seam = seam?;
        if seams.needs_normalized() {
            let begins = self.base == 0;
            let normalized = encoder.last_part(&input[..seam], begins, buffers);
            if !seams.is_outside_normalized_tokens(normalized) {
                self.wait_for = input.len().saturating_mul(2);
                return None;
            }
        }
        self.wait_for = 0;
        Some(seam)
    }

    /// Bytes that the buffers hold.
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.open.allocated_bytes() + self.alignments.allocated_bytes()
    }
}

/// So many bytes are looked at first for a count.
const COUNT_BLOCK: usize = 16 << 10;

/// How many tokens `input` has, counted in `out` piece by piece.
pub(crate) fn count(
    image: &ValidImage<'_>,
    pipeline: &PipelineView<'_>,
    input: &[u8],
    work: &mut Work,
    out: &mut Sequence,
) -> usize {
    let mut flow = std::mem::take(&mut work.steps.flow);
    flow.begin();
    let (mut at, mut len, mut count) = (0, COUNT_BLOCK, 0);
    loop {
        let rest = input.get(at..).unwrap_or_default();
        let next = rest.get(..len).unwrap_or(rest);
        let last = next.len() == rest.len();
        out.clear();
        let used = flow.feed(image, pipeline, next, last, Ask::IDS, work, out);
        count += out.ids.len();
        if last {
            break;
        }
        at += used;
        // Without a seam in it, more has to be looked at.
        len = if used == 0 {
            len.saturating_mul(2)
        } else {
            COUNT_BLOCK
        };
    }
    work.steps.flow = flow;
    count
}

/// A text that arrives in chunks, on its way.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    flow: Flow,
    /// What has arrived and belongs to no piece yet.
    pending: Vec<u8>,
}

impl Stream {
    /// Begins a new text.
    pub(crate) fn begin(&mut self) {
        self.flow.begin();
        self.pending.clear();
    }

    /// The next `chunk` of the text, or the `last`, after which the next text begins. Chunks may end
    /// anywhere. Tokens that are final whatever follows are appended to `out`, in which spans refer to what
    /// `out.normalized` holds; it may be cleared between calls.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn push(
        &mut self,
        image: &ValidImage<'_>,
        pipeline: &PipelineView<'_>,
        chunk: &[u8],
        last: bool,
        ask: Ask,
        work: &mut Work,
        out: &mut Sequence,
    ) {
        self.pending.extend_from_slice(chunk);
        let Self { flow, pending } = self;
        let used = flow.feed(image, pipeline, pending, last, ask, work, out);
        pending.drain(..used);
        out.complete = last;
    }

    /// Bytes that the buffers hold.
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.flow.allocated_bytes() + self.pending.capacity()
    }
}

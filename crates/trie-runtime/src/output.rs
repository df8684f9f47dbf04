//! Sequences with special tokens, cut and padded, as flat arrays: one window after the other.
//!
//! Invariant: arrays that are recorded are as long as `ids`; `ends` does not decrease and its last element
//! is the length of `ids`.

use trie_format::ValidImage;

use crate::hf::offsets::trim;
use crate::options::{Direction, EncodeOptions, Padding};
use crate::sequence::Sequence;

/// Which sequence a token comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Source {
    First,
    Second,
    /// From none: a special token or padding.
    Added,
}

/// The windows' tokens.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) ids: Vec<u32>,
    pub(crate) type_ids: Vec<u32>,
    pub(crate) attention_mask: Vec<u32>,
    pub(crate) special_tokens_mask: Vec<u32>,
    pub(crate) offsets: Vec<(usize, usize)>,
    /// Recorded with masks or pieces.
    pub(crate) sources: Vec<Source>,
    /// Of each token its range of its sequence's normalized text; recorded with pieces.
    pub(crate) spans: Vec<(usize, usize)>,
    /// Where each window ends.
    pub(crate) ends: Vec<usize>,
}

/// What is recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    pub(crate) masks: bool,
    pub(crate) offsets: bool,
    pub(crate) pieces: bool,
}

impl Record {
    pub(crate) fn new(options: &EncodeOptions) -> Self {
        Self {
            masks: options.masks,
            offsets: options.offsets.is_some(),
            pieces: options.pieces,
        }
    }
}

impl Output {
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.type_ids.clear();
        self.attention_mask.clear();
        self.special_tokens_mask.clear();
        self.offsets.clear();
        self.sources.clear();
        self.spans.clear();
        self.ends.clear();
    }

    /// Appends a token that stands for no text: a special one, or padding, which is not to be attended to.
    pub(crate) fn push_added(&mut self, id: u32, type_id: u32, is_padding: bool, record: Record) {
        self.ids.push(id);
        if record.masks {
            self.type_ids.push(type_id);
            self.attention_mask.push(u32::from(!is_padding));
            self.special_tokens_mask.push(1);
        }
        if record.offsets {
            self.offsets.push((0, 0));
        }
        if record.pieces {
            self.spans.push((0, 0));
        }
        if record.pieces || record.masks {
            self.sources.push(Source::Added);
        }
    }

    /// Appends tokens `start..end` of a sequence.
    pub(crate) fn push_sequence(
        &mut self,
        sequence: &Sequence,
        (start, end): (usize, usize),
        source: Source,
        type_id: u32,
        record: Record,
    ) {
        let ids = sequence.ids.get(start..end).unwrap_or_default();
        self.ids.extend_from_slice(ids);
        let len = self.ids.len();
        if record.masks {
            self.type_ids.resize(len, type_id);
            self.attention_mask.resize(len, 1);
            self.special_tokens_mask.resize(len, 0);
        }
        if record.offsets {
            let offsets = sequence.offsets.get(start..end).unwrap_or_default();
            self.offsets.extend_from_slice(offsets);
        }
        if record.pieces {
            let spans = sequence.spans.get(start..end).unwrap_or_default();
            self.spans.extend_from_slice(spans);
        }
        if record.pieces || record.masks {
            self.sources.resize(len, source);
        }
    }

    /// Trims the offsets of the tokens `start..end` of a sequence, which were appended last.
    pub(crate) fn trim_last(
        &mut self,
        image: &ValidImage<'_>,
        sequence: &Sequence,
        (start, end): (usize, usize),
        keep_prefix: bool,
    ) {
        let ids = sequence.ids.get(start..end).unwrap_or_default();
        let spans = sequence.spans.get(start..end).unwrap_or_default();
        let first = self.offsets.len().saturating_sub(ids.len());
        let offsets = &mut self.offsets[first..];
        trim(
            image,
            &sequence.normalized,
            ids,
            spans,
            keep_prefix,
            true,
            offsets,
        );
    }

    /// Ends a window.
    pub(crate) fn end_window(&mut self) {
        self.ends.push(self.ids.len());
    }

    /// The window that is being written: where it begins.
    pub(crate) fn window_start(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Fills the window that is being written up to `target` tokens.
    pub(crate) fn pad(&mut self, padding: &Padding, target: usize, record: Record) {
        let start = self.window_start();
        let missing = target.saturating_sub(self.ids.len() - start);
        for _ in 0..missing {
            self.push_added(padding.id, padding.type_id, true, record);
        }
        if padding.direction == Direction::Left && missing > 0 {
            self.rotate(start, missing);
        }
    }

    /// Moves the last `count` tokens to `start`.
    fn rotate(&mut self, start: usize, count: usize) {
        fn rotate<T>(list: &mut [T], start: usize, count: usize) {
            if let Some(window) = list.get_mut(start..) {
                window.rotate_right(count.min(window.len()));
            }
        }
        rotate(&mut self.ids, start, count);
        rotate(&mut self.type_ids, start, count);
        rotate(&mut self.attention_mask, start, count);
        rotate(&mut self.special_tokens_mask, start, count);
        rotate(&mut self.offsets, start, count);
        rotate(&mut self.sources, start, count);
        rotate(&mut self.spans, start, count);
    }

    /// Bytes that the buffers hold.
    pub(crate) fn allocated_bytes(&self) -> usize {
        let words = self.ids.capacity()
            + self.type_ids.capacity()
            + self.attention_mask.capacity()
            + self.special_tokens_mask.capacity();
        words * size_of::<u32>()
            + (self.offsets.capacity() + self.spans.capacity()) * size_of::<(usize, usize)>()
            + self.sources.capacity() * size_of::<Source>()
            + self.ends.capacity() * size_of::<usize>()
    }
}

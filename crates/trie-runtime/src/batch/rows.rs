//! Rows of tokens, end to end.
//!
//! Invariant: `starts` begins with 0, does not decrease, and ends with the length of `ids`; arrays that are
//! recorded are as long as `ids`.

use crate::encoding::Encoding;
use crate::options::{Direction, Padding};
use crate::output::Record;

/// The result of encoding many texts, in buffers that the caller keeps and gives again: rows of tokens, end to
/// end, with the start of each row (compressed sparse rows).
///
/// A text has one row, and one more for every overflowing window, if those are recorded. What was not asked for
/// in the [`EncodeOptions`](crate::EncodeOptions) is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    ids: Vec<u32>,
    type_ids: Vec<u32>,
    attention_mask: Vec<u32>,
    special_tokens_mask: Vec<u32>,
    offsets: Vec<(usize, usize)>,
    /// Where each row starts, and the end of the last.
    starts: Vec<usize>,
    /// Which text each row is of.
    inputs: Vec<usize>,
}

/// A row of a [`Batch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row<'b> {
    /// Which text it is of.
    pub input: usize,
    /// The ids.
    pub ids: &'b [u32],
    /// The type ids.
    pub type_ids: &'b [u32],
    /// 0 for padding, 1 for everything else.
    pub attention_mask: &'b [u32],
    /// 1 for special tokens of the template and padding, 0 for what comes from text.
    pub special_tokens_mask: &'b [u32],
    /// Where in its text each token comes from.
    pub offsets: &'b [(usize, usize)],
}

impl Batch {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The ids of all rows, end to end.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The type ids of all rows, end to end.
    #[must_use]
    pub fn type_ids(&self) -> &[u32] {
        &self.type_ids
    }

    /// The attention masks of all rows, end to end.
    #[must_use]
    pub fn attention_mask(&self) -> &[u32] {
        &self.attention_mask
    }

    /// The special tokens masks of all rows, end to end.
    #[must_use]
    pub fn special_tokens_mask(&self) -> &[u32] {
        &self.special_tokens_mask
    }

    /// The offsets of all rows, end to end.
    #[must_use]
    pub fn offsets(&self) -> &[(usize, usize)] {
        &self.offsets
    }

    /// Where in the arrays each row starts, and after them where the last one ends. Empty before the first use.
    #[must_use]
    pub fn row_starts(&self) -> &[usize] {
        &self.starts
    }

    /// Which text each row is of: `overflow_to_sample_mapping` in `transformers`.
    #[must_use]
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// Number of tokens of every row, if all have as many: the arrays are matrices then, row by row.
    #[must_use]
    pub fn columns(&self) -> Option<usize> {
        let mut lengths = self.starts.windows(2).map(|row| row[1] - row[0]);
        let first = lengths.next()?;
        lengths.all(|length| length == first).then_some(first)
    }

    /// Row `index`.
    #[must_use]
    pub fn row(&self, index: usize) -> Option<Row<'_>> {
        let (start, end) = self.range(index)?;
        Some(Row {
            input: *self.inputs.get(index)?,
            ids: self.ids.get(start..end)?,
            type_ids: self.type_ids.get(start..end).unwrap_or_default(),
            attention_mask: self.attention_mask.get(start..end).unwrap_or_default(),
            special_tokens_mask: self.special_tokens_mask.get(start..end).unwrap_or_default(),
            offsets: self.offsets.get(start..end).unwrap_or_default(),
        })
    }

    /// All rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.len()).map(|index| {
            self.row(index).unwrap_or(Row {
                input: 0,
                ids: &[],
                type_ids: &[],
                attention_mask: &[],
                special_tokens_mask: &[],
                offsets: &[],
            })
        })
    }

    /// Bytes that the buffers hold.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        let words = self.ids.capacity()
            + self.type_ids.capacity()
            + self.attention_mask.capacity()
            + self.special_tokens_mask.capacity();
        words * size_of::<u32>()
            + self.offsets.capacity() * size_of::<(usize, usize)>()
            + (self.starts.capacity() + self.inputs.capacity()) * size_of::<usize>()
    }

    fn range(&self, index: usize) -> Option<(usize, usize)> {
        Some((*self.starts.get(index)?, *self.starts.get(index + 1)?))
    }

    pub(super) fn row_len(&self, index: usize) -> usize {
        self.range(index).map_or(0, |(start, end)| end - start)
    }

    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.type_ids.clear();
        self.attention_mask.clear();
        self.special_tokens_mask.clear();
        self.offsets.clear();
        self.starts.clear();
        self.starts.push(0);
        self.inputs.clear();
    }

    /// Appends a window of text `input`.
    pub(super) fn push(&mut self, encoding: &Encoding<'_>, input: usize) {
        self.ids.extend_from_slice(encoding.ids());
        self.type_ids.extend_from_slice(encoding.type_ids());
        self.attention_mask
            .extend_from_slice(encoding.attention_mask());
        self.special_tokens_mask
            .extend_from_slice(encoding.special_tokens_mask());
        self.offsets.extend_from_slice(encoding.offsets());
        self.starts.push(self.ids.len());
        self.inputs.push(input);
    }

    /// Appends row `index` of `other`, filled up to `target` tokens.
    pub(super) fn push_row(
        &mut self,
        other: &Self,
        index: usize,
        fill: Option<(&Padding, usize)>,
        record: Record,
    ) {
        let Some(row) = other.row(index) else {
            return;
        };
        let (padding, missing) = match fill {
            Some((padding, target)) => (*padding, target.saturating_sub(row.ids.len())),
            None => (Padding::new(0), 0),
        };
        let filler = Filler {
            missing,
            direction: padding.direction,
        };
        filler.push(&mut self.ids, row.ids, padding.id);
        if record.masks {
            filler.push(&mut self.type_ids, row.type_ids, padding.type_id);
            filler.push(&mut self.attention_mask, row.attention_mask, 0);
            filler.push(&mut self.special_tokens_mask, row.special_tokens_mask, 1);
        }
        if record.offsets {
            filler.push(&mut self.offsets, row.offsets, (0, 0));
        }
        self.starts.push(self.ids.len());
        self.inputs.push(row.input);
    }
}

/// Appends rows, filled up.
struct Filler {
    missing: usize,
    direction: Direction,
}

impl Filler {
    fn push<T: Copy>(&self, to: &mut Vec<T>, row: &[T], pad: T) {
        let fill = std::iter::repeat_n(pad, self.missing);
        match self.direction {
            Direction::Left => {
                to.extend(fill);
                to.extend_from_slice(row);
            }
            Direction::Right => {
                to.extend_from_slice(row);
                to.extend(fill);
            }
        }
    }
}

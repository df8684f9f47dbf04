//! Where the bytes of a text come from, while steps write it anew.
//!
//! `tokenizers` keeps for every byte of a normalized text the range of the input that it comes from. Every
//! step here says of what it writes which byte of the text before it comes from, and a [`Track`] makes of
//! that as much as is wanted: [`Prefix`] next to nothing, [`Alignments`] all of it.
//!
//! Invariant: what comes from further left stands further left, as no step moves text. So the bytes that
//! come from the input's first character are a prefix.

use std::str::Chars;

/// Follows the bytes of a text through the steps.
pub trait Track {
    /// The next input's first byte counts as `base`, and at each place of `single`, in order, a character of three
    /// bytes (U+FFFD) stands for one byte that was not UTF-8.
    fn set_input(&mut self, base: usize, single: &[usize]);

    /// A text comes in: byte `at` of the input and what follows. `is_first`: it begins the input.
    fn begin(&mut self, text: &str, at: usize, is_first: bool);

    /// [`Track::begin`] for a text that goes on after what was followed last: not the input's beginning.
    fn resume(&mut self, text: &str, at: usize);

    /// Characters of the text before that a step has not come to, as it is late (see [`Track::keep_late`]);
    /// they stand before the text now. [`Track::give_back`] takes the memory.
    fn take_late(&mut self) -> String;

    /// What [`Track::take_late`] returned is of no use any more.
    fn give_back(&mut self, late: String);

    /// The step is at the end of the text, but has not come to `late`: its last characters.
    ///
    /// Precompiled is late by the characters that it dropped at the very beginning: all that follows counts
    /// as that much further left, to the end.
    fn keep_late(&mut self, late: &str);

    /// The bytes `start..end` of the text that `whole` follows are added to this text.
    fn append(&mut self, whole: &Self, start: usize, end: usize);

    /// Forgets the first `len` bytes of the text.
    fn drop_front(&mut self, len: usize);

    /// The bytes `start..end` of the text that `whole` follows become a text of their own.
    fn begin_part(&mut self, whole: &Self, start: usize, end: usize);

    /// `len` bytes are written that come from where byte `from` of the text before comes from.
    fn push(&mut self, from: usize, len: usize);

    /// The bytes `start..end` of the text before are written as they are.
    fn copy(&mut self, start: usize, end: usize);

    /// The text is written: it is the text before of the next step.
    fn turn(&mut self);

    /// Whether it does not matter any more what comes from byte `from` and what is behind it.
    fn is_done(&self, from: usize) -> bool;

    /// Whether byte `at` of the text comes from the input's first character.
    fn is_first(&self, at: usize) -> bool;

    /// The range of the input that the bytes `start..end` of the text come from, if that is followed.
    fn range(&self, start: usize, end: usize) -> Option<(usize, usize)>;

    /// The range of the input that is `start..end` of what [`Track::begin`] counts as input, if that is
    /// followed.
    fn input_range(&self, start: usize, end: usize) -> Option<(usize, usize)>;
}

/// Knows only which bytes come from the input's first character.
///
/// `Metaspace` with `first` asks that of every word. Characters that one became share its place: of `½` as
/// `1⁄2` each part begins the input.
#[derive(Debug, Default, Clone, Copy)]
pub struct Prefix {
    before: usize,
    after: usize,
}

impl Track for Prefix {
    fn set_input(&mut self, _base: usize, _single: &[usize]) {}

    fn begin(&mut self, text: &str, _at: usize, is_first: bool) {
        let first = text.chars().next().filter(|_| is_first);
        self.before = first.map_or(0, char::len_utf8);
        self.after = 0;
    }

    fn resume(&mut self, _text: &str, _at: usize) {
        *self = Self::default();
    }

    fn take_late(&mut self) -> String {
        String::new()
    }

    fn give_back(&mut self, _late: String) {}

    fn keep_late(&mut self, _late: &str) {}

    fn append(&mut self, _whole: &Self, _start: usize, _end: usize) {}

    fn drop_front(&mut self, _len: usize) {}

    fn begin_part(&mut self, whole: &Self, start: usize, end: usize) {
        self.before = whole.before.saturating_sub(start).min(end - start);
        self.after = 0;
    }

    #[inline]
    fn push(&mut self, from: usize, len: usize) {
        if from < self.before {
            self.after += len;
        }
    }

    #[inline]
    fn copy(&mut self, start: usize, end: usize) {
        self.after += end.min(self.before).saturating_sub(start);
    }

    fn turn(&mut self) {
        self.before = std::mem::take(&mut self.after);
    }

    #[inline]
    fn is_done(&self, from: usize) -> bool {
        from > self.before
    }

    fn is_first(&self, at: usize) -> bool {
        at < self.before
    }

    #[inline]
    fn range(&self, _start: usize, _end: usize) -> Option<(usize, usize)> {
        None
    }

    #[inline]
    fn input_range(&self, _start: usize, _end: usize) -> Option<(usize, usize)> {
        None
    }
}

/// Knows of every byte the range of the input that it comes from, in bytes: `NormalizedString` in
/// `tokenizers`.
#[derive(Debug, Default)]
pub struct Alignments {
    prefix: Prefix,
    before: Vec<(usize, usize)>,
    after: Vec<(usize, usize)>,
    /// What the first byte of the input counts as.
    base: usize,
    /// Where in the input, in order, a character of three bytes stands for a single byte.
    single: Vec<usize>,
    /// Characters that Precompiled has not come to, and where they come from.
    late: String,
    spare: String,
    late_ranges: Vec<(usize, usize)>,
}

impl Alignments {
    fn begin_ranges(&mut self, text: &str, at: usize) {
        self.before.clear();
        self.after.clear();
        let mut start = self.place(at);
        let known = self.single.partition_point(|&single| single < at);
        let mut single = self.single[known..].iter().peekable();
        for (index, character) in text.char_indices() {
            let len = character.len_utf8();
            let is_single = single.next_if(|&&single| single == at + index).is_some();
            let end = start + if is_single { 1 } else { len };
            self.before.resize(self.before.len() + len, (start, end));
            start = end;
        }
    }

    fn place(&self, at: usize) -> usize {
        let before = self.single.partition_point(|&single| single < at);
        self.base + at - 2 * before
    }

    /// Bytes that the buffers hold.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        (self.before.capacity() + self.after.capacity()) * size_of::<(usize, usize)>()
            + self.single.capacity() * size_of::<usize>()
            + self.late.capacity()
            + self.spare.capacity()
            + self.late_ranges.capacity() * size_of::<(usize, usize)>()
    }
}

impl Track for Alignments {
    fn set_input(&mut self, base: usize, single: &[usize]) {
        self.base = base;
        self.single.clear();
        self.single.extend_from_slice(single);
    }

    fn begin(&mut self, text: &str, at: usize, is_first: bool) {
        self.prefix.begin(text, at, is_first);
        self.late.clear();
        self.begin_ranges(text, at);
    }

    fn resume(&mut self, text: &str, at: usize) {
        self.prefix.resume(text, at);
        self.begin_ranges(text, at);
    }

    fn take_late(&mut self) -> String {
        if self.late.is_empty() {
            return String::new();
        }
        self.before.splice(0..0, self.late_ranges.drain(..));
        std::mem::replace(&mut self.late, std::mem::take(&mut self.spare))
    }

    fn give_back(&mut self, late: String) {
        if late.capacity() > 0 {
            self.spare = late;
            self.spare.clear();
        }
    }

    fn keep_late(&mut self, late: &str) {
        self.late.clear();
        self.late.push_str(late);
        let place = self.before.len().saturating_sub(late.len());
        self.late_ranges.clear();
        self.late_ranges.extend_from_slice(&self.before[place..]);
    }

    fn append(&mut self, whole: &Self, start: usize, end: usize) {
        let part = whole.before.get(start..end).unwrap_or_default();
        self.before.extend_from_slice(part);
    }

    fn drop_front(&mut self, len: usize) {
        self.before.drain(..len.min(self.before.len()));
    }

    fn begin_part(&mut self, whole: &Self, start: usize, end: usize) {
        self.prefix.begin_part(&whole.prefix, start, end);
        self.before.clear();
        self.after.clear();
        let part = whole.before.get(start..end).unwrap_or_default();
        self.before.extend_from_slice(part);
    }

    fn push(&mut self, from: usize, len: usize) {
        self.prefix.push(from, len);
        let range = self.before.get(from).copied().unwrap_or_default();
        self.after.resize(self.after.len() + len, range);
    }

    fn copy(&mut self, start: usize, end: usize) {
        self.prefix.copy(start, end);
        let part = self.before.get(start..end).unwrap_or_default();
        self.after.extend_from_slice(part);
    }

    fn turn(&mut self) {
        self.prefix.turn();
        std::mem::swap(&mut self.before, &mut self.after);
        self.after.clear();
        self.after.reserve_exact(self.before.capacity());
        self.after.clear();
    }

    #[inline]
    fn is_done(&self, _from: usize) -> bool {
        false
    }

    fn is_first(&self, at: usize) -> bool {
        self.prefix.is_first(at)
    }

    fn range(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let part = self.before.get(start..end)?;
        Some((part.first()?.0, part.last()?.1))
    }

    fn input_range(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        Some((self.place(start), self.place(end)))
    }
}

/// Tells a [`Track`] of one transformation of a text, character by character.
#[derive(Debug)]
pub(crate) struct Changes<'t, 'k, T> {
    /// What is still to be replaced of the text before, and where in it that begins.
    rest: Chars<'t>,
    at: usize,
    track: &'k mut T,
}

impl<'t, 'k, T: Track> Changes<'t, 'k, T> {
    pub(crate) fn new(text: &'t str, track: &'k mut T) -> Self {
        Self {
            rest: text.chars(),
            at: 0,
            track,
        }
    }

    /// `character` comes next. `change` as in `tokenizers`: 1 is a further character for the one before, 0
    /// replaces a character, -N replaces N + 1.
    #[inline(always)]
    pub(crate) fn push(&mut self, character: char, change: isize) {
        if !self.is_done() {
            self.follow(character, change);
        }
    }

    fn follow(&mut self, character: char, change: isize) {
        let from = if change > 0 {
            self.at.saturating_sub(1)
        } else {
            self.at
        };
        self.track.push(from, character.len_utf8());
        if change <= 0 {
            let replaced = self.rest.by_ref().take(change.unsigned_abs() + 1);
            self.at += replaced.map(char::len_utf8).sum::<usize>();
        }
    }

    /// What has not been replaced yet.
    pub(crate) fn rest(&self) -> &'t str {
        self.rest.as_str()
    }

    /// Whether nothing that comes next matters.
    #[inline(always)]
    pub(crate) fn is_done(&self) -> bool {
        self.track.is_done(self.at)
    }
}

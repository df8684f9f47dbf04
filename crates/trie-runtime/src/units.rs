//! Offsets in bytes into offsets in characters or UTF-16 code units.
//!
//! A byte inside a character counts as the character's beginning, as in `BytesToCharOffsetConverter`
//! (`tokenizers`) and `ConvertToUnicodeAlignment` (`sentencepiece`).

use crate::options::OffsetUnit;
use crate::utf8::valid_len;

/// Converts `offsets` into `input` from bytes to `unit`, in place.
///
/// Linear in the input up to the greatest offset, as offsets mostly ascend; a step back to the left starts
/// over.
pub(crate) fn convert(input: &[u8], unit: OffsetUnit, offsets: &mut [(usize, usize)]) {
    if unit == OffsetUnit::Bytes {
        return;
    }
    let mut from = Cursor::default();
    for (start, end) in offsets {
        *start = from.units_before(input, *start, unit);
        // The end is mostly where the next one starts.
        let mut to = from;
        *end = to.units_before(input, *end, unit);
        from = to;
    }
}

/// A character boundary, in bytes and in units.
#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    bytes: usize,
    units: usize,
}

impl Cursor {
    /// Moves to the last boundary at or before `byte`.
    fn units_before(&mut self, input: &[u8], byte: usize, unit: OffsetUnit) -> usize {
        if byte < self.bytes {
            *self = Self::default();
        }
        while let Some(rest) = input.get(self.bytes..)
            && !rest.is_empty()
        {
            let len = valid_len(rest).unwrap_or(1);
            if self.bytes + len > byte {
                break;
            }
            self.bytes += len;
            self.units += match unit {
                OffsetUnit::Utf16 if len == 4 => 2,
                _ => 1,
            };
        }
        self.units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_characters_and_code_units() {
        let input = "aé😀b";
        let bytes = [(0, 1), (1, 3), (3, 7), (7, 8), (2, 5), (8, 8), (0, 8)];
        let mut chars = bytes;
        convert(input.as_bytes(), OffsetUnit::Chars, &mut chars);
        assert_eq!(
            chars,
            [(0, 1), (1, 2), (2, 3), (3, 4), (1, 2), (4, 4), (0, 4)]
        );
        let mut utf16 = bytes;
        convert(input.as_bytes(), OffsetUnit::Utf16, &mut utf16);
        assert_eq!(
            utf16,
            [(0, 1), (1, 2), (2, 4), (4, 5), (1, 2), (5, 5), (0, 5)]
        );
    }

    #[test]
    fn bytes_that_are_not_text_count_one() {
        let mut offsets = [(0, 1), (1, 2), (2, 4)];
        convert(b"\xff\xfe\xc3\xa9", OffsetUnit::Chars, &mut offsets);
        assert_eq!(offsets, [(0, 1), (1, 2), (2, 3)]);
    }
}

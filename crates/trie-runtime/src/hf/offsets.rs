//! White space left out of offsets (`trim_offsets` of `RobertaProcessing` in `tokenizers`).
//!
//! The reference counts *characters* of a token's text and moves the offsets by as many *units*, be these
//! bytes or characters, and never past each other. So it is done on offsets that are converted already, and,
//! as what begins a window is excepted, window by window, after truncation and before special tokens.

use trie_format::ValidImage;

/// Trims the offsets of a window: tokens with these `ids` and `spans` of `normalized`, special tokens not
/// among them, which begin a window, or go on in one. `keep_prefix`: a single blank at the beginning of the window or of the input is taken for one
/// that was put there, and stays.
pub(crate) fn trim(
    image: &ValidImage<'_>,
    normalized: &[u8],
    ids: &[u32],
    spans: &[(usize, usize)],
    keep_prefix: bool,
    begins: bool,
    offsets: &mut [(usize, usize)],
) {
    let tokens = ids.iter().zip(spans).zip(offsets);
    for (index, ((&id, &(start, end)), offsets)) in tokens.enumerate() {
        let text = normalized.get(start..end).unwrap_or_default();
        // A byte piece has the text of a whole run, but counts as `<0xHH>`.
        let is_byte = || {
            let ids = image.byte_ids();
            ids.is_some_and(|ids| ids.contains(&id)) && image.pieces().text(id) != Some(text)
        };
        let (left, right) = blanks(text);
        if (left, right) == (0, 0) || is_byte() {
            continue;
        }
        let is_first = begins && index == 0 || offsets.0 == 0;
        let left = if is_first && keep_prefix && left == 1 {
            0
        } else {
            left
        };
        offsets.0 = (offsets.0 + left).min(offsets.1);
        if right > 0 && offsets.1 >= right {
            offsets.1 = (offsets.1 - right).max(offsets.0);
        }
    }
}

/// How many characters at both ends are white space or `Ġ`, which `tokenizers` takes for a space.
fn blanks(text: &[u8]) -> (usize, usize) {
    let is_blank = |c: &char| *c == '\u{120}' || c.is_whitespace();
    let text = std::str::from_utf8(text).unwrap_or_default();
    (
        text.chars().take_while(is_blank).count(),
        text.chars().rev().take_while(is_blank).count(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_counted_in_characters() {
        assert_eq!(blanks("\u{3000} a\u{120}".as_bytes()), (2, 1));
        assert_eq!(blanks("\u{2581}a".as_bytes()), (0, 0));
        assert_eq!(blanks(b"  "), (2, 2));
        assert_eq!(blanks(b""), (0, 0));
    }
}

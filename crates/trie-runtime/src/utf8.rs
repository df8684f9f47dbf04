//! Character boundaries as the reference sees them, on arbitrary bytes.

/// The length that a character's first byte announces; 1 for bytes that cannot be first.
///
/// The reference's `OneCharLen`: it looks at nothing but this byte.
#[inline(always)]
pub(crate) fn announced_len(first: u8) -> usize {
    const LEN: [u8; 16] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4];
    usize::from(LEN[usize::from(first >> 4)])
}

/// The length of the valid UTF-8 character that `bytes` begin with.
#[inline]
pub(crate) fn valid_len(bytes: &[u8]) -> Option<usize> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some(1);
    }
    let len = announced_len(first);
    let character = bytes.get(..len)?;
    std::str::from_utf8(character).is_ok().then_some(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_what_std_accepts() {
        for text in [
            "a",
            "\u{80}",
            "\u{7ff}",
            "\u{800}",
            "\u{fffd}",
            "\u{10000}",
            "\u{10ffff}",
        ] {
            assert_eq!(valid_len(text.as_bytes()), Some(text.len()), "{text:?}");
            assert_eq!(
                valid_len(&[text.as_bytes(), b"x"].concat()),
                Some(text.len())
            );
        }
        let invalid: [&[u8]; 9] = [
            b"",
            b"\x80",
            b"\xc0\x80",
            b"\xc3",
            b"\xe0\x80\x80",
            b"\xed\xa0\x80",
            b"\xf4\x90\x80\x80",
            b"\xf8\x88\x80\x80\x80",
            b"\xe2\x82",
        ];
        for bytes in invalid {
            assert_eq!(valid_len(bytes), None, "{bytes:?}");
        }
    }
}

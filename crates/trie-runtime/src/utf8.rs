//! Character boundaries as the reference sees them, on arbitrary bytes.

/// The length that a character's first byte announces; 1 for bytes that cannot be first.
///
/// The reference's `OneCharLen`: it looks at nothing but this byte.
#[inline(always)]
pub(crate) const fn announced_len(first: u8) -> usize {
    const LEN: [u8; 16] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4];
    LEN[(first >> 4) as usize] as usize
}

/// The first four bytes of `text` as a little-endian number: zeros where there are none, which go on no character.
#[inline(always)]
pub(crate) fn first_four(text: &[u8]) -> u32 {
    match text.first_chunk() {
        Some(four) => u32::from_le_bytes(*four),
        None => (text.iter().rev()).fold(0, |bytes, &byte| bytes << 8 | u32::from(byte)),
    }
}

/// The character of two or three bytes that four bytes, as a little-endian number, begin with: its code point without
/// the last six bits, those and others above them, its length in bytes. Surrogates are taken for characters.
#[inline(always)]
pub(crate) fn place(bytes: u32) -> Option<(usize, u32, usize)> {
    if bytes & 0xc0e0 == 0x80c0 {
        let block = bytes & 0x1f;
        (block >= 2).then_some((block as usize, bytes >> 8 & 0xff, 2))
    } else if bytes & 0xc0_c0f0 == 0x80_80e0 {
        let block = (bytes & 0x0f) << 6 | bytes >> 8 & 0x3f;
        // No overlong form.
        (block >= 32).then_some((block as usize, bytes >> 16 & 0xff, 3))
    } else {
        None
    }
}

/// The character of valid UTF-8 that four bytes, as a little-endian number, begin with: its code point without the last six
/// bits, those and others above them, its length in bytes. Of other bytes, anything.
#[inline(always)]
pub(crate) fn valid_place(bytes: u32) -> (usize, u32, usize) {
    let six = |at: u32| bytes >> (8 * at) & 0x3f;
    match bytes as u8 {
        0..0x80 => ((bytes >> 6 & 1) as usize, bytes, 1),
        0x80..0xe0 => ((bytes & 0x1f) as usize, six(1), 2),
        0xe0..0xf0 => (((bytes & 0x0f) << 6 | six(1)) as usize, six(2), 3),
        0xf0.. => {
            let block = (bytes & 0x07) << 12 | six(1) << 6 | six(2);
            (block as usize, six(3), 4)
        }
    }
}

/// The length of the valid UTF-8 character that `bytes` begin with (Unicode, table 3-7).
#[inline]
pub(crate) fn valid_len(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0x00..=0x7f, ..] => Some(1),
        [0xc2..=0xdf, 0x80..=0xbf, ..] => Some(2),
        [0xe0, 0xa0..=0xbf, 0x80..=0xbf, ..]
        | [0xe1..=0xec | 0xee..=0xef, 0x80..=0xbf, 0x80..=0xbf, ..]
        | [0xed, 0x80..=0x9f, 0x80..=0xbf, ..] => Some(3),
        [0xf0, 0x90..=0xbf, 0x80..=0xbf, 0x80..=0xbf, ..]
        | [0xf1..=0xf3, 0x80..=0xbf, 0x80..=0xbf, 0x80..=0xbf, ..]
        | [0xf4, 0x80..=0x8f, 0x80..=0xbf, 0x80..=0xbf, ..] => Some(4),
        _ => None,
    }
}

/// Whether `bytes` are the beginning of a valid character and end inside it.
#[inline]
pub(crate) fn is_cut(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [0xc2..=0xf4]
            | [0xe0, 0xa0..=0xbf]
            | [0xe1..=0xec | 0xee..=0xef, 0x80..=0xbf]
            | [0xed, 0x80..=0x9f]
            | [0xf0, 0x90..=0xbf]
            | [0xf1..=0xf3, 0x80..=0xbf]
            | [0xf4, 0x80..=0x8f]
            | [0xf0, 0x90..=0xbf, 0x80..=0xbf]
            | [0xf1..=0xf3, 0x80..=0xbf, 0x80..=0xbf]
            | [0xf4, 0x80..=0x8f, 0x80..=0xbf]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_code_points() {
        for character in '\0'..=char::MAX {
            let mut bytes = [0; 4];
            let len = character.encode_utf8(&mut bytes).len();
            let (block, bits, found) = valid_place(u32::from_le_bytes(bytes));
            let number = block * 64 + bits as usize % 64;
            assert_eq!((number, found), (character as usize, len));
        }
    }

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

    #[test]
    fn agrees_with_std_on_all_short_sequences() {
        let interesting = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
        for first in 0..=0xff {
            for rest in 0..interesting.len().pow(3) {
                let at = |place: u32| {
                    interesting[rest / interesting.len().pow(place) % interesting.len()]
                };
                let bytes = [first, at(0), at(1), at(2)];
                let expected = (1..=4).find(|&len| std::str::from_utf8(&bytes[..len]).is_ok());
                assert_eq!(valid_len(&bytes), expected, "{bytes:x?}");
                for len in 0..4 {
                    let completes = expected.is_some_and(|whole| whole > len) && len > 0;
                    if completes {
                        assert!(is_cut(&bytes[..len]), "{bytes:x?} {len}");
                    }
                    // What std calls invalid for good is not cut.
                    if let Err(error) = std::str::from_utf8(&bytes[..len])
                        && error.valid_up_to() == 0
                    {
                        assert_eq!(is_cut(&bytes[..len]), error.error_len().is_none());
                    }
                }
            }
        }
    }
}

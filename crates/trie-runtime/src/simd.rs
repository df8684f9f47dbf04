//! Sixteen bytes at a time: which of them are of a kind, as bits from the lowest on. And fetching ahead.
//!
//! One of this crate's modules with `unsafe`: on x86-64 the functions are SSE2 instructions, which every such
//! processor has. Elsewhere, and in the tests beside them, they go byte by byte.

#![allow(unsafe_code)]

/// Which of `bytes` are `byte`.
#[inline(always)]
pub(crate) fn equal(bytes: [u8; 16], byte: u8) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set1_epi8};
        // SAFETY: SSE2 is part of x86-64.
        let mask = unsafe {
            let same = _mm_cmpeq_epi8(vector(bytes), _mm_set1_epi8(byte.cast_signed()));
            _mm_movemask_epi8(same)
        };
        mask.cast_unsigned()
    }
    #[cfg(not(target_arch = "x86_64"))]
    one_by_one(bytes, |other| other == byte)
}

/// Which of `bytes` are no printable ASCII characters, or spaces.
#[inline(always)]
pub(crate) fn not_graphic(bytes: [u8; 16]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            _mm_andnot_si128, _mm_cmpgt_epi8, _mm_movemask_epi8, _mm_set1_epi8,
        };
        // SAFETY: SSE2 is part of x86-64.
        let mask = unsafe {
            // Signed, so that what is not ASCII is below zero.
            let above_space = _mm_cmpgt_epi8(vector(bytes), _mm_set1_epi8(0x20));
            let delete = _mm_cmpgt_epi8(vector(bytes), _mm_set1_epi8(0x7e));
            _mm_movemask_epi8(_mm_andnot_si128(delete, above_space))
        };
        !mask.cast_unsigned() & 0xffff
    }
    #[cfg(not(target_arch = "x86_64"))]
    one_by_one(bytes, |byte| !byte.is_ascii_graphic())
}

/// Which of `bytes` are ASCII, and neither letters nor digits.
#[inline(always)]
pub(crate) fn not_alphanumeric(bytes: [u8; 16]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            _mm_cmpgt_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_sub_epi8,
        };
        // SAFETY: SSE2 is part of x86-64.
        let mask = unsafe {
            let all = |byte: i8| _mm_set1_epi8(byte);
            // Those from `first` on become the least numbers.
            let is_outside = |bytes, first: i8, count: i8| {
                let from_first = _mm_sub_epi8(bytes, all(first.wrapping_add(i8::MIN)));
                _mm_cmpgt_epi8(from_first, all(i8::MIN + count - 1))
            };
            let bytes = vector(bytes);
            // Upper case becomes lower case, and nothing else becomes a letter.
            let not_letter = is_outside(_mm_or_si128(bytes, all(0x20)), b'a' as i8, 26);
            let not_digit = is_outside(bytes, b'0' as i8, 10);
            let not_ascii = _mm_movemask_epi8(bytes);
            _mm_movemask_epi8(not_letter) & _mm_movemask_epi8(not_digit) & !not_ascii
        };
        mask.cast_unsigned()
    }
    #[cfg(not(target_arch = "x86_64"))]
    one_by_one(bytes, |byte| {
        byte.is_ascii() && !byte.is_ascii_alphanumeric()
    })
}

/// Has the processor fetch what begins at `place`, where that can be said to it.
#[inline(always)]
pub(crate) fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: it has no effect but on caches.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn vector(bytes: [u8; 16]) -> std::arch::x86_64::__m128i {
    // SAFETY: both are sixteen bytes, of which any bits are a value.
    unsafe { std::mem::transmute(bytes) }
}

/// Which of `bytes` are of a kind.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn one_by_one(bytes: [u8; 16], is: impl Fn(u8) -> bool) -> u32 {
    let bits = bytes.iter().enumerate();
    bits.fold(0, |mask, (at, &byte)| mask | u32::from(is(byte)) << at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_that_are_found_one_by_one() {
        for byte in 0..=u8::MAX {
            for at in 0..16 {
                for filling in [0, b'a', 0xff, byte.wrapping_add(1)] {
                    let mut bytes = [filling; 16];
                    bytes[at] = byte;
                    let expected = one_by_one(bytes, |byte| !byte.is_ascii_graphic());
                    assert_eq!(not_graphic(bytes), expected, "{bytes:x?}");
                    let expected = one_by_one(bytes, |byte| {
                        byte.is_ascii() && !byte.is_ascii_alphanumeric()
                    });
                    assert_eq!(not_alphanumeric(bytes), expected, "{bytes:x?}");
                    for wanted in [byte, 0xe2] {
                        let expected = one_by_one(bytes, |byte| byte == wanted);
                        assert_eq!(equal(bytes, wanted), expected, "{bytes:x?}");
                    }
                }
            }
        }
    }
}

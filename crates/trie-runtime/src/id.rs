//! Which image it is.

use std::fmt;
use std::str::FromStr;

/// An image's id: a digest of its section table, which holds every section's checksum. Equal images have equal
/// ids; it is what `triec inspect` calls the image id, 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ImageId(pub [u8; 16]);

impl fmt::Display for ImageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ImageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ImageId({self})")
    }
}

/// A text that is no image id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an image id is 32 hexadecimal digits, as `triec inspect` shows it")]
pub struct ParseImageIdError;

impl FromStr for ImageId {
    type Err = ParseImageIdError;

    fn from_str(text: &str) -> Result<Self, ParseImageIdError> {
        let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if text.len() != 32 || !is_hex {
            return Err(ParseImageIdError);
        }
        // The first digits stand for the first byte.
        u128::from_str_radix(text, 16)
            .map(|number| Self(number.to_be_bytes()))
            .map_err(|_| ParseImageIdError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_written() {
        let id = ImageId(*b"0123456789abcde\xff");
        assert_eq!(id.to_string(), "303132333435363738396162636465ff");
        assert_eq!(id.to_string().parse(), Ok(id));
        for text in ["", "30", "+03132333435363738396162636465ff", "é"] {
            assert_eq!(text.parse::<ImageId>(), Err(ParseImageIdError), "{text}");
        }
    }
}

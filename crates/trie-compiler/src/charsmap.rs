//! A normalizer's rule table: taken apart, checked, and measured.
//!
//! Invariant: a [`Charsmap`] passes [`CharsmapView::validate`], and no search in it is longer than
//! `max_key_bytes`.

use trie_format::charsmap::{label, offset};
use trie_format::{CharsmapView, MAX_PIECE_BYTES};

use crate::CompileError;

pub(crate) struct Charsmap {
    pub(crate) units: Vec<u32>,
    pub(crate) texts: Vec<u8>,
    pub(crate) max_key_bytes: u32,
}

impl Charsmap {
    /// Splits `<size of the double array><double array><texts>` and checks both halves.
    pub(crate) fn split(blob: &[u8], field: &'static str) -> Result<Self, CompileError> {
        let fail = |rule| CompileError::Charsmap { field, rule };
        let (size, rest) = blob
            .split_first_chunk::<4>()
            .filter(|(_, rest)| !rest.is_empty())
            .ok_or(fail("it is too short for its size field"))?;
        let size = u32::from_le_bytes(*size) as usize;
        if size >= rest.len() {
            return Err(fail("its double array is longer than the map"));
        }
        if !size.is_multiple_of(1024) {
            return Err(fail("its double array is not in blocks of 1,024 bytes"));
        }
        let (units, texts) = rest.split_at(size);
        let mut charsmap = Self {
            units: units
                .chunks_exact(4)
                .map(|unit| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]]))
                .collect(),
            texts: texts.to_vec(),
            max_key_bytes: MAX_PIECE_BYTES,
        };
        CharsmapView::new(&charsmap.units, &charsmap.texts, MAX_PIECE_BYTES)
            .validate()
            .map_err(|error| CompileError::CharsmapUnit { field, error })?;
        charsmap.max_key_bytes = longest_walk(&charsmap.units)
            .filter(|&len| len <= MAX_PIECE_BYTES)
            .ok_or(fail(
                "its double array has a cycle, or a key of 8,000 bytes or more",
            ))?;
        Ok(charsmap)
    }
}

impl Charsmap {
    /// Where the replacements begin in the texts: the values of all leaves.
    pub(crate) fn values(&self) -> impl Iterator<Item = usize> {
        let leaves = self
            .units
            .iter()
            .skip(1)
            .filter(|unit| label(**unit) > 0xff);
        leaves.map(|unit| (unit & 0x7fff_ffff) as usize)
    }

    /// Whether every replacement is UTF-8.
    pub(crate) fn is_utf8(&self) -> bool {
        self.values().all(|start| {
            let text = self.texts.get(start..).unwrap_or_default();
            let text = text.split(|&byte| byte == 0).next();
            std::str::from_utf8(text.unwrap_or_default()).is_ok()
        })
    }

    /// The table as the runtime sees it.
    pub(crate) fn view(&self) -> CharsmapView<'_> {
        CharsmapView::new(&self.units, &self.texts, self.max_key_bytes)
    }
}

/// A block of children during the search for the longest walk.
#[derive(Clone, Copy, PartialEq)]
enum Walk {
    Unseen,
    /// Its descendants are being searched: meeting it again is a cycle.
    Open,
    /// The longest walk from it, in bytes.
    Longest(u32),
}

/// The longest walk from the root of a validated double array, in bytes; `None` if there is a cycle.
///
/// The reference does not check this: in a cyclic table its searches are as long as the text.
fn longest_walk(units: &[u32]) -> Option<u32> {
    let child_block = |block: usize, byte: u32| {
        let position = block ^ byte as usize;
        let unit = units[position];
        (label(unit) == byte).then(|| position ^ offset(unit))
    };
    let root = offset(units[0]);
    let mut walks = vec![Walk::Unseen; units.len()];
    walks[root] = Walk::Open;
    // Block, next byte to look at, longest walk so far.
    let mut stack = vec![(root, 0u32, 0u32)];
    loop {
        let (block, byte, longest) = stack.last_mut()?;
        if *byte > 0xff {
            let (block, longest) = (*block, *longest);
            walks[block] = Walk::Longest(longest);
            stack.pop();
            match stack.last_mut() {
                Some((_, _, above)) => *above = (*above).max(longest + 1),
                None => return Some(longest),
            }
            continue;
        }
        let child = child_block(*block, *byte);
        *byte += 1;
        match child.map(|child| (child, walks[child])) {
            None => {}
            Some((_, Walk::Open)) => return None,
            Some((_, Walk::Longest(below))) => *longest = (*longest).max(below + 1),
            Some((child, Walk::Unseen)) => {
                walks[child] = Walk::Open;
                stack.push((child, 0, 0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit for `byte` at `position` whose children are in `block`.
    fn unit(byte: u8, position: usize, block: usize) -> u32 {
        u32::from(byte) | ((position ^ block) as u32) << 10
    }

    #[test]
    fn cycles_are_found() {
        // Leaves fit no byte.
        let mut units = vec![1 << 31; 512];
        units[0] = 256 << 10;
        assert_eq!(longest_walk(&units), Some(0));
        let a = 256 ^ usize::from(b'a');
        units[a] = unit(b'a', a, 272);
        assert_eq!(longest_walk(&units), Some(1));
        let b = 272 ^ usize::from(b'b');
        units[b] = unit(b'b', b, 273);
        assert_eq!(longest_walk(&units), Some(2));
        units[b] = unit(b'b', b, 256);
        assert_eq!(longest_walk(&units), None);
    }
}

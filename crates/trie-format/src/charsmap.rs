//! The normalizer's rule table: a darts-clone double array over the keys' bytes, and the
//! replacement texts, each ended by a NUL.
//!
//! This is SentencePiece's `precompiled_charsmap` taken apart into its two halves. The units are kept
//! as they are: the reference's answers, also for odd tables, are a property of these very units.
//!
//! Unit layout (darts-clone, S. Yata): bits 0-7 the label; bit 8 "has a leaf"; bit 9 and bits 10-30
//! the offset (shifted left by 8 where bit 9 is set); bit 31 set in a leaf, whose bits 0-30 are the value.

/// The reference looks at no more than this many matching rules at a position.
pub const MAX_RULE_MATCHES: usize = 32;

/// Why a rule table is refused; the texts are those of the rule that is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharsmapError {
    /// The first unit at fault.
    pub unit: usize,
    /// The rule.
    pub rule: &'static str,
}

/// A borrowed rule table.
#[derive(Debug, Clone, Copy)]
pub struct CharsmapView<'a> {
    units: &'a [u32],
    texts: &'a [u8],
    max_key_bytes: usize,
}

const LEAF: u32 = 1 << 31;

/// The label as a search compares it: a leaf's never equals a byte.
#[must_use]
pub fn label(unit: u32) -> u32 {
    unit & (LEAF | 0xff)
}

fn has_leaf(unit: u32) -> bool {
    unit >> 8 & 1 == 1
}

/// What a unit's children's positions are XORed with.
#[must_use]
pub fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 1 << 9) >> 6)) as usize
}

impl<'a> CharsmapView<'a> {
    /// A view of the two halves, in which no search goes deeper than `max_key_bytes`. Nothing is checked;
    /// see [`CharsmapView::validate`].
    #[must_use]
    pub fn new(units: &'a [u32], texts: &'a [u8], max_key_bytes: u32) -> Self {
        Self {
            units,
            texts,
            max_key_bytes: max_key_bytes as usize,
        }
    }

    /// The double array's units.
    #[must_use]
    pub fn units(&self) -> &'a [u32] {
        self.units
    }

    /// The replacement texts.
    #[must_use]
    pub fn texts(&self) -> &'a [u8] {
        self.texts
    }

    /// Checks what the reference checks before it uses a table: whole blocks of 256 units, a sound
    /// root, every offset inside the array, leaves where they are announced, values inside the
    /// texts, a final NUL. One linear pass.
    ///
    /// # Errors
    /// The first unit that breaks a rule, and the rule.
    pub fn validate(&self) -> Result<(), CharsmapError> {
        let fail = |unit, rule| Err(CharsmapError { unit, rule });
        let size = self.units.len();
        if size == 0 || !size.is_multiple_of(256) {
            return fail(0, "a rule table has whole blocks of 256 units");
        }
        if self.texts.last() != Some(&0) {
            return fail(0, "the replacement texts must end with a NUL");
        }
        let root = self.units[0];
        if label(root) != 0 || has_leaf(root) || offset(root) == 0 || offset(root) | 0xff >= size {
            return fail(0, "the root unit must have offset and no label");
        }
        for (index, &unit) in self.units.iter().enumerate().skip(1) {
            if label(unit) > 0xff {
                if (unit & !LEAF) as usize >= self.texts.len() {
                    return fail(index, "a rule's replacement must lie inside the texts");
                }
                continue;
            }
            let block = index ^ offset(unit);
            if block | 0xff >= size {
                return fail(index, "offsets must stay inside the table");
            }
            if has_leaf(unit) && self.units[block] & LEAF == 0 {
                return fail(index, "an announced leaf must be one");
            }
        }
        Ok(())
    }

    /// Whether some rule's key may begin with `start`: a search gets that far.
    #[must_use]
    pub fn may_begin_with(&self, start: &[u8]) -> bool {
        let mut node = self.units.first().map_or(0, |&root| offset(root));
        start.len() <= self.max_key_bytes
            && start.iter().all(|&byte| {
                node ^= usize::from(byte);
                let unit = self.units.get(node).copied().unwrap_or(LEAF);
                node ^= offset(unit);
                label(unit) == u32::from(byte)
            })
    }

    /// The longest rule whose key begins `input`: the key's length in bytes and the replacement.
    ///
    /// As in the reference, of more than [`MAX_RULE_MATCHES`] matching rules the shortest
    /// [`MAX_RULE_MATCHES`] are considered.
    #[inline]
    #[must_use]
    pub fn longest_match(&self, input: &[u8]) -> Option<(usize, &'a [u8])> {
        let mut node = offset(*self.units.first()?);
        let mut matches = 0;
        let mut longest = None;
        for (i, &byte) in input.iter().take(self.max_key_bytes).enumerate() {
            node ^= usize::from(byte);
            let unit = *self.units.get(node)?;
            if label(unit) != u32::from(byte) {
                break;
            }
            node ^= offset(unit);
            if has_leaf(unit) {
                longest = Some((i + 1, self.units.get(node)? & !LEAF));
                matches += 1;
                if matches == MAX_RULE_MATCHES {
                    break;
                }
            }
        }
        let (length, start) = longest?;
        Some((length, self.text_at(start)?))
    }

    /// The replacement of the *shortest* rule whose key begins `input`, as `tokenizers` looks rules up. A
    /// NUL ends the search.
    #[inline]
    #[must_use]
    pub fn shortest_match(&self, input: &[u8]) -> Option<&'a [u8]> {
        let mut node = offset(*self.units.first()?);
        for &byte in input.iter().take(self.max_key_bytes) {
            node ^= usize::from(byte);
            let unit = *self.units.get(node)?;
            if byte == 0 || label(unit) != u32::from(byte) {
                break;
            }
            node ^= offset(unit);
            if has_leaf(unit) {
                return self.text_at(self.units.get(node)? & !LEAF);
            }
        }
        None
    }

    /// The replacement that begins at `start`.
    fn text_at(&self, start: u32) -> Option<&'a [u8]> {
        let rest = self.texts.get(start as usize..)?;
        let end = rest.iter().position(|&b| b == 0)?;
        Some(&rest[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with one rule, `a` -> `bc`: root offset 256, the unit for `a`, its leaf.
    fn one_rule() -> ([u32; 512], &'static [u8]) {
        let mut units = [0u32; 512];
        units[0] = 256 << 10;
        let a = 256 ^ usize::from(b'a');
        // Offset 1 leads from `a` to its leaf next door.
        units[a] = u32::from(b'a') | 1 << 8 | 1 << 10;
        units[a ^ 1] = LEAF;
        (units, b"bc\0")
    }

    #[test]
    fn finds_the_rule() {
        let (units, texts) = one_rule();
        let map = CharsmapView::new(&units, texts, 3);
        assert_eq!(map.validate(), Ok(()));
        assert_eq!(map.longest_match(b"ax"), Some((1, b"bc".as_slice())));
        assert_eq!(map.longest_match(b"x"), None);
        assert!(
            map.may_begin_with(b"a") && !map.may_begin_with(b"ab") && !map.may_begin_with(b"b")
        );
        assert_eq!(map.longest_match(b""), None);
    }

    #[test]
    fn every_broken_unit_is_refused_or_harmless() {
        let (units, texts) = one_rule();
        for index in 0..units.len() {
            for bit in 0..32 {
                let mut broken = units;
                broken[index] ^= 1 << bit;
                let map = CharsmapView::new(&broken, texts, 3);
                let _ = map.validate();
                for byte in 0..=255u8 {
                    let _ = map.longest_match(&[byte, b'a', byte]);
                }
            }
        }
        assert!(CharsmapView::new(&units, b"bc", 3).validate().is_err());
        assert!(
            CharsmapView::new(&units[..300], texts, 3)
                .validate()
                .is_err()
        );
        assert!(CharsmapView::new(&[], texts, 3).validate().is_err());
    }
}

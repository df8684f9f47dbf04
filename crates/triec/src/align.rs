//! Which pieces of two encodings of one text belong together.
//!
//! Invariant: rows go through both sides in order and leave nothing out. Time is linear in the pieces: after
//! a difference, the sides are brought together again within [`WINDOW`] pieces, or else one by one.

/// How many pieces ahead an agreement is looked for.
const WINDOW: usize = 32;

/// A place on each side; `None` where one has more pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) a: Option<usize>,
    pub(crate) b: Option<usize>,
    pub(crate) is_equal: bool,
}

/// The rows of two lists.
pub(crate) fn align<T: PartialEq>(a: &[T], b: &[T]) -> Vec<Row> {
    let mut rows = Vec::with_capacity(a.len().max(b.len()));
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let is_equal = i < a.len() && j < b.len() && a[i] == b[j];
        let (len_a, len_b) = match is_equal {
            true => (1, 1),
            false => until_agreement(&a[i..], &b[j..]),
        };
        rows.extend((0..len_a.max(len_b)).map(|k| Row {
            a: (k < len_a).then_some(i + k),
            b: (k < len_b).then_some(j + k),
            is_equal,
        }));
        (i, j) = (i + len_a, j + len_b);
    }
    rows
}

/// How many elements to pass on each side so that the next ones agree; at least one, and as few as can be.
fn until_agreement<T: PartialEq>(a: &[T], b: &[T]) -> (usize, usize) {
    for sum in 1..=WINDOW {
        for skip_a in 0..=sum {
            let skip_b = sum - skip_a;
            let agrees = match (a.get(skip_a..), b.get(skip_b..)) {
                (Some([]), Some([])) => true,
                (Some([x, a @ ..]), Some([y, b @ ..])) => {
                    // One equal piece may be chance; two, or one at the end, hardly.
                    x == y && a.first() == b.first()
                }
                _ => false,
            };
            if agrees {
                return (skip_a, skip_b);
            }
        }
    }
    (a.len().min(1), b.len().min(1))
}

/// Which rows to show: those that differ, and `context` equal ones before and after each.
pub(crate) fn shown(rows: &[Row], context: usize) -> Vec<bool> {
    let mut shown = vec![false; rows.len()];
    for (at, _) in rows.iter().enumerate().filter(|(_, row)| !row.is_equal) {
        let end = rows.len().min(at + context + 1);
        shown[at.saturating_sub(context)..end].fill(true);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(a: &str, b: &str) -> String {
        let (a, b) = (a.as_bytes(), b.as_bytes());
        let cell = |side: &[u8], at: Option<usize>| at.map_or('-', |at| char::from(side[at]));
        align(a, b)
            .iter()
            .map(|row| match row.is_equal {
                true => format!("{} ", cell(a, row.a)),
                false => format!("{}/{} ", cell(a, row.a), cell(b, row.b)),
            })
            .collect()
    }

    #[test]
    fn sides_come_together_again() {
        assert_eq!(picture("", ""), "");
        assert_eq!(picture("abc", "abc"), "a b c ");
        assert_eq!(picture("abcd", "axcd"), "a b/x c d ");
        assert_eq!(picture("abcde", "ade"), "a b/- c/- d e ");
        assert_eq!(picture("ab", "abxy"), "a b -/x -/y ");
        assert_eq!(picture("a", ""), "a/- ");
        assert_eq!(picture("xx", "yyy"), "x/y x/y -/y ");
    }

    #[test]
    fn long_differences_take_linear_time() {
        let (a, b) = (vec![1; 100_000], vec![2; 90_000]);
        let rows = align(&a, &b);
        assert_eq!(rows.iter().filter(|row| row.a.is_some()).count(), a.len());
        assert_eq!(rows.iter().filter(|row| row.b.is_some()).count(), b.len());
    }

    #[test]
    fn context_is_shown_around_differences() {
        let rows = align(b"abcdefgh", b"abcxefgh");
        let shown = shown(&rows, 2);
        assert_eq!(shown, [false, true, true, true, true, true, false, false]);
    }
}

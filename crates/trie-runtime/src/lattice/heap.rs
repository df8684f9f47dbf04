//! A priority queue that gives up equal elements in the same order as the reference's.
//!
//! Which of two hypotheses of equal score comes out first decides which of two equal segmentations is listed
//! first. The C++ standard leaves it open; the published builds of sentencepiece use the heap of GNU's
//! library: a new element rises past strictly smaller ones; on removal the hole at the top sinks to the
//! bottom along the greater child (the right one of two equal ones), then the last element rises from there.

/// A binary heap with the greatest element first.
#[derive(Debug)]
pub(crate) struct Heap<K, V> {
    items: Vec<(K, V)>,
}

impl<K: PartialOrd + Copy, V: Copy> Heap<K, V> {
    pub(crate) fn new() -> Self {
        Self { items: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn push(&mut self, key: K, value: V) {
        self.items.push((key, value));
        self.rise(self.items.len() - 1, (key, value));
    }

    pub(crate) fn pop(&mut self) -> Option<V> {
        let last = self.items.pop()?;
        let Some(&(_, top)) = self.items.first() else {
            return Some(last.1);
        };
        let len = self.items.len();
        let mut hole = 0;
        loop {
            let (left, right) = (2 * hole + 1, 2 * hole + 2);
            let child = match (self.items.get(left), self.items.get(right)) {
                (Some(a), Some(b)) if b.0 < a.0 => left,
                (Some(_), Some(_)) => right,
                (Some(_), None) => left,
                _ => break,
            };
            self.items[hole] = self.items[child];
            hole = child;
        }
        debug_assert!(hole < len);
        self.rise(hole, last);
        Some(top)
    }

    /// Puts `item` into the hole at `at`, or as far above it as it belongs.
    fn rise(&mut self, mut at: usize, item: (K, V)) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.items[parent].0 < item.0 {
                self.items[at] = self.items[parent];
                at = parent;
            } else {
                break;
            }
        }
        self.items[at] = item;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greater_elements_come_first() {
        let mut heap = Heap::new();
        let mut keys: Vec<u32> = (0..200).map(|i| i * 7919 % 61).collect();
        for (value, &key) in keys.iter().enumerate() {
            heap.push(key, value);
        }
        let popped: Vec<u32> = std::iter::from_fn(|| heap.pop()).map(|v| keys[v]).collect();
        keys.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(popped, keys);
    }

    /// Keys pushed into a `std::priority_queue` one by one, and the order in which it gives up their
    /// positions (printed by a C++ program, GCC 12).
    const HEAP_ORDERS: &[(&[u32], &[usize])] = &[
        (&[0; 11], &[0, 2, 6, 10, 9, 8, 5, 7, 4, 1, 3]),
        (
            &[1, 1, 0, 2, 1, 2, 0, 1, 2, 2, 1, 0],
            &[3, 5, 8, 9, 4, 10, 1, 7, 0, 6, 2, 11],
        ),
        (
            &[3, 3, 3, 2, 2, 2, 3, 3, 2, 1, 3, 2, 2, 1, 3, 1, 1],
            &[0, 2, 6, 14, 1, 10, 7, 5, 12, 4, 11, 8, 3, 16, 13, 15, 9],
        ),
        (&[5, 5], &[0, 1]),
        (&[0, 1, 1], &[1, 2, 0]),
    ];

    #[test]
    fn equal_elements_come_in_the_order_of_gnu_s_library() {
        for (keys, expected) in HEAP_ORDERS {
            let mut heap = Heap::new();
            for (value, &key) in keys.iter().enumerate() {
                heap.push(key, value);
            }
            let popped: Vec<usize> = std::iter::from_fn(|| heap.pop()).collect();
            assert_eq!(popped, *expected, "{keys:?}");
        }
    }
}

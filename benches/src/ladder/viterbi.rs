//! The segmentation loop that all stages but the first share: best path over byte positions, pieces as
//! edges, an unknown character where no piece covers it alone. No allocation once the scratch has grown.
//!
//! Generic over the trie, so that each stage is compiled to its own loop with the step inlined.

/// A trie over bytes.
pub trait Trie: Send + Sync {
    /// A place in the trie.
    type Node<'a>: Copy
    where
        Self: 'a;

    /// The place before any byte.
    fn root(&self) -> Self::Node<'_>;
    /// One byte further.
    fn child<'a>(&'a self, node: Self::Node<'a>, byte: u8) -> Option<Self::Node<'a>>;
    /// Id and score of the piece that ends here.
    fn piece(&self, node: Self::Node<'_>) -> Option<(u32, f64)>;
}

/// The unknown piece.
#[derive(Debug, Clone, Copy)]
pub struct Unknown {
    /// Its id.
    pub id: u32,
    /// Path score of one unknown character.
    pub score: f64,
}

/// Caller-owned scratch: grows with the longest input and is never freed in between.
#[derive(Default)]
pub struct Scratch {
    best: Vec<f64>,
    start: Vec<u32>,
    id: Vec<u32>,
    path: Vec<u32>,
    /// The result.
    pub ids: Vec<u32>,
}

/// Length of the UTF-8 character that starts with `lead`.
#[inline(always)]
pub fn character_len(lead: u8) -> usize {
    match lead {
        0..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    }
}

/// Segments `text`, which is normalised and prepared, into `scratch.ids`.
pub fn viterbi<T: Trie>(trie: &T, unknown: Unknown, text: &str, scratch: &mut Scratch) {
    let text = text.as_bytes();
    let len = text.len();
    if scratch.best.len() <= len {
        scratch.best.resize(len + 1, 0.0);
        scratch.start.resize(len + 1, 0);
        scratch.id.resize(len + 1, 0);
    }
    let best = &mut scratch.best[..=len];
    let starts = &mut scratch.start[..=len];
    let ids = &mut scratch.id[..=len];
    best.fill(f64::NEG_INFINITY);
    best[0] = 0.0;

    for start in 0..len {
        let so_far = best[start];
        // Not a character's start, or not reached by any path.
        if so_far == f64::NEG_INFINITY {
            continue;
        }
        let mut offer = |end: usize, id: u32, score: f64| {
            let total = so_far + score;
            if total > best[end] {
                best[end] = total;
                starts[end] = start as u32;
                ids[end] = id;
            }
        };
        let first = (start + character_len(text[start])).min(len);
        let mut covered = false;
        let mut node = trie.root();
        for end in start + 1..=len {
            let Some(next) = trie.child(node, text[end - 1]) else {
                break;
            };
            node = next;
            if let Some((id, score)) = trie.piece(node) {
                offer(end, id, score);
                covered |= end == first;
            }
        }
        if !covered {
            offer(first, unknown.id, unknown.score);
        }
    }

    scratch.path.clear();
    let mut end = len;
    while end > 0 {
        scratch.path.push(ids[end]);
        end = starts[end] as usize;
    }
    scratch.ids.clear();
    fuse_unknown(
        scratch.path.iter().rev().copied(),
        unknown.id,
        &mut scratch.ids,
    );
}

/// Appends `path` to `ids`, a run of unknowns as one.
pub fn fuse_unknown(path: impl Iterator<Item = u32>, unknown: u32, ids: &mut Vec<u32>) {
    for id in path {
        if id != unknown || ids.last() != Some(&unknown) {
            ids.push(id);
        }
    }
}

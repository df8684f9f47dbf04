//! Stage 1: as `tokenizers` 0.22 does it. A hash map of children in every node; every match is handed
//! over as a new `String`, looked up by text for its id; the result is strings again, looked up again.

use ahash::AHashMap;

use crate::fixture::Vocabulary;
use crate::ladder::Stage;
use crate::ladder::viterbi::{Scratch, Unknown};

#[derive(Default)]
struct Node {
    children: AHashMap<u8, Node>,
    is_piece: bool,
}

/// The trie, and the vocabulary by text.
pub struct Strings {
    root: Node,
    ids: AHashMap<String, u32>,
    scores: Vec<f64>,
    unknown: Unknown,
}

/// Best way to reach a byte position.
#[derive(Clone, Default)]
struct Best {
    id: u32,
    score: f64,
    start: Option<usize>,
}

impl Strings {
    /// Builds the trie.
    #[must_use]
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let mut root = Node::default();
        let mut ids = AHashMap::new();
        let mut scores = Vec::new();
        for piece in &vocabulary.pieces {
            let mut node = &mut root;
            for &byte in &piece.text {
                node = node.children.entry(byte).or_default();
            }
            node.is_piece = true;
            ids.insert(String::from_utf8_lossy(&piece.text).into_owned(), piece.id);
            scores.resize(scores.len().max(piece.id as usize + 1), 0.0);
            scores[piece.id as usize] = piece.score;
        }
        let unknown = Unknown {
            id: vocabulary.unk_id,
            score: vocabulary.unk_score,
        };
        Self {
            root,
            ids,
            scores,
            unknown,
        }
    }

    /// All pieces that `text` starts with, each as a string of its own.
    fn matches<'a>(&'a self, text: &'a str) -> impl Iterator<Item = String> + 'a {
        let mut node = &self.root;
        let mut prefix = Vec::new();
        text.bytes()
            .map_while(move |byte| {
                node = node.children.get(&byte)?;
                prefix.push(byte);
                Some(
                    node.is_piece
                        .then(|| String::from_utf8_lossy(&prefix).into_owned()),
                )
            })
            .flatten()
    }

    fn pieces(&self, text: &str) -> Vec<String> {
        let mut best = vec![Best::default(); text.len() + 1];
        let mut start = 0;
        while let Some(character) = text[start..].chars().next() {
            let so_far = best[start].score;
            let first = start + character.len_utf8();
            let mut covered = false;
            let mut offer = |end: usize, id: u32, score: f64| {
                let target = &mut best[end];
                if target.start.is_none() || so_far + score > target.score {
                    *target = Best {
                        id,
                        score: so_far + score,
                        start: Some(start),
                    };
                }
            };
            for piece in self.matches(&text[start..]) {
                let end = start + piece.len();
                if let Some(&id) = self.ids.get(&piece) {
                    offer(end, id, self.scores[id as usize]);
                    covered |= end == first;
                }
            }
            if !covered {
                offer(first, self.unknown.id, self.unknown.score);
            }
            start = first;
        }
        let mut pieces = Vec::new();
        let mut end = text.len();
        let mut unknown = Vec::new();
        while let Some(start) = best[end].start {
            let piece = text[start..end].to_owned();
            if best[end].id == self.unknown.id {
                unknown.push(piece);
            } else {
                pieces.extend(join(&mut unknown));
                pieces.push(piece);
            }
            end = start;
        }
        pieces.extend(join(&mut unknown));
        pieces.reverse();
        pieces
    }
}

/// Unknown characters, last first, as one piece.
fn join(reversed: &mut Vec<String>) -> Option<String> {
    if reversed.is_empty() {
        return None;
    }
    let joined = reversed.iter().rev().map(String::as_str).collect();
    reversed.clear();
    Some(joined)
}

impl Stage for Strings {
    fn run(&self, text: &str, scratch: &mut Scratch) {
        let pieces = self.pieces(text);
        let of = |piece: &String| self.ids.get(piece).copied().unwrap_or(self.unknown.id);
        scratch.ids.clear();
        scratch.ids.extend(pieces.iter().map(of));
    }
}

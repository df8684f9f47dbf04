//! What the ids in a trie stand for: pieces with their path scores, or just numbers.
//!
//! Invariant: an id is given out only if it is below the number of what ids stand for.

use trie_format::Node;

/// A piece that a walk has come to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) id: u32,
    /// Its path score in single precision.
    pub(crate) score: f32,
    /// Its path score in double precision.
    pub(crate) score64: f64,
}

/// What a trie's ids stand for.
pub(crate) trait Ids: Copy {
    /// What a walk reports.
    type Found;

    /// What `node`, which has an id, stands for.
    fn of_node(&self, node: &Node) -> Self::Found;

    /// What `id` stands for; `None` if it is not below the number of ids, as those in tails may be.
    fn of_id(&self, id: u32) -> Option<Self::Found>;
}

/// The path scores of all pieces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scores<'a> {
    pub(crate) of_model: &'a [f32],
    /// As many, or none if they are those of the model.
    pub(crate) of_paths: &'a [f64],
}

impl Ids for Scores<'_> {
    type Found = Piece;

    #[inline(always)]
    fn of_node(&self, node: &Node) -> Piece {
        let double = self.of_paths.get(node.id as usize);
        Piece {
            id: node.id,
            score: node.score,
            score64: double.copied().unwrap_or(node.score.into()),
        }
    }

    #[inline(always)]
    fn of_id(&self, id: u32) -> Option<Piece> {
        let score = *self.of_model.get(id as usize)?;
        Some(match self.of_paths.get(id as usize) {
            Some(&score64) => Piece {
                id,
                score: score64 as f32,
                score64,
            },
            None => Piece {
                id,
                score,
                score64: score.into(),
            },
        })
    }
}

/// Ids below this number, with nothing to them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Below(pub(crate) u32);

impl Ids for Below {
    type Found = u32;

    #[inline(always)]
    fn of_node(&self, node: &Node) -> u32 {
        node.id
    }

    #[inline(always)]
    fn of_id(&self, id: u32) -> Option<u32> {
        (id < self.0).then_some(id)
    }
}

//! The best path of a lattice, and the `n` best.

use super::graph::{BOS, Lattice, Score};
use super::search::{Guide, Hypothesis, Path, search};

/// The scores of the best paths up to every node.
pub(crate) struct Best<S> {
    /// Up to and with each node.
    scores: Vec<S>,
}

impl<S: Score> Best<S> {
    /// Linear in the nodes: a sum rounds up no lesser one past a greater, so that the greatest score up to a
    /// position, extended, is the greatest of all extended ones.
    pub(crate) fn new(lattice: &Lattice<S>) -> Self {
        let nodes = lattice.nodes();
        let mut scores = vec![S::ZERO; nodes.len()];
        let mut index = 1;
        while let Some(node) = nodes.get(index) {
            let at = node.begin;
            let before = lattice.ending_at(at as usize).iter();
            let before = before.map(|&node| scores[node as usize]);
            let best = before.reduce(|best, score| if score > best { score } else { best });
            let best = best.unwrap_or(S::ZERO);
            while let Some(node) = nodes.get(index).filter(|node| node.begin == at) {
                scores[index] = best + node.score;
                index += 1;
            }
        }
        Self { scores }
    }

    /// The best path; of equal ones, at every node back from the end, the first that was found.
    pub(crate) fn path(&self, lattice: &Lattice<S>) -> Path<S> {
        let mut nodes = Vec::new();
        let mut node = lattice.eos();
        let score = self.scores[node as usize];
        loop {
            let (own, wanted) = (lattice.node(node).score, self.scores[node as usize]);
            let mut before = lattice.before(node).iter().copied();
            let previous = before.find(|&before| self.scores[before as usize] + own == wanted);
            match previous {
                Some(BOS) | None => break,
                Some(previous) => nodes.push(previous),
            }
            node = nodes[nodes.len() - 1];
        }
        nodes.reverse();
        Path { nodes, score }
    }
}

impl<S: Score> Guide<S, S> for &Best<S> {
    fn root(&mut self) -> S {
        self.scores.last().copied().unwrap_or(S::ZERO)
    }

    fn extend(
        &mut self,
        lattice: &Lattice<S>,
        of: &Hypothesis<S>,
        before: &[u32],
        scores: &mut Vec<(S, S)>,
    ) {
        scores.extend(before.iter().map(|&node| {
            let behind = lattice.node(node).score + of.behind;
            (behind, self.scores[node as usize] + of.behind)
        }));
    }
}

/// The `n` best paths, best first; fewer if there are not so many. The best one alone if the search gives up.
pub(crate) fn nbest<S: Score>(lattice: &Lattice<S>, n: usize) -> Vec<Path<S>> {
    let best = Best::new(lattice);
    search(lattice, n, &mut &best).unwrap_or_else(|_| vec![best.path(lattice)])
}

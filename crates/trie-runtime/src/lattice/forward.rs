//! The sum over all segmentations: forward filtering, what sampling and entropy stand on.
//!
//! A segmentation's weight is `exp(alpha * score)`. The sum of the weights of all paths to a position is
//! gathered from left to right in logarithms and single precision, as in the reference (`ForwardAlgorithm`);
//! it is the same for every node that begins there, so one value a position is enough.

use super::graph::{Lattice, Node};

/// Logarithms of the summed weights of all paths to every position.
#[derive(Debug)]
pub(crate) struct Forward {
    alpha: f32,
    sums: Vec<f32>,
}

impl Forward {
    /// The sums of `lattice`, with scores weighed by `alpha`.
    pub(crate) fn new(lattice: &Lattice<f32>, alpha: f32) -> Self {
        let mut forward = Self {
            alpha,
            sums: Vec::with_capacity(lattice.last() + 1),
        };
        // Only the empty beginning ends at the first position.
        forward.sums.push(0.0);
        for at in 1..=lattice.last() {
            let ending = lattice.ending_at(at).iter();
            let weights = ending.map(|&node| forward.weight_to(lattice.node(node)));
            let sum = weights.reduce(log_sum_exp).unwrap_or(f32::NEG_INFINITY);
            forward.sums.push(sum);
        }
        forward
    }

    /// The logarithm of the weight of all paths to position `at`.
    pub(crate) fn sum(&self, at: usize) -> f32 {
        self.sums[at]
    }

    /// The logarithm of the weight of all paths.
    pub(crate) fn total(&self) -> f32 {
        self.sums[self.sums.len() - 1]
    }

    /// A node's score, weighed.
    pub(crate) fn weighed(&self, node: Node<f32>) -> f32 {
        self.alpha * node.score
    }

    /// The logarithm of the weight of all paths to the end of `node` that go through it.
    pub(crate) fn weight_to(&self, node: Node<f32>) -> f32 {
        self.weighed(node) + self.sums[node.begin as usize]
    }

    /// Shannon entropy of the distribution over paths, in nats (`CalculateEntropy` of sentencepiece 0.2.1).
    ///
    /// The entropy up to a position is that of the choice of the last node there, and what is expected
    /// before it.
    pub(crate) fn entropy(&self, lattice: &Lattice<f32>) -> f32 {
        let mut negated: Vec<f32> = Vec::with_capacity(self.sums.len());
        negated.push(0.0);
        for at in 1..=lattice.last() {
            let mut sum = 0.0;
            for &node in lattice.ending_at(at) {
                let node = lattice.node(node);
                let log_share = self.weight_to(node) - self.sums[at];
                let share = log_share.exp();
                // What has no share must not spoil the sum with an infinite logarithm.
                if share > 0.0 {
                    sum += share * (negated[node.begin as usize] + log_share);
                }
            }
            negated.push(sum);
        }
        // A text with one segmentation has an entropy of 0, not -0.
        0.0 - negated[negated.len() - 1]
    }
}

/// `log(exp(a) + exp(b))`, as the reference rounds it.
fn log_sum_exp(a: f32, b: f32) -> f32 {
    /// From this difference on, the lesser one does not count.
    const NEGLIGIBLE: f32 = 50.0;
    let (least, greatest) = (a.min(b), a.max(b));
    if greatest > least + NEGLIGIBLE {
        return greatest;
    }
    (f64::from(greatest) + f64::from(least - greatest).exp().ln_1p()) as f32
}

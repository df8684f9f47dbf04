//! Drawing segmentations at random.
//!
//! *Backward sampling* over the forward sums draws one path from the distribution over all of them: from the
//! end, each node with the share that the paths through it have (forward filtering, backward sampling). Drawing
//! *without replacement* perturbs every path's log-probability by Gumbel noise and takes the greatest ones; the
//! noise is handed down from a set of paths to its parts, so that only the paths in question are ever looked at
//! (stochastic beam search: Kool, van Hoof and Welling 2019, <https://arxiv.org/abs/1903.06059>).

use super::forward::Forward;
use super::graph::{BOS, Lattice};
use super::random::{choose, gumbel};
use super::search::{GaveUp, Guide, Hypothesis, Path, search};

/// One path from the distribution over all, and its log-probability as the score.
pub(crate) fn sample(
    lattice: &Lattice<f32>,
    forward: &Forward,
    random: &mut impl FnMut() -> u64,
) -> Path<f32> {
    let mut nodes = Vec::new();
    let mut weights = Vec::new();
    let mut node = lattice.eos();
    loop {
        let before = lattice.before(node);
        let sum = forward.sum(lattice.node(node).begin as usize);
        weights.clear();
        weights.extend(before.iter().map(|&node| {
            let log_share = forward.weight_to(lattice.node(node)) - sum;
            // The reference keeps shares in single precision.
            f64::from(f64::from(log_share).exp() as f32)
        }));
        match before.get(choose(&weights, random)) {
            Some(&BOS) | None => break,
            Some(&previous) => node = previous,
        }
        nodes.push(node);
    }
    nodes.reverse();
    let score = log_probability(lattice, forward, &nodes);
    Path { nodes, score }
}

/// The log-probability of a path.
fn log_probability(lattice: &Lattice<f32>, forward: &Forward, nodes: &[u32]) -> f32 {
    let weighed = nodes
        .iter()
        .map(|&node| forward.weighed(lattice.node(node)));
    weighed.fold(0.0, |sum, weighed| sum + weighed) - forward.total()
}

/// One of `scores`, which are logarithms, with a probability in proportion to `exp(alpha * score)`.
pub(crate) fn choose_score(
    scores: impl Iterator<Item = f32> + Clone,
    alpha: f32,
    random: &mut impl FnMut() -> u64,
) -> usize {
    let weighed = scores.map(|score| f64::from(alpha * score));
    // Only their proportions count; this way none overflows.
    let greatest = weighed.clone().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = weighed.map(|score| (score - greatest).exp()).collect();
    choose(&weights, random)
}

/// Different paths, in the order of a draw without replacement; their scores are log-probabilities.
pub(crate) struct Drawn {
    pub(crate) paths: Vec<Path<f32>>,
    /// The perturbed log-probability of the first path that was not drawn; -∞ if all were.
    pub(crate) threshold: f64,
}

impl Drawn {
    /// Draws `count` paths, or all there are. With `apart`, that path is not among them.
    pub(crate) fn new(
        lattice: &Lattice<f32>,
        forward: &Forward,
        count: usize,
        apart: Option<&[u32]>,
        random: &mut impl FnMut() -> u64,
    ) -> Result<Self, GaveUp> {
        // The first path that is left out is needed, too, and one more may be set apart.
        let wanted = count + 1 + usize::from(apart.is_some());
        let guide = &mut Perturbed { forward, random };
        let found: Vec<Path<f64>> = search(lattice, wanted, guide)?;
        let found = found
            .into_iter()
            .filter(|path| apart.is_none_or(|apart| path.nodes != apart));
        let mut paths = Vec::with_capacity(count);
        let mut threshold = f64::NEG_INFINITY;
        for Path { nodes, score } in found {
            if paths.len() == count {
                threshold = score;
                break;
            }
            let score = log_probability(lattice, forward, &nodes);
            paths.push(Path { nodes, score });
        }
        Ok(Self { paths, threshold })
    }

    /// The logarithm of the probability that a path of this log-probability is among those drawn, given the
    /// threshold.
    pub(crate) fn inclusion(&self, log_probability: f32) -> f32 {
        let above = f64::from(log_probability) - self.threshold;
        let rate = above.exp();
        // log(1 - exp(-rate)); for small rates that would be the difference of nearly equal numbers.
        let inclusion = if above <= -10.0 {
            above - rate / 2.0 + rate.powi(2) / 24.0 - rate.powi(4) / 2880.0
        } else {
            (-(-rate).exp_m1()).ln()
        };
        inclusion as f32
    }
}

/// Hypotheses with perturbed log-probabilities: that of a set of paths is the greatest of its members'.
struct Perturbed<'f, R> {
    forward: &'f Forward,
    random: R,
}

impl<R: FnMut() -> u64> Guide<f32, f64> for Perturbed<'_, R> {
    fn root(&mut self) -> f64 {
        gumbel(&mut self.random)
    }

    fn extend(
        &mut self,
        lattice: &Lattice<f32>,
        of: &Hypothesis<f64>,
        before: &[u32],
        scores: &mut Vec<(f64, f64)>,
    ) {
        let sum = self.forward.sum(lattice.node(of.node).begin as usize);
        let from = scores.len();
        scores.extend(before.iter().map(|&node| {
            let log_share = self.forward.weight_to(lattice.node(node)) - sum;
            let behind = of.behind + f64::from(log_share);
            (behind, behind + gumbel(&mut self.random))
        }));
        let drawn = &mut scores[from..];
        let greatest = drawn.iter().map(|&(_, perturbed)| perturbed);
        let greatest = greatest.fold(f64::NEG_INFINITY, f64::max);
        // The greatest of the parts must be what the whole has: the others are moved along, so that they
        // stay below it and keep their distribution (appendix B.3 of the paper).
        for (_, perturbed) in drawn {
            let v = of.priority - *perturbed + (-(*perturbed - greatest).exp()).ln_1p();
            *perturbed = of.priority - v.max(0.0) - (-v.abs()).exp().ln_1p();
        }
    }
}

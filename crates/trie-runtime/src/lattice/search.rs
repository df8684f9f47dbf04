//! Best-first search through a lattice from its end: the frame of n-best and of sampling without replacement.
//!
//! A hypothesis is a path's end: a node and what follows it. The one of the highest priority is taken from the
//! agenda; if it reaches the beginning it is a result, else every node before it makes a new hypothesis. With
//! priorities that never underestimate, results come best first (Nagata 1994, forward dynamic programming and
//! backward A*). Which limits stop the search, and when, is the reference's (`Lattice::NBest`): they bound
//! memory and time whatever the text. Its time limit of 30 seconds is not: results must not depend on a clock.

use std::collections::HashMap;

use super::graph::{BOS, Lattice, Score};
use super::heap::Heap;

/// The agenda is cut back when it reaches this size.
const MAX_AGENDA: usize = 10_000;
/// What a cut leaves: ten hypotheses for every wanted result, at most this many.
const MIN_AGENDA: usize = 512;
/// The agenda is cut back, too, when this many hypotheses have been made since the last cut.
const MAX_HYPOTHESES: usize = 100_000;
/// With this many hypotheses the search gives up.
const MAX_TOTAL: usize = 500_000;
/// With more cuts than this the search gives up.
const MAX_CUTS: usize = 10;

/// No hypothesis.
const NONE: u32 = u32::MAX;

/// The end of a path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hypothesis<S> {
    /// Its first node.
    pub(crate) node: u32,
    /// The hypothesis for what follows.
    next: u32,
    /// The sum of the scores of what follows, and of this node.
    pub(crate) behind: S,
    /// In which order it is taken from the agenda.
    pub(crate) priority: S,
}

/// How hypotheses get their scores.
pub(crate) trait Guide<N, S> {
    /// The priority of the empty path's end.
    fn root(&mut self) -> S;

    /// Appends, for each of `before`, the scores `(behind, priority)` of the hypothesis that puts it in front of `of`.
    fn extend(
        &mut self,
        lattice: &Lattice<N>,
        of: &Hypothesis<S>,
        before: &[u32],
        scores: &mut Vec<(S, S)>,
    );
}

/// A path: its nodes without the ends, and the priority that it was found with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path<S> {
    pub(crate) nodes: Vec<u32>,
    pub(crate) score: S,
}

/// The search ran into a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GaveUp;

/// The first `n` paths that the search finds.
pub(crate) fn search<N: Score, S: Score>(
    lattice: &Lattice<N>,
    n: usize,
    guide: &mut impl Guide<N, S>,
) -> Result<Vec<Path<S>>, GaveUp> {
    let mut paths = Vec::new();
    let mut made = vec![Hypothesis {
        node: lattice.eos(),
        next: NONE,
        behind: S::ZERO,
        priority: guide.root(),
    }];
    let mut agenda = Heap::new();
    agenda.push(made[0].priority, 0);
    let min_agenda = MIN_AGENDA.min(n.saturating_mul(10));
    let mut max_made = MAX_HYPOTHESES;
    let (mut total, mut cuts) = (1, 0);
    let mut scores = Vec::new();
    while let Some(top) = agenda.pop() {
        let hypothesis = made[top as usize];
        if hypothesis.node == BOS {
            paths.push(path(&made, top));
            if paths.len() == n {
                break;
            }
            continue;
        }
        let before = lattice.before(hypothesis.node);
        scores.clear();
        guide.extend(lattice, &hypothesis, before, &mut scores);
        for (&node, &(behind, priority)) in before.iter().zip(&scores) {
            agenda.push(priority, made.len() as u32);
            made.push(Hypothesis {
                node,
                next: top,
                behind,
                priority,
            });
        }
        total += before.len();
        if total >= MAX_TOTAL || made.len() >= MAX_TOTAL {
            return Err(GaveUp);
        }
        let is_full = agenda.len() >= MAX_AGENDA;
        if is_full || (agenda.len() > min_agenda && made.len() >= max_made) {
            if cuts >= MAX_CUTS {
                return Err(GaveUp);
            }
            cuts += 1;
            (agenda, made) = cut(agenda, &made, min_agenda);
            max_made = made.len() + MAX_HYPOTHESES;
        }
    }
    Ok(paths)
}

/// The path that a complete hypothesis stands for.
fn path<S: Score>(made: &[Hypothesis<S>], complete: u32) -> Path<S> {
    let mut nodes = Vec::new();
    let mut hypothesis = made[complete as usize];
    let score = hypothesis.priority;
    // The last one in the chain is the end of the text.
    while hypothesis.next != NONE {
        hypothesis = made[hypothesis.next as usize];
        nodes.push(hypothesis.node);
    }
    nodes.pop();
    Path { nodes, score }
}

/// The `keep` first hypotheses of the agenda, with what they lead to.
fn cut<S: Score>(
    mut agenda: Heap<S, u32>,
    made: &[Hypothesis<S>],
    keep: usize,
) -> (Heap<S, u32>, Vec<Hypothesis<S>>) {
    let mut kept_agenda = Heap::new();
    let mut kept: Vec<Hypothesis<S>> = Vec::new();
    let mut moved: HashMap<u32, u32> = HashMap::new();
    for _ in 0..keep {
        let Some(top) = agenda.pop() else { break };
        let first = kept.len() as u32;
        let mut at = top;
        loop {
            if moved.contains_key(&at) {
                break;
            }
            moved.insert(at, kept.len() as u32);
            let hypothesis = made[at as usize];
            kept.push(hypothesis);
            if hypothesis.next == NONE {
                break;
            }
            at = hypothesis.next;
        }
        // Indexes of what follows, now that all of it has moved.
        for hypothesis in kept.iter_mut().skip(first as usize) {
            if let Some(&next) = moved.get(&hypothesis.next) {
                hypothesis.next = next;
            }
        }
        kept_agenda.push(made[top as usize].priority, moved[&top]);
    }
    (kept_agenda, kept)
}

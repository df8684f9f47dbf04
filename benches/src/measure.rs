//! Interleaved measurement: every engine in turn, round after round, so that what disturbs the machine
//! disturbs all. Ratios are taken within a round and their median is reported: absolute times don't travel.
//!
//! Latencies are wall time. Rates and ratios are by the process's CPU time, all its threads together: on a
//! machine that others use too, a pass during which the scheduler took the CPU away says nothing.

use std::hint::black_box;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::alloc::allocations;
use crate::corpus::Doc;
use crate::engine::{Engine, Session};

/// Median and quartiles.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Spread {
    /// First quartile.
    pub low: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub high: f64,
}

/// The value below which the share `q` of sorted `values` lies.
#[must_use]
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let at = q * last as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    match (sorted.get(low), sorted.get(high)) {
        (Some(a), Some(b)) => a + (b - a) * (at - low as f64),
        _ => f64::NAN,
    }
}

impl Spread {
    /// The spread of `values`.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Self {
            low: quantile(&sorted, 0.25),
            median: quantile(&sorted, 0.5),
            high: quantile(&sorted, 0.75),
        }
    }
}

/// How long to measure.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Rounds over all engines.
    pub rounds: usize,
    /// Encodes of an engine in one round, at least.
    pub encodes: usize,
}

/// One engine's figures on one set of documents.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Figures {
    /// The engine's name.
    pub engine: String,
    /// Microseconds per encode: the median of all encodes.
    pub p50_us: f64,
    /// Microseconds per encode: the 99th percentile.
    pub p99_us: f64,
    /// CPU nanoseconds per token, over rounds.
    pub ns_per_token: Spread,
    /// 10^6 bytes of raw text a CPU second, over rounds.
    pub mb_per_s: Spread,
    /// Time of the published engine's final stage over this engine's, over rounds.
    pub speedup_over_baseline: Option<Spread>,
    /// Time of this engine over the project's, over rounds: above 1 the project is faster.
    pub ours_faster_by: Option<Spread>,
    /// Heap allocations per encode, where they are counted.
    pub allocations: Option<f64>,
    /// Share of ids that differ from the project's. Zero, except in adversarial workloads.
    pub differing_ids: f64,
    /// Which memory the tables are in.
    pub backing: Option<String>,
}

/// An engine under measurement.
pub struct Contestant<'a> {
    /// Its name.
    pub name: &'a str,
    /// The loaded engine.
    pub engine: &'a dyn Engine,
}

/// Which contestants ratios are taken against, by name.
#[derive(Debug, Clone, Copy)]
pub struct Against<'a> {
    /// The published engine's final stage.
    pub baseline: &'a str,
    /// The project.
    pub ours: &'a str,
}

/// CPU time of this process so far, in nanoseconds.
#[must_use]
pub fn cpu_ns() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call only writes to `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

struct Track<'a> {
    name: &'a str,
    session: Box<dyn Session + 'a>,
    backing: Option<String>,
    tokens: usize,
    samples_us: Vec<f64>,
    rounds_ns: Vec<f64>,
    allocations: Option<f64>,
    differing_ids: f64,
}

/// How strict the comparison of ids is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ids {
    /// Every engine must give the documents' ids.
    Equal,
    /// Token counts must agree within this share; how many ids differ is reported.
    Within(f64),
}

/// Measures `contestants` on `docs`.
///
/// # Errors
/// If an engine does other work than the rest: see [`Ids`].
pub fn measure(
    contestants: &[Contestant<'_>],
    docs: &[Doc],
    effort: Effort,
    ids: Ids,
    against: Against<'_>,
) -> Result<Vec<Figures>> {
    let mut tracks = Vec::new();
    for contestant in contestants {
        tracks.push(prepare(contestant, docs, ids)?);
    }
    let passes = effort.encodes.div_ceil(docs.len().max(1)).max(1);
    for track in &mut tracks {
        track
            .samples_us
            .reserve(passes * docs.len() * effort.rounds);
    }
    for _ in 0..effort.rounds {
        for track in &mut tracks {
            let mut tokens = 0;
            let before = cpu_ns();
            for doc in (0..passes).flat_map(|_| docs) {
                let start = Instant::now();
                tokens += black_box(track.session.encode(black_box(doc))).len();
                track
                    .samples_us
                    .push(start.elapsed().as_nanos() as f64 / 1e3);
            }
            let total = cpu_ns() - before;
            if tokens != track.tokens * passes {
                return Err(format!("{} did not encode alike in every pass", track.name).into());
            }
            track.rounds_ns.push(total / passes as f64);
        }
    }
    let rounds_of = |name: &str| {
        let track = tracks.iter().find(|track| track.name == name)?;
        Some(track.rounds_ns.clone())
    };
    let (baseline, ours) = (rounds_of(against.baseline), rounds_of(against.ours));
    let bytes: usize = docs.iter().map(|doc| doc.text.len()).sum();
    let figures = |track: Track<'_>| figures(track, bytes, baseline.as_deref(), ours.as_deref());
    Ok(tracks.into_iter().map(figures).collect())
}

/// Checks the ids and counts allocations, in one warm pass after a cold one.
fn prepare<'a>(contestant: &Contestant<'a>, docs: &[Doc], ids: Ids) -> Result<Track<'a>> {
    let name = contestant.name;
    let mut session = contestant.engine.session();
    let (mut tokens, mut expected, mut differing) = (0, 0, 0);
    for doc in docs {
        let found = session.encode(doc);
        differing += differences(found, &doc.ids);
        tokens += found.len();
        expected += doc.ids.len();
    }
    let share = differing as f64 / expected.max(1) as f64;
    let uneven = tokens.abs_diff(expected) as f64 / expected.max(1) as f64;
    match ids {
        Ids::Equal if differing != 0 => {
            return Err(format!("{name} gives {differing} other ids: not the same work").into());
        }
        Ids::Within(limit) if uneven > limit => {
            return Err(
                format!("{name} gives {tokens} tokens, not {expected}: not the same work").into(),
            );
        }
        _ => {}
    }
    let so_far = |session: &dyn Session| Some(allocations() + session.foreign_allocations()?);
    let before = so_far(session.as_ref());
    for doc in docs {
        black_box(session.encode(doc));
    }
    let after = so_far(session.as_ref());
    let per_encode = |allocated: u64| allocated as f64 / docs.len().max(1) as f64;
    Ok(Track {
        name,
        session,
        backing: contestant.engine.backing(),
        tokens,
        samples_us: Vec::new(),
        rounds_ns: Vec::new(),
        allocations: after
            .zip(before)
            .map(|(after, before)| per_encode(after - before)),
        differing_ids: share,
    })
}

/// How many ids of the longer side have no counterpart, counting from one place where the two meet
/// again to the next.
#[must_use]
pub fn differences(mut a: &[u32], mut b: &[u32]) -> usize {
    /// Ids that must agree before the two count as together again, and how far to look for that.
    const MEET: usize = 4;
    const REACH: usize = 64;
    let mut count = 0;
    loop {
        let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        (a, b) = (&a[same..], &b[same..]);
        let head = |ids: &[u32], skip: usize| -> Vec<u32> {
            ids.iter().skip(skip).take(MEET).copied().collect()
        };
        let meeting = (1..=2 * REACH)
            .flat_map(|sum| (0..=sum).map(move |i| (i, sum - i)))
            .filter(|&(i, j)| i.max(j) <= REACH && i <= a.len() && j <= b.len())
            .find(|&(i, j)| head(a, i) == head(b, j));
        match meeting {
            _ if a.is_empty() && b.is_empty() => return count,
            Some((i, j)) => {
                count += i.max(j);
                (a, b) = (&a[i..], &b[j..]);
            }
            None => return count + a.len().max(b.len()),
        }
    }
}

fn figures(
    mut track: Track<'_>,
    bytes: usize,
    baseline: Option<&[f64]>,
    ours: Option<&[f64]>,
) -> Figures {
    track.samples_us.sort_unstable_by(f64::total_cmp);
    let rounds = &track.rounds_ns;
    let per_round = |f: &dyn Fn(f64) -> f64| Spread::of(rounds.iter().map(|&ns| f(ns)));
    let ratio =
        |over: &[f64], under: &[f64]| Spread::of(over.iter().zip(under).map(|(a, b)| a / b));
    Figures {
        engine: track.name.to_owned(),
        p50_us: quantile(&track.samples_us, 0.5),
        p99_us: quantile(&track.samples_us, 0.99),
        ns_per_token: per_round(&|ns| ns / track.tokens.max(1) as f64),
        mb_per_s: per_round(&|ns| bytes as f64 * 1e3 / ns),
        speedup_over_baseline: baseline.map(|baseline| ratio(baseline, rounds)),
        ours_faster_by: ours.map(|ours| ratio(rounds, ours)),
        allocations: track.allocations,
        differing_ids: track.differing_ids,
        backing: track.backing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_interpolate() {
        let spread = Spread::of([4.0, 1.0, 3.0, 2.0]);
        assert_eq!((spread.low, spread.median, spread.high), (1.75, 2.5, 3.25));
        assert!(Spread::of([]).median.is_nan());
    }

    #[test]
    fn differences_are_counted_until_the_two_meet_again() {
        assert_eq!(differences(&[1, 2, 3], &[1, 2, 3]), 0);
        assert_eq!(differences(&[1, 2, 3], &[1, 9, 3]), 1);
        assert_eq!(differences(&[1, 2, 2, 3], &[1, 2, 3]), 1);
        assert_eq!(differences(&[], &[7]), 1);
        let long: Vec<u32> = (0..1000).collect();
        let mut other = long.clone();
        other[10] = 5000;
        other.remove(800);
        assert_eq!(differences(&long, &other), 2);
    }
}

//! What the project has set out to reach, and how far this run is from it.

use std::fmt::Write;

use crate::engine::{BASELINE, OURS};
use crate::measure::Figures;
use crate::results::{Fresh, Results, Table};

/// A figure and what it should be.
struct Target {
    what: String,
    measured: f64,
    target: f64,
    /// Whether the figure should be at least the target; else at most.
    at_least: bool,
}

impl Target {
    fn at_least(what: impl Into<String>, target: f64, measured: f64) -> Self {
        Self {
            what: what.into(),
            measured,
            target,
            at_least: true,
        }
    }

    fn at_most(what: impl Into<String>, target: f64, measured: f64) -> Self {
        Self {
            at_least: false,
            ..Self::at_least(what, target, measured)
        }
    }

    fn is_met(&self) -> bool {
        match self.at_least {
            true => self.measured >= self.target,
            false => self.measured <= self.target,
        }
    }

    fn row(&self) -> String {
        let Self {
            what,
            measured,
            target,
            at_least,
        } = self;
        let relation = if *at_least { "at least" } else { "at most" };
        let verdict = match self.is_met() {
            true => "met".to_owned(),
            false => {
                let missed = 100.0 * (measured / target - 1.0).abs();
                format!("missed by {missed:.0} %")
            }
        };
        let digits = if *measured < 100.0 { 2 } else { 0 };
        format!("| {what} | {relation} {target} | {measured:.digits$} | {verdict} |\n")
    }
}

/// The project's row of a table.
fn ours(table: &Table) -> Option<&Figures> {
    table.rows.iter().find(|row| row.engine == OURS)
}

/// How much faster than the published engine's final stage.
fn speedup(table: &Table) -> Option<f64> {
    Some(ours(table)?.speedup_over_baseline?.median)
}

/// An engine of another project.
fn is_peer(engine: &str) -> bool {
    const LADDER: [&str; 5] = ["strings", "hash", "double-array", "bitmap-4k", BASELINE];
    !engine.starts_with(OURS) && !LADDER.contains(&engine)
}

/// How much faster than the fastest peer.
fn over_peers(table: &Table) -> Option<f64> {
    let peers = table.rows.iter().filter(|row| is_peer(&row.engine));
    let ratios = peers.filter_map(|row| Some(row.ours_faster_by?.median));
    ratios.reduce(f64::min)
}

fn targets(results: &Results) -> Vec<Target> {
    const OVER: &str = "published final stage, times faster";
    const PEERS: &str = "fastest peer, times faster";
    let mut all = Vec::new();
    for (name, ladder, peers) in [("repeated-512", 12.0, 2.5), ("stream", 8.0, 3.0)] {
        let Some(table) = results.tables.iter().find(|table| table.name == name) else {
            continue;
        };
        let over = speedup(table).map(|x| Target::at_least(format!("`{name}`: {OVER}"), ladder, x));
        all.extend(over);
        let over =
            over_peers(table).map(|x| Target::at_least(format!("`{name}`: {PEERS}"), peers, x));
        all.extend(over);
    }
    let unseen = |engine: &str| {
        let mut rows = results.unseen.iter();
        rows.find(|row| row.engine == engine && row.fresh == Fresh::Stream)
    };
    if let Some(row) = unseen(OURS) {
        let measured = row.speedup_over_baseline.median;
        all.push(Target::at_least(format!("`unseen`: {OVER}"), 6.0, measured));
    }
    if let Some(row) = unseen("lite") {
        let what = "`unseen`: SentencePiece Lite, times faster";
        all.push(Target::at_least(what, 4.0, row.ours_faster_by.median));
    }
    if let Some(row) = results.instructions.iter().find(|row| row.engine == OURS) {
        let repeated = row.repeated.map(|x| ("repeated English", 200.0, x));
        let unseen = row.unseen.map(|x| ("unseen multilingual", 400.0, x));
        all.extend(repeated.into_iter().chain(unseen).map(|(what, most, x)| {
            Target::at_most(format!("instructions per token, {what}"), most, x)
        }));
    }
    for table in &results.tables {
        let least = match table.name.as_str() {
            "language-th" => 3.0,
            name if name.starts_with("language-") => 4.0,
            "fresh-words" | "long-word" | "code-points" | "all-unknown" => 1.0,
            _ => continue,
        };
        let what = format!("`{}`: {OVER}", table.name);
        all.extend(speedup(table).map(|x| Target::at_least(what, least, x)));
    }
    let time = |name: &str| {
        let table = results.tables.iter().find(|table| table.name == name)?;
        Some(ours(table)?.ns_per_token.median)
    };
    if let (Some(long), Some(short)) = (time("repeated-16384"), time("repeated-512")) {
        let what = "time per token of 16,384 tokens over that of 512";
        all.push(Target::at_most(what, 1.0, long / short));
    }
    all
}

/// The table of targets, and what is known of the ones that are missed.
pub(super) fn write(out: &mut String, results: &Results) {
    let targets = targets(results);
    if targets.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\n## Targets\n\nMedians of this run. What was tried for those that are missed, and what bounds them, is in \
         [the benchmarks' README](../README.md#what-was-tried).\n\n| | target | measured | |\n|---|---|---:|---|"
    );
    targets
        .iter()
        .for_each(|target| out.push_str(&target.row()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_go_the_right_way() {
        assert!(Target::at_least("a", 4.0, 4.0).is_met());
        assert!(!Target::at_least("a", 4.0, 3.9).is_met());
        assert!(Target::at_most("a", 200.0, 200.0).is_met());
        assert!(
            Target::at_most("a", 200.0, 250.0)
                .row()
                .contains("missed by 25 %")
        );
        assert!(
            Target::at_least("a", 4.0, 3.0)
                .row()
                .contains("missed by 25 %")
        );
        assert!(is_peer("lite") && !is_peer("ours-mmap") && !is_peer(BASELINE));
    }
}

//! A run as Markdown tables.

use std::fmt::Write;

use super::{targets, title};
use crate::engine::OURS;
use crate::measure::{Figures, Spread};
use crate::results::{Fresh, Results, Table};

/// Median with quartiles.
fn spread(spread: &Spread) -> String {
    let digits = match spread.median.abs() {
        x if x >= 100.0 => 0,
        x if x >= 10.0 => 1,
        _ => 2,
    };
    let Spread { low, median, high } = spread;
    format!("{median:.digits$} ({low:.digits$}-{high:.digits$})")
}

fn optional(value: &Option<Spread>) -> String {
    value.as_ref().map_or_else(|| "-".to_owned(), spread)
}

/// A table of which the first column is left-aligned and the others right-aligned.
struct Rows(String);

impl Rows {
    fn new(columns: &[&str]) -> Self {
        let rules = vec!["---:"; columns.len().saturating_sub(1)];
        Self(format!(
            "| {} |\n|---|{}|\n",
            columns.join(" | "),
            rules.join("|")
        ))
    }

    fn push(&mut self, cells: &[String]) {
        self.0.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
}

fn figures(row: &Figures) -> Vec<String> {
    let mut cells = vec![
        title(&row.engine),
        format!("{:.1}", row.p50_us),
        format!("{:.1}", row.p99_us),
        spread(&row.ns_per_token),
        spread(&row.mb_per_s),
        row.allocations
            .map_or_else(|| "not counted".to_owned(), |n| format!("{n:.0}")),
        optional(&row.speedup_over_baseline),
        optional(&row.ours_faster_by),
    ];
    if row.differing_ids != 0.0 {
        cells[0].push_str(&format!(
            " (differs on {:.2} % of ids)",
            row.differing_ids * 100.0
        ));
    }
    cells
}

fn table(out: &mut String, table: &Table) {
    let Table {
        docs,
        tokens,
        bytes,
        skipped,
        ..
    } = table;
    let _ = writeln!(
        out,
        "\n### `{}`: {}\n\n{docs} documents, {tokens} tokens, {bytes} bytes a pass.",
        table.name, table.title
    );
    if skipped.normalization + skipped.ties != 0 {
        let _ = writeln!(
            out,
            "Not admitted, of {}: {} on which the grapheme-wise normaliser differs, {} with a near tie that double precision decides otherwise.",
            skipped.of, skipped.normalization, skipped.ties
        );
    }
    if table.name == "ladder-viterbi" {
        out.push_str("On normalised text: segmentation alone.\n");
    }
    let mut rows = Rows::new(&[
        "engine",
        "p50 us",
        "p99 us",
        "CPU ns/token",
        "MB/s",
        "allocations",
        "over published",
        "ours faster by",
    ]);
    for row in &table.rows {
        rows.push(&figures(row));
    }
    let _ = write!(out, "\n{}", rows.0);
    for left in &table.left_out {
        let _ = writeln!(out, "\n{} {}.", title(&left.engine), left.reason);
    }
}

/// The whole run.
#[must_use]
pub fn markdown(results: &Results) -> String {
    let mut out = String::from("# Benchmarks\n");
    preamble(&mut out, results);
    targets::write(&mut out, results);
    losses(&mut out, results);
    for (heading, prefix) in SECTIONS {
        let tables: Vec<&Table> = results
            .tables
            .iter()
            .filter(|t| t.name.starts_with(prefix))
            .collect();
        if !tables.is_empty() {
            let _ = writeln!(out, "\n## {heading}");
            tables.iter().for_each(|t| table(&mut out, t));
        }
    }
    let known = |t: &&Table| {
        SECTIONS
            .iter()
            .any(|(_, prefix)| t.name.starts_with(prefix))
    };
    let others: Vec<&Table> = results.tables.iter().filter(|t| !known(t)).collect();
    if !others.is_empty() {
        out.push_str("\n## Adversarial text\n");
        others.iter().for_each(|t| table(&mut out, t));
    }
    unseen(&mut out, results);
    instructions(&mut out, results);
    threads(&mut out, results);
    cold(&mut out, results);
    shared(&mut out, results);
    accuracy(&mut out, results);
    out
}

/// Tables by the beginning of their names.
const SECTIONS: [(&str, &str); 4] = [
    ("The published ladder", "ladder"),
    ("One document repeated", "repeated"),
    ("A stream of different documents", "stream"),
    ("Languages", "language"),
];

fn preamble(out: &mut String, results: &Results) {
    let machine = &results.machine;
    let _ = writeln!(
        out,
        "\n{}, {} ({} CPUs), {}, {}; huge pages: {}.\n\nPeers: {}.",
        machine.date,
        machine.cpu,
        machine.cpus,
        machine.kernel,
        machine.rustc,
        machine.huge_pages,
        machine.versions.join(", ")
    );
    if results.quick {
        out.push_str(
            "\n**A quick run: it shows that everything works; its figures mean little.**\n",
        );
    }
    out.push_str(
        "\nFigures are medians, with quartiles in parentheses. Engines take turns, round after round, and ratios \
         are taken within a round: absolute times don't travel, ratios do. p50 and p99 are wall time per encode; \
         rates and ratios are by CPU time (of all threads of the process), which a busy machine disturbs less. \"Over published\" is the time of the \
         published engine's final stage (64-byte nodes on huge pages, grapheme-wise normaliser) over the row's; \
         \"ours faster by\" is the row's time over this project's. All rows of a table give identical ids on \
         everything timed, unless the row says how many differ.\n",
    );
    for note in &results.notes {
        let _ = writeln!(out, "\nNote: {note}");
    }
}

/// Every comparison in which another engine is faster or starts faster.
fn losses(out: &mut String, results: &Results) {
    let mut lost = Vec::new();
    for table in &results.tables {
        for row in table
            .rows
            .iter()
            .filter(|row| !row.engine.starts_with(OURS))
        {
            if let Some(ratio) = row.ours_faster_by.filter(|ratio| ratio.median < 1.0) {
                lost.push(format!(
                    "`{}`: {} takes {} of our time",
                    table.name,
                    title(&row.engine),
                    spread(&ratio)
                ));
            }
        }
    }
    for row in results
        .unseen
        .iter()
        .filter(|row| row.ours_faster_by.median < 1.0)
    {
        let name = row.fresh.name();
        lost.push(format!(
            "{name}: {} takes {} of our time",
            title(&row.engine),
            spread(&row.ours_faster_by)
        ));
    }
    for dropped in [false, true] {
        let rows = || {
            results
                .cold
                .iter()
                .filter(|row| row.dropped_cache == dropped && row.engine != "nothing")
        };
        let is_ours = |engine: &str| engine.starts_with(OURS);
        let best = rows()
            .filter(|row| is_ours(&row.engine))
            .map(|row| row.ms.median)
            .fold(f64::INFINITY, f64::min);
        for row in rows().filter(|row| !is_ours(&row.engine) && row.ms.median < best) {
            lost.push(format!(
                "cold start{}: {} in {} ms",
                if dropped { ", page cache dropped" } else { "" },
                title(&row.engine),
                spread(&row.ms)
            ));
        }
    }
    if results.tables.is_empty() && results.unseen.is_empty() && results.cold.is_empty() {
        return;
    }
    out.push_str("\n## Where this project loses\n");
    if lost.is_empty() {
        out.push_str("\nNowhere in this run.\n");
    } else {
        let _ = writeln!(out, "\n- {}", lost.join("\n- "));
    }
}

fn unseen(out: &mut String, results: &Results) {
    if results.unseen.is_empty() {
        return;
    }
    out.push_str("\n## Unseen text\n\nFresh processes; every document is encoded exactly once.\n");
    for fresh in Fresh::ALL {
        let mut rows = Rows::new(&[
            "engine",
            "p50 us",
            "p99 us",
            "MB/s",
            "page faults",
            "over published",
            "ours faster by",
        ]);
        for row in results.unseen.iter().filter(|row| row.fresh == fresh) {
            rows.push(&[
                title(&row.engine),
                format!("{:.1}", row.p50_us),
                format!("{:.1}", row.p99_us),
                spread(&row.mb_per_s),
                format!("{:.0}", row.page_faults),
                spread(&row.speedup_over_baseline),
                spread(&row.ours_faster_by),
            ]);
        }
        let _ = write!(
            out,
            "\n### `{}`: {}\n\n{}",
            fresh.name(),
            fresh.title(),
            rows.0
        );
    }
}

fn instructions(out: &mut String, results: &Results) {
    if results.instructions.is_empty() {
        return;
    }
    out.push_str("\n## Instructions per token\n\nBy cachegrind: the difference of N and 2N encodes of one document, and of a run with and without documents not seen before.\n");
    let mut rows = Rows::new(&["engine", "repeated", "unseen"]);
    for row in &results.instructions {
        let cell =
            |value: Option<f64>| value.map_or_else(|| "no count".to_owned(), |n| format!("{n:.0}"));
        rows.push(&[title(&row.engine), cell(row.repeated), cell(row.unseen)]);
    }
    let _ = write!(out, "\n{}", rows.0);
}

fn threads(out: &mut String, results: &Results) {
    if results.threads.is_empty() {
        return;
    }
    out.push_str("\n## Threads\n\nOne tokenizer shared; every thread encodes the stream.\n");
    let mut rows = Rows::new(&["engine", "threads", "MB/s, all threads", "over one thread"]);
    for row in &results.threads {
        rows.push(&[
            title(&row.engine),
            row.threads.to_string(),
            spread(&row.mb_per_s),
            spread(&row.scaling),
        ]);
    }
    let _ = write!(out, "\n{}", rows.0);
}

fn cold(out: &mut String, results: &Results) {
    if results.cold.is_empty() {
        return;
    }
    out.push_str("\n## Cold start\n\nFrom the start of a process to its first ids. \"nothing\" is this program without any engine. The ladder builds its trie from the vocabulary, as the published engine does. An image in the executable (`Static`) is not among the rows: it would be part of every other row's program.\n");
    for dropped in [false, true] {
        let mut rows = Rows::new(&["engine", "ms", "of which loading", "peak RSS MiB"]);
        let mut any = false;
        for row in results
            .cold
            .iter()
            .filter(|row| row.dropped_cache == dropped)
        {
            any = true;
            rows.push(&[
                title(&row.engine),
                spread(&row.ms),
                spread(&row.load_ms),
                format!("{:.0}", row.peak_rss_mib),
            ]);
        }
        if any {
            let how = if dropped {
                "Page cache dropped before each start"
            } else {
                "Warm page cache"
            };
            let _ = write!(out, "\n### {how}\n\n{}", rows.0);
        }
    }
}

fn shared(out: &mut String, results: &Results) {
    if results.shared.is_empty() {
        return;
    }
    out.push_str("\n## Memory of several processes\n\nAll of them have loaded the tokenizer and encoded the stream; sum of their proportional set sizes. Reserved huge pages are no part of that; those that are shared count once. \"nothing\" has read the stream and loaded no tokenizer.\n");
    let mut rows = Rows::new(&["engine", "processes", "PSS MiB", "reserved huge pages MiB"]);
    for row in &results.shared {
        rows.push(&[
            title(&row.engine),
            row.processes.to_string(),
            format!("{:.1}", row.pss_mib),
            format!("{:.0}", row.hugetlb_mib),
        ]);
    }
    let _ = write!(out, "\n{}", rows.0);
}

fn accuracy(out: &mut String, results: &Results) {
    if results.accuracy.is_empty() {
        return;
    }
    out.push_str("\n## Peers' ids\n\nEvery line of the corpus, hard ones included. A reference of its own differs from ours by design: the two reference implementations disagree on such lines.\n");
    let mut rows = Rows::new(&[
        "peer",
        "its reference",
        "lines",
        "differ from it",
        "differ from ours",
    ]);
    for row in &results.accuracy {
        rows.push(&[
            title(&row.engine),
            title(&row.reference),
            row.lines.to_string(),
            row.differ_from_reference.to_string(),
            row.differ_from_ours.to_string(),
        ]);
    }
    let _ = write!(out, "\n{}", rows.0);
}

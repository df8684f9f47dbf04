//! Everything measured, as data: what `--json` prints and the report is made of.

use serde::{Deserialize, Serialize};

use crate::corpus::Skipped;
use crate::machine::Machine;
use crate::measure::{Figures, Spread};

/// An engine that is missing from a table, or was not timed on all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The engine.
    pub engine: String,
    /// Why.
    pub reason: String,
}

/// One workload, measured in this process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Table {
    /// The workload's name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// The engine that speed-ups are taken against.
    pub baseline: String,
    /// Documents timed.
    pub docs: usize,
    /// Their tokens.
    pub tokens: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Documents not admitted.
    pub skipped: Skipped,
    /// Figures by engine.
    pub rows: Vec<Figures>,
    /// Engines that did not take part, or not in all of it.
    pub left_out: Vec<LeftOut>,
}

/// What is encoded once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fresh {
    /// Half of the stream, after the other half as a warm-up.
    Stream,
    /// The same half of the stream without any warm-up.
    StreamCold,
    /// Words that never repeat, after others.
    Words,
}

impl Fresh {
    /// All kinds, in the order of the tables.
    pub const ALL: [Self; 3] = [Self::Stream, Self::StreamCold, Self::Words];

    /// Name in the results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stream => "unseen",
            Self::StreamCold => "unseen-unwarmed",
            Self::Words => "unseen-words",
        }
    }

    /// What it is, for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Stream => "the stream, warmed up on other documents",
            Self::StreamCold => "the stream, no warm-up at all",
            Self::Words => "random words that never repeat, warmed up on others",
        }
    }
}

/// (c): one engine on text it has not seen, each document once, in fresh processes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Unseen {
    /// The engine.
    pub engine: String,
    /// What it encodes.
    pub fresh: Fresh,
    /// Microseconds per encode: the median.
    pub p50_us: f64,
    /// Microseconds per encode: the 99th percentile.
    pub p99_us: f64,
    /// 10^6 bytes a CPU second, over processes.
    pub mb_per_s: Spread,
    /// Time of the published engine's final stage over this engine's.
    pub speedup_over_baseline: Spread,
    /// Time of this engine over the project's: above 1 the project is faster.
    pub ours_faster_by: Spread,
    /// Minor page faults during the timed pass, the median over processes.
    pub page_faults: f64,
}

/// From the start of a process to its first ids.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ColdStart {
    /// The engine.
    pub engine: String,
    /// Whether its files were dropped from the page cache first.
    pub dropped_cache: bool,
    /// Milliseconds until the parent has read the ids.
    pub ms: Spread,
    /// Milliseconds of it that loading took.
    pub load_ms: Spread,
    /// Highest resident memory, in MiB.
    pub peak_rss_mib: f64,
}

/// Memory of processes that use the same tokenizer at the same time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shared {
    /// The engine.
    pub engine: String,
    /// Processes.
    pub processes: usize,
    /// Sum of their proportional set sizes, in MiB. Reserved huge pages are not part of it.
    pub pss_mib: f64,
    /// The reserved huge pages they hold, in MiB; those that they share count once.
    pub hugetlb_mib: f64,
}

/// Instructions by valgrind.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Instructions {
    /// The engine.
    pub engine: String,
    /// Per token of a document seen before: (2N - N encodes) / N.
    pub repeated: Option<f64>,
    /// Per token of documents not seen before.
    pub unseen: Option<f64>,
    /// Why a figure is missing.
    pub problem: Option<String>,
}

/// One tokenizer shared by threads.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Threads {
    /// The engine.
    pub engine: String,
    /// Threads.
    pub threads: usize,
    /// 10^6 bytes a (wall) second, all threads together.
    pub mb_per_s: Spread,
    /// Over one thread in the same round.
    pub scaling: Spread,
}

/// How often a peer's ids are its reference's, and the project's.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Accuracy {
    /// The engine.
    pub engine: String,
    /// What it should be equal to.
    pub reference: String,
    /// Lines compared.
    pub lines: usize,
    /// Lines on which it differs from its reference.
    pub differ_from_reference: usize,
    /// Lines on which it differs from the project.
    pub differ_from_ours: usize,
}

/// A whole run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Results {
    /// Where and when.
    pub machine: Machine,
    /// Whether this was a quick run, whose figures mean little.
    pub quick: bool,
    /// What readers should know.
    pub notes: Vec<String>,
    /// Peers' ids.
    pub accuracy: Vec<Accuracy>,
    /// Workloads in this process.
    pub tables: Vec<Table>,
    /// Workloads in fresh processes.
    pub unseen: Vec<Unseen>,
    /// Cold starts.
    pub cold: Vec<ColdStart>,
    /// Shared memory.
    pub shared: Vec<Shared>,
    /// Instruction counts.
    pub instructions: Vec<Instructions>,
    /// Scaling.
    pub threads: Vec<Threads>,
}

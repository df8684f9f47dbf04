//! What runs in a fresh process. Each job loads one engine, does one thing and prints one line of JSON;
//! [`crate::process`] is the other side.

use std::hint::black_box;
use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Subcommand;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::corpus::Doc;
use crate::engine::build;
use crate::fixture::Fixture;
use crate::machine::mib;
use crate::measure::cpu_ns;

/// A job. Documents are JSON files that the parent wrote.
#[derive(Debug, Clone, Subcommand)]
pub enum Job {
    /// Load, encode one document.
    Cold {
        /// The engine, or `nothing`.
        engine: String,
    },
    /// Load, warm up on some documents, then encode others once each.
    Unseen {
        /// The engine.
        engine: String,
        /// Documents for warming up.
        #[arg(long)]
        warm: Option<PathBuf>,
        /// Documents that are timed.
        #[arg(long)]
        docs: PathBuf,
    },
    /// Load, encode, for an instruction counter outside.
    Count {
        /// The engine.
        engine: String,
        /// Documents for warming up.
        #[arg(long)]
        warm: PathBuf,
        /// Documents encoded `times` times.
        #[arg(long)]
        docs: PathBuf,
        /// How often.
        #[arg(long)]
        times: usize,
    },
    /// Load, encode, say so, and stay until standard input ends.
    Hold {
        /// The engine.
        engine: String,
        /// Documents to encode.
        #[arg(long)]
        docs: PathBuf,
    },
}

/// Answer of [`Job::Cold`].
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ColdAnswer {
    /// The ids of [`FIRST_TEXT`].
    pub ids: Vec<u32>,
    /// Nanoseconds that loading took.
    pub load_ns: u64,
    /// Highest resident memory so far.
    pub peak_rss_mib: f64,
}

/// Answer of [`Job::Unseen`].
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct UnseenAnswer {
    /// Wall nanoseconds by document.
    pub ns: Vec<u64>,
    /// CPU nanoseconds of all documents.
    pub cpu_ns: f64,
    /// Whether every document got the ids it must have.
    pub ids_equal: bool,
    /// Minor page faults while documents were timed.
    pub page_faults: i64,
}

/// What a cold start encodes.
pub const FIRST_TEXT: &str = "Hello World! How are you today?";

fn read_docs(path: &Path) -> Result<Vec<Doc>> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

fn page_faults() -> i64 {
    // SAFETY: all-zero is a valid `rusage`, and the call only writes to it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage.ru_minflt
    }
}

fn say(answer: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_string(answer)?;
    line.push('\n');
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes())?;
    Ok(out.flush()?)
}

/// Does a job over the fixture in `dir`.
///
/// # Errors
/// If the engine cannot be loaded or a file cannot be read.
pub fn run(dir: &Path, job: Job) -> Result<()> {
    let fixture = Fixture::open(dir);
    match job {
        Job::Cold { engine } => cold(&fixture, &engine),
        Job::Unseen { engine, warm, docs } => unseen(&fixture, &engine, warm.as_deref(), &docs),
        Job::Count {
            engine,
            warm,
            docs,
            times,
        } => count(&fixture, &engine, &warm, &docs, times),
        Job::Hold { engine, docs } => hold(&fixture, &engine, &docs),
    }
}

fn cold(fixture: &Fixture, name: &str) -> Result<()> {
    let mut answer = ColdAnswer::default();
    if name != "nothing" {
        let start = Instant::now();
        let engine = build(name, fixture)?;
        answer.load_ns = start.elapsed().as_nanos() as u64;
        let doc = Doc {
            text: FIRST_TEXT.to_owned(),
            ..Doc::default()
        };
        answer.ids = engine.session().encode(&doc).to_vec();
        // Unmapping is no part of a cold start.
        std::mem::forget(engine);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    answer.peak_rss_mib = mib(&status, "VmHWM").unwrap_or(f64::NAN);
    say(&answer)
}

fn unseen(fixture: &Fixture, name: &str, warm: Option<&Path>, docs: &Path) -> Result<()> {
    let warm = warm.map(read_docs).transpose()?.unwrap_or_default();
    let docs = read_docs(docs)?;
    let engine = build(name, fixture)?;
    let mut session = engine.session();
    for doc in &warm {
        black_box(session.encode(doc));
    }
    let mut answer = UnseenAnswer::default();
    answer.ns.reserve(docs.len());
    let faults = page_faults();
    let mut ids_equal = true;
    let before = cpu_ns();
    for doc in &docs {
        let start = Instant::now();
        let ids = black_box(session.encode(black_box(doc)));
        answer.ns.push(start.elapsed().as_nanos() as u64);
        ids_equal &= ids == doc.ids;
    }
    answer.cpu_ns = cpu_ns() - before;
    answer.page_faults = page_faults() - faults;
    answer.ids_equal = ids_equal;
    say(&answer)
}

fn count(fixture: &Fixture, name: &str, warm: &Path, docs: &Path, times: usize) -> Result<()> {
    let (warm, docs) = (read_docs(warm)?, read_docs(docs)?);
    let engine = build(name, fixture)?;
    let mut session = engine.session();
    for doc in &warm {
        black_box(session.encode(doc));
    }
    for doc in (0..times).flat_map(|_| &docs) {
        black_box(session.encode(black_box(doc)));
    }
    Ok(())
}

fn hold(fixture: &Fixture, name: &str, docs: &Path) -> Result<()> {
    let docs = read_docs(docs)?;
    if name == "nothing" {
        return wait_for_end();
    }
    let engine = build(name, fixture)?;
    let mut session = engine.session();
    for doc in &docs {
        black_box(session.encode(doc));
    }
    wait_for_end()
}

/// Holds what is held until the parent closes its end.
fn wait_for_end() -> Result<()> {
    say(&"ready")?;
    std::io::stdin().lock().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Reads one line of a child's answer.
pub(crate) fn hear<T: for<'de> Deserialize<'de>>(from: &mut impl BufRead) -> Result<T> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

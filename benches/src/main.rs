//! The command line of the benchmarks.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use trie_benches::child::{self, Job};
use trie_benches::lab::Lab;
use trie_benches::results::Results;
use trie_benches::suite::Suite;
use trie_benches::{Result, report};

/// Measures the published engine's stages, this project and its peers side by side.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Less work: for trying things out; the figures mean little.
    #[arg(long, global = true)]
    quick: bool,
    /// Print the results as JSON instead of tables.
    #[arg(long, global = true)]
    json: bool,
    /// The SentencePiece model [default: the repository's XLM-RoBERTa].
    #[arg(long, global = true)]
    model: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Measure everything and write Markdown, JSON and plots.
    Report {
        /// Where to [default: `report` beside this program's sources].
        #[arg(long)]
        out: Option<PathBuf>,
        /// Make the report of an earlier run's JSON, without measuring.
        #[arg(long)]
        from: Option<PathBuf>,
    },
    /// The published engine's stages.
    Ladder,
    /// Peers: their ids, then one document repeated, and the stream.
    Peers,
    /// One document repeated.
    Repeated {
        /// About so many tokens [default: 128 to 16384].
        #[arg(long)]
        tokens: Option<usize>,
    },
    /// A stream of different documents.
    Stream,
    /// Text not seen before, in fresh processes.
    Unseen,
    /// Adversarial text.
    Adversarial,
    /// Language by language.
    Languages,
    /// One tokenizer shared by threads.
    Threads,
    /// Process start to first ids.
    Cold,
    /// Memory of several processes.
    Shared,
    /// Instructions per token, by valgrind.
    Instructions,
    /// Write model, tokenizer.json and documents for the Python harness.
    Export {
        /// A directory.
        dir: PathBuf,
    },
    /// One engine's job in a process of its own.
    #[command(hide = true)]
    Child {
        /// The fixture.
        dir: PathBuf,
        #[command(subcommand)]
        job: Job,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    match cli.command {
        Command::Child { dir, job } => return child::run(&dir, job),
        Command::Report {
            from: Some(from),
            out,
        } => {
            let results: Results = serde_json::from_slice(&std::fs::read(from)?)?;
            return report::write(&out.unwrap_or_else(|| here.join("report")), &results);
        }
        _ => {}
    }
    let model = cli
        .model
        .unwrap_or_else(|| here.join("../models/xlm-roberta.model"));
    let lab = Lab::open(&model, cli.quick)?;
    let mut suite = Suite::new(&lab);
    match cli.command {
        Command::Report { out, .. } => {
            suite.everything()?;
            report::write(&out.unwrap_or_else(|| here.join("report")), &suite.results)?;
        }
        Command::Ladder => suite.ladder()?,
        Command::Peers => {
            suite.accuracy()?;
            suite.repeated(Some(trie_benches::workload::DOC_TOKENS))?;
            suite.stream()?;
        }
        Command::Repeated { tokens } => suite.repeated(tokens)?,
        Command::Stream => suite.stream()?,
        Command::Unseen => suite.unseen()?,
        Command::Adversarial => suite.adversarial()?,
        Command::Languages => suite.languages()?,
        Command::Threads => suite.threads()?,
        Command::Cold => suite.cold()?,
        Command::Shared => suite.shared()?,
        Command::Instructions => suite.instructions()?,
        Command::Export { dir } => return suite.export(&dir),
        Command::Child { .. } => {}
    }
    if cli.json {
        println!("{}", serde_json::to_string_pretty(&suite.results)?);
    } else {
        print!("{}", report::markdown(&suite.results));
    }
    Ok(())
}

//! `triec`: compiles, checks and runs tokenizer images.
//!
//! ```text
//! args       what the command line can say
//! compile    model or tokenizer.json -> image (self_test: texts whose ids go into it)
//! inspect    what an image says of itself
//!            (pipeline, post: its steps, in words)
//! verify     whether an image is what it should be (semantics, semantics_hf, semantics_parts,
//!            semantics_automaton: what it should be)
//! load       into which memory, and one copy for many processes
//! encode     text -> ids      \
//! decode     ids -> text       | over `stream`: lines in, one line out each
//! normalize  text -> text     |
//! diff       where two images disagree (align: which pieces belong together)  /
//!            (serving: what it can be asked, record: its lines, block: threads and padding,
//!            alternatives: other segmentations, whole: files as one text)
//! explain    what there was to choose from, and what was chosen (explain_json: for machines)
//! stream     lines (input), sink (output), progress, in constant memory per line
//! jsonl      lines that are JSON
//! image      where the image comes from; map: the one `unsafe` block
//! error      what can go wrong, and the exit code
//! ```
//!
//! Invariant: standard output carries results only; a failure is one line on standard error and an
//! exit code from [`error::CliError::exit_code`].

#![deny(unsafe_code)]

mod align;
mod alternatives;
mod args;
mod block;
mod compile;
mod decode;
mod diff;
mod encode;
mod error;
mod explain;
mod explain_json;
mod image;
mod inspect;
mod jsonl;
mod lines;
mod load;
mod map;
mod normalize;
mod pipeline;
mod post;
mod progress;
mod record;
mod self_test;
mod semantics;
mod semantics_automaton;
mod semantics_hf;
mod semantics_parts;
mod serving;
mod sink;
mod stream;
mod tree;
mod verify;
mod whole;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::error::CliError;

fn main() -> ExitCode {
    let outcome = match Cli::try_parse() {
        Ok(cli) => run(cli.command),
        Err(error) if error::is_plain_help(&error) => {
            // Nobody is left to hear that nobody listens.
            let _ = error.print();
            return ExitCode::from(error.exit_code().clamp(0, 255) as u8);
        }
        Err(error) => Err(CliError::from(error)),
    };
    match outcome {
        Ok(()) | Err(CliError::ClosedPipe) => ExitCode::SUCCESS,
        Err(error @ CliError::Different) => ExitCode::from(error.exit_code()),
        Err(error) => {
            note(&error.to_string());
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::Compile(args) => compile::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Load(args) => load::run(&args),
        Command::Encode(args) => encode::run(args),
        Command::Decode(args) => decode::run(args),
        Command::Normalize(args) => normalize::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Explain(args) => explain::run(&args),
    }
}

/// One line on standard error, whatever file names are in it.
fn note(message: &str) {
    let line: String = message
        .chars()
        .flat_map(|c| {
            let escaped = c.is_control().then(|| c.escape_default());
            let plain = escaped.is_none().then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect();
    // If standard error is closed, the exit code still tells.
    let _ = writeln!(std::io::stderr(), "triec: {line}");
}

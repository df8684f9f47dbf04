//! Texts in, one output line each: what `encode`, `decode` and `normalize` share.

use std::path::Path;

use indicatif::ProgressBar;

use crate::error::CliError;
use crate::lines::{Input, Lines};
use crate::progress;
use crate::sink::Sink;

/// What to do with one text.
pub(crate) struct Text<'a> {
    pub(crate) bytes: &'a [u8],
    /// From the command line, and so never JSON.
    pub(crate) is_argument: bool,
}

/// Calls `work` with every text of `input`; it appends the output line, without LF, to the buffer, or
/// says what is wrong with the text.
///
/// After a bad text the lines of those before it are still written, but an output file does not appear.
pub(crate) fn run(
    input: &Input,
    output: Option<&Path>,
    mut work: impl FnMut(&Text<'_>, &mut Vec<u8>) -> Result<(), String>,
) -> Result<(), CliError> {
    let bar = progress::bytes(input.check()?, output.is_some());
    let mut sink = Sink::open(output)?;
    let outcome = match input {
        Input::Arguments(arguments) => {
            arguments.iter().enumerate().try_for_each(|(index, text)| {
                let text = Text {
                    bytes: text.as_encoded_bytes(),
                    is_argument: true,
                };
                let place = || format!("argument {}", index + 1);
                one(&text, &mut Vec::new(), &mut sink, &mut work, place)
            })
        }
        Input::Files(files) => files
            .iter()
            .try_for_each(|path| file(path, &mut sink, &mut work, &bar)),
    };
    bar.finish_and_clear();
    match outcome {
        Ok(()) => sink.finish(),
        Err(error) => {
            sink.abandon();
            Err(error)
        }
    }
}

fn file(
    path: &Path,
    sink: &mut Sink,
    work: &mut impl FnMut(&Text<'_>, &mut Vec<u8>) -> Result<(), String>,
    bar: &ProgressBar,
) -> Result<(), CliError> {
    let mut lines = Lines::open(path)?;
    let before = bar.position();
    let (mut line, mut out) = (Vec::new(), Vec::new());
    loop {
        // Output never waits for more input: at a terminal, or with a program at the other end that
        // sends one line and expects one back.
        if !lines.has_buffered_line() {
            sink.flush()?;
            bar.set_position(before + lines.consumed());
        }
        if !lines.next(&mut line)? {
            bar.set_position(before + lines.consumed());
            return Ok(());
        }
        let text = Text {
            bytes: &line,
            is_argument: false,
        };
        one(&text, &mut out, sink, work, || lines.place())?;
    }
}

fn one(
    text: &Text<'_>,
    out: &mut Vec<u8>,
    sink: &mut Sink,
    work: &mut impl FnMut(&Text<'_>, &mut Vec<u8>) -> Result<(), String>,
    place: impl FnOnce() -> String,
) -> Result<(), CliError> {
    out.clear();
    work(text, out).map_err(|reason| CliError::Line {
        place: place(),
        reason,
    })?;
    sink.write_line(out)
}

//! Texts in, one output line each: what `encode`, `decode` and `normalize` share. `diff` says itself what
//! lines it writes.

use std::path::Path;

use indicatif::ProgressBar;

use crate::error::CliError;
use crate::lines::{Input, Lines};
use crate::progress;
use crate::sink::Sink;

/// One text of the input.
pub(crate) struct Text<'a> {
    pub(crate) bytes: &'a [u8],
    /// From the command line, and so never JSON.
    pub(crate) is_argument: bool,
    /// Which line of its file, or which argument; from 1.
    pub(crate) number: u64,
    /// Where it is, for people.
    pub(crate) place: &'a dyn Fn() -> String,
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
    run_as_is(input, output, |step, out| {
        if let Step::Text(text) = step {
            if let Err(reason) = work(&text, out) {
                out.clear();
                return Err(reason.into());
            }
            out.push(b'\n');
        }
        Ok(())
    })
}

/// What [`run_as_is`] calls its work with.
pub(crate) enum Step<'a> {
    Text(Text<'a>),
    /// No further text is at hand for now.
    Wait,
    /// After the last text.
    End,
}

/// What is wrong with a text.
pub(crate) struct Bad {
    /// Which one; without it the one at hand.
    pub(crate) place: Option<String>,
    pub(crate) reason: String,
}

impl From<String> for Bad {
    fn from(reason: String) -> Self {
        Self {
            place: None,
            reason,
        }
    }
}

/// [`run`], where `work` appends whole lines, as many as it likes, also before it fails, and has the last word.
pub(crate) fn run_as_is(
    input: &Input,
    output: Option<&Path>,
    mut work: impl FnMut(Step<'_>, &mut Vec<u8>) -> Result<(), Bad>,
) -> Result<(), CliError> {
    let bar = progress::bytes(input.check()?, output.is_some());
    let mut sink = Sink::open(output)?;
    let mut out = Vec::new();
    let outcome = match input {
        Input::Arguments(arguments) => {
            arguments
                .iter()
                .zip(1u64..)
                .try_for_each(|(argument, number)| {
                    let text = Text {
                        bytes: argument.as_encoded_bytes(),
                        is_argument: true,
                        number,
                        place: &|| format!("argument {number}"),
                    };
                    one(text, &mut out, &mut sink, &mut work)
                })
        }
        Input::Files(files) => files
            .iter()
            .try_for_each(|path| file(path, &mut out, &mut sink, &mut work, &bar)),
    };
    let outcome = outcome.and_then(|()| {
        out.clear();
        step(
            Step::End,
            &|| "the input".into(),
            &mut out,
            &mut sink,
            &mut work,
        )
    });
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
    out: &mut Vec<u8>,
    sink: &mut Sink,
    work: &mut impl FnMut(Step<'_>, &mut Vec<u8>) -> Result<(), Bad>,
    bar: &ProgressBar,
) -> Result<(), CliError> {
    let mut lines = Lines::open(path)?;
    let before = bar.position();
    let mut line = Vec::new();
    loop {
        // Output never waits for more input: at a terminal, or with a program at the other end that
        // sends one line and expects one back.
        if !lines.has_buffered_line() {
            let place = || lines.place();
            step(Step::Wait, &place, out, sink, work)?;
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
            number: lines.number(),
            place: &|| lines.place(),
        };
        one(text, out, sink, work)?;
    }
}

fn one(
    text: Text<'_>,
    out: &mut Vec<u8>,
    sink: &mut Sink,
    work: &mut impl FnMut(Step<'_>, &mut Vec<u8>) -> Result<(), Bad>,
) -> Result<(), CliError> {
    let place = text.place;
    step(Step::Text(text), place, out, sink, work)
}

/// Has `work` done, and writes what it appends.
fn step(
    step: Step<'_>,
    place: &dyn Fn() -> String,
    out: &mut Vec<u8>,
    sink: &mut Sink,
    work: &mut impl FnMut(Step<'_>, &mut Vec<u8>) -> Result<(), Bad>,
) -> Result<(), CliError> {
    out.clear();
    let outcome = work(step, out);
    sink.write(out)?;
    outcome.map_err(|bad| CliError::Line {
        place: bad.place.unwrap_or_else(place),
        reason: bad.reason,
    })
}

//! What can go wrong, as one line that says what to do, and the exit code that tells scripts.

use std::io;
use std::path::PathBuf;

use trie_compiler::CompileError;
use trie_runtime::LoadError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The command line cannot be carried out as it stands.
    #[error("{0}")]
    Usage(String),
    #[error("cannot read {place}: {source}; check the path and its permissions")]
    Read { place: String, source: io::Error },
    #[error("cannot write {place}: {source}; check the folder, its permissions and the free space")]
    Write { place: String, source: io::Error },
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("{}: {source}", path.display())]
    Model { path: PathBuf, source: CompileError },
    #[error(transparent)]
    Compile(#[from] CompileError),
    #[error("cannot run {}: {source}; check the command after --", command.display())]
    Run {
        command: std::ffi::OsString,
        source: io::Error,
    },
    /// A line or argument of the input.
    #[error("{place}: {reason}")]
    Line { place: String, reason: String },
    #[error("{}: {reason}", path.display())]
    Verification { path: PathBuf, reason: String },
    /// Two sides differ, and the output says where. Not a failure.
    #[error("the two sides differ")]
    Different,
    /// Whoever read the output has seen enough. Not a failure.
    #[error("the reader of the output is gone")]
    ClosedPipe,
}

impl CliError {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::ClosedPipe => 0,
            Self::Verification { .. } | Self::Different => 1,
            Self::Usage(_) => 2,
            Self::Load(error) if error.is_incompatible() => 4,
            Self::Read { .. }
            | Self::Write { .. }
            | Self::Load(_)
            | Self::Model { .. }
            | Self::Compile(_)
            | Self::Run { .. }
            | Self::Line { .. } => 3,
        }
    }

    pub(crate) fn read(place: impl ToString, source: io::Error) -> Self {
        Self::Read {
            place: place.to_string(),
            source,
        }
    }

    pub(crate) fn write(place: impl ToString, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        Self::Write {
            place: place.to_string(),
            source,
        }
    }
}

/// Whether clap's "error" is a text that was asked for, to be printed as it is.
pub(crate) fn is_plain_help(error: &clap::Error) -> bool {
    use clap::error::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

impl From<clap::Error> for CliError {
    /// clap explains itself in several lines: what comes before the usage summary, on one.
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        let explanation: Vec<&str> = text
            .lines()
            .map(str::trim)
            .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
            .filter(|line| !line.is_empty())
            .collect();
        let explanation = explanation.join(" ");
        let explanation = explanation.strip_prefix("error: ").unwrap_or(&explanation);
        Self::Usage(format!("{explanation}; see `triec help`"))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn usage_errors_are_one_line() {
        for line in [
            &["triec", "compile", "a.model"][..],
            &["triec", "encode", "--format", "words"],
            &["triec", "encode", "--formt", "ids"],
            &["triec", "encode", "text", "--input", "file"],
            &["triec", "frobnicate"],
        ] {
            let error = CliError::from(Cli::try_parse_from(line).unwrap_err());
            let text = error.to_string();
            assert!(!text.contains('\n') && !text.starts_with("error"), "{text}");
            assert!(
                text.ends_with("see `triec help`") && text.len() > 30,
                "{text}"
            );
            assert_eq!(error.exit_code(), 2);
        }
    }
}

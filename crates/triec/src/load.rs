//! `triec load`: what memory an image gets here, and one copy of it for many processes.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use trie_runtime::{Image, LoadError};

use crate::args::Load;
use crate::error::CliError;
use crate::image;

/// Load an image: try out a kind of memory, or make one copy for many processes
///
/// Checks the image as a serving process would, and says what memory it got and what each step took. With
/// --hugetlbfs the image is put into a file of huge pages, which workers map in microseconds and share; it
/// is written under another name and renamed, so that workers that have an older file mapped keep that. With a
/// COMMAND, that is run in place of this process, with a sealed copy of the image in memory that it and its
/// children can map: TRIE_IMAGE names it (/proc/self/fd/N), TRIE_IMAGE_FD is the descriptor N, TRIE_IMAGE_ID
/// the image's id.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  triec load spiece.trie --load hugetlb             what would I get here?
  triec load spiece.trie --hugetlbfs /dev/hugepages
  triec load spiece.trie -- ./server --workers 8")]
pub(crate) struct LoadArgs {
    /// The image; without one, the image embedded in this executable
    #[arg(value_name = "IMAGE")]
    image: Option<PathBuf>,
    /// What memory to put the copy into
    #[arg(long, value_enum, default_value_t = Load::Auto)]
    load: Load,
    /// Put the image into a file of huge pages in this folder, on a mounted hugetlbfs
    #[arg(long, value_name = "DIR", conflicts_with_all = ["load", "command"])]
    hugetlbfs: Option<PathBuf>,
    /// The file's name there; the default is the image's
    #[arg(long, value_name = "NAME", requires = "hugetlbfs")]
    name: Option<OsString>,
    /// What to run with a sealed copy of the image, and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &LoadArgs) -> Result<(), CliError> {
    let path = args.image.as_deref();
    if let Some(folder) = &args.hugetlbfs {
        let name = args.name.as_deref().or(path.and_then(Path::file_name));
        let target = folder.join(name.unwrap_or(OsStr::new("default.trie")));
        // Checked in a copy: nobody can change what is put into the file.
        let image = image::copy(path, Load::Copy)?;
        write_huge_file(&image, &target)?;
        let file = image::open(Some(&target))?;
        return say(&file, &[("file", &target.display().to_string())]);
    }
    match args.command.split_first() {
        Some((command, arguments)) => exec(path, args.load, command, arguments),
        None if args.load == Load::Map => say(&image::open(path)?, &[]),
        None => say(&image::copy(path, args.load)?, &[]),
    }
}

/// What became of the image, on standard output.
fn say(image: &Image, first: &[(&str, &str)]) -> Result<(), CliError> {
    let report = image.report();
    let (id, memory) = (image.id().to_string(), report.to_string());
    let times = report.times.to_string();
    let rest = [("image id", &*id), ("memory", &*memory), ("time", &*times)];
    for (name, value) in first.iter().chain(&rest) {
        writeln!(io::stdout(), "{name:<9} {value}")
            .map_err(|error| CliError::write("standard output", error))?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn write_huge_file(image: &Image, target: &Path) -> Result<(), LoadError> {
    image.write_huge_file(target)
}

#[cfg(not(target_os = "linux"))]
fn write_huge_file(_image: &Image, target: &Path) -> Result<(), LoadError> {
    Err(LoadError::Share {
        path: target.into(),
        reason: "files of huge pages are to be had on Linux only".into(),
    })
}

/// Becomes `command`, with a descriptor of a sealed copy.
#[cfg(target_os = "linux")]
fn exec(
    path: Option<&Path>,
    load: Load,
    command: &OsStr,
    arguments: &[OsString],
) -> Result<(), CliError> {
    use std::os::fd::AsRawFd;
    use std::os::unix::process::CommandExt;

    use trie_runtime::{Backing, LoadOptions};

    let image = image::copy(path, Load::Copy)?;
    let backing = match load {
        Load::Map => Backing::Auto,
        other => other.into(),
    };
    let shared = image.to_shared(&LoadOptions::default().with_backing(backing))?;
    let failed = |source| CliError::Run {
        command: command.into(),
        source,
    };
    // Descriptors that Rust opens are closed by `exec`; this one is to stay.
    rustix::io::fcntl_setfd(&shared, rustix::io::FdFlags::empty())
        .map_err(|error| failed(error.into()))?;
    let number = shared.as_raw_fd();
    Err(failed(
        std::process::Command::new(command)
            .args(arguments)
            .env("TRIE_IMAGE", format!("/proc/self/fd/{number}"))
            .env("TRIE_IMAGE_FD", number.to_string())
            .env("TRIE_IMAGE_ID", image.id().to_string())
            .exec(),
    ))
}

#[cfg(not(target_os = "linux"))]
fn exec(
    _path: Option<&Path>,
    _load: Load,
    command: &OsStr,
    _arguments: &[OsString],
) -> Result<(), CliError> {
    Err(CliError::Run {
        command: command.into(),
        source: io::ErrorKind::Unsupported.into(),
    })
}

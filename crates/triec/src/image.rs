//! Where the image comes from: a file, or this executable.

use std::path::Path;

use trie_runtime::{Backing, Image, LoadError, LoadOptions, Tokenizer};

use crate::args::{Load, StreamArgs};
use crate::error::CliError;
use crate::map::map;

/// The image that `build.rs` compiled.
fn embedded() -> Result<Image, CliError> {
    let bytes = trie_runtime::include_image!(concat!(env!("OUT_DIR"), "/default.trie"));
    Ok(Image::from_static(bytes).map_err(LoadError::from)?)
}

/// The image at `path`, mapped, or the embedded one.
pub(crate) fn open(path: Option<&Path>) -> Result<Image, CliError> {
    match path {
        Some(path) => Ok(map(path)?),
        None => embedded(),
    }
}

/// The tokenizer that the common options ask for.
pub(crate) fn tokenizer(args: &StreamArgs) -> Result<Tokenizer, CliError> {
    let path = args.image.as_deref();
    let image = match (path, args.load) {
        (None, _) | (_, None | Some(Load::Map)) => open(path)?,
        (Some(path), Some(load)) => copy(path, load)?,
    };
    Ok(Tokenizer::new(image))
}

/// A private copy of the image at `path`, in the wanted memory or the next best.
fn copy(path: &Path, load: Load) -> Result<Image, CliError> {
    let wanted = Backing::from(load);
    let image = Image::load(path, &LoadOptions::default().with_backing(wanted))?;
    // Who names a kind of memory wants to know that it is another one; `auto` is content with any.
    if wanted != Backing::Auto {
        let report = image.report();
        if report.backing != wanted {
            crate::note(&format!("{}: {report}", path.display()));
        }
    }
    Ok(image)
}

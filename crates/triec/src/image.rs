//! Where the image comes from: a file, or this executable.

use std::path::Path;

use trie_runtime::{Backing, Image, LoadError, LoadOptions, Tokenizer};

use crate::args::{Load, StreamArgs};
use crate::error::CliError;
use crate::map::map;

/// The image that `build.rs` compiled.
fn embedded_bytes() -> &'static [u8] {
    trie_runtime::include_image!(concat!(env!("OUT_DIR"), "/default.trie"))
}

/// The image at `path`, mapped, or the embedded one.
pub(crate) fn open(path: Option<&Path>) -> Result<Image, CliError> {
    match path {
        Some(path) => Ok(map(path)?),
        None => Ok(Image::from_static(embedded_bytes()).map_err(LoadError::from)?),
    }
}

/// The tokenizer that the common options ask for.
pub(crate) fn tokenizer(args: &StreamArgs) -> Result<Tokenizer, CliError> {
    let path = args.image.as_deref();
    let image = match args.load {
        None | Some(Load::Map) => open(path)?,
        Some(load) => copy(path, load)?,
    };
    Ok(Tokenizer::new(image))
}

/// A private copy of the image at `path`, or of the embedded one, in the wanted memory or the next best.
pub(crate) fn copy(path: Option<&Path>, load: Load) -> Result<Image, CliError> {
    let wanted = Backing::from(load);
    let options = LoadOptions::default().with_backing(wanted);
    let image = match path {
        Some(path) => Image::load(path, &options)?,
        None => Image::from_bytes_with(embedded_bytes(), &options)?,
    };
    // Who names a kind of memory wants to know that it is another one; `auto` is content with any.
    if wanted != Backing::Auto {
        let report = image.report();
        if report.backing != wanted {
            crate::note(&format!("the image is elsewhere than asked: {report}"));
        }
    }
    Ok(image)
}

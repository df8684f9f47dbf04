//! One line for a `build.rs`.
//!
//! ```no_run
//! // in the `main` of build.rs
//! trie_compiler::build::compile("spiece.model", "spiece.trie", &Default::default());
//! ```
//!
//! The crate then embeds it with `include_image!(concat!(env!("OUT_DIR"), "/spiece.trie"))`, as `examples/embedded`
//! in this repository does. `triec embed`, which would put an image into a finished executable, does not exist: the
//! executable's checksums and signatures would have to be made again, and a file beside it, or this line, does the
//! same.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::{CompileError, Options, write_image};

/// Compiles `model`, a `.model` or a `tokenizer.json`, to `$OUT_DIR/name` and tells Cargo to do so again when `model`
/// changes, and only then.
///
/// Returns the image's path. For build scripts only: on failure it prints the reason as a Cargo error
/// and ends the process with status 1. The image has no self-test; [`crate::with_self_test`] puts one in.
pub fn compile(model: impl AsRef<Path>, name: &str, options: &Options) -> PathBuf {
    let model = model.as_ref();
    println!("cargo::rerun-if-changed={}", model.display());
    let folder = std::env::var_os("OUT_DIR");
    attempt(model, folder.as_deref(), name, options).unwrap_or_else(|reason| {
        println!("cargo::error={reason}");
        std::process::exit(1);
    })
}

/// The image's path, or why there is none: one line, as Cargo takes no more.
fn attempt(
    model: &Path,
    folder: Option<&OsStr>,
    name: &str,
    options: &Options,
) -> Result<PathBuf, String> {
    let folder = folder.ok_or("OUT_DIR is not set: call this from a build script")?;
    let target = Path::new(folder).join(name);
    let of_model = |error: CompileError| format!("{}: {error}", model.display());
    let bytes = std::fs::read(model).map_err(|source| {
        let path = model.into();
        CompileError::Read { path, source }.to_string()
    })?;
    let image = crate::compile(&bytes, options).map_err(of_model)?;
    write_image(&target, &image).map_err(|error| error.to_string())?;
    Ok(target)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_one_line_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let bad = folder.path().join("bad.model");
        std::fs::write(&bad, b"no model").unwrap();
        let options = Options::default();
        let sound = "../../tests/data/models/h_tie.model";
        for (model, out, name, part) in [
            (
                "missing.model",
                Some(folder.path()),
                "a.trie",
                "missing.model",
            ),
            (
                bad.to_str().unwrap(),
                Some(folder.path()),
                "a.trie",
                "bad.model",
            ),
            (sound, None, "a.trie", "OUT_DIR"),
            (sound, Some(folder.path()), "no/a.trie", "no/a.trie"),
        ] {
            let out = out.map(Path::as_os_str);
            let reason = attempt(Path::new(model), out, name, &options).unwrap_err();
            assert!(reason.contains(part), "{reason}");
            assert_eq!(reason.lines().count(), 1, "{reason}");
        }
        let out = Some(folder.path().as_os_str());
        let target = attempt(Path::new(sound), out, "a.trie", &options).unwrap();
        assert_eq!(target, folder.path().join("a.trie"));
        assert!(std::fs::metadata(target).unwrap().len() > 0);
    }
}

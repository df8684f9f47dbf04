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
    let Some(folder) = std::env::var_os("OUT_DIR") else {
        println!("cargo::error=OUT_DIR is not set: call this from a build script");
        std::process::exit(1);
    };
    let target = Path::new(&folder).join(name);
    match try_compile(model, &target, options) {
        Ok(()) => target,
        Err(error) => {
            println!("cargo::error={}: {error}", model.display());
            std::process::exit(1);
        }
    }
}

fn try_compile(model: &Path, target: &Path, options: &Options) -> Result<(), CompileError> {
    let bytes = std::fs::read(model).map_err(|source| CompileError::Read {
        path: model.into(),
        source,
    })?;
    let image = crate::compile(&bytes, options)?;
    write_image(target, &image)
}

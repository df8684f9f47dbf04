//! Compiles the thin shim over the SentencePiece library that `sentencepiece-sys` builds.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "peers")]
    shim::compile();
}

#[cfg(feature = "peers")]
mod shim {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// The headers must be those of the library that is linked, and the `-sys` crate does not export
    /// their place: Cargo knows it.
    fn headers() -> Option<PathBuf> {
        let output = Command::new(std::env::var_os("CARGO")?)
            .args([
                "metadata",
                "--format-version=1",
                "--offline",
                "--features=peers",
            ])
            // Without it, the sources of other platforms' dependencies would have to be there.
            .args(["--filter-platform".into(), std::env::var_os("TARGET")?])
            .current_dir(std::env::var_os("CARGO_MANIFEST_DIR")?)
            .output()
            .ok()?;
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
        let manifest = metadata["packages"]
            .as_array()?
            .iter()
            .find(|package| package["name"] == "sentencepiece-sys")?["manifest_path"]
            .as_str()?;
        Some(Path::new(manifest).parent()?.join("source"))
    }

    pub(crate) fn compile() {
        let Some(source) = headers() else {
            println!(
                "cargo::error=the sources of sentencepiece-sys were not found by `cargo metadata`"
            );
            return;
        };
        println!("cargo::rerun-if-changed=cpp/shim.cpp");
        cc::Build::new()
            .cpp(true)
            .flag("-std=c++17")
            .opt_level(3)
            .include(source.join("src"))
            .include(source)
            .file("cpp/shim.cpp")
            .compile("trie_benches_shim");
    }
}

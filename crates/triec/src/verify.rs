//! `triec verify`: whether an image is what it should be, step by step.
//!
//! Each step relies on those before it. What passes is printed at once; the first failure ends it.

use std::io::{self, Write};
use std::path::Path;

use trie_compiler::{HuggingFacePreset, Options, Pair, compile, with_self_test};
use trie_format::{ArchivedMetadata, FormatError, ImageView, Preset};
use trie_runtime::{Backing, Image, LoadError, LoadOptions, Tokenizer};

use crate::args::VerifyArgs;
use crate::compile::read_input;
use crate::error::CliError;
use crate::{semantics, semantics_automaton, semantics_hf, semantics_parts};

pub(crate) fn run(args: &VerifyArgs) -> Result<(), CliError> {
    let path = args.image.as_path();
    let failed = |reason: String| CliError::Verification {
        path: path.into(),
        reason,
    };
    // Checksums last: a damaged structure says more than a wrong sum.
    let options = LoadOptions::default()
        .with_backing(Backing::Copy)
        .with_checksums(false);
    let loaded = Image::load(path, &options).map_err(|error| match error {
        LoadError::File { path, source } => refusal(&path, source),
        other => CliError::Load(other),
    })?;
    let tokenizer = Tokenizer::new(loaded);
    let image = tokenizer.image().view();
    let header = image.header();
    ok(&format!(
        "header: format {}.{}, {} bytes, {} sections",
        header.major, header.minor, header.file_len, header.section_count
    ))?;
    ok("structure: every index in bounds")?;
    image
        .verify_checksums()
        .map_err(|error| refusal(path, error))?;
    ok("checksums: every section as written")?;
    let texts = tokenizer
        .self_test()
        .map_err(|error| failed(error.to_string()))?;
    if texts > 0 {
        ok(&format!(
            "self-test: {texts} texts have the ids they should"
        ))?;
    } else if args.self_test {
        let reason = "has no self-test; compile the image again with `triec compile`";
        return Err(failed(reason.into()));
    }
    if args.self_test {
        return Ok(());
    }

    let checks: &[semantics::Check] = match image.pipeline() {
        None => &[
            semantics::trie,
            semantics::pieces,
            semantics::look_ups,
            semantics::special_ids,
            semantics::plain_chars,
            semantics::first_chars,
            semantics_parts::parts,
            semantics_automaton::automaton,
            semantics::post_processor,
        ],
        Some(_) => &[
            semantics_hf::trie,
            semantics_hf::pieces,
            semantics_hf::look_ups,
            semantics::special_ids,
            semantics::first_chars,
            semantics_parts::parts,
            semantics_automaton::automaton,
            semantics::post_processor,
            semantics_hf::steps,
            semantics_hf::added_tokens,
        ],
    };
    for check in checks {
        ok(&check(image, &tokenizer)
            .map_err(|reason| failed(format!("{reason}; compile the image again")))?)?;
    }
    if let Some(model) = &args.model {
        let fresh =
            compile(&read_input(model)?, &options_of(image.metadata())).map_err(|source| {
                CliError::Model {
                    path: model.clone(),
                    source,
                }
            })?;
        // The texts of the self-test are nothing that a model gives.
        let pairs: Vec<Pair> = image
            .self_test()
            .map(|(text, ids)| (text.to_vec(), ids.to_vec()))
            .collect();
        let fresh = with_self_test(&fresh, &pairs)?;
        compare(image.bytes(), &fresh)
            .map_err(|reason| failed(format!("{reason} {}", model.display())))?;
        ok(&format!(
            "model: equal to a fresh compile of {}",
            model.display()
        ))?;
    }
    Ok(())
}

/// The options that the image states to have been compiled with.
fn options_of(metadata: &ArchivedMetadata) -> Options {
    let options = Options::default()
        .with_ids(metadata.id_map.into())
        .with_template(metadata.template.into())
        .with_reference(metadata.reference.into());
    match Preset::from(metadata.preset) {
        Preset::A => options.with_preset(HuggingFacePreset::A),
        Preset::B => options.with_preset(HuggingFacePreset::B),
        Preset::C => options.with_preset(HuggingFacePreset::C),
        // Of a tokenizer.json, or of another reference.
        _ => options,
    }
}

fn ok(step: &str) -> Result<(), CliError> {
    writeln!(io::stdout(), "ok {step}").map_err(|e| CliError::write("standard output", e))
}

/// A damaged or foreign file fails verification; one of another version is not for this build to judge.
fn refusal(path: &Path, error: FormatError) -> CliError {
    if error.is_incompatible() {
        return CliError::Load(LoadError::File {
            path: path.into(),
            source: error,
        });
    }
    CliError::Verification {
        path: path.into(),
        reason: error.to_string(),
    }
}

/// Why `image` is not what a fresh compile gives; to be followed by the model's name.
fn compare(image: &[u8], fresh: &[u8]) -> Result<(), String> {
    if image == fresh {
        return Ok(());
    }
    let fresh = Image::from_bytes(fresh).map_err(|error| error.to_string())?;
    let image = Image::from_bytes(image).map_err(|error| error.to_string())?;
    let (fresh, image) = (fresh.view(), image.view());
    if fresh.metadata().source_sha256 != image.metadata().source_sha256 {
        return Err("was compiled from another model than".into());
    }
    let version = |view: &ImageView<'_>| {
        let text = view.text(&view.metadata().compiler_version);
        String::from_utf8_lossy(text.unwrap_or_default()).into_owned()
    };
    let (ours, theirs) = (version(fresh), version(image));
    if ours != theirs {
        return Err(format!(
            "was written by compiler {theirs}, and {ours} gives other bytes for"
        ));
    }
    let at = fresh
        .bytes()
        .iter()
        .zip(image.bytes())
        .position(|(a, b)| a != b)
        .unwrap_or(fresh.bytes().len().min(image.bytes().len()));
    Err(format!(
        "differs from byte {at} on; do not use it, and compile it again from"
    ))
}

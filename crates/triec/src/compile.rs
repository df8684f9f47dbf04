//! `triec compile`: a model or a `tokenizer.json` to an image.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Instant;

use trie_compiler::{compile_with_progress, write_image};
use trie_format::{ArchivedMetadata, MAGIC, Preset, Reference};
use trie_runtime::Image;

use crate::args::CompileArgs;
use crate::error::CliError;
use crate::{args, progress, self_test};

pub(crate) fn run(args: &CompileArgs) -> Result<(), CliError> {
    let start = Instant::now();
    let input = read_input(&args.input)?;
    check_output(args)?;
    let mut options = args::options(args.ids, args.reference);
    if let Some(template) = args.template {
        options = options.with_template(template.into());
    }
    let spinner = progress::stages(args.quiet);
    let compiled =
        compile_with_progress(&input, &options, |stage| spinner.set_message(stage.name()));
    spinner.finish_and_clear();
    let image = compiled.map_err(|source| CliError::Model {
        path: args.input.clone(),
        source,
    })?;
    // What is written has passed the reader's own checks.
    let image = self_test::add(&image, args.self_test.as_deref())?;
    let checked = Image::from_bytes(&image)?;
    write_image(&args.output, &image)?;
    if !args.quiet {
        let metadata = checked.view().metadata();
        crate::note(&format!(
            "{}: {}, {} ids, {} trie nodes, {} bytes, {:.2} s",
            args.output.display(),
            reference_name(metadata),
            metadata.piece_count,
            metadata.node_count,
            image.len(),
            start.elapsed().as_secs_f64(),
        ));
    }
    Ok(())
}

/// The reference's name, with the preset if there is one.
pub(crate) fn reference_name(metadata: &ArchivedMetadata) -> String {
    let name = Reference::from(metadata.reference).name();
    match Preset::from(metadata.preset).letter() {
        Some(letter) => format!("{name} (preset {letter})"),
        None => name.into(),
    }
}

pub(crate) fn read_input(path: &Path) -> Result<Vec<u8>, CliError> {
    std::fs::read(path).map_err(|source| CliError::read(path.display(), source))
}

/// Refuses to replace what is not an image: most likely two arguments are in the wrong order.
fn check_output(args: &CompileArgs) -> Result<(), CliError> {
    let output = args.output.as_path();
    let refuse = |reason: &str| Err(CliError::Usage(format!("{}: {reason}", output.display())));
    let found = match std::fs::metadata(output) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(CliError::write(output.display(), source)),
    };
    if !found.is_file() {
        return refuse("is not a regular file: give the image's own file name to --output");
    }
    if is_same_file(&args.input, output) {
        return refuse("is the input itself: give another file name to --output");
    }
    let is_replaceable = args.force || found.len() == 0;
    if !is_replaceable && !is_image(output).map_err(|e| CliError::read(output.display(), e))? {
        return refuse("exists and is not a trie image: choose another --output, or add --force");
    }
    Ok(())
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Whether the file at `path` begins as an image does, of whatever version.
fn is_image(path: &Path) -> io::Result<bool> {
    let mut head = Vec::with_capacity(MAGIC.len());
    File::open(path)?
        .take(MAGIC.len() as u64)
        .read_to_end(&mut head)?;
    Ok(head == MAGIC)
}

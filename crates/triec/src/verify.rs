//! `triec verify`: whether an image is what it should be, step by step.
//!
//! Each step relies on those before it. What passes is printed at once; the first failure ends it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use trie_compiler::{HuggingFacePreset, Options, compile};
use trie_format::{ArchivedMetadata, FormatError, Header, ImageView, Node, Preset};
use trie_runtime::{Image, LoadError, Tokenizer};

use crate::args::VerifyArgs;
use crate::compile::read_input;
use crate::error::CliError;
use crate::{semantics, semantics_hf};

pub(crate) fn run(args: &VerifyArgs) -> Result<(), CliError> {
    let path = args.image.as_path();
    let failed = |reason: String| CliError::Verification {
        path: path.into(),
        reason,
    };
    let memory = Aligned::read(path)?;
    let bytes = memory.bytes();

    let refused = |error| refusal(path, error);
    let (header, entries) = Header::parse(bytes, bytes.len() as u64).map_err(refused)?;
    ok(&format!(
        "header: format {}.{}, {} bytes, {} sections",
        header.major,
        header.minor,
        bytes.len(),
        entries.len()
    ))?;
    let view = ImageView::parse(bytes).map_err(refused)?;
    let image = view.validate().map_err(refused)?;
    ok("structure: every index in bounds")?;
    image.verify_checksums().map_err(refused)?;
    ok("checksums: every section as written")?;

    let tokenizer = Tokenizer::new(Image::from_bytes(bytes)?);
    let checks: &[semantics::Check] = match image.pipeline() {
        None => &[
            semantics::trie,
            semantics::pieces,
            semantics::look_ups,
            semantics::special_ids,
            semantics::plain_chars,
            semantics::first_chars,
            semantics::post_processor,
        ],
        Some(_) => &[
            semantics_hf::trie,
            semantics_hf::pieces,
            semantics_hf::look_ups,
            semantics::special_ids,
            semantics::post_processor,
            semantics_hf::steps,
            semantics_hf::added_tokens,
        ],
    };
    for check in checks {
        ok(&check(&image, &tokenizer)
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
        compare(bytes, &fresh).map_err(|reason| failed(format!("{reason} {}", model.display())))?;
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

/// A file's bytes, from a 64-byte boundary on.
struct Aligned {
    memory: Vec<Node>,
    len: usize,
}

impl Aligned {
    /// Reads the file at `path`; memory is allocated only once its header has shown it to be an image of
    /// just this length.
    fn read(path: &Path) -> Result<Self, CliError> {
        let read = |source| CliError::read(path.display(), source);
        let mut file = File::open(path).map_err(read)?;
        let len = file.metadata().map_err(read)?.len();
        let mut prefix =
            Self::new(Header::PREFIX_LEN.min(usize::try_from(len).unwrap_or(usize::MAX)))
                .map_err(read)?;
        file.read_exact(prefix.bytes_mut()).map_err(read)?;
        Header::parse(prefix.bytes(), len).map_err(|error| refusal(path, error))?;

        let len = usize::try_from(len).map_err(|_| read(io::ErrorKind::FileTooLarge.into()))?;
        let mut whole = Self::new(len).map_err(read)?;
        let (head, rest) = whole.bytes_mut().split_at_mut(prefix.len);
        head.copy_from_slice(prefix.bytes());
        file.read_exact(rest).map_err(read)?;
        Ok(whole)
    }

    fn new(len: usize) -> io::Result<Self> {
        let nodes = len.div_ceil(size_of::<Node>());
        let mut memory = Vec::new();
        memory
            .try_reserve_exact(nodes)
            .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        memory.resize(nodes, Node::EMPTY);
        Ok(Self { memory, len })
    }

    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.memory)
            .get(..self.len)
            .unwrap_or_default()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.memory)
            .get_mut(..self.len)
            .unwrap_or_default()
    }
}

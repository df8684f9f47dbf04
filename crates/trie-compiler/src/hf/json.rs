//! A `tokenizer.json`: vocabulary and pipeline, as `tokenizers` 0.23.2 would load them.
//!
//! ```text
//! document   JSON -> vocabulary (typed) and everything else (as values)
//! node       a value that knows its path in the file
//! added      added tokens and the ids that they really get
//! pattern    search texts and regular expressions
//! steps      normalizers, pre-tokenizers, decoders
//! template   post-processors
//! limits     truncation and padding
//! ```
//!
//! Invariant: whatever the reference takes into account is either in the [`HfModel`] or the file is
//! refused with the path of what cannot be expressed. Fields that the reference passes over are passed
//! over here too. Beyond the reference, templates may be written as texts (`"<s> $A </s>"`), as its
//! constructors take them.
//!
//! Scores: the reference reads them with `serde_json` and only its default features. Without
//! `float_roundtrip`, long decimal fractions may come out one unit in the last place beside the nearest
//! `f64`, and such scores decide ties; so this crate must not switch that feature on either. Cargo
//! unites features: a test here fails if another crate of the workspace does.
//!
//! Nesting is bounded by `serde_json`, which refuses more than 128 levels; the recursion over sequences
//! goes no deeper than the values that it reads.

mod added;
mod document;
mod limits;
mod node;
mod pattern;
mod steps;
mod template;
#[cfg(test)]
mod tests;

use document::Document;

use crate::CompileError;
use crate::hf::pipeline::HfModel;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether this is JSON rather than a serialized `ModelProto`: decided by the first byte that is not
/// blank.
pub(crate) fn looks_like_json(bytes: &[u8]) -> bool {
    without_mark(bytes).trim_ascii_start().first() == Some(&b'{')
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// Reads and checks a `tokenizer.json`.
pub(crate) fn parse(bytes: &[u8]) -> Result<HfModel, CompileError> {
    let mut document = Document::read(without_mark(bytes))?;
    check_version(&document)?;
    let model = document.model()?;
    let added = added::read(document.part("added_tokens").as_ref(), &model.vocab)?;
    let part = |name| document.part(name).filter(|node| !node.is_null());
    let post_processor = part("post_processor")
        .map(|node| template::read(&node, added.id_count))
        .transpose()?
        .unwrap_or_default();
    let truncation = part("truncation")
        .map(|node| limits::truncation(&node, &post_processor))
        .transpose()?;
    let padding = part("padding")
        .map(|node| limits::padding(&node))
        .transpose()?;
    let mut normalizers = Vec::new();
    if let Some(node) = part("normalizer") {
        steps::normalizers(&node, &mut normalizers)?;
    }
    let mut pre_tokenizers = Vec::new();
    if let Some(node) = part("pre_tokenizer") {
        steps::pre_tokenizers(&node, &mut pre_tokenizers)?;
    }
    let decoders = part("decoder")
        .map(|node| steps::decoders(&node))
        .transpose()?
        .unwrap_or_default();
    Ok(HfModel {
        vocab: model.vocab,
        unk_id: Some(model.unk_id),
        byte_fallback: model.byte_fallback,
        added_tokens: added.tokens,
        normalizers,
        pre_tokenizers,
        decoders,
        post_processor,
        truncation,
        padding,
    })
}

fn check_version(document: &Document) -> Result<(), CompileError> {
    let Some(version) = document.part("version") else {
        return Ok(());
    };
    match version.text()? {
        "1.0" => Ok(()),
        other => version.fail(format!("is {}; only \"1.0\" is known", node::quoted(other))),
    }
}

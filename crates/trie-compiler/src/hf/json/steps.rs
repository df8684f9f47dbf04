//! Normalizers, pre-tokenizers and decoders.
//!
//! Invariant: a step has the meaning that the reference gives to the same fields. Where it accepts a step
//! without a `type`, it goes by the fields, and so do we; where it goes by the fields although there is a
//! `type` that it does not know, the file is refused.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::node::{Node, quoted};
use super::pattern;
use crate::CompileError;
use crate::charsmap::Charsmap;
use crate::hf::pipeline::{
    DecoderStep, NormalizerStep, Pattern, PreTokenizerStep, PrependScheme, SplitBehavior,
};

/// As the reference decodes: padding may be left out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

const SCHEMES: [(&str, PrependScheme); 3] = [
    ("always", PrependScheme::Always),
    ("first", PrependScheme::First),
    ("never", PrependScheme::Never),
];

const BEHAVIORS: [(&str, SplitBehavior); 5] = [
    ("Removed", SplitBehavior::Removed),
    ("Isolated", SplitBehavior::Isolated),
    ("MergedWithPrevious", SplitBehavior::MergedWithPrevious),
    ("MergedWithNext", SplitBehavior::MergedWithNext),
    ("Contiguous", SplitBehavior::Contiguous),
];

/// The `type` of a step or, without one, that of the first entry of `legacy` whose fields are all there.
fn kind<'a>(node: &'a Node<'_>, legacy: &[(&'a str, &[&str])]) -> Result<&'a str, CompileError> {
    if let Some(kind) = node.given("type")? {
        return kind.text();
    }
    let by_fields = legacy
        .iter()
        .find(|(_, fields)| fields.iter().all(|field| node.has(field)));
    match by_fields {
        Some(&(kind, _)) => Ok(kind),
        None => node.fail("has no type, and no known fields from which it could be told"),
    }
}

fn unsupported<T>(node: &Node<'_>, kind: &str) -> Result<T, CompileError> {
    let name = quoted(kind);
    node.field("type")?
        .fail(format!("is {name}, which is not supported"))
}

/// Appends the steps of a normalizer, sequences unfolded.
pub(super) fn normalizers(
    node: &Node<'_>,
    steps: &mut Vec<NormalizerStep>,
) -> Result<(), CompileError> {
    const LEGACY: [(&str, &[&str]); 5] = [
        (
            "BertNormalizer",
            &["clean_text", "handle_chinese_chars", "lowercase"],
        ),
        ("Strip", &["strip_left", "strip_right"]),
        ("Sequence", &["normalizers"]),
        ("Replace", &["pattern", "content"]),
        ("Prepend", &["prepend"]),
    ];
    let step = match kind(node, &LEGACY)? {
        "Sequence" => {
            for item in node.field("normalizers")?.items()? {
                normalizers(&item, steps)?;
            }
            return Ok(());
        }
        "Precompiled" => {
            NormalizerStep::Precompiled(charsmap(&node.field("precompiled_charsmap")?)?)
        }
        "Replace" => {
            let (pattern, content) = replace(node)?;
            NormalizerStep::Replace { pattern, content }
        }
        "Strip" => NormalizerStep::Strip {
            left: node.field("strip_left")?.flag()?,
            right: node.field("strip_right")?.flag()?,
        },
        "Prepend" => NormalizerStep::Prepend(prepend(&node.field("prepend")?)?),
        "NFC" => NormalizerStep::Nfc,
        "NFD" => NormalizerStep::Nfd,
        "NFKC" => NormalizerStep::Nfkc,
        "NFKD" => NormalizerStep::Nfkd,
        "Nmt" => NormalizerStep::Nmt,
        "Lowercase" => NormalizerStep::Lowercase,
        "StripAccents" => NormalizerStep::StripAccents,
        "BertNormalizer" | "Bert" => bert(node)?,
        other => return unsupported(node, other),
    };
    steps.push(step);
    Ok(())
}

fn prepend(node: &Node<'_>) -> Result<String, CompileError> {
    match node.text()? {
        "" => node.fail("is empty: tokenizers would lose track of the text; leave the step out"),
        text => Ok(text.to_owned()),
    }
}

fn bert(node: &Node<'_>) -> Result<NormalizerStep, CompileError> {
    let lowercase = node.field("lowercase")?.flag()?;
    let strip_accents = node.optional("strip_accents")?;
    Ok(NormalizerStep::Bert {
        clean_text: node.field("clean_text")?.flag()?,
        handle_chinese_chars: node.field("handle_chinese_chars")?.flag()?,
        strip_accents: strip_accents.map_or(Ok(lowercase), |accents| accents.flag())?,
        lowercase,
    })
}

fn replace(node: &Node<'_>) -> Result<(Pattern, String), CompileError> {
    let pattern = pattern::read(&node.field("pattern")?)?;
    Ok((pattern, node.field("content")?.text()?.to_owned()))
}

fn charsmap(node: &Node<'_>) -> Result<Charsmap, CompileError> {
    let blob = BASE64
        .decode(node.text()?)
        .map_err(|error| node.error(format!("is not base64: {error}")))?;
    let charsmap = Charsmap::split(&blob, "normalizer").map_err(|error| match error {
        CompileError::Charsmap { rule, .. } => node.error(format!("is damaged: {rule}")),
        CompileError::CharsmapUnit { error, .. } => {
            node.error(format!("is damaged at unit {}: {}", error.unit, error.rule))
        }
        other => other,
    })?;
    match str::from_utf8(&charsmap.texts) {
        Ok(_) => Ok(charsmap),
        Err(_) => node.fail("is damaged: its texts are not UTF-8"),
    }
}

/// Appends the steps of a pre-tokenizer, sequences unfolded.
pub(super) fn pre_tokenizers(
    node: &Node<'_>,
    steps: &mut Vec<PreTokenizerStep>,
) -> Result<(), CompileError> {
    let step = match kind(node, &[])? {
        "Sequence" => {
            for item in node.field("pretokenizers")?.items()? {
                pre_tokenizers(&item, steps)?;
            }
            return Ok(());
        }
        "Metaspace" => {
            let metaspace = Metaspace::read(node)?;
            PreTokenizerStep::Metaspace {
                replacement: metaspace.replacement,
                prepend_scheme: metaspace.prepend_scheme,
                split: metaspace.split,
            }
        }
        "WhitespaceSplit" => PreTokenizerStep::WhitespaceSplit,
        "Whitespace" => PreTokenizerStep::Whitespace,
        "Punctuation" => PreTokenizerStep::Punctuation(match node.given("behavior")? {
            Some(behavior) => behavior.word(&BEHAVIORS)?,
            None => SplitBehavior::Isolated,
        }),
        "Digits" => PreTokenizerStep::Digits {
            individual: node.field("individual_digits")?.flag()?,
        },
        other => return unsupported(node, other),
    };
    steps.push(step);
    Ok(())
}

struct Metaspace {
    replacement: char,
    prepend_scheme: PrependScheme,
    split: bool,
}

impl Metaspace {
    /// `add_prefix_space` and `str_rep` are from before there were schemes; the reference still checks
    /// the former against the scheme, whose default is `always`.
    fn read(node: &Node<'_>) -> Result<Self, CompileError> {
        let prepend_scheme = match node.given("prepend_scheme")? {
            Some(scheme) => scheme.word(&SCHEMES)?,
            None => PrependScheme::Always,
        };
        if let Some(prefix) = node.optional("add_prefix_space")?
            && !prefix.flag()?
            && prepend_scheme != PrependScheme::Never
        {
            return prefix.fail(
                "is false, which tokenizers accepts only with \"prepend_scheme\": \"never\"",
            );
        }
        if let Some(text) = node.optional("str_rep")? {
            text.text()?;
        }
        let split = node.optional("split")?;
        Ok(Self {
            replacement: node.field("replacement")?.character()?,
            prepend_scheme,
            split: split.map_or(Ok(true), |split| split.flag())?,
        })
    }
}

/// The steps of a decoder, never none: without a decoder the reference puts spaces between tokens, but
/// with an empty sequence of them it does not.
pub(super) fn decoders(node: &Node<'_>) -> Result<Vec<DecoderStep>, CompileError> {
    let mut steps = Vec::new();
    append_decoders(node, &mut steps)?;
    if steps.is_empty() {
        steps.push(DecoderStep::Fuse);
    }
    Ok(steps)
}

fn append_decoders(node: &Node<'_>, steps: &mut Vec<DecoderStep>) -> Result<(), CompileError> {
    const LEGACY: [(&str, &[&str]); 2] = [
        ("Replace", &["pattern", "content"]),
        ("Strip", &["content", "start", "stop"]),
    ];
    let step = match kind(node, &LEGACY)? {
        "Sequence" => {
            for item in node.field("decoders")?.items()? {
                append_decoders(&item, steps)?;
            }
            return Ok(());
        }
        "Metaspace" => {
            let metaspace = Metaspace::read(node)?;
            DecoderStep::Metaspace {
                replacement: metaspace.replacement,
                prepend_scheme: metaspace.prepend_scheme,
            }
        }
        "Replace" => {
            let (pattern, content) = replace(node)?;
            DecoderStep::Replace { pattern, content }
        }
        "Strip" => DecoderStep::Strip {
            content: node.field("content")?.character()?,
            start: node.field("start")?.number()?,
            stop: node.field("stop")?.number()?,
        },
        "ByteFallback" => DecoderStep::ByteFallback,
        "Fuse" => DecoderStep::Fuse,
        other => return unsupported(node, other),
    };
    steps.push(step);
    Ok(())
}

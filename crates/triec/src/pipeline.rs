//! What an image does around its model under the Hugging Face reference, in words: for `inspect`.

use serde::Serialize;
use trie_format::pipeline::{AddedToken, SplitBehavior, Step, StepKind};
use trie_format::{ImageView, PipelineView};

use crate::tree::tree;

/// Added tokens that are shown one by one.
const FIRST: usize = 8;

/// The pipeline, part by part in the order in which a text goes through it.
#[derive(Serialize)]
pub(crate) struct Report {
    added_tokens: AddedTokens,
    normalizer: Vec<StepReport>,
    pre_tokenizer: Vec<StepReport>,
    decoder: Vec<StepReport>,
}

#[derive(Serialize)]
struct StepReport {
    kind: String,
    does: String,
}

#[derive(Serialize)]
struct AddedTokens {
    count: usize,
    /// The longest's length.
    bytes: u32,
    first: Vec<Token>,
}

#[derive(Serialize)]
struct Token {
    id: u32,
    text: String,
    special: bool,
    single_word: bool,
    lstrip: bool,
    rstrip: bool,
    normalized: bool,
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into()
}

impl Report {
    /// The pipeline of `view`, if it has one.
    pub(crate) fn new(view: &ImageView<'_>) -> Option<Self> {
        let pipeline = view.pipeline()?;
        let mut report = Self {
            added_tokens: AddedTokens::new(view, &pipeline),
            normalizer: Vec::new(),
            pre_tokenizer: Vec::new(),
            decoder: Vec::new(),
        };
        for step in pipeline.steps() {
            let Some(kind) = StepKind::from_number(step.kind) else {
                continue;
            };
            let described = || StepReport {
                kind: format!("{kind:?}"),
                does: describe(view, &pipeline, kind, step),
            };
            match kind {
                StepKind::AddedClasses => {}
                _ if step.kind < StepKind::Metaspace as u32 => report.normalizer.push(described()),
                _ if step.kind < StepKind::DecodeMetaspace as u32 => {
                    report.pre_tokenizer.push(described());
                }
                _ => report.decoder.push(described()),
            }
        }
        Some(report)
    }

    /// Labels and what to say, in order.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let steps = |steps: &[StepReport]| match steps {
            [] => "none".into(),
            steps => join(steps.iter().map(|step| step.does.clone()), "; "),
        };
        vec![
            ("added tokens", self.added_tokens.for_people()),
            ("normalizer", steps(&self.normalizer)),
            ("pre-tokenizer", steps(&self.pre_tokenizer)),
            ("decoder", steps(&self.decoder)),
        ]
    }
}

fn join(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.collect::<Vec<String>>().join(between)
}

impl AddedTokens {
    fn new(view: &ImageView<'_>, pipeline: &PipelineView<'_>) -> Self {
        let tokens = pipeline.added_tokens();
        // Ids in the tries are positions among the tokens.
        let normalized = view
            .normalized_added_nodes()
            .and_then(|trie| tree(trie, "trie of added tokens").ok())
            .unwrap_or_default();
        let token = |(position, token): (usize, &AddedToken)| {
            let has = |flag| token.flags & flag != 0;
            Token {
                id: token.id,
                text: text_of(view.pieces().text(token.id).unwrap_or_default()),
                special: has(AddedToken::SPECIAL),
                single_word: has(AddedToken::SINGLE_WORD),
                lstrip: has(AddedToken::LSTRIP),
                rstrip: has(AddedToken::RSTRIP),
                normalized: normalized.has(position as u32),
            }
        };
        Self {
            count: tokens.len(),
            bytes: view.metadata().max_added_bytes.to_native(),
            first: tokens.iter().enumerate().take(FIRST).map(token).collect(),
        }
    }

    fn for_people(&self) -> String {
        let token = |token: &Token| {
            let flags = [
                (token.special, "special"),
                (token.single_word, "single word"),
                (token.lstrip, "lstrip"),
                (token.rstrip, "rstrip"),
                (token.normalized, "normalized"),
            ];
            let flags = flags.into_iter().filter(|(is_set, _)| *is_set);
            let flags = join(flags.map(|(_, name)| name.into()), ", ");
            match flags.as_str() {
                "" => format!("{} {:?}", token.id, token.text),
                flags => format!("{} {:?} ({flags})", token.id, token.text),
            }
        };
        let mut parts: Vec<String> = self.first.iter().map(token).collect();
        if parts.len() < self.count {
            parts.push("…".into());
        }
        match self.count {
            0 => "none".into(),
            count => format!("{count}: {}", parts.join(", ")),
        }
    }
}

/// `n` characters, as few words as they need.
fn run_length(min: u32, max: u32) -> String {
    match (min, max) {
        (1, 1) => "each".into(),
        (min, u32::MAX) => format!("{min} and more"),
        (min, max) if min == max => format!("each {min}"),
        (min, max) => format!("{min} to {max}"),
    }
}

/// What `step` does.
fn describe(
    view: &ImageView<'_>,
    pipeline: &PipelineView<'_>,
    kind: StepKind,
    step: &Step,
) -> String {
    let text = text_of(pipeline.step_text(step));
    let class = |at: usize| class_name(pipeline, step.n[at], step.n[at + 1]);
    match kind {
        StepKind::Precompiled => {
            let units = view.charsmap().map_or(0, |table| table.units().len());
            format!("rule table of {units} units, grapheme by grapheme")
        }
        StepKind::ReplaceLiteral | StepKind::DecodeReplaceLiteral => {
            let literal = text_of(pipeline.text(step.n[0], step.n[1]));
            format!("{literal:?} becomes {text:?}")
        }
        StepKind::ReplaceRun | StepKind::DecodeReplaceRun => {
            let length = run_length(step.n[2], step.n[3]);
            format!("{length} of {} becomes {text:?}", class(0))
        }
        StepKind::Strip => {
            let ends = match step.flags {
                1 => "the left end",
                2 => "the right end",
                3 => "both ends",
                _ => "no end",
            };
            format!("strip white space at {ends}")
        }
        StepKind::Prepend => format!("prepend {text:?}"),
        StepKind::Nfc => "NFC".into(),
        StepKind::Nfd => "NFD".into(),
        StepKind::Nfkc => "NFKC".into(),
        StepKind::Nfkd => "NFKD".into(),
        StepKind::MapChars => format!("{} character rules", step.n[1]),
        StepKind::Metaspace => {
            let prepended = match step.flags & 3 {
                0 => "prepended always",
                1 => "prepended to the beginning of the input",
                _ => "never prepended",
            };
            let split = match step.flags & 4 {
                0 => "no split",
                _ => "split before each",
            };
            format!("spaces become {text:?}, {prepended}, {split}")
        }
        StepKind::SplitClass => {
            let behavior = match SplitBehavior::from_number(step.flags) {
                Some(behavior) => format!("{behavior:?}"),
                None => step.flags.to_string(),
            };
            format!("split at {}: {behavior}", class(0))
        }
        StepKind::Words => "words, and runs of what is neither word nor white space".into(),
        StepKind::DecodeMetaspace => match step.flags {
            2 => format!("{text:?} becomes a space"),
            _ => format!("{text:?} becomes a space, in the first token nothing"),
        },
        StepKind::DecodeStrip => {
            let [left, right, ..] = step.n;
            format!("strip {text:?}, up to {left} at the left and {right} at the right")
        }
        StepKind::DecodeByteFallback => "byte tokens become text".into(),
        StepKind::DecodeFuse => "join".into(),
        other => format!("{other:?}"),
    }
}

/// The class: a single character, or how many characters it has.
fn class_name(pipeline: &PipelineView<'_>, start: u32, len: u32) -> String {
    let class = pipeline.class(start, len);
    let mut members = ('\0'..=char::MAX).filter(|&character| class.contains(character));
    match (members.next(), members.next()) {
        (None, _) => "an empty class".into(),
        (Some(only), None) => format!("{only:?}"),
        (Some(_), Some(_)) => format!("a class of {} characters", 2 + members.count()),
    }
}

//! What an image does with ids, in words: special tokens, truncation, padding; for `inspect`.

use serde::Serialize;
use trie_format::pipeline::{Step, StepKind};
use trie_format::{ImageView, NO_ID};

/// The post-processor.
#[derive(Default, Serialize)]
pub(crate) struct Report {
    /// Around one text.
    template_single: Vec<String>,
    /// Around and between two.
    template_pair: Vec<String>,
    trim_offsets: bool,
    truncation: Option<String>,
    padding: Option<String>,
}

impl Report {
    /// The post-processor of `view`.
    pub(crate) fn new(view: &ImageView<'_>) -> Self {
        let mut report = Self::default();
        for step in view.post_processor() {
            match StepKind::from_number(step.kind) {
                Some(StepKind::TemplateSingle) => report.template_single.push(item(view, step)),
                Some(StepKind::TemplatePair) => report.template_pair.push(item(view, step)),
                Some(StepKind::TrimOffsets) => report.trim_offsets = true,
                Some(StepKind::Truncation) => report.truncation = Some(truncation(step)),
                Some(StepKind::Padding) => report.padding = Some(padding(step)),
                _ => {}
            }
        }
        report
    }

    /// Labels and what to say, in order.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let one = |step: &Option<String>| step.clone().unwrap_or("none".into());
        let template = |items: &[String]| match items {
            [] => "none".into(),
            items => items.join(" "),
        };
        let mut lines = vec![
            ("template", template(&self.template_single)),
            ("for pairs", template(&self.template_pair)),
            ("truncation", one(&self.truncation)),
            ("padding", one(&self.padding)),
        ];
        if self.trim_offsets {
            lines.push(("offsets", "without white space at a token's ends".into()));
        }
        lines
    }
}

/// A place in a template: `A`, `B` or a token's text.
fn item(view: &ImageView<'_>, step: &Step) -> String {
    let name = match step.n {
        [0, 0, ..] => "A".into(),
        [0, ..] => "B".into(),
        [_, id, ..] => String::from_utf8_lossy(view.pieces().text(id).unwrap_or_default()).into(),
    };
    match step.n[2] {
        0 => name,
        type_id => format!("{name}:{type_id}"),
    }
}

fn truncation(step: &Step) -> String {
    let strategy = match step.flags & 3 {
        0 => "longest first",
        1 => "only the first",
        _ => "only the second",
    };
    let side = if step.flags & 4 == 0 { "right" } else { "left" };
    let [length, stride, ..] = step.n;
    format!("to {length} ids, {strategy}, from the {side}, stride {stride}")
}

fn padding(step: &Step) -> String {
    let side = if step.flags & 1 == 0 { "right" } else { "left" };
    let asked = if step.flags & 2 == 0 {
        ""
    } else {
        "if asked for, "
    };
    let [fixed, multiple, id, type_id] = step.n;
    let length = match fixed {
        NO_ID => "the longest of a batch".into(),
        fixed => format!("{fixed} ids"),
    };
    let multiple = match multiple {
        0 => String::new(),
        multiple => format!(", a multiple of {multiple}"),
    };
    format!("{asked}to {length}{multiple}, with id {id} (type {type_id}) at the {side}")
}

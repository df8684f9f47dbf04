//! How often peers give their reference's ids, line by line over the whole corpus, hard lines included.

use crate::Result;
use crate::engine::{self, OURS, build};
use crate::lab::Lab;
use crate::results::Accuracy;

/// Peers and what each should be equal to.
const PAIRS: [(&str, &str); 7] = [
    ("sentencepiece", "ours-0.2.1"),
    ("tokenizers-0.22", "tokenizers-0.22"),
    ("tokenizers-1.0rc", "tokenizers-0.22"),
    ("kitoken", OURS),
    ("tokie", "tokenizers-0.22"),
    ("lite", OURS),
    ("lite-cached", OURS),
];

/// Compares every peer with its reference and with the project.
///
/// # Errors
/// If an engine cannot be loaded.
pub fn accuracy(lab: &Lab) -> Result<Vec<Accuracy>> {
    let mut maker = lab.maker()?;
    let mut docs = Vec::new();
    for (language, text) in &lab.corpus.texts {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            docs.push(maker.doc(language, line.to_owned())?);
        }
    }
    let mut rows = Vec::new();
    let known = engine::all();
    for (name, reference) in PAIRS {
        if !known.iter().any(|spec| spec.name == name) {
            continue;
        }
        let (engine, reference_engine) =
            (build(name, &lab.fixture)?, build(reference, &lab.fixture)?);
        let (mut peer, mut reference_session) = (engine.session(), reference_engine.session());
        let mut row = Accuracy {
            engine: name.to_owned(),
            reference: reference.to_owned(),
            lines: docs.len(),
            ..Accuracy::default()
        };
        for doc in &docs {
            let ids = peer.encode(doc);
            row.differ_from_ours += usize::from(ids != doc.ids);
            row.differ_from_reference += usize::from(ids != reference_session.encode(doc));
        }
        rows.push(row);
    }
    Ok(rows)
}

//! Every benchmark that runs in one process, in its quick mode: engines load, ids are equal, a report is
//! written. The figures are not looked at.

#![allow(missing_docs)]

use std::path::Path;

use trie_benches::lab::Lab;
use trie_benches::report;
use trie_benches::suite::Suite;

fn lab() -> Lab {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/xlm-roberta.model");
    Lab::open(&model, true).expect("the repository's model and corpus are usable")
}

#[test]
fn everything_in_one_process_runs_and_is_reported() {
    let lab = lab();
    let mut suite = Suite::new(&lab);
    suite.ladder().expect("all stages give the same ids");
    suite.repeated(Some(512)).expect("repeated");
    suite.stream().expect("stream");
    suite.languages().expect("languages");
    suite.adversarial().expect("adversarial");
    suite.threads().expect("threads");
    let results = suite.results;
    let ladder = &results.tables[0];
    assert!(ladder.rows.len() >= 5, "{:?}", ladder.left_out);
    assert!(results.tables.iter().all(|table| table.docs > 0));

    let dir = tempfile::tempdir().expect("a directory");
    report::write(dir.path(), &results).expect("a report");
    let text = std::fs::read_to_string(dir.path().join("report.md")).expect("Markdown");
    assert!(text.contains("Where this project loses"));
    let json = std::fs::read(dir.path().join("results.json")).expect("JSON");
    let read: trie_benches::results::Results = serde_json::from_slice(&json).expect("readable");
    assert_eq!(read.tables.len(), results.tables.len());
    assert!(dir.path().join("ladder.svg").exists());
}

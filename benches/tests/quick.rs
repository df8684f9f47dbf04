//! Every benchmark in its quick mode: engines load, ids are equal, a report is written; instructions are counted
//! where there is valgrind. The figures are not looked at. Without optimisation this would take minutes.

#![allow(missing_docs, clippy::expect_used)]

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use trie_benches::lab::Lab;
use trie_benches::report;
use trie_benches::suite::Suite;

/// The pool of huge pages is small: tests that use it take turns.
static HUGE_PAGES: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    HUGE_PAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lab() -> Lab {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/xlm-roberta.model");
    Lab::open(&model, true).expect("the repository's model and corpus are usable")
}

#[test]
#[cfg_attr(debug_assertions, ignore = "needs a release build")]
fn everything_in_one_process_runs_and_is_reported() {
    let _turn = turn();
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
    assert!(text.contains("`language-th`: published final stage, times faster | at least 3 |"));
    let json = std::fs::read(dir.path().join("results.json")).expect("JSON");
    let read: trie_benches::results::Results = serde_json::from_slice(&json).expect("readable");
    assert_eq!(read.tables.len(), results.tables.len());
    assert!(dir.path().join("ladder.svg").exists());
}

#[test]
#[cfg_attr(debug_assertions, ignore = "needs a release build")]
fn measurements_in_fresh_processes_run() {
    let _turn = turn();
    let mut parts = vec!["unseen", "cold", "shared"];
    match Command::new("valgrind").arg("--version").output() {
        Ok(version) if version.status.success() => parts.push("instructions"),
        _ => println!("NOT RUN: instructions: there is no valgrind"),
    }
    for part in parts {
        let output = Command::new(env!("CARGO_BIN_EXE_trie-benches"))
            .args([part, "--quick", "--json"])
            .output()
            .expect("the program starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{part}: {errors}");
        let results: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let rows = results[part].as_array().expect("rows");
        assert!(!rows.is_empty(), "{part}: {errors}");
    }
}

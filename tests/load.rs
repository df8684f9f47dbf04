//! Odd and hostile models are compiled or refused as sentencepiece 0.2.3 loads or refuses them.

use std::path::Path;

use trie_compiler::{CompileError, Options};
use trie_tests::{compile_file, data_dir, model_path, outside_dir, rows};

/// Models that the reference loads and this compiler refuses, by design: other model types.
const OTHER_TYPES: [&str; 3] = ["type_bpe", "type_char", "type_word"];

fn check(name: &str, path: &Path, expected: &str) -> Option<String> {
    let outcome = compile_file(path, &Options::default());
    let found = match &outcome {
        Ok(_) => "loaded",
        Err(_) => "refused",
    };
    if OTHER_TYPES.contains(&name) {
        assert!(matches!(outcome, Err(CompileError::ModelType(_))), "{name}");
        return None;
    }
    if let Err(error) = &outcome {
        let text = error.to_string();
        println!("{name}: {text}");
        assert!(!text.is_empty() && !text.contains('\n'), "{name}: {text:?}");
    }
    (found != expected).then(|| format!("{name}: {found}, the reference {expected}"))
}

#[test]
fn committed_models() {
    let complaints: Vec<String> = rows(&data_dir().join("load.jsonl"))
        .iter()
        .filter_map(|row| {
            let name = row.str("model").expect("a row has a model");
            let path = model_path(name, None).expect("the model is committed");
            check(name, &path, row.str("0.2.3").expect("a row has an answer"))
        })
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn further_models() {
    let Some(dir) = outside_dir("TRIE_CASES_DIR") else {
        return;
    };
    let text = std::fs::read_to_string(dir.join("load.jsonl")).expect("the cases are there");
    let mut complaints = Vec::new();
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("a row is JSON");
        let name = row["model"].as_str().expect("a row has a model");
        let expected = row["result"]["0.2.3"]
            .as_str()
            .expect("a row has an answer");
        let path = dir.join("models").join(format!("{name}.model"));
        complaints.extend(check(name, &path, expected));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

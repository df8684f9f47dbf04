//! Self-tests end to end: what `compile` puts in, and what `verify` makes of it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Folder, model, run};

#[test]
fn compile_puts_in_texts_that_verify_tries() {
    let folder = Folder::new();
    for name in ["h_tie", "h_bytes", "h_uds_norm", "denorm"] {
        for reference in ["sentencepiece-0.2.3", "sentencepiece-0.2.1", "huggingface"] {
            let image = folder.path("a.trie");
            let (input, output) = (model(name), image.as_str());
            let compiled = run(&[
                "compile",
                &input,
                "-o",
                output,
                "-q",
                "--reference",
                reference,
            ]);
            if compiled.code != 0 {
                continue;
            }
            let out = run(&["verify", &image, "--self-test"]).text();
            assert!(
                out.ends_with("ok self-test: 24 texts have the ids they should\n"),
                "{out}"
            );
            let out = run(&["verify", &image, "--model", &input]).text();
            assert!(
                out.contains("ok self-test") && out.contains("ok model"),
                "{out}"
            );
        }
    }
}

#[test]
fn given_texts_must_have_the_given_ids() {
    let folder = Folder::new();
    let plain = folder.compile("h_tie");
    let ids = run(&["encode", "--image", &plain, "abab"]).text();
    let ids = ids.trim_end().replace(' ', ", ");
    let image = folder.path("given.trie");
    let compile = |pairs: &str| {
        let pairs = folder.write("pairs.jsonl", pairs.as_bytes());
        run(&[
            "compile",
            &model("h_tie"),
            "-o",
            &image,
            "-q",
            "--self-test",
            &pairs,
        ])
    };
    let wrong =
        format!("{{\"text\": \"abab\", \"ids\": [{ids}]}}\n{{\"text\": \"abab\", \"ids\": [1]}}\n");
    compile(&wrong).fails(3, &["pairs.jsonl", "text 1", "\"abab\""]);
    compile("{\"text\": \"abab\"}\n").fails(3, &["pairs.jsonl, line 1", "ids"]);
    assert!(
        !folder.names().contains(&"given.trie".into()),
        "nothing is written"
    );

    let right =
        format!("{{\"text\": \"abab\", \"ids\": [{ids}]}}\n{{\"base64\": \"\", \"ids\": []}}\n");
    compile(&right).ok();
    let out = run(&["verify", &image, "--self-test"]).text();
    assert!(out.contains("self-test: 2 texts"), "{out}");
}

#[test]
fn other_ids_than_baked_in_and_none_at_all_fail() {
    let folder = Folder::new();
    let bytes = std::fs::read(folder.compile("h_tie")).unwrap();
    let pairs = [(b"abab".to_vec(), vec![1, 2, 3])];
    let wrong = trie_compiler::with_self_test(&bytes, &pairs).unwrap();
    let wrong = folder.write("wrong.trie", &wrong);
    run(&["verify", &wrong]).fails(1, &["self-test", "[1, 2, 3]"]);
    run(&["verify", &wrong, "--self-test"]).fails(1, &["self-test", "[1, 2, 3]"]);

    let without = trie_compiler::with_self_test(&bytes, &[]).unwrap();
    let without = folder.write("without.trie", &without);
    run(&["verify", &without]).text();
    run(&["verify", &without, "--self-test"]).fails(1, &["no self-test", "triec compile"]);
}

//! `triec encode` with pairs, fields, truncation, padding and threads.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Folder, feed, model, repository, run};
use serde_json::{Value, json};

/// The objects of an output.
fn objects(text: &[u8]) -> Vec<Value> {
    std::str::from_utf8(text)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const ALL: &str = "ids,pieces,offsets,char_offsets,utf16_offsets,type_ids,attention_mask,\
                   special_tokens_mask,overflowing";

/// An image of XLM-RoBERTa with the ids of Hugging Face.
fn hugging_face(folder: &Folder) -> String {
    let image = folder.path("hf.trie");
    let model = repository().join("models/xlm-roberta.model");
    let model = model.to_str().unwrap();
    run(&[
        "compile",
        model,
        "-o",
        &image,
        "--ids",
        "fairseq",
        "--reference",
        "huggingface-b",
        "-q",
    ])
    .ok();
    image
}

#[test]
fn objects_have_the_wanted_keys_in_order() {
    let folder = Folder::new();
    let image = hugging_face(&folder);
    let out = feed(
        &[
            "encode",
            "--image",
            &image,
            "--jsonl",
            "--special",
            "--fields",
            ALL,
            "--max-length",
            "9",
            "--stride",
            "1",
            "--pad",
            "11",
        ],
        "{\"text\":\"\u{fb01}ne 😀 a\",\"pair\":\"b c d\"}\n".as_bytes(),
    )
    .ok();
    let keys: Vec<usize> = ALL
        .split(',')
        .map(|key| {
            let key = format!("\"{key}\":");
            String::from_utf8_lossy(&out).find(&key).unwrap()
        })
        .collect();
    assert!(keys.is_sorted());
    let object = &objects(&out)[0];
    assert_eq!(object["ids"].as_array().unwrap().len(), 11);
    assert_eq!(object["offsets"][1], json!([0, 5]));
    assert_eq!(object["char_offsets"][1], json!([0, 3]));
    assert_eq!(object["pieces"][1], "▁fine");
    assert_eq!(
        object["special_tokens_mask"],
        json!([1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1])
    );
    assert_eq!(
        object["attention_mask"],
        json!([1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0])
    );
    assert_eq!(object["overflowing"].as_array().unwrap().len(), 1);
}

#[test]
fn a_pair_comes_from_the_object_or_the_command_line() {
    let ids = |args: &[&str], line: &str| {
        let all = [&["encode", "--jsonl", "--special"], args].concat();
        objects(&feed(&all, line.as_bytes()).ok())[0]["ids"].clone()
    };
    let both = json!([0, 10, 2, 2, 876, 2]);
    assert_eq!(ids(&[], "{\"text\":\"a\",\"pair\":\"b\"}\n"), both);
    assert_eq!(
        ids(&[], "{\"text\":\"a\",\"pair\":{\"base64\":\"Yg==\"}}\n"),
        both
    );
    assert_eq!(ids(&["--pair", "b"], "\"a\"\n"), both);
    assert_eq!(
        ids(&["--pair", "x"], "{\"text\":\"a\",\"pair\":\"b\"}\n"),
        both
    );
    assert_eq!(
        ids(&[], "{\"text\":\"a\",\"pair\":null}\n"),
        json!([0, 10, 2])
    );
    assert_eq!(
        run(&["encode", "--special", "--pair", "b", "a"]).text(),
        "0 10 2 2 876 2\n"
    );
    feed(&["encode", "--jsonl"], b"{\"text\":\"a\",\"pair\":1}\n").fails(3, &["input:1", "pair"]);
}

#[test]
fn texts_are_filled_up_to_the_longest_of_their_batch() {
    let lines = |args: &[&str]| {
        let all = [
            &["encode", "--pad", "longest"],
            args,
            &["a", "a b c", "a b"],
        ]
        .concat();
        run(&all).text()
    };
    assert_eq!(lines(&[]), "10 1 1\n10 876 501\n10 876 1\n");
    assert_eq!(lines(&["--threads", "2"]), lines(&[]));
    assert_eq!(lines(&["--batch-size", "1"]), "10\n10 876 501\n10 876\n");
    assert_eq!(
        lines(&[
            "--pad-direction",
            "left",
            "--pad-id",
            "7",
            "--pad-to-multiple-of",
            "2"
        ]),
        "7 7 7 10\n7 10 876 501\n7 7 10 876\n"
    );
    assert_eq!(run(&["encode", "--pad", "3", "a"]).text(), "10 1 1\n");
}

#[test]
fn any_number_of_threads_gives_the_same_output() {
    let file = repository().join("tests/corpus");
    let files: Vec<String> = ["en.txt", "ja.txt", "th.txt"]
        .iter()
        .map(|name| file.join(name).to_str().unwrap().to_owned())
        .collect();
    let encode = |threads: &str| {
        let mut args = vec!["encode", "--threads", threads, "-i"];
        args.extend(files.iter().map(String::as_str));
        run(&args).ok()
    };
    let one = encode("1");
    assert!(one.len() > 10_000);
    assert!(encode("2") == one && encode("7") == one);
}

#[test]
fn lines_before_a_bad_one_come_out_whatever_the_number_of_threads() {
    let lines = b"\"a\"\n\"b\"\n\"a\"\n{}\n\"b\"\nx\n";
    for threads in ["1", "2", "5"] {
        let out = feed(&["encode", "--jsonl", "--threads", threads], lines)
            .fails(3, &["standard input:4", "give a JSON string"]);
        assert_eq!(
            out, b"{\"ids\":[10]}\n{\"ids\":[876]}\n{\"ids\":[10]}\n",
            "{threads}"
        );
    }
}

#[test]
fn what_does_not_fit_is_said_in_one_line() {
    run(&["encode", "--stride", "3", "x"]).fails(2, &["--max-length"]);
    run(&["encode", "--batch-size", "3", "x"]).fails(2, &["--pad longest"]);
    run(&["encode", "--truncation", "none", "--max-length", "3", "x"]).fails(2, &["leave"]);
    run(&["encode", "--fields", "ids", "x"]).fails(2, &["--jsonl"]);
    run(&["encode", "--jsonl", "--fields", "idz", "x"]).fails(2, &["idz"]);
    run(&["encode", "--pad", "most", "x"]).fails(2, &["longest"]);
    run(&["encode", "--pad-id", "3", "x"]).fails(2, &["--pad"]);
    run(&["encode", "--threads", "0", "x"]).fails(2, &["--threads"]);
    run(&["encode", "--special", "--max-length", "1", "x"]).fails(3, &["special tokens"]);
    run(&[
        "encode",
        "--max-length",
        "1",
        "--truncation",
        "only_second",
        "x y",
    ])
    .fails(3, &["second"]);
    let folder = Folder::new();
    let image = folder.compile("trained");
    run(&["encode", "--image", &image, "--pad", "4", "x"]).fails(2, &["--pad-id"]);
    let pieces = model("trained");
    run(&["compile", &pieces, "-o", &image, "--template", "xlnet"]).fails(3, &["<sep>", "xlnet"]);
}

#[test]
fn a_named_template_is_compiled_in() {
    let folder = Folder::new();
    let image = folder.path("t5.trie");
    let trained = model("trained");
    run(&["compile", &trained, "-o", &image, "--template", "t5", "-q"]).ok();
    let ids = |args: &[&str]| {
        let all = [&["encode", "--image", &image, "--format", "pieces"], args].concat();
        run(&all).text()
    };
    assert!(ids(&["--special", "a"]).ends_with(" </s>\n"));
    assert!(!ids(&["--special", "a"]).starts_with("<s>"));
    assert!(
        ids(&["--special", "--pair", "b", "a"])
            .matches("</s>")
            .count()
            == 2
    );
    run(&["verify", &image, "--model", &trained]).ok();
    let shown = run(&["inspect", &image]).text();
    assert!(shown.contains("A </s> B </s>"), "{shown}");
}

#[test]
fn counts_are_lengths() {
    assert_eq!(
        run(&["encode", "--count", "Hello World!", ""]).text(),
        "3\n0\n"
    );
    assert_eq!(run(&["encode", "--count", "--special", "a"]).text(), "3\n");
    assert_eq!(
        run(&["encode", "--count", "--max-length", "2", "a b c"]).text(),
        "2\n"
    );
    let out = feed(&["encode", "--count", "--jsonl"], b"\"a b\"\n").ok();
    assert_eq!(out, b"{\"count\":2}\n");
}

#[test]
fn a_whole_file_is_one_text() {
    let folder = Folder::new();
    let text = "Hello\nWorld!\r\n\u{4f60}\u{597d} ".repeat(20_000);
    let file = folder.write("text.txt", text.as_bytes());
    let images = [folder.path("none"), hugging_face(&folder)];
    for image in &images[..] {
        let mut args = vec!["encode", "--whole", "-i", &file];
        let mut object = vec!["encode", "--jsonl"];
        if std::path::Path::new(image).exists() {
            args.extend(["--image", image]);
            object.extend(["--image", image]);
        }
        let at_once = feed(&object, serde_json::to_string(&text).unwrap().as_bytes()).ok();
        let ids = objects(&at_once)[0]["ids"].to_string();
        let expected = ids.trim_matches(['[', ']']).replace(',', " ") + "\n";
        assert!(run(&args).text() == expected);
        args.push("--count");
        let count = expected.split(' ').count();
        assert_eq!(run(&args).text(), format!("{count}\n"));
    }
    let empty = folder.write("empty.txt", b"");
    assert_eq!(
        run(&["encode", "--whole", "-i", &empty, &empty]).text(),
        "\n\n"
    );
    run(&["encode", "--whole", "text"]).fails(2, &["--whole"]);
    run(&["encode", "--whole", "-i", &folder.path("missing")]).fails(3, &["missing"]);
}

#[test]
fn other_segmentations_come_best_first_and_by_seed() {
    let best = run(&["encode", "--nbest", "3", "Hello World!"]).text();
    // From sentencepiece 0.2.3.
    assert!(best.starts_with("-30.2086\t35378 6661 38\n"), "{best}");
    assert_eq!(best.lines().count(), 3);
    let out = feed(
        &["encode", "--nbest", "2", "--jsonl"],
        b"\"Hello World!\"\n",
    )
    .ok();
    assert_eq!(
        objects(&out)[0]["nbest"][0]["ids"],
        json!([35378, 6661, 38])
    );
    let sample = |seed: &str| {
        let args = [
            "encode",
            "--sample",
            "0.1",
            "--seed",
            seed,
            "Hello World!",
            "Hello World!",
        ];
        run(&args).text()
    };
    assert_eq!(sample("1"), sample("1"));
    assert_ne!(sample("1"), sample("2"));
    assert!(
        run(&[
            "encode",
            "--sample",
            "0.5",
            "--nbest-size",
            "1",
            "Hello World!"
        ])
        .text()
            == "35378 6661 38\n"
    );
    run(&["encode", "--nbest", "3", "--special", "x"]).fails(2, &["--special"]);
    run(&["encode", "--nbest", "1000", "x"]).fails(3, &["512"]);
    run(&["encode", "--nbest", "3", "--threads", "2", "x"]).fails(2, &["--threads"]);
    let folder = Folder::new();
    let image = hugging_face(&folder);
    run(&["encode", "--image", &image, "--nbest", "3", "x"]).fails(3, &["Hugging Face"]);
}

#[test]
fn special_tokens_are_decoded_if_asked_for() {
    let folder = Folder::new();
    let image = hugging_face(&folder);
    let decode = |args: &[&str]| {
        run(&[&["decode", "--image", &image], args, &["0", "35378", "2"]].concat()).text()
    };
    assert_eq!(decode(&[]), "Hello\n");
    assert_eq!(decode(&["--keep-special"]), "<s> Hello</s>\n");
}

//! End to end: images of the Hugging Face reference, and comparing with them.

// A test fails by panicking, its helpers too.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;

use common::{Folder, feed, model, repository, run};
use serde_json::{Value, json};

/// A `tokenizer.json` with a bit of everything.
fn tokenizer_json() -> Value {
    let special = |id: u32, content: &str, lstrip: bool| {
        json!({
            "id": id, "content": content, "single_word": false, "lstrip": lstrip, "rstrip": false,
            "normalized": false, "special": true
        })
    };
    let mut vocab = vec![
        json!(["<s>", 0.0]),
        json!(["<pad>", 0.0]),
        json!(["</s>", 0.0]),
        json!(["<unk>", 0.0]),
        json!(["▁", -3.0]),
        json!(["a", -2.0]),
        json!(["b", -2.5]),
        json!(["ab", -3.0]),
        json!(["▁ab", -3.5]),
        json!(["a", -2.0]),
    ];
    vocab.extend((0..=255).map(|byte: u8| json!([format!("<0x{byte:02X}>"), -20.0])));
    let template = |items: &[&str]| -> Vec<Value> {
        items
            .iter()
            .map(|item| match *item {
                "A" | "B" => json!({"Sequence": {"id": item, "type_id": 0}}),
                name => json!({"SpecialToken": {"id": name, "type_id": 0}}),
            })
            .collect()
    };
    json!({
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 512, "strategy": "LongestFirst", "stride": 0},
        "padding": {
            "strategy": {"Fixed": 512}, "direction": "Left", "pad_to_multiple_of": 8, "pad_id": 1,
            "pad_type_id": 0, "pad_token": "<pad>"
        },
        "added_tokens": [
            special(0, "<s>", false), special(1, "<pad>", false), special(2, "</s>", false),
            special(3, "<unk>", false), special(266, "<mask>", true),
            {"id": 267, "content": "MiXed", "single_word": true, "lstrip": false, "rstrip": true,
             "normalized": true, "special": false}
        ],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "NFKC"}, {"type": "Lowercase"},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            {"type": "Replace", "pattern": {"String": "``"}, "content": "\""}
        ]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"},
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}
        ]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": template(&["<s>", "A", "</s>"]),
            "pair": template(&["<s>", "A", "</s>", "</s>", "B", "</s>"]),
            "special_tokens": {
                "<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]},
                "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}
            }
        },
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "ByteFallback"},
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}
        ]},
        "model": {"type": "Unigram", "unk_id": 3, "vocab": vocab, "byte_fallback": true}
    })
}

/// The file of [`tokenizer_json`] in `folder`, and its image.
fn compiled(folder: &Folder) -> (String, String) {
    // The name says nothing about what it is.
    let source = folder.write("some.model", tokenizer_json().to_string().as_bytes());
    let image = folder.path("json.trie");
    run(&["compile", &source, "-o", &image, "--quiet"]).ok();
    (source, image)
}

fn xlm_roberta() -> String {
    let path = repository().join("models/xlm-roberta.model");
    path.to_str().unwrap().into()
}

#[track_caller]
fn verifies(image: &str, source: &str) {
    let out = run(&["verify", image, "--model", source]).text();
    assert!(out.lines().all(|line| line.starts_with("ok ")), "{out}");
    assert_eq!(out.lines().count(), 15, "{out}");
}

#[test]
fn compiles_verifies_and_runs_a_tokenizer_json() {
    let folder = Folder::new();
    let (source, image) = compiled(&folder);
    verifies(&image, &source);
    // The file pads to 512.
    let unpadded = ["encode", "--image", &image, "--pad", "none"];
    let encode = |args: &[&str]| run(&[&unpadded[..], args].concat()).text();
    let padded = run(&["encode", "--image", &image, "ab"]).text();
    assert_eq!(padded, format!("{}8\n", "1 ".repeat(511)));
    assert_eq!(encode(&["AB  ab", "ab"]), "8 8\n8\n");
    // Of two equal texts the last id counts.
    assert_eq!(encode(&["ba"]), "4 6 9\n");
    assert_eq!(encode(&["--special", "ab"]), "0 8 2\n");
    assert_eq!(
        encode(&["--format", "pieces", "ab <mask>ab"]),
        "▁ab <mask> ▁ab\n"
    );
    // U+00E9 has no piece, but its bytes do: ids 10 + 0xC3, 10 + 0xA9.
    assert_eq!(encode(&["é"]), "4 205 179\n");
    assert_eq!(
        run(&[
            "decode", "--image", &image, "0", "8", "4", "205", "179", "2"
        ])
        .text(),
        "ab é\n"
    );
    assert_eq!(
        run(&["normalize", "--image", &image, "Ａ  ``"]).text(),
        "a \"\n"
    );

    let summary = run(&[
        "compile",
        &source,
        "-o",
        &image,
        "--reference",
        "huggingface-c",
    ]);
    assert_eq!(summary.code, 0);
    assert!(
        summary.err.contains("huggingface-0.23, 268 ids"),
        "{}",
        summary.err
    );
    verifies(&image, &source);
}

#[test]
fn special_names_can_be_text() {
    let folder = Folder::new();
    let (_, image) = compiled(&folder);
    // The file pads to 512.
    let unpadded = ["encode", "--image", &image, "--pad", "none"];
    let encode = |args: &[&str]| run(&[&unpadded[..], args].concat()).text();
    assert_eq!(encode(&["ab</s>"]), "8 2\n");
    // As text, the letters have no pieces: bytes. The vocabulary's own text `</s>` still matches, though.
    assert_eq!(encode(&["--special-as-text", "ab</s>"]), "8 2\n");
    assert_eq!(encode(&["a <mask>"]), "4 9 266\n");
    let as_text = encode(&["--special-as-text", "a <mask>"]);
    assert!(
        as_text.starts_with("4 9 4 ") && !as_text.contains("266"),
        "{as_text}"
    );
    // The same without the option under sentencepiece.
    let plain = run(&["encode", "a<mask>"]).text();
    assert_eq!(
        run(&["encode", "--special-as-text", "a<mask>"]).text(),
        plain
    );
}

#[test]
fn inspects_a_pipeline() {
    let folder = Folder::new();
    let (_, image) = compiled(&folder);
    let text = run(&["inspect", &image]).text();
    for part in [
        "reference     huggingface-0.23\n",
        "normalizer    NFKC; ",
        " character rules; 2 and more of ' ' becomes \" \"; \"``\" becomes \"\\\"\"\n",
        "pre-tokenizer split at a class of ",
        "spaces become \"▁\", prepended always, split before each\n",
        "added tokens  6: 0 \"<s>\" (special), ",
        "266 \"<mask>\" (special, lstrip), 267 \"mixed\" (single word, rstrip, normalized)\n",
        "template      <s> A </s>\n",
        "for pairs     <s> A </s> </s> B </s>\n",
        "truncation    to 512 ids, longest first, from the right, stride 0\n",
        "padding       to 512 ids, a multiple of 8, with id 1 (type 0) at the left\n",
        "decoder       byte tokens become text; \"▁\" becomes a space, in the first token nothing\n",
        "\nnormalized-added-nodes ",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let report: Value = serde_json::from_slice(&run(&["inspect", "--json", &image]).ok()).unwrap();
    assert_eq!(
        (&report["preset"], &report["normalizer"]),
        (&Value::Null, &Value::Null)
    );
    let pipeline = &report["pipeline"];
    assert_eq!(pipeline["added_tokens"]["count"], 6);
    assert_eq!(pipeline["added_tokens"]["first"][4]["lstrip"], true);
    assert_eq!(
        pipeline["normalizer"][0],
        json!({"kind": "Nfkc", "does": "NFKC"})
    );
    assert_eq!(
        report["post_processor"]["template_single"],
        json!(["<s>", "A", "</s>"])
    );
    assert_eq!(pipeline["decoder"][0]["kind"], "DecodeByteFallback");

    // A model's image has none.
    let report: Value = serde_json::from_slice(&run(&["inspect", "--json"]).ok()).unwrap();
    assert_eq!(report["pipeline"], Value::Null);
    assert_eq!(report["normalizer"]["has_rules"], true);
}

#[test]
fn refuses_unsupported_json_with_its_path() {
    let folder = Folder::new();
    let image = folder.path("image.trie");
    let refused = |pointer: &str, value: Value, parts: &[&str]| {
        let mut file = tokenizer_json();
        *file.pointer_mut(pointer).unwrap() = value;
        let source = folder.write("tokenizer.json", file.to_string().as_bytes());
        let parts = [&[source.as_str()][..], parts].concat();
        run(&["compile", &source, "-o", &image]).fails(3, &parts);
        assert!(!fs::exists(&image).unwrap());
    };
    refused(
        "/normalizer/normalizers/1",
        json!({"type": "ByteLevel"}),
        &[
            "normalizer.normalizers[1].type",
            "ByteLevel",
            "not supported",
        ],
    );
    refused(
        "/pre_tokenizer/pretokenizers/0",
        json!({"type": "Split", "pattern": {"String": " "}, "behavior": "Removed", "invert": false}),
        &["pre_tokenizer.pretokenizers[0].type", "Split"],
    );
    refused(
        "/decoder/decoders/0",
        json!({"type": "CTC"}),
        &["decoder.decoders[0].type"],
    );
    refused("/model/type", json!("BPE"), &["model.type", "BPE"]);
    refused(
        "/normalizer/normalizers/2/pattern/Regex",
        json!("(a|b)c"),
        &["normalizer.normalizers[2].pattern.Regex", "(a|b)c"],
    );
    let broken = folder.write("broken.json", b"{\"version\": ");
    run(&["compile", &broken, "-o", &image]).fails(3, &["broken.json", "line 1"]);

    // Options that a file with its own ids and reference leaves no room for.
    let (source, _) = compiled(&folder);
    for options in [["--ids", "fairseq"], ["--reference", "sentencepiece-0.2.3"]] {
        let args = [&["compile", &source, "-o", &image][..], &options].concat();
        run(&args).fails(3, &[options[0], "leave the option out"]);
    }
    run(&[
        "compile",
        &source,
        "-o",
        &image,
        "--reference",
        "huggingface-d",
    ])
    .fails(2, &["huggingface-d"]);
}

#[test]
fn models_go_through_a_preset() {
    let folder = Folder::new();
    let source = model("trained");
    let mut images = Vec::new();
    for (reference, letter) in [
        ("huggingface", "b"),
        ("huggingface-a", "a"),
        ("huggingface-b", "b"),
        ("huggingface-c", "c"),
    ] {
        let image = folder.path(&format!("{reference}.trie"));
        let args = ["compile", &source, "-o", &image, "--reference", reference];
        let summary = run(&args);
        let named = format!("huggingface-0.23 (preset {letter}), ");
        assert!(
            summary.code == 0 && summary.err.contains(&named),
            "{}",
            summary.err
        );
        verifies(&image, &source);
        let report: Value =
            serde_json::from_slice(&run(&["inspect", "--json", &image]).ok()).unwrap();
        assert_eq!(report["preset"], letter);
        images.push(fs::read(&image).unwrap());
    }
    assert_eq!(images[0], images[2]);
    assert!(images[0] != images[1] && images[0] != images[3] && images[1] != images[3]);
}

#[test]
fn verifies_hugging_face_images_of_every_kind_of_model() {
    let folder = Folder::new();
    for name in [
        "bytefb",
        "ctrl",
        "h_unused",
        "nul_bf",
        "uds",
        "denorm",
        "h_nonormal",
    ] {
        let (source, image) = (model(name), folder.path(&format!("{name}.trie")));
        let args = [
            "compile",
            &source,
            "-o",
            &image,
            "-q",
            "--reference",
            "huggingface",
        ];
        run(&args).ok();
        verifies(&image, &source);
    }
    let image = folder.path("uds.trie");
    run(&["verify", &image, "--model", &model("trained")])
        .fails(1, &["compiled from another model"]);
}

// Comparing.

#[test]
fn shows_where_references_disagree() {
    let folder = Folder::new();
    let source = xlm_roberta();
    let image = folder.path("a.trie");
    run(&[
        "compile",
        &source,
        "-o",
        &image,
        "-q",
        "--ids",
        "fairseq",
        "--reference",
        "huggingface-a",
    ])
    .ok();
    verifies(&image, &source);
    let input = "Hello World!\nこの 1 2 3 フ\u{309a} 4 5 6\nHello\n";
    let different = feed(&["diff", "--against", &image], input.as_bytes());
    assert_eq!((different.code, different.err.as_str()), (1, ""));
    let out = String::from_utf8(different.out).unwrap();
    assert!(
        out.starts_with(
            "a: sentencepiece-0.2.3\nb: huggingface-0.23 (preset a)\n\nstandard input:2: この 1"
        ),
        "{out}"
    );
    assert!(out.ends_with("\n1 of 3 lines differ\n"), "{out}");
    assert!(out.contains("\n  …\n") && !out.contains("Hello"), "{out}");
    // Half a dozen rows, not the whole line; those that differ are marked.
    let marked: Vec<&str> = out.lines().filter(|line| line.starts_with('!')).collect();
    assert!((1..=2).contains(&marked.len()), "{out}");
    assert!(marked[0].contains("プ | "), "{out}");

    // The same from the model, compiled in memory with the image's ids.
    let args = [
        "diff",
        "--against",
        &source,
        "--against-reference",
        "huggingface-a",
    ];
    assert_eq!(feed(&args, input.as_bytes()).out, out.as_bytes());
    // And the other way round.
    let args = ["diff", "--image", &image, "--against", &image, "フ\u{309a}"];
    assert_eq!(run(&args).text(), "0 of 1 lines differ\n");
}

#[test]
fn differences_as_json_lines() {
    let folder = Folder::new();
    let (one, two) = (model("trained"), folder.compile("trained"));
    let input = b"\"plain words\"\n{\"text\": \"two  spaces\"}\n{\"base64\": \"/wphIGIgIA==\"}\n";
    let args = [
        "diff",
        "--image",
        &two,
        "--against",
        &one,
        "--against-reference",
        "huggingface-c",
        "--jsonl",
    ];
    let run = feed(&args, input);
    assert_eq!(run.code, 1);
    assert!(run.err.ends_with(" of 3 lines differ\n"), "{}", run.err);
    let records: Vec<Value> = String::from_utf8(run.out)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!records.is_empty());
    for record in &records {
        assert_ne!(record["ids_a"], record["ids_b"]);
        for side in ["a", "b"] {
            let len = |name: &str| record[format!("{name}_{side}")].as_array().unwrap().len();
            assert_eq!(len("ids"), len("pieces"));
        }
        match record["line"].as_u64() {
            Some(2) => assert_eq!(record["text"], "two  spaces"),
            Some(3) => assert_eq!(record["base64"], "/wphIGIgIA=="),
            line => panic!("line {line:?} does not differ"),
        }
    }
    feed(&args, b"nonsense\n").fails(3, &["standard input:1: "]);
}

#[test]
fn diff_can_take_special_names_for_text_and_says_where_it_is() {
    let folder = Folder::new();
    let (_, image) = compiled(&folder);
    let against = |args: &[&str], code: i32| {
        let all = [&["diff", "--image", &image, "--against", &image], args].concat();
        let found = run(&all);
        assert_eq!(found.code, code, "{}", found.err);
        found.out
    };
    against(&["--special", "a <mask>"], 0);
    let model = folder.compile("trained");
    let file = folder.write("lines.jsonl", b"\"ab\"\n");
    let found = run(&[
        "diff",
        "--image",
        &image,
        "--against",
        &model,
        "--special",
        "--special-as-text",
        "--jsonl",
        "-i",
        &file,
    ]);
    assert_eq!(found.code, 1);
    let difference: Value = serde_json::from_slice(&found.out).unwrap();
    assert_eq!(difference["place"], format!("{file}:1"));
    assert_eq!(difference["ids_a"], json!([0, 8, 2]));
}

#[test]
fn numberings_do_not_matter_to_pieces() {
    let source = xlm_roberta();
    let args = |format| {
        [
            "diff",
            "--against",
            source.as_str(),
            "--against-ids",
            "sentencepiece",
            "--format",
            format,
            "Hello World!",
        ]
    };
    assert_eq!(run(&args("pieces")).text(), "0 of 1 lines differ\n");
    let out = run(&args("ids"));
    assert_eq!(out.code, 1);
    let out = String::from_utf8(out.out).unwrap();
    assert!(out.contains("\nargument 1: Hello World!\n"), "{out}");
    assert!(out.contains("!   35378 ▁Hello | "), "{out}");
}

#[test]
fn what_cannot_be_compared_with_is_refused() {
    let folder = Folder::new();
    let image = folder.compile("trained");
    let absent = folder.path("absent");
    run(&["diff", "--against", &absent, "a"]).fails(3, &["cannot read", &absent]);
    run(&["diff", "--against", &model("type_bpe"), "a"]).fails(3, &["type_bpe", "BPE"]);
    for option in [
        ["--against-reference", "huggingface"],
        ["--against-ids", "fairseq"],
    ] {
        let args = [&["diff", "--against", &image][..], &option, &["a"]].concat();
        run(&args).fails(2, &[&image, "leave out"]);
    }
    run(&["diff", "a"]).fails(2, &["--against"]);
}

//! End to end: the built `triec`, as a shell would run it.

// A test fails by panicking, its helpers too.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;
use std::io::Write;
use std::process::Stdio;

use common::{Folder, Run, feed, model, repository, run, triec};
use serde_json::{Value, json};

// The embedded model.

#[test]
fn encodes_the_readme_example() {
    assert_eq!(run(&["encode", "Hello World!"]).text(), "35378 6661 38\n");
    assert_eq!(
        run(&["encode", "--special", "Hello World!"]).text(),
        "0 35378 6661 38 2\n"
    );
    assert_eq!(
        run(&["encode", "--format", "pieces", "--special", "Hello World!"]).text(),
        "<s> ▁Hello ▁World ! </s>\n"
    );
    assert_eq!(
        run(&["encode", "Hello World!", "", "Hello"]).text(),
        "35378 6661 38\n\n35378\n"
    );
    assert_eq!(
        run(&["decode", "35378", "6661", "38"]).text(),
        "Hello World!\n"
    );
    assert_eq!(
        run(&["decode", "0 35378 6661", "38 2"]).text(),
        "Hello World!\n"
    );
    assert_eq!(run(&["normalize", "ﬁne  print "]).text(), "▁fine▁print\n");
}

#[test]
fn arguments_are_texts_even_with_jsonl() {
    assert_eq!(
        run(&["encode", "--jsonl", "--format", "pieces", "Hello World!"]).text(),
        "{\"ids\":[35378,6661,38],\"pieces\":[\"▁Hello\",\"▁World\",\"!\"]}\n"
    );
    assert_eq!(
        run(&["decode", "--jsonl", "35378", "38"]).text(),
        "{\"text\":\"Hello!\"}\n"
    );
    assert_eq!(
        run(&["normalize", "--jsonl", "a"]).text(),
        "{\"text\":\"▁a\"}\n"
    );
}

#[test]
fn inspects_the_embedded_image() {
    let text = run(&["inspect"]).text();
    assert!(text.contains("\nids           fairseq\n"), "{text}");
    let report: Value = serde_json::from_slice(&run(&["inspect", "--json"]).ok()).unwrap();
    assert_eq!(report["image"], Value::Null);
    assert_eq!(report["pieces"], 250_002);
    assert_eq!(report["trie"]["nodes"], 81_690);
    let bytes = |name: &str| report[name].as_u64().unwrap();
    assert!(bytes("core_bytes") <= 11_000_000, "{report}");
    assert!(bytes("bytes") <= 20_000_000, "{report}");
    let sections = report["sections"].as_array().unwrap();
    let of_sections = sections
        .iter()
        .map(|section| section["bytes"].as_u64().unwrap());
    assert_eq!(
        bytes("core_bytes") + bytes("accelerator_bytes"),
        of_sections.sum::<u64>()
    );
    assert_eq!(
        report["special_ids"]["mask"],
        json!({"id": 250_001, "piece": "<mask>"})
    );
}

// Lines.

#[test]
fn lines_are_bytes_between_line_feeds() {
    let folder = Folder::new();
    // Its normalizer has no rules, so that an invalid byte is the same as a U+FFFD: three byte pieces.
    let image = folder.compile("bytefb_identity");
    let input = b"Hello\r\n\n\xff\xfe\n\n\0\nlast";
    let out = feed(&["encode", "--image", &image], input).ok();
    let lines: Vec<&[u8]> = out
        .strip_suffix(b"\n")
        .unwrap()
        .split(|&b| b == b'\n')
        .collect();
    assert_eq!(lines.len(), 6);
    assert!(lines[1].is_empty() && lines[3].is_empty());
    for (line, text) in lines
        .iter()
        .zip(["Hello\r", "", "\u{fffd}\u{fffd}", "", "\0", "last"])
    {
        let jsonl = serde_json::to_string(text).unwrap();
        let ids = feed(&["encode", "--jsonl", "--image", &image], jsonl.as_bytes()).ok();
        let ids: Value = serde_json::from_slice(&ids).unwrap();
        let ids: Vec<String> = ids["ids"]
            .as_array()
            .unwrap()
            .iter()
            .map(Value::to_string)
            .collect();
        assert_eq!(*line, ids.join(" ").as_bytes(), "{text:?}");
    }
    // A final line feed adds no line, and no input is no output.
    assert_eq!(
        feed(&["encode", "--image", &image], b"last\n").ok(),
        [lines[5], b"\n"].concat()
    );
    assert_eq!(feed(&["encode", "--image", &image], b"").ok(), b"");
    assert_eq!(feed(&["encode", "--image", &image], b"\n").ok(), b"\n");
}

#[test]
fn a_carriage_return_stays_in_its_line() {
    let folder = Folder::new();
    let image = folder.compile("identity_keepws");
    let out = feed(&["normalize", "--image", &image], b"a\r\nb\r").ok();
    assert_eq!(out, "▁a\r\n▁b\r\n".as_bytes());
}

#[test]
fn files_are_read_in_order_and_standard_input_among_them() {
    let folder = Folder::new();
    let image = folder.compile("identity");
    let (one, two) = (folder.write("1", b"one"), folder.write("2", b"two\n"));
    let args = [
        "normalize",
        "--image",
        &image,
        "-i",
        &one,
        "-",
        "--input",
        &two,
    ];
    assert_eq!(
        feed(&args, b"between\n").ok(),
        "▁one\n▁between\n▁two\n".as_bytes()
    );
}

#[test]
fn every_way_to_load_gives_the_same_ids() {
    let folder = Folder::new();
    let image = folder.compile("trained");
    let expected = run(&["encode", "--image", &image, "The quick brown fox"]).ok();
    for load in ["map", "copy", "auto", "thp", "hugetlb"] {
        let run = run(&[
            "encode",
            "--image",
            &image,
            "--load",
            load,
            "The quick brown fox",
        ]);
        // Where the machine has no huge pages, a note says so.
        assert_eq!((run.code, &run.out), (0, &expected), "{load}: {}", run.err);
        assert!(run.err.lines().count() <= 1, "{}", run.err);
        let embedded = self::run(&["encode", "--load", load, "Hello World!"]);
        assert_eq!(
            (embedded.code, embedded.out.as_slice()),
            (0, b"35378 6661 38\n".as_slice())
        );
    }
}

#[test]
fn text_survives_encode_and_decode() {
    let folder = Folder::new();
    let image = folder.compile("bytefb_identity");
    let input = "plain text\n\n漢字 and emoji 🦀\nlast\n".as_bytes();
    for format in ["ids", "pieces"] {
        let args = |command| [command, "--image", image.as_str(), "--format", format];
        let encoded = feed(&args("encode"), input).ok();
        assert_eq!(feed(&args("decode"), &encoded).ok(), input, "{format}");
    }
}

#[test]
fn output_comes_line_by_line_as_input_does() {
    use std::io::{BufRead, BufReader};
    let mut child = triec(&["encode"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..3 {
        stdin.write_all(b"Hello World!\n").unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, "35378 6661 38\n");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new();
    let image = folder.compile("identity");
    let corpus = folder.write("corpus", &b"some words of text\n".repeat(100_000));
    let mut child = triec(&["encode", "--image", &image, "-i", &corpus])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    Run::from(child.wait_with_output().unwrap()).ok();
}

// JSONL.

#[test]
fn jsonl_chains_through_ids_and_pieces() {
    let folder = Folder::new();
    let image = folder.compile("bytefb_identity");
    let texts = ["two\nlines", "", "\"quoted\" \\ 🦀", "\u{0}"];
    let input: String = texts
        .iter()
        .map(|text| format!("{}\n", json!({"text": text, "id": [7, {"text": 1}]})))
        .collect();
    let encoded = feed(
        &["encode", "--jsonl", "--format", "pieces", "--image", &image],
        input.as_bytes(),
    )
    .ok();
    for line in encoded
        .split(|&b| b == b'\n')
        .filter(|line| !line.is_empty())
    {
        assert!(line.starts_with(b"{\"ids\":["), "ids come first");
        let record: Value = serde_json::from_slice(line).unwrap();
        assert_eq!(
            record["ids"].as_array().unwrap().len(),
            record["pieces"].as_array().unwrap().len()
        );
    }
    let expected: String = texts
        .iter()
        .map(|text| format!("{}\n", json!({ "text": text })))
        .collect();
    for format in ["ids", "pieces"] {
        let args = ["decode", "--jsonl", "--format", format, "--image", &image];
        assert_eq!(feed(&args, &encoded).text(), expected, "{format}");
    }
}

#[test]
fn jsonl_takes_strings_objects_and_bytes() {
    let input = b"\"Hello World!\"\r\n{\"base64\": \"SGVsbG8gV29ybGQh\"}\n{\"base64\":\"/w==\"}";
    let out = feed(&["encode", "--jsonl"], input).text();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "{\"ids\":[35378,6661,38]}");
    assert_eq!(lines[1], lines[0]);
    // The invalid byte's U+FFFD is not normalized, which would make it a space.
    assert_eq!(lines[2], "{\"ids\":[6,3]}");
    assert_eq!(
        feed(
            &["decode", "--jsonl"],
            b"[35378, 38]\n{\"ids\": [], \"x\": 1}\n"
        )
        .text(),
        "{\"text\":\"Hello!\"}\n{\"text\":\"\"}\n"
    );
    assert_eq!(
        feed(&["normalize", "--jsonl"], b"\"a  b\"").text(),
        "{\"text\":\"▁a▁b\"}\n"
    );
}

#[test]
fn pieces_that_are_not_utf8_are_base64() {
    let folder = Folder::new();
    let image = folder.compile("badutf8_piece");
    let pieces = b"[\"a\", {\"base64\": \"/w==\"}]\n";
    let out = feed(
        &["decode", "--jsonl", "--format", "pieces", "--image", &image],
        pieces,
    )
    .ok();
    assert_eq!(out, b"{\"base64\":\"Yf8=\"}\n");
}

#[test]
fn a_bad_line_is_named_and_the_lines_before_it_are_written() {
    let folder = Folder::new();
    let image = folder.compile("identity");
    let image = ["--image", image.as_str()];
    let with = |args: &[&str], input: &[u8]| feed(&[args, &image[..]].concat(), input);

    let input = b"\"a\"\n\"b\"\nnonsense\n\"c\"\n";
    let out =
        with(&["normalize", "--jsonl"], input).fails(3, &["standard input:3: ", "JSON string"]);
    assert_eq!(out, "{\"text\":\"▁a\"}\n{\"text\":\"▁b\"}\n".as_bytes());
    for line in [
        "",
        "7",
        "{}",
        "{\"text\":\"a\",\"base64\":\"YQ==\"}",
        "{\"base64\":\"?\"}",
        "\"\\ud800\"",
    ] {
        let line = format!("{line}\n");
        with(&["encode", "--jsonl"], line.as_bytes()).fails(3, &["standard input:1: "]);
    }
    for line in ["[-1]", "[1.5]", "{\"pieces\":[]}", "1", "[4000000000]"] {
        with(&["decode", "--jsonl"], line.as_bytes()).fails(3, &["standard input:1: "]);
    }
    with(&["decode"], b"1\n4 x\n")
        .fails(3, &["standard input:2: \"x\" is not an id", "from 0 to "]);
    with(&["decode"], b"1 -1\n").fails(3, &["\"-1\" is not an id"]);
    with(&["decode"], b"\xff\n").fails(3, &["is not an id"]);
    with(&["decode"], b"123456789").fails(3, &["id 123456789 is not in the vocabulary"]);
    with(&["decode", "-1"], b"").fails(3, &["argument 1: \"-1\" is not an id"]);

    let file = folder.write("ids", b"1\nbad\n");
    with(&["decode", "-i", &file], b"").fails(3, &["ids:2: \"bad\""]);
}

// Output files.

#[test]
fn output_files_are_complete_or_absent() {
    let folder = Folder::new();
    let image = folder.compile("identity");
    let (input, output) = (folder.write("in", b"\"a\"\nbad\n"), folder.path("out"));
    let args = |command, rest: &[&'static str]| {
        let mut args = vec![command, "--image", &image, "-i", &input, "-o", &output];
        args.extend(rest);
        run(&args)
    };
    let before = folder.names();
    assert_eq!(args("normalize", &["--jsonl"]).fails(3, &["in:2: "]), b"");
    assert_eq!(folder.names(), before);
    assert_eq!(args("normalize", &[]).ok(), b"");
    assert_eq!(fs::read_to_string(&output).unwrap(), "▁\"a\"\n▁bad\n");
    // A later failure leaves the earlier file alone.
    args("normalize", &["--jsonl"]).fails(3, &["in:2: "]);
    assert_eq!(fs::read_to_string(&output).unwrap(), "▁\"a\"\n▁bad\n");
    assert_eq!(folder.names(), ["identity.trie", "in", "out"]);

    let nowhere = folder.path("no/such/folder");
    run(&["encode", "a", "-o", &nowhere]).fails(3, &["cannot write", &nowhere]);
    run(&["encode", "a", "-o", &folder.path("")]).fails(3, &["cannot write"]);
}

#[cfg(unix)]
#[test]
fn a_device_is_written_in_place() {
    use std::os::unix::fs::FileTypeExt;
    run(&["encode", "a", "-o", "/dev/null"]).ok();
    assert!(
        fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );
}

// Compiling.

#[test]
fn compiles_reproducibly_and_says_what() {
    let folder = Folder::new();
    let (a, b) = (folder.path("a.trie"), folder.path("b.trie"));
    for image in [&a, &b] {
        let run = run(&["compile", &model("trained"), "--output", image]);
        assert_eq!((run.code, run.out.as_slice()), (0, &b""[..]));
        assert!(
            run.err.lines().count() == 1 && run.err.contains(" trie nodes, "),
            "{}",
            run.err
        );
    }
    assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
    // Over an image, silently.
    run(&[
        "compile",
        &model("trained"),
        "-o",
        &a,
        "--quiet",
        "--reference",
        "sentencepiece-0.2.1",
    ])
    .ok();
    let report: Value = serde_json::from_slice(&run(&["inspect", &a, "--json"]).ok()).unwrap();
    assert_eq!(report["reference"], "sentencepiece-0.2.1");
    assert_eq!(report["image"], a.as_str());
    assert_eq!(folder.names(), ["a.trie", "b.trie"]);
}

#[test]
fn refuses_bad_models_with_one_line() {
    let folder = Folder::new();
    let image = folder.path("image.trie");
    for (name, part) in [
        ("type_bpe", "BPE"),
        ("bad_dup", "already defined"),
        ("bad_random", "not a SentencePiece model"),
        ("bad_nan", "score"),
    ] {
        let model = model(name);
        run(&["compile", &model, "-o", &image]).fails(3, &[&model, part]);
    }
    run(&["compile", &folder.path("absent"), "-o", &image]).fails(3, &["cannot read", "absent"]);
    run(&[
        "compile",
        &model("h_unkpos"),
        "-o",
        &image,
        "--ids",
        "fairseq",
    ])
    .fails(3, &["--ids"]);
    assert!(folder.names().is_empty());
}

#[test]
fn does_not_overwrite_what_is_not_an_image() {
    let folder = Folder::new();
    let bytes = fs::read(model("h_tie")).unwrap();
    let source = folder.write("m.model", &bytes);
    let letter = folder.write("letter", b"Dear reader");
    run(&["compile", &source, "-o", &letter]).fails(2, &["letter", "--force"]);
    assert_eq!(fs::read(&letter).unwrap(), b"Dear reader");
    run(&["compile", &source, "-o", &letter, "--force", "-q"]).ok();
    run(&["verify", &letter]).ok();
    for force in [&[][..], &["--force"]] {
        let around = folder.path("./m.model");
        let args = [&["compile", &source, "-o", &around][..], force].concat();
        run(&args).fails(2, &["is the input itself"]);
    }
    assert_eq!(fs::read(&source).unwrap(), bytes);
    run(&["compile", &source, "-o", &folder.path(".")]).fails(2, &["not a regular file"]);
    // An empty file holds nothing to lose.
    let empty = folder.write("empty", b"");
    run(&["compile", &source, "-o", &empty, "-q"]).ok();
}

// Inspecting and verifying.

#[test]
fn inspects_a_file() {
    let folder = Folder::new();
    let image = folder.compile("bytefb");
    let text = run(&["inspect", &image]).text();
    for part in [
        "byte fallback on",
        "source        39358 bytes",
        "nodes        ",
        "checksum",
        "\ncore ",
        "\naccelerators ",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert_eq!(run(&["inspect", "--image", &image]).text(), text);
    let report: Value = serde_json::from_slice(&run(&["inspect", "--json", &image]).ok()).unwrap();
    assert_eq!(report["format_version"], "1.1");
    assert_eq!(report["bytes"], fs::metadata(&image).unwrap().len());
    let sections = report["sections"].as_array().unwrap();
    assert!(sections.iter().any(|section| section["kind"] == "byte-ids"));
    run(&["inspect", &image, "--image", &image]).fails(2, &["cannot be used with"]);
}

#[test]
fn verifies_images_of_every_kind_of_model() {
    let folder = Folder::new();
    let names = [
        "bytefb",
        "ctrl",
        "denorm",
        "h_ctrltext",
        "h_nonormal",
        "h_uds3",
        "h_unused",
        "long7999",
        "bad_dup_ctrl",
        "badutf8_piece",
        "nul_bf",
        "suffix",
        "trained",
        "uds",
    ];
    for name in names {
        let image = folder.compile(name);
        let out = run(&["verify", &image, "--model", &model(name)]).text();
        assert!(
            out.lines().all(|line| line.starts_with("ok ")),
            "{name}: {out}"
        );
        assert_eq!(out.lines().count(), 14, "{name}: {out}");
    }
    let image = folder.compile("trained");
    let out = run(&["verify", &image, "--model", &model("uds")])
        .fails(1, &["compiled from another model", "uds.model"]);
    assert!(out.starts_with(b"ok header"));
    run(&["verify", &image, "--model", &model("type_bpe")]).fails(3, &["BPE"]);
}

#[test]
fn verifies_the_default_model() {
    let folder = Folder::new();
    let image = folder.path("xlm-roberta.trie");
    let model = repository().join("models/xlm-roberta.model");
    let model = model.to_str().unwrap();
    run(&[
        "compile", model, "-o", &image, "--ids", "fairseq", "--quiet",
    ])
    .ok();
    let out = run(&["verify", &image, "--model", model]).text();
    assert!(out.contains("ok trie: 81690 nodes, 249997 pieces"), "{out}");
    assert_eq!(
        run(&["encode", "--image", &image, "Hello World!"]).text(),
        "35378 6661 38\n"
    );
}

#[test]
fn damaged_foreign_and_incompatible_files_have_their_exit_codes() {
    let folder = Folder::new();
    let image = folder.compile("trained");
    let good = fs::read(&image).unwrap();
    let with = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        folder.write(name, &bytes)
    };
    let last = good.len() - 1;
    let damaged = [
        with("truncated", &|bytes| bytes.truncate(last)),
        with("trailing", &|bytes| bytes.push(0)),
        with("header", &|bytes| bytes[40] ^= 1),
        with("table", &|bytes| bytes[80] ^= 1),
        with("empty", &|bytes| bytes.clear()),
        with("foreign", &|bytes| *bytes = b"not an image\n".repeat(100)),
    ];
    for file in &damaged {
        run(&["verify", file]).fails(1, &[file]);
        for load in ["map", "copy"] {
            run(&["encode", "--image", file, "--load", load, "a"]).fails(3, &[file]);
        }
        run(&["inspect", file]).fails(3, &[file]);
    }
    // The spare bytes of the last node: only a checksum can tell.
    let node = with("node", &|bytes| bytes[last] ^= 1);
    let out = run(&["verify", &node]).fails(1, &["checksum"]);
    assert_eq!(String::from_utf8(out).unwrap().lines().count(), 2);
    run(&["encode", "--image", &node, "--load", "copy", "a"]).fails(3, &["checksum"]);

    let version = with("version", &|bytes| bytes[12] = 2);
    for args in [
        &["verify", &version][..],
        &["inspect", &version],
        &["encode", "--image", &version, "a"],
        &["decode", "--image", &version, "--load", "copy", "1"],
    ] {
        run(args).fails(4, &[&version, "version 2."]);
    }
    let absent = folder.path("absent");
    for args in [
        &["verify", &absent][..],
        &["inspect", &absent],
        &["normalize", "--image", &absent, "a"],
        &["encode", "-i", &absent],
    ] {
        run(args).fails(3, &["cannot read", &absent]);
    }
    run(&["verify", folder.0.path().to_str().unwrap()]).fails(3, &["cannot read"]);
}

// The command line.

#[test]
fn wrong_command_lines_are_refused_with_one_line() {
    for args in [
        &["frobnicate"][..],
        &["encode", "--format", "words"],
        &["encode", "a", "--input", "b"],
        &["compile", "a.model"],
        &["verify"],
    ] {
        run(args).fails(2, &["triec help"]);
    }
}

#[test]
fn helps() {
    let version = run(&["--version"]).text();
    assert_eq!(version, format!("triec {}\n", env!("CARGO_PKG_VERSION")));
    for command in [
        "compile",
        "inspect",
        "verify",
        "encode",
        "decode",
        "normalize",
        "diff",
    ] {
        let help = run(&[command, "--help"]).text();
        assert!(
            help.contains("Examples:") && help.contains("Usage:"),
            "{help}"
        );
    }
    assert!(run(&["--help"]).text().contains("Exit codes:"));
    // Without a command: the help, as an error.
    let bare = run(&[]);
    assert_eq!((bare.code, bare.out.is_empty()), (2, true));
    assert!(bare.err.contains("Usage:"));
}

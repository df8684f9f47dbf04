//! End to end: `triec explain`.

// A test fails by panicking, its helpers too.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Folder, run};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

fn explain(args: &[&str]) -> String {
    run(&[&["explain"], args].concat()).text()
}

fn object(args: &[&str]) -> Value {
    serde_json::from_str(&explain(&[&["--json"], args].concat())).unwrap()
}

#[test]
fn shows_the_lattice_the_path_and_the_runners_up() {
    let text = explain(&["Hello World!"]);
    for part in [
        "normalized  ▁Hello▁World!\nids         35378 6661 38\n",
        "\n* 0..8      35378    -12.4782  ▁Hello\n",
        "\n  0..7      43153    -12.6446  ▁Hell\n",
        "\n* 8..16      6661    -11.1138        ▁World\n",
        "\nbest path  score -30.2086\n",
        "\n      6661    -11.1138    -23.5920  ▁World\n",
        "\n     2    -36.0965      5.8880  ▁World -> ▁ World\n",
        "\n     3    -36.7928      6.5842  ▁Hello -> ▁Hell o\n",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert!(!text.contains('\x1b'), "colour where there is no terminal");
    assert_eq!(text.matches("->").count(), 1 + 5);
    assert!(!explain(&["--nbest", "0", "Hello World!"]).contains("runners-up"));
}

/// Every candidate stands below its own place in the text, however wide the characters are.
#[test]
fn candidates_stand_below_the_text() {
    let text = explain(&["いいa漢字"]);
    let mut lines = text.lines().skip_while(|line| !line.contains("bytes"));
    let title = lines.next().unwrap();
    let column = title[..title.find('▁').unwrap()].width();
    let rows: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    assert!(rows.len() > 6);
    for row in rows {
        let range = row[2..].split(' ').next().unwrap();
        let (start, _) = range.split_once("..").unwrap();
        let start: usize = start.parse().unwrap();
        let piece = row.rsplit(' ').next().unwrap();
        let before = "▁いいa漢字"[..start].width();
        assert_eq!(
            row[..row.len() - piece.len()].width(),
            column + before,
            "{row}"
        );
    }
}

#[test]
fn ties_and_unknown_characters_are_named() {
    let text = explain(&["いいい \u{12000}\u{12001}"]);
    assert!(text.contains("tie  い いい -> いい い\n"), "{text}");
    assert!(text.contains("unknown    -30.3648"), "{text}");
}

#[test]
fn json_says_all_of_it() {
    let report = object(&["--nbest", "2", "Hello World!"]);
    assert_eq!(report["text"], "Hello World!");
    assert_eq!(report["ids"], json!([35378, 6661, 38]));
    let segment = &report["segments"][0];
    assert_eq!(
        (&segment["start"], &segment["end"]),
        (&json!(0), &json!(17))
    );
    let candidates = segment["candidates"].as_array().unwrap();
    let on_path = candidates.iter().filter(|c| c["on_best_path"] == true);
    let on_path: Vec<&Value> = on_path.map(|candidate| &candidate["id"]).collect();
    assert_eq!(on_path, [35378, 6661, 38]);
    assert_eq!(segment["best"][2]["piece"], "!");
    let runners = segment["runners_up"].as_array().unwrap();
    assert_eq!(runners.len(), 2);
    let best = segment["best"][2]["so_far"].as_f64().unwrap();
    let behind = best - runners[0]["score"].as_f64().unwrap();
    assert!((behind - runners[0]["behind"].as_f64().unwrap()).abs() < 1e-4);
    let unknown = object(&["\u{12000}"]);
    let last = &unknown["segments"][0]["best"][1];
    assert_eq!(
        (&last["id"], &last["piece"]),
        (&Value::Null, &json!("\u{12000}"))
    );
}

#[test]
fn several_texts_and_none() {
    let text = explain(&["a", "b"]);
    assert_eq!(text.matches("normalized").count(), 2);
    assert_eq!(
        explain(&["  "]),
        "normalized  (nothing)\nids         (nothing)\n"
    );
    assert_eq!(object(&[""])["segments"], json!([]));
    run(&["explain"]).fails(2, &["TEXT"]);
    run(&["explain", "--nbest", "512", "a"]).fails(2, &["511"]);
}

#[test]
fn long_texts_are_cut_and_say_so() {
    let long = "Everyone has the right to life. ".repeat(40);
    let cut = explain(&[&long]);
    assert!(cut.lines().count() < 280, "{}", cut.lines().count());
    assert!(
        cut.contains(" more candidates: --all shows them\n"),
        "{cut}"
    );
    assert!(cut.contains(" more pieces: --all shows them\n"), "{cut}");
    let whole = explain(&["--all", &long]);
    assert!(whole.lines().count() > 2_000);
    assert!(!whole.contains("--all shows them"));
}

#[test]
fn hugging_face_images_are_explained_word_by_word() {
    let folder = Folder::new();
    let image = folder.path("hf.trie");
    let input = common::repository().join("models/xlm-roberta.model");
    let input = input.to_str().unwrap();
    let options = ["--ids", "fairseq", "--reference", "huggingface", "--quiet"];
    run(&[&["compile", input, "-o", &image], &options[..]].concat()).ok();
    let args = ["--image", &image, "Hi  there<mask>いいい"];
    let text = explain(&args);
    for part in [
        "normalized  ▁Hi▁there<mask>▁いいい\n",
        "\nword 1  ▁Hi\n",
        "\nword 3  <mask>  added token 250001",
        // Which of the two equal ones wins depends on the arithmetic.
        "\nword 4  ▁いいい\n",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let report = object(&args);
    let ids: Vec<u64> = report["segments"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|segment| match segment["added_token"].as_u64() {
            Some(id) => vec![id],
            None => {
                let best = segment["best"].as_array().unwrap().iter();
                best.map(|piece| piece["id"].as_u64().unwrap()).collect()
            }
        })
        .collect();
    assert_eq!(report["ids"], json!(ids));
}

#[test]
fn images_that_are_not_there_are_errors() {
    run(&["explain", "--image", "nowhere.trie", "a"]).fails(3, &["nowhere.trie"]);
}

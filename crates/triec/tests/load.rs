//! `triec load`, end to end: what it says, and a command that finds the image.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::process::Stdio;

use common::{model, run, triec};

fn image(folder: &tempfile::TempDir) -> String {
    let path = folder
        .path()
        .join("small.trie")
        .to_str()
        .unwrap()
        .to_owned();
    run(&["compile", &model("h_tie"), "-o", &path, "--quiet"]).ok();
    path
}

#[test]
fn says_what_memory_it_got_and_what_each_step_took() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(&folder);
    for (kind, steps) in [
        (
            "copy",
            &["header", "memory", "copy", "checksums", "structure"][..],
        ),
        ("map", &["header", "memory", "structure"]),
    ] {
        let text = run(&["load", &path, "--load", kind]).text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].starts_with("image id "), "{text}");
        assert!(lines[1].contains(&format!(" bytes, {kind}")), "{text}");
        for step in steps {
            assert!(lines[2].contains(step), "no {step} in {text}");
        }
    }
    run(&["load", "--load", "map"]).text();
    run(&["load", "missing.trie"]).fails(3, &["missing.trie"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_without_huge_pages_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(&folder);
    let target = folder.path().to_str().unwrap();
    run(&["load", &path, "--hugetlbfs", target]).fails(3, &["mount -t hugetlbfs"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_and_its_children_find_the_image() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(&folder);
    let expected = run(&["encode", "--image", &path, "abab"]).text();
    let binary = env!("CARGO_BIN_EXE_triec");
    // A shell, and a child of it.
    let script = format!(
        "{binary} encode --image \"$TRIE_IMAGE\" abab && test \"$TRIE_IMAGE\" = /proc/self/fd/$TRIE_IMAGE_FD \
         && echo \"$TRIE_IMAGE_ID\""
    );
    for load in ["auto", "hugetlb", "thp", "copy", "map"] {
        let output = triec(&["load", &path, "--load", load, "--", "sh", "-c", &script])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = common::Run::from(output).text();
        let id = text
            .strip_prefix(&expected)
            .expect("the same ids")
            .trim_end();
        let inspected = run(&["inspect", &path]).text();
        assert!(inspected.contains(id) && id.len() == 32, "{id}");
    }
    run(&["load", &path, "--", "/no/such/program"]).fails(3, &["/no/such/program"]);
}

/// For real where a hugetlbfs is mounted that may be written to.
#[test]
#[cfg(target_os = "linux")]
fn workers_map_a_file_of_huge_pages() {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let folder = mounts
        .lines()
        .filter(|line| line.contains(" hugetlbfs ") && line.contains("pagesize=2M"))
        .filter_map(|line| tempfile::tempdir_in(line.split(' ').nth(1)?).ok())
        .next();
    let Some(huge) = folder else {
        eprintln!("NOT RUN: no hugetlbfs is mounted that may be written to");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = image(&folder);
    let target = huge.path().to_str().unwrap();
    let loaded = run(&["load", &path, "--hugetlbfs", target, "--name", "a.trie"]);
    if loaded.err.contains("vm.nr_hugepages") {
        eprintln!("NOT RUN: {}", loaded.err);
        return;
    }
    let text = loaded.text();
    assert!(
        text.contains("a.trie") && text.contains("2048 KiB pages"),
        "{text}"
    );
    let file = huge.path().join("a.trie").to_str().unwrap().to_owned();
    let ids = |image: &str| run(&["encode", "--image", image, "abab"]).text();
    assert_eq!(ids(&file), ids(&path));
    run(&["verify", &file]).text();
}

//! Surroundings in which memory, a file system or `/proc` is missing: one line and an exit code, or the right ids, and
//! never a signal but the kernel's own. What a machine does not allow to set up is not run, and says so.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::{Folder, repository, run};

const HELLO: &str = "35378 6661 38\n";

fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_triec")
}

/// The real image.
fn real(folder: &Folder) -> String {
    let image = folder.path("real.trie");
    let model = repository().join("models/xlm-roberta.model");
    let model = model.to_str().unwrap();
    run(&["compile", model, "-o", &image, "-q", "--ids", "fairseq"]).ok();
    image
}

fn shell(script: &str) -> Output {
    Command::new("sh")
        .args(["-c", script])
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs `script` with mounts of its own, if that is allowed here.
fn with_own_mounts(script: &str) -> Option<Output> {
    let may = shell("unshare -m sh -c 'mount -t tmpfs none /mnt'");
    if !may.status.success() {
        eprintln!("NOT RUN: nothing can be mounted here");
        return None;
    }
    let mut command = Command::new("unshare");
    Some(
        command
            .args(["-m", "sh", "-ec", script])
            .stdin(Stdio::null())
            .output()
            .unwrap(),
    )
}

#[track_caller]
fn text(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {error}", output.status);
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_read_only_file_system_is_enough() {
    let folder = Folder::new();
    let image = folder.compile("h_tie");
    let expected = run(&["encode", "--image", &image, "abab"]).text();
    let binary = binary();
    let script = format!(
        "mount -t tmpfs none /mnt; cp {image} /mnt/a.trie; mount -o remount,ro /mnt; cd /mnt
         for load in map copy auto; do {binary} encode --image a.trie --load $load abab; done
         {binary} load a.trie -- {binary} encode abab > /dev/null
         {binary} compile {} -o b.trie && exit 9; test $? = 3; ls",
        common::model("h_tie")
    );
    let Some(output) = with_own_mounts(&script) else {
        return;
    };
    assert_eq!(text(&output), format!("{0}{0}{0}a.trie\n", expected));
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(
        error.contains("cannot write b.trie") && error.contains("Read-only"),
        "{error}"
    );
}

#[test]
fn without_proc_only_the_report_says_less() {
    let folder = Folder::new();
    let image = folder.compile("h_tie");
    let expected = run(&["encode", "--image", &image, "abab"]).text();
    let binary = binary();
    let script = format!(
        "umount -l /proc; test ! -e /proc/self
         for load in map hugetlb thp copy auto; do {binary} encode --image {image} --load $load abab; done
         {binary} load {image} --load copy"
    );
    let Some(output) = with_own_mounts(&script) else {
        return;
    };
    let out = text(&output);
    let rest = out.strip_prefix(&expected.repeat(5)).expect("the same ids");
    assert!(
        rest.contains("bytes, copy\n") && !rest.contains("KiB pages"),
        "{rest}"
    );
}

/// Runs `triec encode` with `arguments` in so many KiB of address space.
fn in_space(kib: u64, arguments: &str) -> Output {
    let binary = binary();
    shell(&format!(
        "ulimit -v {kib}; exec {binary} encode {arguments} 'Hello World!'"
    ))
}

/// From too little for the image to more than enough.
#[test]
fn too_little_address_space_is_an_error_and_no_crash() {
    let folder = Folder::new();
    let image = real(&folder);
    let len = std::fs::metadata(&image).unwrap().len() >> 10;
    // What the program takes without any image but its own.
    let enough = |kib: &u64| in_space(*kib, "").status.success();
    let base = (0..).step_by(1 << 10).find(enough).unwrap();
    for load in ["map", "copy", "thp"] {
        let mut outcomes = Vec::new();
        for percent in [50, 90, 150, 400] {
            let arguments = format!("--image {image} --load {load}");
            let output = in_space(base + len * percent / 100, &arguments);
            let error = String::from_utf8_lossy(&output.stderr);
            let code = output
                .status
                .code()
                .unwrap_or_else(|| panic!("{}: {error}", output.status));
            match code {
                0 => assert_eq!(output.stdout, HELLO.as_bytes()),
                3 => assert!(
                    error.starts_with("triec: ") && error.lines().count() == 1,
                    "{error}"
                ),
                other => panic!("exit code {other}: {error}"),
            }
            outcomes.push(code);
        }
        assert_eq!((outcomes[0], outcomes[3]), (3, 0), "{load}: {outcomes:?}");
    }
}

/// Writes to a file of the kernel's, which is there or not.
fn write(path: &Path, text: &str) -> Option<()> {
    let mut file = std::fs::OpenOptions::new().write(true).open(path).ok()?;
    file.write_all(text.as_bytes()).ok()
}

/// A cgroup with a limit, removed at the end.
struct Cgroup(PathBuf);

impl Cgroup {
    fn new(hierarchy: &str, file: &str, limit: u64) -> Option<Self> {
        let folder = Path::new(hierarchy).join(format!("trie-{}", std::process::id()));
        std::fs::create_dir(&folder).ok()?;
        let group = Self(folder);
        write(&group.0.join(file), &limit.to_string())?;
        Some(group)
    }

    fn run(&self, command: &str) -> Output {
        let tasks = self.0.join("cgroup.procs");
        shell(&format!("echo $$ > {} && exec {command}", tasks.display()))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // The kernel needs a moment to bury the last process.
        for _ in 0..50 {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

fn free_huge_pages() -> u64 {
    let path = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages";
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

/// A process that runs short of the pages that its group may take from the pool.
#[test]
fn a_limit_on_huge_pages_is_a_fallback_or_an_error() {
    let folder = Folder::new();
    let image = real(&folder);
    let needed = std::fs::metadata(&image).unwrap().len().div_ceil(2 << 20);
    if free_huge_pages() < needed {
        eprintln!(
            "NOT RUN: {needed} free huge pages are needed, the pool has {}",
            free_huge_pages()
        );
        return;
    }
    let hierarchies = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
    let group = hierarchies.iter().find_map(|hierarchy| {
        write(
            &Path::new(hierarchy).join("cgroup.subtree_control"),
            "+hugetlb",
        )?;
        Cgroup::new(hierarchy, "hugetlb.2MB.max", 4 << 20)
    });
    let Some(group) = group else {
        eprintln!("NOT RUN: no control group for huge pages can be made here");
        return;
    };
    let output = group.run(&format!(
        "{} encode --image {image} --load auto 'Hello World!'",
        binary()
    ));
    assert_eq!(text(&output), HELLO);
    let output = group.run(&format!("{} load {image}", binary()));
    let out = text(&output);
    assert!(
        out.contains("not hugetlb: ") && out.contains("cgroup"),
        "{out}"
    );
    // A sealed copy falls back as well.
    let encode = format!(
        "{0} load {image} -- sh -c '{0} encode --image $TRIE_IMAGE \"Hello World!\"'",
        binary()
    );
    assert_eq!(text(&group.run(&encode)), HELLO);

    let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
    let huge = mounts
        .lines()
        .filter(|line| line.contains(" hugetlbfs ") && line.contains("pagesize=2M"))
        .filter_map(|line| tempfile::tempdir_in(line.split(' ').nth(1)?).ok())
        .next();
    let Some(huge) = huge else {
        eprintln!("NOT RUN in part: no hugetlbfs is mounted that may be written to");
        return;
    };
    let target = huge.path().to_str().unwrap();
    let output = group.run(&format!("{} load {image} --hugetlbfs {target}", binary()));
    assert_eq!(output.status.code(), Some(3));
    let left = std::fs::read_dir(huge.path()).unwrap().count();
    assert_eq!(left, 0, "nothing is left behind");
    // Who only maps a file that others have populated needs no pages of its own.
    let file = format!("{target}/real.trie");
    run(&["load", &image, "--hugetlbfs", target]).text();
    let output = group.run(&format!(
        "{} encode --image {file} 'Hello World!'",
        binary()
    ));
    assert_eq!(text(&output), HELLO);
}

/// The kernel's answer to a process that goes beyond its group's memory is its own; files that are mapped can be
/// dropped from memory, and so are no reason for it.
#[test]
fn a_limit_on_memory_does_not_matter_to_a_mapped_file() {
    let folder = Folder::new();
    let image = real(&folder);
    let limit = 8 << 20;
    let (v1, v2) = ("memory.limit_in_bytes", "memory.max");
    let group = Cgroup::new("/sys/fs/cgroup/memory", v1, limit)
        .or_else(|| Cgroup::new("/sys/fs/cgroup", v2, limit));
    let Some(group) = group else {
        eprintln!("NOT RUN: no control group for memory can be made here");
        return;
    };
    let output = group.run(&format!(
        "{} encode --image {image} 'Hello World!'",
        binary()
    ));
    assert_eq!(text(&output), HELLO);
}

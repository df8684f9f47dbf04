//! What the end-to-end tests share: the built `triec`, as a shell would run it.

// A test fails by panicking, its helpers too; and not every test binary needs every helper.
#![allow(clippy::unwrap_used, clippy::expect_used, dead_code, unreachable_pub)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn model(name: &str) -> String {
    let path = repository().join(format!("tests/data/models/{name}.model"));
    path.to_str().unwrap().into()
}

pub fn triec(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_triec"));
    command.args(args);
    command
}

/// What a run did.
pub struct Run {
    pub code: i32,
    pub out: Vec<u8>,
    pub err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("not ended by a signal"),
            out: output.stdout,
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Run {
    /// The output of a run that must have succeeded, silently.
    #[track_caller]
    pub fn ok(self) -> Vec<u8> {
        assert_eq!((self.code, self.err.as_str()), (0, ""));
        self.out
    }

    #[track_caller]
    pub fn text(self) -> String {
        String::from_utf8(self.ok()).unwrap()
    }

    /// A failure: the exit code, one line on standard error that holds all of `parts`.
    #[track_caller]
    pub fn fails(self, code: i32, parts: &[&str]) -> Vec<u8> {
        assert_eq!(self.code, code, "{}", self.err);
        assert!(
            self.err.starts_with("triec: ") && self.err.ends_with('\n'),
            "{}",
            self.err
        );
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        for part in parts {
            assert!(self.err.contains(part), "no {part:?} in: {}", self.err);
        }
        self.out
    }
}

pub fn run(args: &[&str]) -> Run {
    triec(args).stdin(Stdio::null()).output().unwrap().into()
}

/// Runs with `input` on standard input.
pub fn feed(args: &[&str], input: &[u8]) -> Run {
    let mut child = triec(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A program that stops at a bad line closes its end first.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output.into()
}

/// A folder for one test, with images compiled into it.
pub struct Folder(pub tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().into()
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    pub fn compile(&self, name: &str) -> String {
        let image = self.path(&format!("{name}.trie"));
        run(&["compile", &model(name), "-o", &image, "--quiet"]).ok();
        image
    }

    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

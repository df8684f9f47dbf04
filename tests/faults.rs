//! What can happen to an image's file and process while it is loaded and used: nothing crashes but where the contract
//! of `Image::map` says so, and nothing wrong is served. See `FAULTS.md` of trie-runtime; what needs another process is
//! in triec's tests of this name.
#![cfg(target_os = "linux")]
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use trie_runtime::{Backing, Image, LoadError, LoadOptions, Reference, Scratch, Tokenizer};
use trie_tests::{
    compile_file, corpus_dir, lines, model_path, options, text_files, tokenizer, xlm_roberta,
};

const TEXT: &str = "Hello World! \u{3042}bab abab";

fn copy(path: &Path) -> Result<Image, LoadError> {
    Image::load(path, &LoadOptions::default().with_backing(Backing::Copy))
}

fn compiled(name: &str) -> Vec<u8> {
    let model = model_path(name, None).expect("the model is committed");
    compile_file(
        &model,
        &options("sentencepiece", Reference::SentencePiece023),
    )
    .expect("sound")
}

fn ids(image: Image) -> Vec<u32> {
    Tokenizer::new(image).encode_to_vec(TEXT)
}

fn ids_of(bytes: &[u8]) -> Vec<u32> {
    ids(Image::from_bytes(bytes).expect("a sound image"))
}

/// Runs `job` in a forked child. Returns its exit code, or the signal that ended it.
fn in_child(job: impl FnOnce() -> bool) -> Result<i32, i32> {
    // SAFETY: the child has a copy of this thread alone, does its job and ends by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = i32::from(!job());
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(code) };
    }
    assert!(child > 0, "the process could not fork");
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    match libc::WIFEXITED(status) {
        true => Ok(libc::WEXITSTATUS(status)),
        false => Err(libc::WTERMSIG(status)),
    }
}

/// Calls `attempt` again and again while `change` is done to the file again and again.
fn meanwhile(change: impl Fn(usize) + Sync, mut attempt: impl FnMut()) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (0..)
                .take_while(|_| !done.load(Ordering::Relaxed))
                .for_each(&change);
        });
        for _ in 0..2000 {
            attempt();
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// The worst that can be done to a file: another image's bytes are written over it, and it is cut, all the time.
#[test]
fn a_file_that_is_overwritten_while_it_is_copied_is_refused_or_right() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.trie");
    let images = ["h_tie", "h_uds_norm"].map(compiled);
    let expected = images.each_ref().map(|image| ids_of(image));
    std::fs::write(&path, &images[0]).expect("written");
    let file = OpenOptions::new()
        .write(true)
        .open(&path)
        .expect("it is there");
    let (mut sound, mut refused) = (0, 0);
    meanwhile(
        |round| {
            let image = &images[round % 2];
            let cut = image.len() / 3 * (round % 3);
            file.set_len(cut as u64).expect("cut");
            file.write_all_at(&image[..image.len() / 2], 0)
                .expect("written");
            file.write_all_at(&image[image.len() / 2..], (image.len() / 2) as u64)
                .expect("written");
            file.set_len(image.len() as u64).expect("cut");
            std::thread::yield_now();
        },
        || match copy(&path) {
            Ok(image) => {
                sound += 1;
                assert!(expected.contains(&ids(image)));
            }
            Err(LoadError::File { .. } | LoadError::Read { .. }) => refused += 1,
            Err(other) => panic!("{other}"),
        },
    );
    println!("{sound} times sound, {refused} times refused");
    assert!(refused > 0, "the file was never caught in between");
    // And when the writer has rested, the file is what it last was.
    assert!(expected.contains(&ids(copy(&path).expect("whole again"))));
}

#[test]
fn a_file_that_is_replaced_by_renaming_is_always_one_image_or_the_other() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.trie");
    let images = ["h_tie", "h_uds_norm"].map(compiled);
    let expected = images.each_ref().map(|image| ids_of(image));
    let other = folder.path().join("b.trie");
    let replace = |round: usize| {
        std::fs::write(&other, &images[round % 2]).expect("written");
        std::fs::rename(&other, &path).expect("renamed");
    };
    replace(0);
    let mut seen = [0, 0];
    meanwhile(replace, || {
        // SAFETY: the file is only ever replaced by renaming another over it.
        let mapped = unsafe { Image::map(&path) }.expect("always a whole image");
        let copied = copy(&path).expect("always a whole image");
        for image in [mapped, copied] {
            image.verify_checksums().expect("all of it");
            let found = ids(image);
            let which = expected.iter().position(|expected| *expected == found);
            seen[which.expect("one of the two")] += 1;
        }
    });
    assert!(seen.iter().all(|&times| times > 0), "{seen:?}");
}

/// What `Image::map` warns of, and what `Image::load` is for.
#[test]
fn a_mapped_file_that_is_cut_ends_the_process_and_a_copy_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.trie");
    let image = compiled("h_tie");
    let expected = ids_of(&image);
    std::fs::write(&path, &image).expect("written");
    let cut = |path: &Path| {
        let file = OpenOptions::new()
            .write(true)
            .open(path)
            .expect("it is there");
        file.set_len(0).expect("cut");
    };
    let copied = copy(&path).expect("sound");
    let ended = in_child(|| {
        // SAFETY: not kept, to see what comes of it: pages that are gone cannot be read, so nothing wrong is.
        let mapped = unsafe { Image::map(&path) }.expect("sound");
        cut(&path);
        ids(mapped) == expected
    });
    assert_eq!(ended, Err(libc::SIGBUS));
    assert_eq!(ids(copied), expected);
}

#[test]
fn children_that_are_forked_after_loading_give_the_same_ids_in_any_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.trie");
    let reference = xlm_roberta(Reference::SentencePiece023);
    std::fs::write(&path, reference.image().view().bytes()).expect("written");
    let expected = reference.encode_to_vec(TEXT);
    let options = LoadOptions::default();
    let shared = File::from(
        reference
            .image()
            .to_shared(&options)
            .expect("memory is to be had"),
    );
    // SAFETY: nothing changes the file of this test.
    let mapped = unsafe { Image::map(&path) }.expect("sound");
    let images = [
        mapped,
        Image::from_shared(&shared).expect("sound"),
        Image::load(&path, &options.with_backing(Backing::HugeTlb)).expect("falls back"),
        Image::load(&path, &options.with_backing(Backing::TransparentHuge)).expect("falls back"),
        copy(&path).expect("sound"),
    ];
    for image in images {
        let report = image.report().to_string();
        let tokenizer = Tokenizer::new(image);
        for _ in 0..4 {
            let ended = in_child(|| tokenizer.encode_to_vec(TEXT) == expected);
            assert_eq!(ended, Ok(0), "{report}");
        }
        assert_eq!(tokenizer.encode_to_vec(TEXT), expected);
    }
}

#[test]
fn sixty_four_threads_that_load_at_once_all_get_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.trie");
    let image = compiled("h_uds_norm");
    let expected = ids_of(&image);
    std::fs::write(&path, &image).expect("written");
    let start = Barrier::new(64);
    std::thread::scope(|scope| {
        for thread in 0..64 {
            let (path, start, expected) = (&path, &start, &expected);
            scope.spawn(move || {
                start.wait();
                let image = match thread % 3 {
                    0 => Image::load(path, &LoadOptions::default()),
                    1 => copy(path),
                    // SAFETY: nothing changes the file of this test.
                    _ => unsafe { Image::map(path) },
                };
                assert_eq!(ids(image.expect("sound")), *expected);
            });
        }
    });
}

#[test]
fn sixty_four_threads_share_a_tokenizer() {
    let shared = xlm_roberta(Reference::SentencePiece023);
    let files = text_files(&corpus_dir());
    let texts: Vec<&[u8]> = files
        .iter()
        .flat_map(|(_, text)| lines(text))
        .take(640)
        .collect();
    let mut scratch = Scratch::new();
    let expected: Vec<Vec<u32>> = texts
        .iter()
        .map(|text| shared.encode(text, &mut scratch).to_vec())
        .collect();
    let start = Barrier::new(64);
    std::thread::scope(|scope| {
        for thread in 0..64 {
            let (shared, texts, expected, start) = (&shared, &texts, &expected, &start);
            scope.spawn(move || {
                let mut scratch = Scratch::new();
                start.wait();
                // Each begins elsewhere.
                for i in (0..texts.len()).map(|i| (i + thread * 10) % texts.len()) {
                    assert_eq!(shared.encode(texts[i], &mut scratch), expected[i]);
                }
            });
        }
    });
}

/// The first use of a model in a process, from many threads: no state of the process is set up by it.
#[test]
fn first_uses_at_once_all_give_the_same() {
    let path = model_path("h_bytes", None).expect("the model is committed");
    let options = options("sentencepiece", Reference::SentencePiece023);
    let shared = tokenizer(&path, &options);
    let start = Barrier::new(16);
    let all: Vec<Vec<u32>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    shared.encode_to_vec(TEXT)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect()
    });
    assert!(all.iter().all(|ids| *ids == all[0] && !ids.is_empty()));
}

#[test]
fn images_of_the_other_byte_order_are_refused() {
    let mut image = compiled("h_tie");
    image[8..12].reverse();
    let error = Image::from_bytes(&image).expect_err("foreign");
    assert!(error.to_string().contains("byte order"), "{error}");
    assert!(!trie_format::const_check_header(&image));
}

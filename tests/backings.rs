//! Every way to hold an image gives the same ids, and says what memory it got.

#![allow(unsafe_code)]

use std::path::PathBuf;

use trie_runtime::{Backing, Image, LoadError, LoadOptions, Scratch, Tokenizer};
use trie_tests::{REFERENCES, compile_file, model_path, options};

const HUGE_PAGE: usize = 2 << 20;

/// The real image in a file of its own.
fn image_file() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("xlm-roberta.trie");
    let model = model_path("xlm-roberta", None).expect("the model is committed");
    let image = compile_file(&model, &options("fairseq", REFERENCES[0].0)).expect("a sound model");
    trie_compiler::write_image(&path, &image).expect("the image can be written");
    (dir, path)
}

fn check_ids(image: Image) {
    let tokenizer = Tokenizer::new(image);
    let mut scratch = Scratch::new();
    assert_eq!(
        tokenizer.encode("Hello World!", &mut scratch),
        [35378, 6661, 38]
    );
    assert_eq!(tokenizer.piece_to_id("<mask>"), Some(250_001));
}

/// Free pages in the pool of 2 MiB pages.
fn free_huge_pages() -> usize {
    std::fs::read_to_string("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(0)
}

/// All of this in one test: it takes pages from the machine's one pool.
#[test]
fn every_backing_gives_the_same_ids() {
    let (_dir, path) = image_file();
    let len = std::fs::metadata(&path).expect("the image exists").len() as usize;
    let load = |backing| Image::load(&path, &LoadOptions::default().with_backing(backing));

    let needed = len.div_ceil(HUGE_PAGE);
    let pool = free_huge_pages();
    for backing in [Backing::HugeTlb, Backing::Auto] {
        let image = load(backing).expect("falls back if need be");
        let report = image.report();
        println!("{backing}: {report}");
        if pool >= needed {
            assert_eq!(report.backing, Backing::HugeTlb);
            assert!(report.fallbacks.is_empty());
            let pages = report.pages.expect("the kernel says");
            assert_eq!((pages.size, pages.huge), (HUGE_PAGE, needed * HUGE_PAGE));
        } else {
            println!("NOT RUN for real: hugetlb needs {needed} free pages, the pool has {pool}");
            assert_eq!(report.fallbacks[0].from, Backing::HugeTlb);
            assert!(report.fallbacks[0].reason.contains("vm.nr_hugepages"));
        }
        check_ids(image);
    }
    assert_eq!(
        free_huge_pages(),
        pool,
        "dropping an image gives its pages back"
    );

    // More images than the pool has room for: the ones that come too late fall back.
    let images: Vec<Image> = (0..=pool / needed)
        .map(|_| load(Backing::Auto).expect("falls back"))
        .collect();
    let last = images.last().expect("at least one").report();
    println!("pool exhausted: {last}");
    assert_ne!(last.backing, Backing::HugeTlb);
    assert_eq!(last.fallbacks[0].from, Backing::HugeTlb);
    let strict = LoadOptions::default()
        .with_backing(Backing::HugeTlb)
        .with_fallback(false);
    let error = Image::load(&path, &strict).expect_err("the pool is exhausted");
    assert!(
        matches!(
            error,
            LoadError::Memory {
                backing: Backing::HugeTlb,
                ..
            }
        ),
        "{error}"
    );
    images.into_iter().for_each(check_ids);

    let thp = load(Backing::TransparentHuge).expect("falls back if need be");
    println!("thp: {}", thp.report());
    if thp.report().backing == Backing::TransparentHuge {
        assert!(
            thp.report()
                .pages
                .is_some_and(|pages| pages.huge >= HUGE_PAGE)
        );
    }
    check_ids(thp);

    let copy = load(Backing::Copy).expect("plain memory is to be had");
    assert_eq!(copy.report().backing, Backing::Copy);
    check_ids(copy);

    // SAFETY: nothing changes the file of this test.
    let mapped = unsafe { Image::map(&path) }.expect("the file can be mapped");
    assert_eq!(mapped.report().backing, Backing::Mapped);
    mapped.verify_checksums().expect("the file is as written");
    // Replacing the file, as the compiler does it, leaves the mapping alone.
    trie_compiler::write_image(&path, b"something else").expect("the file can be replaced");
    check_ids(mapped);
}

#[test]
fn small_images_do_not_take_huge_pages() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("small.trie");
    let model = model_path("h_tie", None).expect("the model is committed");
    let image = compile_file(&model, &options("sentencepiece", REFERENCES[0].0)).expect("sound");
    trie_compiler::write_image(&path, &image).expect("the image can be written");
    let report = Image::load(&path, &LoadOptions::default())
        .expect("loads")
        .report();
    assert_eq!(report.backing, Backing::Copy);
}

#[test]
fn writing_is_all_or_nothing() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let target = dir.path().join("folder");
    std::fs::create_dir(&target).expect("a folder");
    let error = trie_compiler::write_image(&target, b"image").expect_err("a folder is in the way");
    assert!(error.to_string().contains("folder"), "{error}");
    let left: Vec<_> = std::fs::read_dir(dir.path()).expect("readable").collect();
    assert_eq!(left.len(), 1, "no temporary file is left");
}

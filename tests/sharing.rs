//! One physical copy of an image for many processes: files of huge pages, and sealed files in memory.
#![cfg(target_os = "linux")]
#![allow(unsafe_code)]

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use trie_runtime::{Backing, Image, ImageId, LoadError, LoadOptions, Tokenizer};
use trie_tests::images::Aligned;
use trie_tests::{REFERENCES, compile_file, model_path, options};

const HUGE_PAGE: usize = 2 << 20;
const HELLO: [u32; 3] = [35378, 6661, 38];

/// The pool of huge pages is the machine's one: a test at a time.
static POOL: Mutex<()> = Mutex::new(());

fn real_image() -> Vec<u8> {
    let model = model_path("xlm-roberta", None).expect("the model is committed");
    compile_file(&model, &options("fairseq", REFERENCES[0].0)).expect("a sound model")
}

fn small_image() -> Vec<u8> {
    let model = model_path("h_tie", None).expect("the model is committed");
    compile_file(&model, &options("sentencepiece", REFERENCES[0].0)).expect("a sound model")
}

fn ids(image: Image) -> Vec<u32> {
    Tokenizer::new(image).encode_to_vec("Hello World!")
}

fn free_huge_pages() -> usize {
    let path = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages";
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

/// A folder of its own on a mounted file system of 2 MiB pages that may be written to.
fn huge_folder() -> Option<tempfile::TempDir> {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let huge = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (point, kind) = (fields.next()?, fields.next()?);
        (kind == "hugetlbfs" && line.contains("pagesize=2M")).then_some(point)
    });
    let folder = huge
        .filter_map(|point| tempfile::tempdir_in(point).ok())
        .next();
    if folder.is_none() {
        eprintln!("NOT RUN: no hugetlbfs is mounted that may be written to");
    }
    folder
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("readable");
    let mut names: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_of_huge_pages_is_one_copy_for_all_who_map_it() {
    let _pool = POOL.lock();
    let Some(folder) = huge_folder() else { return };
    let image = real_image();
    let pages = image.len().div_ceil(HUGE_PAGE);
    let before = free_huge_pages();
    if before < pages + 1 {
        eprintln!(
            "NOT RUN: {} free huge pages are needed, the pool has {before}",
            pages + 1
        );
        return;
    }
    let source = Image::from_bytes(&image).expect("sound");
    let id = source.id();
    let path = folder.path().join("model.trie");
    source.write_huge_file(&path).expect("there are pages");
    assert_eq!(
        names(folder.path()),
        std::slice::from_ref(&path),
        "nothing else is left"
    );
    assert_eq!(before - free_huge_pages(), pages);

    // SAFETY: nobody writes to the file.
    let map = || unsafe { Image::map(&path) }.expect("sound");
    // SAFETY: as above, and it holds the image that was just validated.
    let verified = unsafe { Image::map_verified(&path, id) }.expect("the same image");
    let images: Vec<Image> = (0..8).map(|_| map()).chain([verified]).collect();
    assert_eq!(
        before - free_huge_pages(),
        pages,
        "nobody needs pages of their own"
    );
    for image in &images {
        let report = image.report();
        assert_eq!(
            (report.backing, report.len),
            (Backing::Mapped, source.report().len)
        );
        assert_eq!(report.pages.expect("the kernel says").size, HUGE_PAGE);
        assert_eq!(image.view().bytes(), source.view().bytes());
    }
    let copied = Image::load(&path, &LoadOptions::default().with_backing(Backing::Copy));
    assert_eq!(ids(copied.expect("files of huge pages can be read")), HELLO);

    // Another image of that name: whoever has the old one keeps it.
    let small = Image::from_bytes(&small_image()).expect("sound");
    small.write_huge_file(&path).expect("there is a page");
    assert_eq!(names(folder.path()), std::slice::from_ref(&path));
    assert_eq!(map().id(), small.id());
    // SAFETY: the image does not come to be.
    let replaced = unsafe { Image::map_verified(&path, id) };
    assert!(
        matches!(replaced, Err(LoadError::WrongImage { expected, found }) if expected == id && found == small.id())
    );
    images
        .into_iter()
        .for_each(|image| assert_eq!(ids(image), HELLO));
    drop(folder);
    assert_eq!(free_huge_pages(), before, "all pages are given back");
}

#[test]
fn a_pool_that_is_too_small_is_an_error_and_leaves_nothing_behind() {
    let _pool = POOL.lock();
    let Some(folder) = huge_folder() else { return };
    let image = Image::from_bytes(&real_image()).expect("sound");
    let pages = image.report().len.div_ceil(HUGE_PAGE);
    let before = free_huge_pages();
    let mut written = 0;
    let error = loop {
        let path = folder.path().join(format!("{written}.trie"));
        match image.write_huge_file(&path) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(written, before / pages);
    let LoadError::Share { reason, .. } = &error else {
        panic!("{error}");
    };
    assert!(reason.contains("vm.nr_hugepages"), "{error}");
    assert_eq!(names(folder.path()).len(), written);
    assert_eq!(before - free_huge_pages(), written * pages);
}

#[test]
fn elsewhere_than_on_a_hugetlbfs_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let image = Image::from_bytes(&small_image()).expect("sound");
    for (path, what) in [
        (folder.path().join("a.trie"), "mount -t hugetlbfs"),
        (folder.path().join("missing/a.trie"), "missing"),
        (PathBuf::from("/"), "name"),
    ] {
        let error = image
            .write_huge_file(path)
            .expect_err("no huge pages there");
        assert!(error.to_string().contains(what), "{error}");
    }
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_sealed_file_cannot_be_changed_and_gives_the_same_ids_everywhere() {
    let _pool = POOL.lock();
    let source = Image::from_bytes(&real_image()).expect("sound");
    let pool = free_huge_pages();
    for backing in [Backing::HugeTlb, Backing::TransparentHuge, Backing::Copy] {
        let options = LoadOptions::default().with_backing(backing);
        let mut file = File::from(source.to_shared(&options).expect("falls back if need be"));
        let is_huge = free_huge_pages() < pool;
        if backing == Backing::HugeTlb && !is_huge {
            eprintln!("NOT RUN for real: hugetlb needs more free pages than {pool}");
        }
        file.write_all(b"x").expect_err("the file is sealed");
        file.set_len(0).expect_err("the file is sealed");
        file.set_len(1 << 30).expect_err("the file is sealed");
        // SAFETY: the mapping does not come to be.
        unsafe { memmap2::MmapMut::map_mut(&file) }.expect_err("the file is sealed");

        let image = Image::from_shared(&file).expect("sound");
        let report = image.report();
        println!("{backing}: {report}; {}", report.times);
        assert_eq!(
            (report.backing, report.len),
            (Backing::Sealed, source.report().len)
        );
        if is_huge {
            assert_eq!(report.pages.expect("the kernel says").size, HUGE_PAGE);
        }
        image.verify_checksums().expect("as it was");
        // SAFETY: it holds the image that was validated above.
        let verified = unsafe { Image::from_shared_verified(&file, source.id()) };
        assert_eq!(ids(verified.expect("the same image")), HELLO);
        // SAFETY: the image does not come to be.
        let other = unsafe { Image::from_shared_verified(&file, ImageId([0; 16])) };
        assert!(matches!(other, Err(LoadError::WrongImage { .. })));

        // As another process finds it, whatever the descriptor's offset.
        let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        let again = File::open(&path).expect("one's own descriptor");
        assert_eq!(ids(Image::from_shared(&again).expect("sound")), HELLO);
        // SAFETY: the file is sealed.
        assert_eq!(ids(unsafe { Image::map(&path) }.expect("sound")), HELLO);
        drop((file, again));
        assert_eq!(ids(image), HELLO, "a mapping outlives the descriptor");
    }
    assert_eq!(free_huge_pages(), pool, "all pages are given back");
}

#[test]
fn files_that_are_not_sealed_are_not_shared() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.trie");
    std::fs::write(&path, small_image()).expect("the file can be written");
    let ordinary = File::open(&path).expect("it is there");
    let error = Image::from_shared(&ordinary).expect_err("anybody can change it");
    assert!(matches!(error, LoadError::NotSealed), "{error}");
}

/// Crafted images do not become sound by being sealed.
#[test]
fn sealed_files_are_validated() {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    let image = small_image();
    let mut cases = vec![Vec::new(), vec![0; 10], image[..image.len() - 1].to_vec()];
    let mut nodes = image.clone();
    let table = trie_tests::images::section_table(&image);
    let start = table
        .iter()
        .find(|entry| entry.kind == 14)
        .expect("there are nodes")
        .offset;
    nodes[start as usize..][..64].fill(0xff);
    trie_tests::images::reseal(&mut nodes);
    cases.push(nodes);
    for case in cases {
        let fd = memfd_create("case", MemfdFlags::ALLOW_SEALING).expect("memory");
        let mut file = File::from(fd);
        file.write_all(&case).expect("memory");
        fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK).expect("sealed");
        assert!(Image::from_shared(&file).is_err(), "{} bytes", case.len());
        assert!(
            trie_format::ImageView::parse(&Aligned::new(&case))
                .and_then(|v| v.validate())
                .is_err()
        );
    }
}

/// A file of huge pages whose pages were never there, when the pool has none left to give.
#[test]
fn sealed_files_with_missing_huge_pages_are_refused() {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
    let _pool = POOL.lock();
    let flags = MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
    let Ok(fd) = memfd_create("hollow", flags) else {
        eprintln!("NOT RUN: no files of huge pages can be made here");
        return;
    };
    let pages = free_huge_pages() as u64 + 1;
    ftruncate(&fd, pages * HUGE_PAGE as u64).expect("a length without pages");
    fcntl_add_seals(&fd, SealFlags::WRITE | SealFlags::SHRINK).expect("sealed");
    let error = Image::from_shared(&File::from(fd)).expect_err("there is nothing in it");
    println!("{error}");
}

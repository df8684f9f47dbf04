//! What older and newer builds make of each other's images: images of every released format version, kept as they were
//! written, are opened and give the ids they were written with; newer minor versions are opened; newer major ones are
//! refused with what to do.
//!
//! `BLESS_IMAGES=1 cargo test --release -p trie-tests --test compatibility` writes the images of this build's format
//! version into `data/images`, where they stay as long as builds of this major version do. One that is there is never
//! written again.

use trie_compiler::{HuggingFacePreset, Options, Pair, with_self_test};
use trie_format::{
    FORMAT_MAJOR, FORMAT_MINOR, HEADER_LEN, Header, SECTION_REQUIRED, SectionEntry, SectionKind,
};
use trie_runtime::{Image, LoadError, LoadOptions, Reference, Tokenizer};
use trie_tests::images::{Aligned, reseal, section_table};
use trie_tests::{compile_file, data_dir, model_path, rows};

fn compiled(model: &str, options: &Options) -> Vec<u8> {
    let path = model_path(model, None).expect("the model is committed");
    compile_file(&path, options).expect("a sound model")
}

/// The reference's own answers for `model`, in `column` of the goldens.
fn answers(model: &str, column: &str) -> Vec<Pair> {
    rows(&data_dir().join("encode.jsonl"))
        .iter()
        .filter(|row| row.str("model") == Some(model))
        .filter_map(|row| Some((row.bytes("input")?, row.ids(column)?)))
        .collect()
}

/// Images of this build's version that between them have every kind of section but the largest, each with texts and
/// ids for its self-test: the reference's, or of the Hugging Face reference those of this build.
fn images() -> Vec<(String, Vec<u8>)> {
    let mut images = Vec::new();
    for (model, reference) in [
        ("h_tie", Reference::SentencePiece023),
        ("h_tie", Reference::SentencePiece021),
        ("h_bytes", Reference::SentencePiece023),
        ("h_uds_norm", Reference::SentencePiece023),
    ] {
        let image = compiled(model, &Options::default().with_reference(reference));
        let column = reference
            .name()
            .replacen("sentencepiece-", "sentencepiece_", 1);
        let pairs = answers(model, &column);
        assert!(pairs.len() > 20, "{model} has answers in {column}");
        images.push((format!("{model}-{}", reference.name()), image, pairs));
    }
    let preset = Options::default().with_preset(HuggingFacePreset::B);
    let image = compiled("h_uds_norm", &preset);
    let tokenizer = Tokenizer::new(Image::from_bytes(&image).expect("sound"));
    let pairs = answers("h_uds_norm", "sentencepiece_0.2.3")
        .into_iter()
        .map(|(text, _)| (text.clone(), tokenizer.encode_to_vec(&text)))
        .collect();
    images.push(("h_uds_norm-huggingface".into(), image, pairs));
    images
        .into_iter()
        .map(|(name, image, pairs)| {
            let image = with_self_test(&image, &pairs).expect("a sound image");
            (format!("{name}-{FORMAT_MAJOR}.{FORMAT_MINOR}.trie"), image)
        })
        .collect()
}

fn check(image: Image, name: &str) {
    image
        .verify_checksums()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let texts = Tokenizer::new(image)
        .self_test()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(texts > 20, "{name}: {texts} texts");
}

#[test]
fn images_of_this_version_give_the_references_ids() {
    let folder = data_dir().join("images");
    for (name, image) in images() {
        check(Image::from_bytes(&image).expect("a fresh image"), &name);
        let path = folder.join(&name);
        if std::env::var_os("BLESS_IMAGES").is_some() && !path.exists() {
            std::fs::create_dir_all(&folder).expect("the folder can be made");
            trie_compiler::write_image(&path, &image).expect("the image can be written");
        }
    }
}

#[test]
fn images_of_released_versions_are_opened_and_give_the_ids_they_were_written_with() {
    let mut count = 0;
    for entry in std::fs::read_dir(data_dir().join("images")).expect("the images of all versions") {
        let path = entry.expect("readable").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "trie")
        {
            let image = Image::load(&path, &LoadOptions::default());
            let name = path.display().to_string();
            check(image.unwrap_or_else(|error| panic!("{error}")), &name);
            count += 1;
        }
    }
    assert!(
        count > 0,
        "tests/data/images holds no image: see BLESS_IMAGES"
    );
}

/// `image` as a build of another version would have written it.
fn of_version(image: &[u8], major: u16, minor: u16) -> Vec<u8> {
    let mut image = image.to_vec();
    let mut header: Header = bytemuck::pod_read_unaligned(&image[..HEADER_LEN]);
    (header.major, header.minor) = (major, minor);
    image[..HEADER_LEN].copy_from_slice(bytemuck::bytes_of(&header));
    reseal(&mut image);
    image
}

/// `image` with its self-test turned into a section of a kind that no build knows yet.
fn with_unknown_section(image: &[u8], flags: u32) -> Vec<u8> {
    let mut image = image.to_vec();
    let table = section_table(&image);
    let at = table
        .iter()
        .position(|entry| entry.kind == SectionKind::SelfTest.number())
        .expect("a self-test");
    let entry = SectionEntry {
        kind: 4000,
        flags,
        ..table[at]
    };
    let start = HEADER_LEN + at * size_of::<SectionEntry>();
    image[start..start + size_of::<SectionEntry>()].copy_from_slice(bytemuck::bytes_of(&entry));
    reseal(&mut image);
    image
}

#[test]
fn a_newer_minor_version_with_sections_unknown_today_is_opened() {
    for (name, image) in images() {
        check(
            Image::from_bytes(&of_version(&image, FORMAT_MAJOR, FORMAT_MINOR + 1)).expect("opens"),
            &name,
        );
        let newer = of_version(&with_unknown_section(&image, 0), FORMAT_MAJOR, u16::MAX);
        let tokenizer = Tokenizer::new(Image::from_bytes(&newer).expect("opens"));
        let plain = Tokenizer::new(Image::from_bytes(&image).expect("opens"));
        assert_eq!(tokenizer.self_test(), Ok(0), "the section is not looked at");
        for (text, ids) in plain.image().view().self_test() {
            assert_eq!(tokenizer.encode_to_vec(text), ids);
        }
    }
}

#[test]
fn what_this_build_would_misread_is_refused_with_what_to_do() {
    let (_, image) = images().swap_remove(0);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.trie");
    let cases = [
        (of_version(&image, FORMAT_MAJOR + 1, 0), "`triec compile`"),
        (of_version(&image, FORMAT_MAJOR - 1, 9), "`triec compile`"),
        (
            with_unknown_section(&image, SECTION_REQUIRED),
            "use a newer build",
        ),
    ];
    for (case, what_to_do) in cases {
        std::fs::write(&path, &case).expect("written");
        let from_file = Image::load(&path, &LoadOptions::default()).expect_err("incompatible");
        let from_bytes = Image::from_bytes(&case).expect_err("incompatible");
        for error in [from_file, from_bytes] {
            assert!(error.is_incompatible(), "{error}");
            assert!(error.to_string().contains(what_to_do), "{error}");
        }
    }
    assert!(trie_format::const_check_header(&Aligned::new(&image)));
    assert!(!trie_format::const_check_header(&of_version(
        &image,
        FORMAT_MAJOR + 1,
        0
    )));
    // Damage is something else.
    let mut damaged = of_version(&image, FORMAT_MAJOR, 0);
    damaged[HEADER_LEN] ^= 1;
    let error = Image::from_bytes(&damaged).expect_err("damaged");
    assert!(
        matches!(&error, LoadError::Format(_)) && !error.is_incompatible(),
        "{error}"
    );
}

//! Damaged, foreign and crafted images: a named error or the right answer, never a crash.

use std::path::Path;

use trie_compiler::{HuggingFacePreset, Options};
use trie_format::{FormatError, HEADER_LEN, SectionEntry, SectionKind};
use trie_runtime::{Image, LoadError, LoadOptions};
use trie_tests::images::{Aligned, Random, reseal, section_table, use_image};
use trie_tests::{REFERENCES, compile_file, model_path, options};

fn image_of(model: &str) -> Vec<u8> {
    let path = model_path(model, None).expect("the model is committed");
    compile_file(&path, &options("sentencepiece", REFERENCES[0].0)).expect("the model is sound")
}

/// A `tokenizer.json` with steps of many kinds, and added tokens of both kinds.
const JSON: &str = r#"{
  "version": "1.0", "truncation": null, "padding": null,
  "added_tokens": [
    {"id": 0, "content": "<unk>", "special": true, "lstrip": false, "rstrip": false, "single_word": false, "normalized": false},
    {"id": 9, "content": "<m> x", "special": true, "lstrip": true, "rstrip": true, "single_word": true, "normalized": false},
    {"id": 10, "content": "Foo", "special": false, "lstrip": false, "rstrip": false, "single_word": false, "normalized": true}
  ],
  "normalizer": {"type": "Sequence", "normalizers": [
    {"type": "NFKC"}, {"type": "Nmt"}, {"type": "Lowercase"},
    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
    {"type": "Replace", "pattern": {"String": "``"}, "content": "\""},
    {"type": "Strip", "strip_left": true, "strip_right": true}
  ]},
  "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
    {"type": "WhitespaceSplit"}, {"type": "Punctuation"}, {"type": "Digits", "individual_digits": true},
    {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": true}
  ]},
  "post_processor": {"type": "BertProcessing", "sep": ["foo", 4], "cls": ["<unk>", 0]},
  "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"},
    {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": true}, {"type": "Fuse"}]},
  "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab": [
    ["<unk>", 0.0], ["a", -1.0], ["b", -1.5], ["\u2581", -2.0], ["foo", -1.25], ["\u2581a", -1.0],
    ["<0x41>", 0.0], ["hello", -3.5], ["l", -2.5]]}
}"#;

/// Small images that between them have every kind of section.
fn images() -> Vec<(&'static str, Vec<u8>)> {
    let mut images = ["h_uds_norm", "h_bytes", "h_tie", "denorm"]
        .map(|model| (model, image_of(model)))
        .to_vec();
    let json = trie_compiler::compile(JSON.as_bytes(), &Options::default());
    images.push(("tokenizer.json", json.expect("a sound tokenizer.json")));
    let pairs = [(b"text".to_vec(), vec![1, 2]), (b"\xff".to_vec(), vec![])];
    let tested = trie_compiler::with_self_test(&image_of("h_tie"), &pairs);
    images.push(("self-test", tested.expect("a sound image")));
    let preset = Options::default().with_preset(HuggingFacePreset::A);
    let path = model_path("h_uds_norm", None).expect("the model is committed");
    let converted = compile_file(&path, &preset).expect("the model is sound");
    images.push(("h_uds_norm, converted", converted));
    images
}

#[test]
fn the_images_have_every_kind_of_section() {
    let mut kinds: Vec<u32> = images()
        .iter()
        .flat_map(|(_, image)| section_table(image))
        .map(|entry| entry.kind)
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    let all: Vec<u32> = SectionKind::ALL.iter().map(|kind| kind.number()).collect();
    assert_eq!(kinds, all);
}

#[test]
fn truncated_images_are_refused() {
    for (_, image) in images() {
        let step = (image.len() / 400).max(1);
        for len in (0..image.len())
            .step_by(step)
            .chain(image.len() - 70..image.len())
        {
            assert!(Image::from_bytes(&image[..len]).is_err(), "{len}");
        }
    }
}

#[test]
fn every_bit_of_the_header_and_table_counts() {
    for (_, image) in images() {
        let end = HEADER_LEN + section_table(&image).len() * size_of::<SectionEntry>();
        for bit in 0..end * 8 {
            let mut damaged = image.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            match Image::from_bytes(&damaged) {
                Ok(_) => panic!("bit {bit} does not count"),
                Err(error) => assert!(!error.to_string().contains('\n')),
            }
        }
    }
}

#[test]
fn every_flipped_bit_elsewhere_is_found_by_a_checksum() {
    let mut random = Random(1);
    for (_, image) in images() {
        for _ in 0..600 {
            let mut damaged = image.clone();
            let byte = random.below(image.len());
            damaged[byte] ^= 1 << random.below(8);
            assert!(Image::from_bytes(&damaged).is_err(), "byte {byte}");
        }
    }
}

/// Without checksums damage may go unnoticed, but must stay harmless.
#[test]
fn unverified_damage_is_harmless() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("damaged.trie");
    let unverified = LoadOptions::default().with_checksums(false);
    let mut random = Random(2);
    for (_, image) in images() {
        for _ in 0..150 {
            let mut damaged = image.clone();
            for _ in 0..=random.below(4) {
                let byte = random.below(image.len());
                damaged[byte] = random.draw() as u8;
            }
            std::fs::write(&path, &damaged).expect("the file can be written");
            if let Ok(image) = Image::load(&path, &unverified) {
                use_image(image);
            }
        }
    }
}

/// Damage behind right checksums: what only a crafted image has.
#[test]
fn crafted_images_are_harmless() {
    let mut random = Random(3);
    let mut loaded = 0;
    for (_, image) in images() {
        let table = section_table(&image);
        let table_end = HEADER_LEN + table.len() * size_of::<SectionEntry>();
        for round in 0..1200 {
            let mut crafted = image.clone();
            // Every section, and the table itself, gets its share whatever its size.
            let (start, len) = match table.get(round % (table.len() + 1)) {
                Some(entry) => (entry.offset as usize, entry.length as usize),
                None => (HEADER_LEN, table_end - HEADER_LEN),
            };
            if len == 0 {
                continue;
            }
            for _ in 0..=random.below(3) {
                let byte = start + random.below(len);
                crafted[byte] = match random.below(4) {
                    0 => 0,
                    1 => 0xff,
                    2 => crafted[byte] ^ 1 << random.below(8),
                    _ => random.draw() as u8,
                };
            }
            reseal(&mut crafted);
            if let Ok(image) = Image::from_bytes(&crafted) {
                loaded += 1;
                use_image(image);
            }
        }
    }
    assert!(
        loaded > 500,
        "only {loaded} crafted images passed validation"
    );
}

/// A trie whose nodes are their own children, by labels and by tails, and a rule table that leads back to its root.
#[test]
fn cycles_end() {
    let mut used = 0;
    for (model, image) in images() {
        for entry in section_table(&image) {
            let section = entry.offset as usize..(entry.offset + entry.length) as usize;
            let mut crafted = image.clone();
            match SectionKind::from_number(entry.kind) {
                Some(SectionKind::Nodes | SectionKind::SymbolNodes) => {
                    let slots = &crafted[section.start..section.start + 4];
                    let slots = u32::from_le_bytes(slots.try_into().expect("four bytes")) as usize;
                    let (_, rest) = crafted[section].split_at_mut(64);
                    let (nodes, tail_bytes) = rest.split_at_mut(64 * slots);
                    for (slot, node) in nodes.chunks_exact_mut(64).enumerate() {
                        // Every slot is a child of every node, as a node or as a tail that leads to the root.
                        for byte in 0..256 {
                            node[byte / 8] &= !(1 << (byte % 8));
                            node[byte / 8] |= u8::from(byte < slots) << (byte % 8);
                        }
                        node[32..36].fill(0);
                        let is_node = slot % 2 == 0 || tail_bytes.is_empty();
                        let entry = if is_node {
                            slot as u16 & 0xff
                        } else {
                            u16::MAX
                        };
                        node[44..46].copy_from_slice(&entry.to_le_bytes());
                        for word in node[48..].chunks_exact_mut(4) {
                            word.copy_from_slice(&(1u32 << 31).to_le_bytes());
                        }
                    }
                    if let Some(step) = tail_bytes.first_chunk_mut::<4>() {
                        *step = [2 << 6, 0, 0, 0];
                    }
                }
                Some(SectionKind::CharsmapUnits | SectionKind::DenormalizerUnits) => {
                    let root = section.start + 4;
                    for (i, unit) in crafted[root..section.end].chunks_exact_mut(4).enumerate() {
                        // The label that fits in every block, and no offset: an endless run of one byte.
                        unit.copy_from_slice(&((i as u32 + 1) & 0xff).to_le_bytes());
                    }
                }
                _ => continue,
            }
            reseal(&mut crafted);
            if let Ok(image) = Image::from_bytes(&crafted) {
                println!(
                    "{model}: a cyclic {:?} is used",
                    SectionKind::from_number(entry.kind)
                );
                used += 1;
                use_image(image);
            }
        }
    }
    assert!(used > 0, "no cyclic image passed validation");
}

fn named_error(bytes: &[u8]) -> FormatError {
    match Image::from_bytes(bytes) {
        Err(LoadError::Format(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn errors_have_names() {
    let image = image_of("h_tie");
    let with = |offset: usize, bytes: &[u8]| {
        let mut image = image.clone();
        image[offset..offset + bytes.len()].copy_from_slice(bytes);
        image
    };
    assert!(matches!(named_error(b""), FormatError::TooShort { .. }));
    assert!(matches!(named_error(&[0; 4096]), FormatError::BadMagic));
    let text = b"This is a text of some length and surely no image of a tokenizer, is it?";
    assert!(matches!(named_error(text), FormatError::BadMagic));
    let model = std::fs::read(model_path("h_tie", None).expect("committed")).expect("readable");
    assert!(matches!(
        named_error(&model),
        FormatError::BadMagic | FormatError::TooShort { .. }
    ));
    let major = with(12, &2u16.to_le_bytes());
    assert!(named_error(&major).is_incompatible());
    assert!(matches!(
        named_error(&with(8, &[1, 2, 3, 4])),
        FormatError::BadEndianMark { .. }
    ));
    assert!(matches!(
        named_error(&with(24, &[9])),
        FormatError::HeaderChecksum
    ));
    let trailing = [image.as_slice(), b"\0"].concat();
    assert!(matches!(
        named_error(&trailing),
        FormatError::WrongLength { .. }
    ));
    let shorter = &image[..image.len() - 1];
    assert!(matches!(
        named_error(shorter),
        FormatError::WrongLength { .. }
    ));
}

#[test]
fn newer_minor_versions_and_optional_sections_open() {
    let image = image_of("h_tie");
    let mut newer = image.clone();
    newer[14..16].copy_from_slice(&7u16.to_le_bytes());
    reseal(&mut newer);
    Image::from_bytes(&newer).expect("a newer minor version opens");

    // The named-ids section under a number nobody knows: required, then optional but missed.
    let index = section_table(&image)
        .iter()
        .position(|entry| entry.kind == SectionKind::NamedIds.number())
        .expect("every image has one");
    let at = HEADER_LEN + index * size_of::<SectionEntry>();
    let mut unknown = image;
    unknown[at..at + 4].copy_from_slice(&999u32.to_le_bytes());
    reseal(&mut unknown);
    let error = named_error(&unknown);
    assert!(error.is_incompatible(), "{error}");
    unknown[at + 4..at + 8].fill(0);
    reseal(&mut unknown);
    assert!(matches!(
        named_error(&unknown),
        FormatError::MissingSection { .. }
    ));
}

#[test]
fn padding_must_be_zero() {
    let image = image_of("h_tie");
    let table = section_table(&image);
    let gap = table
        .windows(2)
        .map(|pair| (pair[0].offset + pair[0].length, pair[1].offset))
        .find(|(end, next)| end < next)
        .expect("some section is not a multiple of 64 bytes long");
    let mut padded = image;
    padded[gap.0 as usize] = 1;
    assert!(matches!(named_error(&padded), FormatError::Padding { .. }));
}

#[test]
fn unaligned_bytes_are_refused_and_not_misread() {
    let image = image_of("h_tie");
    let shifted = [b"\0".as_slice(), &image].concat();
    let shifted = Aligned::new(&shifted);
    assert!(matches!(
        trie_format::ImageView::parse(&shifted[1..]),
        Err(FormatError::Misaligned { .. })
    ));
}

#[test]
fn missing_files_and_folders_are_errors() {
    for path in ["/nonexistent/image.trie", "/"] {
        let error = Image::load(Path::new(path), &LoadOptions::default()).expect_err(path);
        assert!(matches!(error, LoadError::Read { .. }), "{error}");
    }
}

/// Random model files: the compiler refuses or compiles them, and what it compiles can be used.
#[test]
fn mutated_models_are_harmless() {
    let mut random = Random(4);
    let mut compiled = 0;
    for model in ["h_uds", "h_bytes", "denorm", "h_suffix"] {
        let path = model_path(model, None).expect("the model is committed");
        let bytes = std::fs::read(path).expect("the model can be read");
        for _ in 0..300 {
            let mut mutated = bytes.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(mutated.len());
                match random.below(3) {
                    0 => mutated[at] = random.draw() as u8,
                    1 => mutated.truncate(at + 1),
                    _ => mutated[at] ^= 1 << random.below(8),
                }
            }
            for reference in REFERENCES {
                let options = options("sentencepiece", reference.0);
                match trie_compiler::compile(&mutated, &options) {
                    Ok(image) => {
                        compiled += 1;
                        use_image(Image::from_bytes(&image).expect("a fresh image is sound"));
                    }
                    Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
                }
            }
        }
    }
    assert!(compiled > 100, "only {compiled} mutated models compiled");
}

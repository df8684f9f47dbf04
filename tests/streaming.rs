//! Text in chunks, counts and early ends through the public API: the same ids as the whole text at once, in
//! memory that does not grow with it.

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use trie_runtime::{
    EncodeOptions, Image, OffsetUnit, Reference, Scratch, StreamEncoder, Tokenizer, Truncation,
};
use trie_tests::hf_models::{Source, fairseq_shapes, sentencepiece_shapes};
use trie_tests::{corpus_dir, data_dir, lines, options, text_files, tokenizer};

/// Tokenizers of every reference.
fn tokenizers() -> Vec<(String, Tokenizer)> {
    let mut all = Vec::new();
    for name in [
        "trained",
        "bytefb",
        "uds",
        "suffix",
        "keepws",
        "identity_keepws",
    ] {
        let path = data_dir().join(format!("models/{name}.model"));
        if !path.exists() {
            continue;
        }
        for reference in [Reference::SentencePiece023, Reference::SentencePiece021] {
            let name = format!("{name} {}", reference.name());
            all.push((name, tokenizer(&path, &options("sentencepiece", reference))));
        }
    }
    let mut documents = sentencepiece_shapes(&Source::new("trained", "sentencepiece"));
    documents.extend(
        fairseq_shapes(&Source::new("xlm-roberta", "fairseq"))
            .into_iter()
            .take(2),
    );
    for document in documents {
        let image = trie_compiler::compile(document.json.as_bytes(), &Default::default()).unwrap();
        all.push((
            document.name,
            Tokenizer::new(Image::from_bytes(&image).unwrap()),
        ));
    }
    assert!(all.len() > 12);
    all
}

fn streamed<'c>(
    stream: &mut StreamEncoder<'_>,
    chunks: impl Iterator<Item = &'c [u8]>,
) -> (Vec<u32>, Vec<(usize, usize)>) {
    let (mut ids, mut offsets) = (Vec::new(), Vec::new());
    for chunk in chunks {
        ids.extend_from_slice(stream.push(chunk));
        offsets.extend_from_slice(stream.offsets());
    }
    ids.extend_from_slice(stream.finish());
    offsets.extend_from_slice(stream.offsets());
    (ids, offsets)
}

#[test]
fn chunks_counts_and_limits_agree_with_the_whole_text() {
    let tokenizers = tokenizers();
    let part = prop_oneof![
        6 => "[a-h]{1,7}".prop_map(String::into_bytes),
        4 => Just(b" ".to_vec()),
        1 => "[ \t\n\u{a0}\u{2581}\u{200b}]{1,3}".prop_map(String::into_bytes),
        1 => "\\PC{1,4}".prop_map(String::into_bytes),
        1 => prop::sample::select(vec![
            "</s>", "<mask>", " <mask>", "\u{fdfa}", "e\u{301}\u{302}", "\u{1100}\u{1161}", "\u{3042}\u{3044}\u{3046}",
        ]).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    let text = prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat());
    let cases = (text, 1..40usize, 1..20usize, 0..tokenizers.len());
    let mut config = ProptestConfig::with_cases(1500);
    config.rng_seed = RngSeed::Fixed(11);
    config.failure_persistence = None;
    TestRunner::new(config)
        .run(&cases, |(text, chunk, limit, index)| {
            let (name, tokenizer) = &tokenizers[index];
            let mut scratch = Scratch::new();
            let ids = tokenizer.encode(&text, &mut scratch).to_vec();
            prop_assert_eq!(
                tokenizer.count_tokens(&text, &mut scratch),
                ids.len(),
                "{}",
                name
            );
            let with_offsets = EncodeOptions::default()
                .with_offsets(OffsetUnit::Bytes)
                .with_truncation(trie_runtime::Setting::Off)
                .with_padding(trie_runtime::Setting::Off);
            let whole = tokenizer
                .encode_with(&text, &with_offsets, &mut scratch)
                .unwrap();
            prop_assert_eq!(whole.ids(), &ids, "{}", name);
            let offsets = whole.offsets().to_vec();
            for options in [EncodeOptions::default(), with_offsets] {
                let mut stream = StreamEncoder::new(tokenizer, &options);
                // A stream goes on with the next text as if it were new.
                for _ in 0..2 {
                    let found = streamed(&mut stream, text.chunks(chunk));
                    prop_assert_eq!(&found.0, &ids, "{} in chunks of {}", name, chunk);
                    if options.offsets.is_some() {
                        prop_assert_eq!(&found.1, &offsets, "{} in chunks of {}", name, chunk);
                    }
                }
            }
            let options = with_offsets.with_truncation(Truncation::new(limit));
            let cut = tokenizer
                .encode_with(&text, &options, &mut scratch)
                .unwrap();
            let kept = limit.min(ids.len());
            prop_assert_eq!(cut.ids(), &ids[..kept], "{} cut to {}", name, limit);
            prop_assert_eq!(cut.offsets(), &offsets[..kept], "{} cut to {}", name, limit);
            Ok(())
        })
        .unwrap();
}

#[test]
fn whole_files_stream_and_count() {
    let mut scratch = Scratch::new();
    let large: Vec<(String, Tokenizer)> = tokenizers()
        .into_iter()
        .filter(|(_, tokenizer)| tokenizer.piece_count() > 200_000)
        .chain([(
            "xlm-roberta".into(),
            trie_tests::xlm_roberta(Reference::SentencePiece023),
        )])
        .collect();
    assert_eq!(large.len(), 3);
    for (file, text) in text_files(&corpus_dir()) {
        for (name, tokenizer) in &large {
            let ids = tokenizer.encode(&text, &mut scratch).to_vec();
            assert_eq!(
                tokenizer.count_tokens(&text, &mut scratch),
                ids.len(),
                "{name} {file}"
            );
            let mut stream = StreamEncoder::new(tokenizer, &EncodeOptions::default());
            assert!(
                streamed(&mut stream, text.chunks(1000)).0 == ids,
                "{name} {file}"
            );
            // A kilobyte's length does not show in what is kept of a text a hundred times as long.
            assert!(lines(&text).count() > 1, "{file}");
        }
    }
}

/// A hundred megabytes, of which nothing is kept, under both kinds of reference.
#[test]
fn memory_does_not_depend_on_the_length_of_the_text() {
    let text = &text_files(&corpus_dir())
        .into_iter()
        .find(|(name, _)| name.ends_with("en.txt"))
        .expect("the corpus has English")
        .1;
    let json = fairseq_shapes(&Source::new("xlm-roberta", "fairseq"))
        .remove(0)
        .json;
    let image = trie_compiler::compile(json.as_bytes(), &Default::default()).unwrap();
    let tokenizers = [
        trie_tests::xlm_roberta(Reference::SentencePiece023),
        Tokenizer::new(Image::from_bytes(&image).unwrap()),
    ];
    for tokenizer in &tokenizers {
        let mut stream = StreamEncoder::new(tokenizer, &EncodeOptions::default());
        let mut most = 0;
        let mut tokens = 0;
        for round in 0..(20 << 20) / text.len() {
            tokens += stream.push(text).len();
            if round == 3 {
                most = stream.allocated_bytes();
            }
        }
        tokens += stream.finish().len();
        assert!(tokens > 1_000_000);
        assert!(most < 4 << 20, "{most}");
        assert!(stream.allocated_bytes() < 2 * most);
    }
}

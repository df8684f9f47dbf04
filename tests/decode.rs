//! Decoding as options say, and id by id: against the `tokenizers` crate, and against decoding at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use proptest::prelude::*;
use trie_compiler::Options;
use trie_runtime::{
    DecodeError, DecodeOptions, DecodeStream, Image, PieceType, Scratch, Tokenizer,
};
use trie_tests::hf_models::{
    Document, Source, fairseq_shapes, random_document, sentencepiece_shapes,
};
use trie_tests::images::Random;
use trie_tests::{REFERENCES, data_dir, model_path, options, rows, tokenizer, xlm_roberta};

/// The text of `ids` id by id, and the most bytes that were held back.
fn stream(tokenizer: &Tokenizer, options: &DecodeOptions, ids: &[u32]) -> (Vec<u8>, usize) {
    let mut stream = DecodeStream::new(tokenizer, options);
    // What came before must leave nothing behind.
    stream.push(ids.first().copied().unwrap_or(0)).unwrap();
    stream.finish();
    let mut text = Vec::new();
    let mut most = 0;
    for &id in ids {
        text.extend_from_slice(stream.push(id).expect("ids of the vocabulary"));
        most = most.max(stream.held_back());
        let count = tokenizer.piece_count();
        assert_eq!(
            stream.push(count),
            Err(DecodeError::UnknownId { id: count, count })
        );
    }
    text.extend_from_slice(stream.finish());
    (text, most)
}

/// Both ways to decode must agree, with and without special tokens.
fn check(tokenizer: &Tokenizer, ids: &[u32]) {
    let mut scratch = Scratch::new();
    for skip in [true, false] {
        let options = DecodeOptions::default().with_skip_special_tokens(skip);
        let whole = tokenizer.decode_with(ids, &options, &mut scratch).unwrap();
        let (parts, _) = stream(tokenizer, &options, ids);
        assert_eq!(
            String::from_utf8_lossy(&parts),
            String::from_utf8_lossy(whole),
            "{ids:?}"
        );
        assert_eq!(parts, whole);
    }
}

/// Id lists in which the ids that need care are frequent, and near each other.
fn random_ids(tokenizer: &Tokenizer, random: &mut Random) -> Vec<u32> {
    let count = tokenizer.piece_count();
    let is_odd = |id: &u32| {
        let text = tokenizer.piece(*id).unwrap_or_default();
        let is_plain = text.iter().all(u8::is_ascii_alphanumeric);
        tokenizer.piece_type(*id) != Some(PieceType::Normal) || !is_plain && text.len() < 8
    };
    let odd: Vec<u32> = (0..count.min(3000)).filter(is_odd).collect();
    let bytes: Vec<u32> = (0..256)
        .filter_map(|byte| tokenizer.piece_to_id(format!("<0x{byte:02X}>")))
        .collect();
    let spelled = "é あ😀 \u{2581}a\u{fffd} ";
    (0..random.below(30))
        .flat_map(|_| match random.below(6) {
            0 if bytes.len() == 256 => {
                // Whole characters, often cut.
                let from = random.below(spelled.len());
                let len = random.below(6);
                let cut = spelled.bytes().skip(from).take(len);
                cut.map(|byte| bytes[usize::from(byte)]).collect()
            }
            1 if bytes.len() == 256 => vec![bytes[random.below(256)]],
            2 | 3 if !odd.is_empty() => vec![odd[random.below(odd.len())]],
            4 => vec![random.below(count.min(5) as usize) as u32],
            _ => vec![random.below(count as usize) as u32],
        })
        .collect()
}

#[test]
fn streams_equal_decoding_at_once_under_sentencepiece() {
    let mut random = Random(1);
    for model in [
        "xlm-roberta",
        "trained",
        "bytefb",
        "bytefb_identity",
        "uds",
        "suffix",
        "nodummy",
        "keepws",
        "identity_keepws",
        "denorm",
        "badutf8_piece",
        "h_bytes",
        "h_innerspace",
    ] {
        let path = model_path(model, None).unwrap();
        for (reference, _) in REFERENCES {
            let tokenizer = tokenizer(&path, &options("sentencepiece", reference));
            for _ in 0..300 {
                check(&tokenizer, &random_ids(&tokenizer, &mut random));
            }
        }
    }
}

#[test]
fn streams_equal_the_goldens() {
    for row in rows(&data_dir().join("decode.jsonl")) {
        let (Some(ids), Some(text)) = (row.ids("ids"), row.bytes("text")) else {
            continue;
        };
        let path = model_path(row.str("model").unwrap(), None).unwrap();
        let tokenizer = tokenizer(&path, &options("sentencepiece", REFERENCES[0].0));
        let (parts, _) = stream(&tokenizer, &DecodeOptions::default(), &ids);
        assert_eq!(parts, text, "{}", row.describe());
    }
}

/// One configuration here and in the crate.
struct Pair {
    name: String,
    reference: tokenizers::Tokenizer,
    ours: Tokenizer,
}

impl Pair {
    fn new(Document { name, json }: Document) -> Option<Self> {
        let image = trie_compiler::compile(json.as_bytes(), &Options::default()).ok()?;
        Some(Self {
            name,
            reference: tokenizers::Tokenizer::from_bytes(&json).ok()?,
            ours: Tokenizer::new(Image::from_bytes(&image).expect("a fresh image is sound")),
        })
    }

    /// Compares with the crate, which panics at some texts that its `Strip` makes empty. Returns whether it
    /// had an answer.
    fn check(&self, ids: &[u32]) -> bool {
        check(&self.ours, ids);
        let mut scratch = Scratch::new();
        [true, false].into_iter().all(|skip| {
            let answer = catch_unwind(AssertUnwindSafe(|| self.reference.decode(ids, skip)));
            let Ok(Ok(expected)) = answer else {
                return false;
            };
            let options = DecodeOptions::default().with_skip_special_tokens(skip);
            let found = self.ours.decode_with(ids, &options, &mut scratch).unwrap();
            assert_eq!(
                String::from_utf8_lossy(found),
                expected,
                "{} {skip} {ids:?}",
                self.name
            );
            true
        })
    }
}

/// Decoders with something behind `Fuse`, which the published files have not.
fn fused_documents(source: &Source) -> Vec<Document> {
    use serde_json::json;
    let replace = |kind: &str, pattern: &str, content: &str| json!({"type": "Replace", "pattern": {kind: pattern}, "content": content});
    let fuse = json!({"type": "Fuse"});
    let bytes = json!({"type": "ByteFallback"});
    let strip = |content: &str, start: u32, stop: u32| json!({"type": "Strip", "content": content, "start": start, "stop": stop});
    let metaspace = |scheme: &str| {
        json!({
            "type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": scheme, "split": true,
        })
    };
    let lists = [
        // Llama's.
        vec![
            replace("String", "\u{2581}", " "),
            bytes.clone(),
            fuse.clone(),
            strip(" ", 1, 0),
        ],
        vec![
            bytes.clone(),
            fuse.clone(),
            replace("String", "\u{2581}the", "THE"),
            strip("\u{2581}", 2, 0),
        ],
        vec![
            fuse.clone(),
            replace("String", "aa", "b"),
            replace("String", "bab", "<>"),
        ],
        vec![
            fuse.clone(),
            replace("Regex", " {2,}", " "),
            replace("Regex", "a{3}", "-"),
        ],
        vec![
            bytes.clone(),
            fuse.clone(),
            replace("Regex", "\u{2581}{2,3}", "_"),
        ],
        vec![fuse.clone(), metaspace("always")],
        vec![fuse.clone(), metaspace("never"), strip(" ", 1, 0)],
        vec![fuse.clone(), bytes.clone()],
        vec![metaspace("first"), bytes.clone(), fuse.clone(), bytes, fuse],
        vec![metaspace("always"), strip(" ", 1, 0)],
        vec![replace("String", "\u{2581}", " ")],
    ];
    let document = |(index, decoders): (usize, &Vec<serde_json::Value>)| Document {
        name: format!("decoders {index}"),
        json: source.json(&json!({
            "added_tokens": [
                {"id": 0, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false,
                 "normalized": false, "special": true},
            ],
            "decoder": {"type": "Sequence", "decoders": decoders},
            "byte_fallback": true,
        })),
    };
    lists.iter().enumerate().map(document).collect()
}

/// The published shapes, random pipelines, and decoders with steps behind `Fuse`.
static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    let mut random = Random(5);
    let sources = ["trained", "bytefb", "uds"].map(|name| Source::new(name, "sentencepiece"));
    let mut documents = sentencepiece_shapes(&sources[0]);
    documents.extend(sentencepiece_shapes(&sources[1]));
    documents.extend((0..60).map(|i| random_document("random", &sources[i % 3], &mut random)));
    documents.extend(fused_documents(&sources[1]));
    documents.extend(
        fairseq_shapes(&Source::new("xlm-roberta", "fairseq"))
            .into_iter()
            .take(2),
    );
    documents.into_iter().filter_map(Pair::new).collect()
});

#[test]
fn streams_equal_decoding_at_once_and_tokenizers() {
    std::panic::set_hook(Box::new(|info| {
        if info
            .location()
            .is_none_or(|at| !at.file().contains("strip.rs"))
        {
            eprintln!("{info}");
        }
    }));
    let mut random = Random(2);
    let (mut answered, mut asked) = (0, 0);
    for pair in PAIRS.iter() {
        for _ in 0..200 {
            asked += 1;
            answered += u32::from(pair.check(&random_ids(&pair.ours, &mut random)));
        }
    }
    println!(
        "{answered} of {asked} answered, {} configurations",
        PAIRS.len()
    );
    assert!(answered * 10 > asked * 9);
}

/// What is generated one id after another is given out soon: nothing grows.
#[test]
fn little_is_held_back() {
    let options = DecodeOptions::default();
    let tokenizer = xlm_roberta(REFERENCES[0].0);
    let ids = tokenizer.encode_to_vec("Everyone has the right to life. ".repeat(200));
    assert_eq!(stream(&tokenizer, &options, &ids).1, 0);
    let path = model_path("bytefb", None).unwrap();
    let tokenizer = trie_tests::tokenizer(
        &path,
        &trie_tests::options("sentencepiece", REFERENCES[0].0),
    );
    let ids = tokenizer.encode_to_vec("\u{12000}\u{12001}".repeat(500));
    assert_eq!(stream(&tokenizer, &options, &ids).1, 3);
    let path = model_path("denorm", None).unwrap();
    let tokenizer = trie_tests::tokenizer(
        &path,
        &trie_tests::options("sentencepiece", REFERENCES[0].0),
    );
    let ids = tokenizer.encode_to_vec("... a ,b (c) fish  and ss a~ b ".repeat(100));
    let held = stream(&tokenizer, &options, &ids).1;
    assert!((1..12).contains(&held), "{held}");
}

/// A long run of byte pieces that are no UTF-8 takes linear time.
#[test]
fn broken_bytes_take_linear_time() {
    let path = model_path("bytefb", None).unwrap();
    let tokenizer = tokenizer(&path, &options("sentencepiece", REFERENCES[0].0));
    let id = tokenizer.piece_to_id("<0xE3>").unwrap();
    let ids = vec![id; 300_000];
    let text = tokenizer.decode_to_string(&ids).unwrap();
    assert_eq!(text, "\u{fffd}".repeat(ids.len()));
    check(&tokenizer, &ids[..2_000]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_ids(ids in prop::collection::vec(0u32..250_002, 0..40)) {
        check(&xlm_roberta(REFERENCES[0].0), &ids);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(prop_oneof![
        Just(0xe3u8), Just(0x81), Just(0x82), Just(0xf0), Just(0x9f), Just(0x98), Just(0x80), any::<u8>(),
    ], 0..40)) {
        let path = model_path("bytefb", None).unwrap();
        for (reference, _) in REFERENCES {
            let tokenizer = tokenizer(&path, &options("sentencepiece", reference));
            let id = |byte: &u8| tokenizer.piece_to_id(format!("<0x{byte:02X}>")).unwrap();
            let ids: Vec<u32> = bytes.iter().map(id).collect();
            check(&tokenizer, &ids);
        }
    }
}

//! What a server asks for, against the `tokenizers` crate: pairs, templates, masks, truncation, overflowing
//! windows, padding, batches.
//!
//! The crate's own early exit (since 0.23.1) drops overflowing windows, a regression that its issue 2091
//! reports; so the crate is asked to encode everything, and then to cut, which is what earlier and later
//! releases do.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tokenizers::{
    Encoding as TheirEncoding, PaddingDirection, PaddingParams, PaddingStrategy,
    TruncationDirection, TruncationParams,
};
use trie_runtime::{
    Batch, BatchEncoder, Direction, EncodeOptions, Encoding, Image, OffsetUnit, PadTo, Padding,
    Scratch, Setting, Tokenizer, Truncation, TruncationStrategy,
};
use trie_tests::hf_models::{Document, Source, fairseq_shapes, sentencepiece_shapes};

/// One configuration under both.
struct Pair {
    name: String,
    /// Truncation and padding are set case by case: a clone of a large vocabulary takes longer.
    reference: RefCell<tokenizers::Tokenizer>,
    /// Without a post-processor either: what it gives is to be post-processed.
    bare: tokenizers::Tokenizer,
    ours: Tokenizer,
}

impl Pair {
    fn new(document: &Document) -> Self {
        let name = document.name.clone();
        let image = trie_compiler::compile(document.json.as_bytes(), &Default::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut reference = tokenizers::Tokenizer::from_bytes(&document.json).expect("a good file");
        reference.with_truncation(None).expect("nothing to check");
        reference.with_padding(None);
        let mut bare = reference.clone();
        bare.with_post_processor(None::<tokenizers::PostProcessorWrapper>);
        Self {
            name,
            reference: RefCell::new(reference),
            bare,
            ours: Tokenizer::new(Image::from_bytes(&image).expect("a fresh image is sound")),
        }
    }

    /// What the crate makes of a text or pair: `None` where it takes no such truncation, an error where it
    /// panics or fails over it.
    fn expected(&self, case: &Case) -> Option<Result<TheirEncoding, ()>> {
        let mut reference = self.reference.borrow_mut();
        let specials =
            usize::from(case.special) * self.ours.special_token_count(case.second.is_some());
        reference.with_truncation(None).ok()?;
        if let Some(truncation) = &case.truncation {
            // The crate's subtraction would wrap around.
            truncation.max_length.checked_sub(specials)?;
            reference.with_truncation(Some(theirs(truncation))).ok()?;
        }
        reference.with_padding(case.padding.as_ref().map(their_padding));
        let found = catch_unwind(AssertUnwindSafe(|| {
            let encode = |text: &str| self.bare.encode(text, false).ok();
            let second = match &case.second {
                Some(second) => Some(encode(second)?),
                None => None,
            };
            reference
                .post_process(encode(&case.first)?, second, case.special)
                .ok()
        }));
        Some(found.ok().flatten().ok_or(()))
    }

    /// Compares everything about one text or pair.
    fn check(&self, case: &Case, scratch: &mut Scratch) -> Result<(), TestCaseError> {
        let Some(expected) = self.expected(case) else {
            return Ok(());
        };
        let options = case.options(true);
        let found = case.encode(&self.ours, &options, scratch);
        let (expected, found) = match (expected, found) {
            (Ok(expected), Ok(found)) => (expected, found),
            (Err(()), Err(_)) => return Ok(()),
            (expected, found) => {
                return Err(TestCaseError::fail(format!(
                    "{}: {case:?}\n  theirs {expected:?}\n  ours {found:?}",
                    self.name
                )));
            }
        };
        let windows: Vec<Encoding<'_>> = found.overflowing().collect();
        let name = &self.name;
        same(&expected, &found).map_err(|what| fail(name, case, &what))?;
        prop_assert_eq!(
            windows.len(),
            expected.get_overflowing().len(),
            "{}: {:?}",
            name,
            case
        );
        for (theirs, ours) in expected.get_overflowing().iter().zip(&windows) {
            same(theirs, ours).map_err(|what| fail(name, case, &format!("window: {what}")))?;
        }
        // Without overflowing windows encoding stops early, and must give the same.
        let ids = found.ids().to_vec();
        let offsets = found.offsets().to_vec();
        let early = case
            .encode(&self.ours, &case.options(false), scratch)
            .expect("nothing is asked for that was not before");
        prop_assert_eq!(early.ids(), ids, "{}: {:?}", name, case);
        prop_assert_eq!(early.offsets(), offsets, "{}: {:?}", name, case);
        Ok(())
    }
}

fn fail(name: &str, case: &Case, what: &str) -> TestCaseError {
    TestCaseError::fail(format!("{name}: {case:?}\n{what}"))
}

fn their_padding(padding: &Padding) -> PaddingParams {
    PaddingParams {
        strategy: match padding.to {
            PadTo::Fixed(length) => PaddingStrategy::Fixed(length),
            _ => PaddingStrategy::BatchLongest,
        },
        direction: match padding.direction {
            Direction::Left => PaddingDirection::Left,
            Direction::Right => PaddingDirection::Right,
        },
        pad_to_multiple_of: Some(padding.multiple_of),
        pad_id: padding.id,
        pad_type_id: padding.type_id,
        pad_token: String::new(),
    }
}

fn theirs(truncation: &Truncation) -> TruncationParams {
    TruncationParams {
        direction: match truncation.direction {
            Direction::Left => TruncationDirection::Left,
            Direction::Right => TruncationDirection::Right,
        },
        max_length: truncation.max_length,
        strategy: match truncation.strategy {
            TruncationStrategy::OnlyFirst => tokenizers::TruncationStrategy::OnlyFirst,
            TruncationStrategy::OnlySecond => tokenizers::TruncationStrategy::OnlySecond,
            _ => tokenizers::TruncationStrategy::LongestFirst,
        },
        stride: truncation.stride,
    }
}

/// What differs between two windows, if anything.
fn same(theirs: &TheirEncoding, ours: &Encoding<'_>) -> Result<(), String> {
    let compare = |what: &str, theirs: String, ours: String| {
        if theirs == ours {
            Ok(())
        } else {
            Err(format!("{what}\n  theirs {theirs}\n  ours   {ours}"))
        }
    };
    let list = |values: &[u32]| format!("{values:?}");
    compare("ids", list(theirs.get_ids()), list(ours.ids()))?;
    compare("types", list(theirs.get_type_ids()), list(ours.type_ids()))?;
    compare(
        "attention",
        list(theirs.get_attention_mask()),
        list(ours.attention_mask()),
    )?;
    compare(
        "specials",
        list(theirs.get_special_tokens_mask()),
        list(ours.special_tokens_mask()),
    )?;
    compare(
        "offsets",
        format!("{:?}", theirs.get_offsets()),
        format!("{:?}", ours.offsets()),
    )
}

/// A text or pair, and how to encode it.
#[derive(Debug, Clone)]
struct Case {
    first: String,
    second: Option<String>,
    special: bool,
    truncation: Option<Truncation>,
    padding: Option<Padding>,
}

impl Case {
    fn options(&self, overflowing: bool) -> EncodeOptions {
        let truncation = self.truncation.map_or(Setting::Off, Setting::On);
        EncodeOptions::default()
            .with_special_tokens(self.special)
            .with_masks(true)
            .with_offsets(OffsetUnit::Bytes)
            .with_overflowing(overflowing)
            .with_truncation(truncation)
            .with_padding(self.padding.map_or(Setting::Off, Setting::On))
    }

    fn encode<'s>(
        &self,
        tokenizer: &'s Tokenizer,
        options: &EncodeOptions,
        scratch: &'s mut Scratch,
    ) -> Result<Encoding<'s>, trie_runtime::EncodeError> {
        match &self.second {
            Some(second) => tokenizer.encode_pair(&self.first, second, options, scratch),
            None => tokenizer.encode_with(&self.first, options, scratch),
        }
    }
}

/// Texts of words, white space, special names and characters that normalization changes.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        8 => "[a-e]{1,6}",
        3 => Just(" ".to_owned()),
        1 => "[ \t\n\u{a0}\u{3000}\u{2581}]{1,3}",
        1 => prop::sample::select(vec![
            "</s>", "<mask>", "[MASK]", "<unk>", "\u{fb01}", "\u{bd}", "\u{fdfa}", "e\u{301}\u{302}",
            "\u{ff8a}\u{ff9f}", "\u{3042}\u{3044}", "\u{1f600}", "\u{200d}", "\u{1}", "A\u{30a}", "\u{1100}\u{1161}\u{11a8}", "12.5", "don't", "!?",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

fn truncation() -> impl Strategy<Value = Truncation> {
    let strategy = prop::sample::select(vec![
        TruncationStrategy::LongestFirst,
        TruncationStrategy::LongestFirst,
        TruncationStrategy::OnlyFirst,
        TruncationStrategy::OnlySecond,
    ]);
    (0..40usize, 0..4usize, strategy, any::<bool>()).prop_map(|(length, stride, strategy, left)| {
        Truncation::new(length)
            .with_stride(stride)
            .with_strategy(strategy)
            .with_direction(if left {
                Direction::Left
            } else {
                Direction::Right
            })
    })
}

fn padding() -> impl Strategy<Value = Padding> {
    let to = prop_oneof![Just(PadTo::Longest), (0..50usize).prop_map(PadTo::Fixed)];
    (to, 0..9usize, any::<bool>(), 0..9u32, 0..3u32).prop_map(
        |(to, multiple, left, id, type_id)| {
            Padding::new(id)
                .with_length(to)
                .with_multiple_of(multiple)
                .with_type_id(type_id)
                .with_direction(if left {
                    Direction::Left
                } else {
                    Direction::Right
                })
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    (
        text(),
        prop::option::of(text()),
        any::<bool>(),
        prop::option::weighted(0.8, truncation()),
        prop::option::weighted(0.3, padding()),
    )
        .prop_map(|(first, second, special, truncation, padding)| Case {
            first,
            second,
            special,
            truncation,
            padding,
        })
}

fn config(cases: u32) -> ProptestConfig {
    let mut config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(5);
    }
    config.failure_persistence = None;
    config
}

fn pairs() -> Vec<Pair> {
    let large = Source::new("xlm-roberta", "fairseq");
    let mut documents: Vec<Document> = fairseq_shapes(&large).into_iter().take(2).collect();
    for name in ["trained", "bytefb", "uds"] {
        documents.extend(sentencepiece_shapes(&Source::new(name, "sentencepiece")));
    }
    documents.iter().map(Pair::new).collect()
}

#[test]
fn texts_and_pairs_are_the_crates() {
    let pairs = pairs();
    let mut scratch = Scratch::new();
    let mut runner = proptest::test_runner::TestRunner::new(config(2000));
    let cases = (case(), 0..pairs.len());
    runner
        .run(&cases, |(case, index)| {
            let scratch = &mut Scratch::new();
            pairs[index].check(&case, scratch)
        })
        .unwrap();
    // Every configuration at its simplest, whatever was drawn.
    for pair in &pairs {
        for second in [None, Some("d e".to_owned())] {
            let case = Case {
                first: "a b c".into(),
                second,
                special: true,
                truncation: None,
                padding: None,
            };
            pair.check(&case, &mut scratch).unwrap();
        }
    }
}

#[test]
fn batches_are_the_crates_for_any_number_of_threads() {
    let pairs = pairs();
    let mut runner = proptest::test_runner::TestRunner::new(config(200));
    let cases = (
        prop::collection::vec(text(), 0..70),
        prop::option::of(padding()),
        any::<bool>(),
        0..pairs.len(),
    );
    runner
        .run(&cases, |(texts, padding, special, index)| {
            let pair = &pairs[index];
            let case = Case {
                first: String::new(),
                second: None,
                special,
                truncation: None,
                padding,
            };
            let options = case.options(false);
            let mut batches = Vec::new();
            for threads in [1, 2, 5] {
                let mut encoder = BatchEncoder::with_threads(threads);
                let mut batch = Batch::new();
                for _ in 0..2 {
                    encoder
                        .encode(&pair.ours, &texts, &options, &mut batch)
                        .unwrap();
                }
                batches.push(batch);
            }
            prop_assert_eq!(&batches[0], &batches[1]);
            prop_assert_eq!(&batches[0], &batches[2]);
            let mut reference = pair.reference.borrow_mut();
            reference.with_truncation(None).unwrap();
            reference.with_padding(None);
            let mut expected: Vec<TheirEncoding> = texts
                .iter()
                .map(|text| reference.encode(text.as_str(), special).unwrap())
                .collect();
            if let Some(padding) = &padding {
                tokenizers::pad_encodings(&mut expected, &their_padding(padding)).unwrap();
            }
            prop_assert_eq!(batches[0].len(), texts.len());
            for (row, theirs) in batches[0].rows().zip(&expected) {
                prop_assert_eq!(row.ids, theirs.get_ids());
                prop_assert_eq!(row.type_ids, theirs.get_type_ids());
                prop_assert_eq!(row.attention_mask, theirs.get_attention_mask());
                prop_assert_eq!(row.special_tokens_mask, theirs.get_special_tokens_mask());
                prop_assert_eq!(row.offsets, theirs.get_offsets());
            }
            Ok(())
        })
        .unwrap();
}

/// What a file says of truncation and padding is done unless the caller says otherwise.
#[test]
fn a_files_own_truncation_and_padding_are_done() {
    let documents = sentencepiece_shapes(&Source::new("trained", "sentencepiece"));
    let blocks = [
        (
            serde_json::json!({"direction": "Right", "max_length": 12, "strategy": "LongestFirst", "stride": 0}),
            serde_json::json!({
                "strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": 8, "pad_id": 0,
                "pad_type_id": 0, "pad_token": "<pad>"
            }),
        ),
        (
            serde_json::json!({"direction": "Left", "max_length": 6, "strategy": "OnlyFirst", "stride": 0}),
            serde_json::json!({
                "strategy": {"Fixed": 10}, "direction": "Left", "pad_to_multiple_of": null, "pad_id": 1,
                "pad_type_id": 3, "pad_token": "<pad>"
            }),
        ),
        (serde_json::Value::Null, serde_json::Value::Null),
    ];
    let texts = [
        "",
        "a",
        "abc de fgh",
        "the quick brown fox jumps over the lazy dog and on it goes",
    ];
    let mut scratch = Scratch::new();
    for document in &documents {
        for (truncation, padding) in &blocks {
            let mut file: serde_json::Value = serde_json::from_str(&document.json).unwrap();
            file["truncation"] = truncation.clone();
            file["padding"] = padding.clone();
            let json = file.to_string();
            let name = &document.name;
            let theirs = tokenizers::Tokenizer::from_bytes(&json).unwrap();
            let image = trie_compiler::compile(json.as_bytes(), &Default::default())
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let ours = Tokenizer::new(Image::from_bytes(&image).unwrap());
            for special in [false, true] {
                let options = EncodeOptions::default()
                    .with_special_tokens(special)
                    .with_masks(true)
                    .with_offsets(OffsetUnit::Bytes);
                for text in texts {
                    let expected = theirs.encode(text, special).unwrap();
                    let found = ours.encode_with(text, &options, &mut scratch).unwrap();
                    same(&expected, &found)
                        .unwrap_or_else(|what| panic!("{name} {text:?} {special}: {what}"));
                }
                let mut batch = Batch::new();
                BatchEncoder::new()
                    .encode(&ours, &texts, &options, &mut batch)
                    .unwrap();
                let expected = theirs.encode_batch(texts.to_vec(), special).unwrap();
                for (row, theirs) in batch.rows().zip(&expected) {
                    assert_eq!(row.ids, theirs.get_ids(), "{name}");
                    assert_eq!(row.attention_mask, theirs.get_attention_mask(), "{name}");
                    assert_eq!(row.type_ids, theirs.get_type_ids(), "{name}");
                    assert_eq!(row.offsets, theirs.get_offsets(), "{name}");
                }
                // All of the text's ids, whatever the file says.
                let all = ours.encode(texts[3], &mut scratch).len();
                assert!(all > 12, "{name}");
            }
        }
    }
}

#[test]
fn positions_and_sequences_are_numbered() {
    use trie_runtime::{Positions, Reference};

    let tokenizer = trie_tests::xlm_roberta(Reference::SentencePiece023);
    let mut scratch = Scratch::new();
    let padding = tokenizer.padding().expect("the model has a padding piece");
    assert_eq!((padding.id, padding.direction), (1, Direction::Right));
    let options = EncodeOptions::default()
        .with_special_tokens(true)
        .with_masks(true)
        .with_pieces(true)
        .with_padding(
            padding
                .with_length(PadTo::Fixed(9))
                .with_direction(Direction::Left),
        );
    let encoding = tokenizer
        .encode_pair("a b", "c", &options, &mut scratch)
        .unwrap();
    assert_eq!(encoding.ids(), [1, 1, 0, 10, 876, 2, 2, 501, 2]);
    let sequences: Vec<Option<usize>> = encoding.sequence_ids().collect();
    assert_eq!(
        sequences,
        [
            None,
            None,
            None,
            Some(0),
            Some(0),
            None,
            None,
            Some(1),
            None
        ]
    );
    let positions = |positions| encoding.position_ids(positions).collect::<Vec<u32>>();
    assert_eq!(positions(Positions::FromZero), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    // `create_position_ids_from_input_ids` of transformers with padding_idx 1.
    assert_eq!(
        positions(Positions::AfterPadding { pad_id: 1 }),
        [1, 1, 2, 3, 4, 5, 6, 7, 8]
    );
    let owned = encoding.to_buf();
    assert_eq!(owned.ids, encoding.ids());
    assert_eq!(owned.pieces.len(), 9);
    assert_eq!(owned.sequence_ids, sequences);
}

//! The window gives the tokens of the plain pass: random vocabularies, texts and cuts, all arithmetics, scores
//! that are re-based; the committed texts as one.

use proptest::prelude::*;
use trie_runtime::oracle::{plain_tokens, window_tokens};
use trie_runtime::{Reference, Scratch};
use trie_tests::models::ModelSpec;
use trie_tests::{corpus_dir, text_files, xlm_roberta};

const ALL: [Reference; 3] = [
    Reference::SentencePiece023,
    Reference::SentencePiece021,
    Reference::HuggingFace023,
];

/// Characters that make ties, overlaps, several lengths of UTF-8 and unknown characters likely.
const ALPHABET: &[&str] = &[
    "a",
    "a",
    "b",
    "c",
    "\u{e9}",
    "\u{3042}",
    "\u{1f600}",
    "\u{2581}",
    "z",
];

fn word(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(ALPHABET), 1..=most).prop_map(|chars| chars.concat())
}

/// Bytes: mostly text, with some that are none.
fn text(most: usize) -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        12 => prop::sample::select(ALPHABET).prop_map(|text| text.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
        // A run that does not settle soon.
        1 => (0..60usize).prop_map(|count| b"a".repeat(count)),
    ];
    prop::collection::vec(part, 0..=most).prop_map(|parts| parts.concat())
}

prop_compose! {
    /// Scores are few and coarse (ties) or large (rounding, re-basing).
    fn model()(
        words in prop::collection::btree_set(word(6), 1..40),
        scores in prop::collection::vec(prop_oneof![
            3 => (-20i8..4).prop_map(|n| f32::from(n) * 0.5),
            1 => (-2_000_000i32..2_000_000).prop_map(|n| n as f32 * 0.1),
            1 => Just(-0.1f32), 1 => Just(-1.3f32),
        ], 40),
        kinds in prop::collection::vec(prop_oneof![8 => Just(1u8), 1 => Just(4)], 40),
    ) -> ModelSpec {
        let mut spec = ModelSpec { switches: [false; 3], ..ModelSpec::default() };
        for ((word, score), kind) in words.into_iter().zip(scores).zip(kinds) {
            spec.pieces.push((word.into_bytes(), score, kind));
        }
        spec
    }
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..400usize, 0..60).prop_map(|mut cuts| {
        cuts.sort_unstable();
        cuts
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn window_equals_plain(spec in model(), text in text(120), cuts in cuts()) {
        for reference in ALL {
            let tokenizer = spec.tokenizer(reference);
            let plain = plain_tokens(&tokenizer, &text);
            prop_assert_eq!(&window_tokens(&tokenizer, &text, &[]).0, &plain, "{:?}", reference);
            prop_assert_eq!(&window_tokens(&tokenizer, &text, &cuts).0, &plain, "{:?}", reference);
            let every_byte: Vec<usize> = (0..text.len()).collect();
            prop_assert_eq!(&window_tokens(&tokenizer, &text, &every_byte).0, &plain, "{:?}", reference);
        }
    }

    /// Text longer than a window, so that it moves also where the text does not end.
    #[test]
    fn long_text(spec in model(), text in text(40), repeats in 20..200usize) {
        let text = text.repeat(repeats);
        for reference in ALL {
            let tokenizer = spec.tokenizer(reference);
            let plain = plain_tokens(&tokenizer, &text);
            prop_assert_eq!(&window_tokens(&tokenizer, &text, &[]).0, &plain, "{:?}", reference);
        }
    }
}

/// Unknown characters until the sum is far beyond 100,000, where 0.2.3 re-bases; then ties among what float32
/// can no longer tell apart.
#[test]
fn long_unknown_runs() {
    let mut spec = ModelSpec {
        switches: [false; 3],
        ..ModelSpec::default()
    };
    for (piece, score) in [
        ("a", -1.0),
        ("aa", -2.0),
        ("aaa", -3.1),
        ("b", -1000.5),
        ("ab", -1001.6),
    ] {
        spec.pieces.push((piece.as_bytes().to_vec(), score, 1));
    }
    let mut text = "z".repeat(3000) + "aaaab";
    text = text.repeat(9) + &"\u{3042}a".repeat(2000);
    for reference in ALL {
        let tokenizer = spec.tokenizer(reference);
        let plain = plain_tokens(&tokenizer, text.as_bytes());
        assert!(plain.len() > 20_000);
        for step in [usize::MAX, 4096, 100, 1] {
            let cuts: Vec<usize> = (0..text.len()).step_by(step.min(text.len())).collect();
            let (tokens, allocated) = window_tokens(&tokenizer, text.as_bytes(), &cuts);
            assert!(tokens == plain, "{reference:?} {step}");
            // Each of the unknown characters is settled at once.
            assert!(allocated < 20_000, "{reference:?} {step}: {allocated}");
        }
    }
}

/// What never settles is right all the same.
#[test]
fn a_run_that_stays_open() {
    let mut spec = ModelSpec {
        switches: [false; 3],
        ..ModelSpec::default()
    };
    for len in 1..=16 {
        spec.pieces.push((b"a".repeat(len), -1.0, 1));
    }
    for reference in ALL {
        let tokenizer = spec.tokenizer(reference);
        let text = b"a".repeat(50_003);
        let plain = plain_tokens(&tokenizer, &text);
        let cuts: Vec<usize> = (0..text.len()).step_by(7).collect();
        assert!(
            window_tokens(&tokenizer, &text, &cuts).0 == plain,
            "{reference:?}"
        );
        assert!(
            window_tokens(&tokenizer, &text, &[]).0 == plain,
            "{reference:?}"
        );
    }
}

#[test]
fn committed_texts() {
    let mut widest = 0;
    for reference in [Reference::SentencePiece023, Reference::SentencePiece021] {
        let tokenizer = xlm_roberta(reference);
        let mut scratch = Scratch::new();
        for (name, text) in text_files(&corpus_dir()) {
            let text = tokenizer.normalize(&text, &mut scratch).to_vec();
            let plain = plain_tokens(&tokenizer, &text);
            for step in [usize::MAX, 1000, 3] {
                let cuts: Vec<usize> = (0..text.len()).step_by(step.min(text.len())).collect();
                let (tokens, allocated) = window_tokens(&tokenizer, &text, &cuts);
                assert!(tokens == plain, "{name} in steps of {step}");
                widest = widest.max(allocated);
            }
        }
    }
    println!("the widest window held {widest} bytes");
    assert!(widest < 20_000, "{widest}");
}

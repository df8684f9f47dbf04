//! Part by part, with baked and remembered answers, the tokens are those of the plain pass: random vocabularies, texts
//! and cuts; whatever the sum of the scores before a part, and where sums are re-based; whole files as one text.

use std::collections::BTreeSet;

use proptest::prelude::*;
use trie_runtime::oracle::{PartByPart, plain_tokens};
use trie_runtime::{Reference, Scratch};
use trie_tests::models::ModelSpec;
use trie_tests::{corpus_dir, text_files, xlm_roberta};

const BOTH: [Reference; 2] = [Reference::SentencePiece023, Reference::SentencePiece021];

/// With the arithmetic that words have under the Hugging Face reference.
const ALL: [Reference; 3] = [
    Reference::SentencePiece023,
    Reference::SentencePiece021,
    Reference::HuggingFace023,
];

/// Letters, marks, what is written without spaces, several lengths of UTF-8, and what no piece has.
const ALPHABET: &[&str] = &[
    "a",
    "b",
    "c",
    ",",
    "(",
    "7",
    "\u{e9}",
    "\u{e01}",
    "\u{3042}",
    "\u{4e00}",
    "\u{ac00}",
    "\u{1f600}",
    "\u{2581}",
    "z",
];

fn word(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(ALPHABET), 1..=most).prop_map(|chars| chars.concat())
}

/// A text with runs, so that there are parts and words that are too long to have a key.
fn text(most: usize) -> impl Strategy<Value = String> {
    let part = prop_oneof![
        12 => word(6),
        3 => word(3).prop_map(|word| format!("\u{2581}{word}")),
        1 => (0..40usize).prop_map(|count| "ab".repeat(count)),
        1 => (0..900usize).prop_map(|count| "a".repeat(count)),
    ];
    prop::collection::vec(part, 0..=most).prop_map(|parts| parts.concat())
}

prop_compose! {
    /// Scores are few and coarse, so that there are ties, or of every kind.
    fn model()(
        words in prop::collection::btree_set(word(5), 1..60),
        scores in prop::collection::vec(prop_oneof![
            3 => (-20i8..4).prop_map(|n| f32::from(n) * 0.5),
            2 => (-600_000i32..0).prop_map(|n| n as f32 * 1e-4),
            1 => Just(-0.1f32), 1 => Just(-1.3f32),
        ], 60),
        kinds in prop::collection::vec(prop_oneof![8 => Just(1u8), 1 => Just(4)], 60),
        leading_space in any::<bool>(),
    ) -> ModelSpec {
        let mut spec = ModelSpec { switches: [false; 3], ..ModelSpec::default() };
        let mut words = words;
        if leading_space {
            // As in models that are trained with it: no piece has U+2581 but at its beginning.
            words = words.iter().map(|word| {
                let letters = word.replace('\u{2581}', "");
                if word.contains('\u{2581}') { format!("\u{2581}{letters}") } else { letters }
            }).filter(|word| !word.is_empty()).collect::<BTreeSet<_>>();
        }
        for ((word, score), kind) in words.into_iter().zip(scores).zip(kinds) {
            spec.pieces.push((word.into_bytes(), score, kind));
        }
        spec
    }
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..4000usize, 0..60).prop_map(|mut cuts| {
        cuts.sort_unstable();
        cuts
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// The second time round, answers are remembered from the first; the third, sums are large; then they are re-based.
    #[test]
    fn part_by_part_equals_plain(
        spec in model(),
        texts in prop::collection::vec(text(20), 1..5),
        cuts in cuts(),
        unknown in prop_oneof![0..300usize, 1500..2500usize, 4000..12_000usize],
    ) {
        for reference in ALL {
            let tokenizer = spec.tokenizer(reference);
            let mut segmenter = PartByPart::default();
            for prefix in [0, 0, unknown, unknown + 1] {
                for text in &texts {
                    let text = "z".repeat(prefix) + text;
                    let found = segmenter.tokens(&tokenizer, text.as_bytes(), &cuts);
                    let Some(found) = found else {
                        // A user-defined symbol's score can be beyond what images with parts may have.
                        return Ok(());
                    };
                    let plain = plain_tokens(&tokenizer, text.as_bytes());
                    prop_assert!(found == plain, "{:?} behind {}", reference, prefix);
                    let whole = segmenter.tokens(&tokenizer, text.as_bytes(), &[]).expect("parts");
                    prop_assert!(whole == plain, "{:?} behind {}, whole", reference, prefix);
                }
            }
        }
    }
}

/// Segmentations that are equally good but for rounding: which one wins changes with the sum before them, and has to
/// change with it though an answer is remembered. Also where sums are re-based, at 100,000.
#[test]
fn near_ties_behind_every_sum() {
    let mut spec = ModelSpec {
        switches: [false; 3],
        ..ModelSpec::default()
    };
    for (piece, score) in [
        ("a", -1.1),
        ("b", -2.3),
        ("c", -3.7),
        ("ab", -3.2),
        ("bc", -5.8),
        ("abc", -6.9),
        ("d", -1.15),
        ("e", -2.85),
        ("de", -4.0),
        ("\u{2581}", -1.7),
        ("\u{2581}a", -2.8),
        ("\u{2581}ab", -4.9),
        (",", -3.3),
        // Unknown characters are worth 10 less than this, so that the sums before differ in their last places.
        ("q", -3.417),
    ] {
        spec.pieces.push((piece.as_bytes().to_vec(), score, 1));
    }
    // Too long to be remembered: given out from boundary to boundary.
    let long = "\u{2581}".to_owned() + &"abcde".repeat(20);
    let words = [
        long.as_str(),
        "abc",
        "de",
        "\u{2581}abc",
        "\u{2581}abcde",
        "abcabc,",
        "\u{2581}de,abc",
    ];
    for reference in BOTH {
        let tokenizer = spec.tokenizer(reference);
        let mut segmenter = PartByPart::default();
        let mut answers: BTreeSet<(usize, Vec<u32>)> = BTreeSet::new();
        for unknown in (0..300).chain((300..9000).step_by(37)) {
            for (index, word) in words.into_iter().enumerate() {
                let text = "z".repeat(unknown) + word + "\u{2581}";
                let found = segmenter
                    .tokens(&tokenizer, text.as_bytes(), &[])
                    .expect("parts");
                let plain = plain_tokens(&tokenizer, text.as_bytes());
                assert!(found == plain, "{reference:?}: {word} behind {unknown}");
                answers.insert((
                    index,
                    plain[unknown..].iter().map(|token| token.2).collect(),
                ));
            }
        }
        // The test is one only if sums do change answers.
        assert!(answers.len() > words.len(), "{reference:?}: {answers:?}");
    }
}

/// In the real vocabulary: words behind so many unknown characters that sums come to where they are re-based.
#[test]
fn words_behind_thousands_of_unknown_characters() {
    let words =
        "Hello world, unbelievably\u{2581}internationalization; \u{4eca}\u{65e5}\u{306f}\u{3001}\
        \u{43f}\u{435}\u{440}\u{435}\u{432}\u{43e}\u{434}\u{447}\u{438}\u{43a}\u{438} \
        \u{e2a}\u{e27}\u{e31}\u{e2a}\u{e14}\u{e35}\u{e0a}\u{e32}\u{e27}\u{e42}\u{e25}\u{e01}"
            .replace(' ', "\u{2581}");
    for reference in BOTH {
        let tokenizer = xlm_roberta(reference);
        let mut segmenter = PartByPart::default();
        for unknown in [
            0, 1, 100, 3000, 4200, 4265, 4266, 4267, 4300, 8000, 8531, 8532, 8533, 8600, 20_000,
        ] {
            for repeats in [1, 2, 50] {
                // Egyptian hieroglyphs are in no piece.
                let text = "\u{13000}".repeat(unknown) + &words.repeat(repeats);
                let found = segmenter
                    .tokens(&tokenizer, text.as_bytes(), &[])
                    .expect("parts");
                let plain = plain_tokens(&tokenizer, text.as_bytes());
                assert!(found == plain, "{reference:?}: {repeats} behind {unknown}");
            }
        }
    }
}

/// All committed texts, each by itself and all as one, seen and unseen.
#[test]
fn committed_texts() {
    for reference in BOTH {
        let tokenizer = xlm_roberta(reference);
        let mut scratch = Scratch::new();
        let mut segmenter = PartByPart::default();
        let mut all = Vec::new();
        for (name, text) in text_files(&corpus_dir()) {
            let text = tokenizer.normalize(&text, &mut scratch).to_vec();
            let plain = plain_tokens(&tokenizer, &text);
            for step in [usize::MAX, 1000, 3] {
                let cuts: Vec<usize> = (0..text.len()).step_by(step.min(text.len())).collect();
                let found = segmenter.tokens(&tokenizer, &text, &cuts).expect("parts");
                assert!(found == plain, "{name} in steps of {step}");
            }
            all.extend_from_slice(&text);
        }
        let plain = plain_tokens(&tokenizer, &all);
        let found = segmenter.tokens(&tokenizer, &all, &[]).expect("parts");
        assert!(found == plain, "{reference:?}: all texts as one");
    }
}

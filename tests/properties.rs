//! Random vocabularies and texts: the trie's Viterbi equals a naive one over a hash map, written straight
//! from the description of the references, under both arithmetics; encodings survive a round trip.

use std::collections::HashMap;

use proptest::prelude::*;
use trie_runtime::oracle::{normalize_by_rules, prefixes};
use trie_runtime::{Image, Reference, Scratch, Tokenizer};
use trie_tests::images::Random;
use trie_tests::models::{ModelSpec, Piece};
use trie_tests::{compile_file, corpus_dir, data_dir, lines, options, text_files, xlm_roberta};

/// One position's best path.
#[derive(Clone, Copy)]
struct Best {
    score: f32,
    start: usize,
    id: u32,
}

/// Best segmentation of `text` (no normalization) by trying every substring.
fn naive(spec: &ModelSpec, reference: Reference, text: &str) -> Vec<u32> {
    let normal_scores = || spec.pieces.iter().filter(|p| p.2 == 1).map(|p| p.1);
    let unk = normal_scores().fold(f32::MAX, f32::min) - 10.0;
    let greatest = normal_scores().fold(f32::MIN_POSITIVE, f32::max);
    let ids: HashMap<&[u8], (u32, &Piece)> = spec
        .pieces
        .iter()
        .enumerate()
        .filter(|(_, piece)| piece.2 == 1 || piece.2 == 4)
        .map(|(id, piece)| (piece.0.as_slice(), (id as u32, piece)))
        .collect();
    let bytes = text.as_bytes();
    let mut best: Vec<Option<Best>> = vec![None; bytes.len() + 1];
    best[0] = Some(Best {
        score: 0.0,
        start: 0,
        id: 0,
    });
    for (start, first) in text.char_indices() {
        if reference == Reference::SentencePiece023 {
            let offset = best[start].expect("reached").score;
            if offset.abs() > 100_000.0 {
                best[start..]
                    .iter_mut()
                    .flatten()
                    .for_each(|open| open.score -= offset);
            }
        }
        let till_here = best[start].expect("reached").score;
        let mut relax = |end: usize, score: f32, compared: f64, id| {
            if best[end].is_none_or(|best| compared > f64::from(best.score)) {
                best[end] = Some(Best { score, start, id });
            }
        };
        let mut single = false;
        for end in start + 1..=bytes.len() {
            let Some((id, piece)) = ids.get(&bytes[start..end]) else {
                continue;
            };
            let len = end - start;
            match (reference, piece.2) {
                (Reference::SentencePiece021, kind) => {
                    let score = match kind {
                        4 => f64::from(len as f32 * greatest) - 0.1,
                        _ => f64::from(piece.1),
                    };
                    let sum = score + f64::from(till_here);
                    relax(end, sum as f32, sum, *id);
                }
                (_, kind) => {
                    let score = match kind {
                        4 => (0.1 * (len - 1) as f64) as f32,
                        _ => piece.1,
                    };
                    relax(end, score + till_here, f64::from(score + till_here), *id);
                }
            }
            single |= len == first.len_utf8();
        }
        if !single {
            let score = unk + till_here;
            relax(start + first.len_utf8(), score, f64::from(score), 0);
        }
    }
    let mut ids = Vec::new();
    let mut end = bytes.len();
    while end > 0 {
        let last = best[end].expect("reached");
        if !(last.id == 0 && ids.last() == Some(&0)) {
            ids.push(last.id);
        }
        end = last.start;
    }
    ids.reverse();
    ids
}

/// Characters that make ties, overlaps and several lengths of UTF-8 likely.
const ALPHABET: &[char] = &['a', 'b', 'c', '\u{e9}', '\u{3042}', '\u{1f600}'];

fn word(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(ALPHABET), 1..=most)
        .prop_map(|chars| chars.into_iter().collect())
}

prop_compose! {
    /// A model without normalization. Scores are few and coarse (ties) or large (rounding, re-basing).
    fn model()(
        words in prop::collection::btree_set(word(5), 1..40),
        scores in prop::collection::vec(prop_oneof![
            (-20i8..4).prop_map(|n| f32::from(n) * 0.5),
            (-2_000_000i32..2_000_000).prop_map(|n| n as f32 * 0.1),
            Just(-0.1f32), Just(-1.3f32),
        ], 40),
        kinds in prop::collection::vec(prop_oneof![8 => Just(1u8), 1 => Just(4), 1 => Just(5)], 40),
    ) -> ModelSpec {
        let mut spec = ModelSpec { switches: [false; 3], ..ModelSpec::default() };
        for ((word, score), kind) in words.into_iter().zip(scores).zip(kinds) {
            spec.pieces.push((word.into_bytes(), score, kind));
        }
        spec
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn viterbi_equals_the_naive_one(spec in model(), text in word(60)) {
        let mut scratch = Scratch::new();
        for reference in [Reference::SentencePiece023, Reference::SentencePiece021] {
            let tokenizer = spec.tokenizer(reference);
            let ids = tokenizer.encode(&text, &mut scratch);
            prop_assert_eq!(ids, naive(&spec, reference, &text), "{:?}", reference);
        }
    }

    /// Nodes, what they skip, leaves and tails, with checks and without: every piece is found, and nothing else.
    #[test]
    fn walks_find_what_a_map_holds(
        starts in prop::collection::vec(word(30), 1..6),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 1usize..=40, word(12)), 1..60),
        text in word(8),
    ) {
        // Pieces that begin alike, part anywhere and end on each other's way.
        let mut words: Vec<String> = starts.clone();
        words.extend(cuts.iter().map(|(start, len, rest)| {
            start.get(&starts).chars().take(*len).chain(rest.chars()).collect()
        }));
        words.sort_unstable();
        words.dedup();
        let mut spec = ModelSpec { switches: [false; 3], ..ModelSpec::default() };
        for (word, score) in words.iter().zip(1u8..) {
            spec.pieces.push((word.clone().into_bytes(), -f32::from(score), 1));
        }
        let tokenizer = spec.tokenizer(Reference::SentencePiece023);
        let trie = tokenizer.image().view().nodes();
        for word in &words {
            let input = [word.as_str(), &text].concat();
            for end in (0..=input.len()).rev() {
                let input = &input.as_bytes()[..end];
                let expected: Vec<(usize, u32, f32)> = (1..=end)
                    .filter_map(|len| {
                        let id = spec.pieces.iter().position(|piece| piece.0 == input[..len])?;
                        Some((len, id as u32, spec.pieces[id].1))
                    })
                    .collect();
                prop_assert_eq!(&prefixes(&tokenizer, input), &expected);
                let mut walked = Vec::new();
                trie.walk(input, |len, id| walked.push((len, id, spec.pieces[id as usize].1)));
                prop_assert_eq!(&walked, &expected);
            }
        }
    }

    #[test]
    fn decoding_gives_back_known_text(words in prop::collection::vec(word(4), 1..8)) {
        let mut spec = ModelSpec::default();
        spec.pieces.extend(ALPHABET.iter().map(|c| (c.to_string().into_bytes(), -1.0, 1)));
        spec.pieces.push(("\u{2581}".into(), -1.0, 1));
        let tokenizer = spec.tokenizer(Reference::SentencePiece023);
        let text = words.join(" ");
        let ids = tokenizer.encode_to_vec(&text);
        prop_assert_eq!(tokenizer.decode_to_string(&ids), Ok(text));
    }

    #[test]
    fn arbitrary_bytes_encode(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let tokenizer = trie_tests::xlm_roberta(Reference::SentencePiece023);
        let mut scratch = Scratch::new();
        let ids = tokenizer.encode(&bytes, &mut scratch).to_vec();
        prop_assert!(ids.iter().all(|&id| id < tokenizer.piece_count()));
        let text = String::from_utf8_lossy(&bytes);
        if text.as_bytes() == bytes {
            prop_assert_eq!(tokenizer.encode(&*text, &mut scratch), ids);
        }
    }
}

/// Characters that the compiler calls plain are copied unseen: what comes out must be what the rules give.
#[test]
fn plain_characters_are_what_the_rules_make_of_them() {
    let mut tokenizers = vec![xlm_roberta(Reference::SentencePiece023)];
    for name in [
        "trained",
        "uds",
        "nfkc_cf",
        "nmt_nfkc_cf",
        "keepws",
        "suffix",
        "identity",
        "denorm",
        "h_uds_norm",
        "h_uds3",
        "cm_badutf8",
        "cm_fuzz",
        "cm_intact",
    ] {
        let path = data_dir().join(format!("models/{name}.model"));
        let options = options("sentencepiece", Reference::SentencePiece023);
        // Some of the damaged rule tables are refused.
        if let Ok(image) = compile_file(&path, &options) {
            tokenizers.push(Tokenizer::new(Image::from_bytes(&image).unwrap()));
        }
    }
    assert!(tokenizers.len() > 10, "{}", tokenizers.len());
    let mut scratch = Scratch::new();
    let mut check = |tokenizer: &Tokenizer, text: &[u8]| {
        let found = tokenizer.normalize(text, &mut scratch).to_vec();
        assert_eq!(found, normalize_by_rules(tokenizer, text), "{text:x?}");
    };
    let company = [
        "",
        "a",
        " ",
        "\u{301}",
        "\u{e9}",
        "\u{e33}",
        "\u{309a}",
        "\u{3042}",
        "\u{1f600}",
        "\u{2581}",
    ];
    for tokenizer in &tokenizers {
        let is_large = tokenizer.piece_count() > 100_000;
        for character in ('\0'..='\u{ffff}').step_by(if is_large { 1 } else { 7 }) {
            for next in company {
                check(tokenizer, format!("{character}{next}").as_bytes());
                check(
                    tokenizer,
                    format!("{next}{character}{character}{next}x").as_bytes(),
                );
            }
        }
        for (_, text) in text_files(&corpus_dir()) {
            check(tokenizer, &text);
            for line in lines(&text) {
                check(tokenizer, line);
            }
        }
        let mut random = Random(7);
        for _ in 0..20_000 {
            let len = random.below(12);
            let bytes: Vec<u8> = (0..len)
                .map(|_| {
                    [
                        b'a', b' ', 0xc3, 0xa9, 0xcc, 0x81, 0xe0, 0xb8, 0xb3, 0xe3, 0x81, 0x82,
                        0xff,
                    ][random.below(13)]
                })
                .collect();
            check(tokenizer, &bytes);
        }
    }
}

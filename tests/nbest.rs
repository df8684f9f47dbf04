//! n-best lists and entropies against the real references, and samples against exact probabilities.

use std::collections::HashMap;

use sha2::{Digest, Sha256};
use trie_runtime::{
    Candidate, Image, LatticeError, PieceType, Reference, Replacement, SampleFrom, Scratch,
    SplitMix64, Tokenizer,
};
use trie_tests::hf_models::{Source, fairseq_shapes, random_document, sentencepiece_shapes};
use trie_tests::images::Random;
use trie_tests::models::{ModelSpec, Piece};
use trie_tests::{REFERENCES, Row, data_dir, model_path, options, rows, tokenizer, xlm_roberta};

fn tokenizer_of(row: &Row, reference: Reference) -> Tokenizer {
    let path = model_path(row.str("model").unwrap(), None).expect("a committed model");
    tokenizer(
        &path,
        &options(row.str("ids").unwrap_or("fairseq"), reference),
    )
}

/// A column of scores and ids.
fn scored(row: &Row, column: &str) -> Option<Vec<(f32, Vec<u32>)>> {
    let list: Vec<(serde_json::Value, Vec<u32>)> = row.json(column)?;
    let score = |value: serde_json::Value| match value.as_f64() {
        Some(score) => score as f32,
        None => value
            .as_str()
            .expect("a number or its name")
            .parse()
            .unwrap(),
    };
    Some(
        list.into_iter()
            .map(|(value, ids)| (score(value), ids))
            .collect(),
    )
}

/// A list as it is in the goldens: the candidates (of a long list the first ones), how many, and a digest.
#[derive(Debug, PartialEq)]
struct List {
    first: Vec<(u32, Vec<u32>)>,
    count: usize,
    digest: Option<String>,
}

impl List {
    /// The columns of one release.
    fn expected(row: &Row, version: &str) -> Option<Self> {
        let first: Vec<_> = scored(row, &format!("nbest_{version}"))?
            .into_iter()
            .map(|(score, ids)| (score.to_bits(), ids))
            .collect();
        Some(Self {
            count: row.json(&format!("count_{version}")).unwrap_or(first.len()),
            digest: row.str(&format!("digest_{version}")).map(str::to_owned),
            first,
        })
    }

    /// `found`, cut as `like` is.
    fn found(found: &[Candidate], like: &Self) -> Self {
        let bits = |candidate: &Candidate| (candidate.score.to_bits(), candidate.ids.clone());
        let digest = like.digest.as_ref().map(|_| {
            let mut state = Sha256::new();
            for candidate in found {
                candidate
                    .ids
                    .iter()
                    .for_each(|id| state.update(id.to_le_bytes()));
                state.update(u32::MAX.to_le_bytes());
                state.update(candidate.score.to_le_bytes());
            }
            state
                .finalize()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect()
        });
        let kept = match digest {
            Some(_) => like.first.len(),
            None => found.len(),
        };
        Self {
            first: found.iter().take(kept).map(bits).collect(),
            count: found.len(),
            digest,
        }
    }
}

/// Every row of `nbest.jsonl`: ids, order and scores, bit for bit.
#[test]
fn nbest_lists() {
    let mut complaints = Vec::new();
    let mut limited = 0;
    let all = rows(&data_dir().join("nbest.jsonl"));
    for row in &all {
        let n: usize = row.json("n").unwrap();
        let input = row.bytes("input").unwrap();
        let expected = List::expected(row, "0.2.3").expect("0.2.3 has an answer");
        for (reference, version) in REFERENCES {
            let found = tokenizer_of(row, reference).nbest(&input, n).unwrap();
            let own = List::expected(row, version);
            // 0.2.1 searches on, without limits, where 0.2.3 falls back to the best path, as is done here.
            let goes_on = |own: &List| n > 1 && expected.count == 1 && own.count > 1;
            limited += usize::from(own.as_ref().is_some_and(goes_on));
            let expected = match &own {
                Some(own) if !goes_on(own) => own,
                _ => &expected,
            };
            let found = List::found(&found, expected);
            if found != *expected {
                complaints.push(format!(
                    "{version} n {n} {}\n  expected {expected:?}\n  found {found:?}",
                    row.describe()
                ));
            }
        }
    }
    assert!(limited >= 4, "no row runs into the limits");
    assert!(
        complaints.is_empty(),
        "{} of {}:\n{}",
        complaints.len(),
        all.len(),
        complaints[..complaints.len().min(8)].join("\n")
    );
}

/// A candidate's score is that of its ids, unless unknown characters were fused.
#[test]
fn scores_are_those_of_the_ids() {
    let mut checked = 0;
    for row in rows(&data_dir().join("nbest.jsonl")) {
        let tokenizer = tokenizer_of(&row, Reference::SentencePiece023);
        let unk = tokenizer.special_ids().unk;
        let input = row.bytes("input").unwrap();
        // Pieces that end inside a character stand for more than their text; see `lattice::graph`.
        let is_text = std::str::from_utf8(&input).is_ok();
        if row.json::<usize>("n").unwrap() < 2 || input.len() > 2_000 || !is_text {
            continue;
        }
        for Candidate { ids, score, .. } in tokenizer.nbest(&input, 8).unwrap() {
            if ids.iter().any(|&id| Some(id) == unk) {
                continue;
            }
            checked += 1;
            let found = tokenizer.score_of(&ids).unwrap();
            assert_eq!(
                found.to_bits(),
                score.to_bits(),
                "{} {ids:?}",
                row.describe()
            );
        }
    }
    assert!(checked > 4_000, "{checked}");
}

#[test]
fn entropies() {
    for row in rows(&data_dir().join("entropy.jsonl")) {
        let alpha: f64 = row.json("alpha").unwrap();
        let expected: f64 = row.json("entropy").unwrap();
        let tokenizer = tokenizer_of(&row, Reference::SentencePiece021);
        let found = tokenizer.entropy(row.bytes("input").unwrap(), alpha as f32);
        let found = f64::from(found.unwrap());
        let tolerance = 1e-4 + 1e-5 * expected.abs();
        assert!(
            (found - expected).abs() <= tolerance,
            "{}: {found}",
            row.describe()
        );
    }
}

/// A model in which the texts below have a few dozen segmentations, with user-defined and unknown ones.
fn small_model() -> Tokenizer {
    let piece = |text: &str, score: f32, kind: u8| -> Piece { (text.into(), score, kind) };
    let spec = ModelSpec {
        switches: [false; 3],
        pieces: vec![
            piece("<unk>", 0.0, 2),
            piece("a", -1.0, 1),
            piece("aa", -1.5, 1),
            piece("aab", -4.0, 1),
            piece("b", -2.0, 1),
            piece("ab", -2.5, 1),
            piece("bc", -1.25, 1),
            piece("éa", -3.0, 1),
            piece("cé", 0.0, 4),
        ],
        ..ModelSpec::default()
    };
    let image = trie_compiler::compile(&spec.encode(), &Default::default()).expect("a sound model");
    Tokenizer::new(Image::from_bytes(&image).expect("a fresh image is sound"))
}

/// All segmentations of `text` with their path scores, straight from the description of the lattice.
fn enumerate(tokenizer: &Tokenizer, text: &str) -> Vec<(Vec<u32>, f64)> {
    let Some(first) = text.chars().next() else {
        return vec![(vec![], 0.0)];
    };
    let mut found = Vec::new();
    let mut extend = |len: usize, id: u32, score: f64| {
        for (mut ids, rest) in enumerate(tokenizer, &text[len..]) {
            // The model has no byte fallback: unknown characters fuse.
            if !(id == 0 && ids.first() == Some(&0)) {
                ids.insert(0, id);
            }
            found.push((ids, score + rest));
        }
    };
    let mut has_single = false;
    for id in 1..tokenizer.piece_count() {
        let piece = std::str::from_utf8(tokenizer.piece(id).unwrap()).unwrap();
        if text.starts_with(piece) {
            let characters = piece.chars().count();
            has_single |= characters == 1;
            let score = match tokenizer.piece_type(id).unwrap() {
                PieceType::UserDefined => 0.1 * (characters - 1) as f64,
                _ => f64::from(tokenizer.score(id).unwrap()),
            };
            extend(piece.len(), id, score);
        }
    }
    if !has_single {
        extend(first.len_utf8(), 0, -4.0 - 10.0);
    }
    found
}

/// The probability of every segmentation under `exp(alpha * score)`; equal ids (fused unknowns) together.
fn distribution(paths: &[(Vec<u32>, f64)], alpha: f64) -> Vec<(Vec<u32>, f64)> {
    let total: f64 = paths.iter().map(|(_, score)| (alpha * score).exp()).sum();
    let mut shares: HashMap<&[u32], f64> = HashMap::new();
    for (ids, score) in paths {
        *shares.entry(ids).or_default() += (alpha * score).exp() / total;
    }
    let mut shares: Vec<_> = shares
        .into_iter()
        .map(|(ids, p)| (ids.to_vec(), p))
        .collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}

/// What is wrong with `drawn`, if anything: Pearson's statistic, with classes expected fewer than 5 times put
/// together, should be within five standard deviations of its mean.
fn misfit<T: PartialEq + std::fmt::Debug>(expected: &[(T, f64)], drawn: &[T]) -> Option<String> {
    let total = drawn.len() as f64;
    let is_known = |drawn: &T| expected.iter().any(|(value, _)| value == drawn);
    if let Some(unknown) = drawn.iter().find(|drawn| !is_known(drawn)) {
        return Some(format!("{unknown:?} should be impossible"));
    }
    let (mut statistic, mut classes) = (0.0, 0);
    let (mut rare_expected, mut rare_found) = (0.0, 0.0);
    for (value, probability) in expected {
        let wanted = probability * total;
        let found = drawn.iter().filter(|drawn| *drawn == value).count() as f64;
        if wanted < 5.0 {
            rare_expected += wanted;
            rare_found += found;
        } else {
            statistic += (found - wanted).powi(2) / wanted;
            classes += 1;
        }
    }
    if rare_expected >= 1.0 {
        statistic += (rare_found - rare_expected).powi(2) / rare_expected;
        classes += 1;
    } else if rare_found > 5.0 {
        return Some(format!("{rare_found} rare ones for {rare_expected}"));
    }
    let freedom = f64::from(classes) - 1.0;
    let most = freedom + 5.0 * (2.0 * freedom).sqrt() + 5.0;
    (statistic > most).then(|| format!("{statistic} with {freedom} degrees of freedom"))
}

fn assert_distributed<T: PartialEq + std::fmt::Debug>(expected: &[(T, f64)], drawn: &[T]) {
    if let Some(misfit) = misfit(expected, drawn) {
        panic!("{misfit}: {expected:?}");
    }
}

const SMALL_TEXTS: [&str; 5] = ["aab", "aaabab", "abcéa", "aéxéab", "cécéaab"];

#[test]
fn samples_have_their_exact_probabilities() {
    let tokenizer = small_model();
    let mut random = SplitMix64::new(1);
    let mut told_apart = 0;
    for text in SMALL_TEXTS {
        let paths = enumerate(&tokenizer, text);
        for alpha in [0.0, 0.2, 1.0, 2.5] {
            let expected = distribution(&paths, f64::from(alpha));
            let drawn: Vec<_> = (0..20_000)
                .map(|_| {
                    let random = || random.next_u64();
                    tokenizer
                        .sample(text, alpha, SampleFrom::All, random)
                        .unwrap()
                })
                .collect();
            assert_distributed(&expected, &drawn);
            // Another temperature is another distribution: the test can fail.
            let other = distribution(&paths, f64::from(alpha) + 0.5);
            let moved = expected[0].1 - share(&other, &expected[0].0);
            if moved.abs() > 0.03 {
                told_apart += 1;
                assert!(misfit(&other, &drawn).is_some(), "{text} {alpha}");
            }
        }
    }
    assert!(told_apart > 8, "{told_apart}");
}

/// The probability of `ids`.
fn share(distribution: &[(Vec<u32>, f64)], ids: &[u32]) -> f64 {
    let found = distribution.iter().find(|(other, _)| other == ids);
    found.expect("a segmentation").1
}

#[test]
fn samples_of_the_best_have_their_exact_probabilities() {
    let tokenizer = small_model();
    let mut random = SplitMix64::new(2);
    for text in ["aaabab", "cécéaab"] {
        let best = tokenizer.nbest(text, 4).unwrap();
        let paths: Vec<_> = best
            .into_iter()
            .map(|c| (c.ids, f64::from(c.score)))
            .collect();
        let expected = distribution(&paths, 0.5);
        let drawn: Vec<_> = (0..20_000)
            .map(|_| {
                let random = || random.next_u64();
                tokenizer
                    .sample(text, 0.5, SampleFrom::Best(4), random)
                    .unwrap()
            })
            .collect();
        assert_distributed(&expected, &drawn);
        for n in [0, 1] {
            let drawn = tokenizer.sample(text, 0.5, SampleFrom::Best(n), || unreachable!());
            assert_eq!(drawn.unwrap(), tokenizer.encode_to_vec(text));
        }
    }
}

/// What the reference itself says of all segmentations: its complete n-best lists.
#[test]
fn samples_agree_with_the_reference_s_scores() {
    let mut checked = 0;
    for row in rows(&data_dir().join("nbest.jsonl")) {
        let list = scored(&row, "nbest_0.2.3").unwrap();
        let is_complete = list.len() < row.json("n").unwrap() && !row.has("digest_0.2.3");
        if !is_complete || !(3..60).contains(&list.len()) || checked == 60 {
            continue;
        }
        checked += 1;
        let paths: Vec<_> = list
            .into_iter()
            .map(|(score, ids)| (ids, f64::from(score)))
            .collect();
        let tokenizer = tokenizer_of(&row, Reference::SentencePiece023);
        let alpha = 0.3;
        let expected = distribution(&paths, f64::from(alpha));
        if expected[0].1 > 0.999 {
            continue;
        }
        let mut random = SplitMix64::new(checked);
        let input = row.bytes("input").unwrap();
        let drawn: Vec<_> = (0..4_000)
            .map(|_| {
                let random = || random.next_u64();
                tokenizer
                    .sample(&input, alpha, SampleFrom::All, random)
                    .unwrap()
            })
            .collect();
        println!("{}", row.describe());
        assert_distributed(&expected, &drawn);
    }
    assert_eq!(checked, 60);
}

#[test]
fn samples_with_scores() {
    let tokenizer = small_model();
    let mut random = SplitMix64::new(3);
    for text in ["aaabab", "cécéaab"] {
        let paths = enumerate(&tokenizer, text);
        let expected = distribution(&paths, 0.5);
        let with = tokenizer
            .sample_with_scores(text, 10_000, 0.5, Replacement::With, || random.next_u64());
        let with = with.unwrap();
        let drawn: Vec<_> = with.iter().map(|candidate| candidate.ids.clone()).collect();
        assert_distributed(&expected, &drawn);
        for candidate in &with {
            let error = f64::from(candidate.score.exp()) - share(&expected, &candidate.ids);
            assert!(error.abs() < 1e-5);
        }
    }
}

/// The first two without replacement: `p(a) * p(b) / (1 - p(a))`.
#[test]
fn draws_without_replacement_have_their_exact_probabilities() {
    let tokenizer = small_model();
    let mut random = SplitMix64::new(4);
    let text = "aabab";
    let paths = enumerate(&tokenizer, text);
    let shares = distribution(&paths, 0.4);
    let mut expected = Vec::new();
    for (a, p) in &shares {
        for (b, q) in shares.iter().filter(|(b, _)| b != a) {
            expected.push(((a.clone(), b.clone()), p * q / (1.0 - p)));
        }
    }
    let mut inclusion: HashMap<Vec<u32>, f64> = HashMap::new();
    let draws = 20_000;
    let drawn: Vec<_> = (0..draws)
        .map(|_| {
            let random = || random.next_u64();
            let two = tokenizer.sample_with_scores(text, 2, 0.4, Replacement::Without, random);
            let two = two.unwrap();
            for candidate in &two {
                // Weighed by inverse inclusion probability, every path counts 1 on average.
                *inclusion.entry(candidate.ids.clone()).or_default() +=
                    1.0 / f64::from(candidate.score.exp()) / f64::from(draws);
            }
            (two[0].ids.clone(), two[1].ids.clone())
        })
        .collect();
    assert_distributed(&expected, &drawn);
    for (ids, share) in shares.iter().filter(|(_, share)| *share > 0.05) {
        let found = inclusion[ids];
        assert!((found - 1.0).abs() < 0.1, "{ids:?} {share} {found}");
    }
}

#[test]
fn draws_without_replacement_end_with_the_last_path() {
    let tokenizer = small_model();
    let mut random = SplitMix64::new(5);
    for text in SMALL_TEXTS {
        let all = enumerate(&tokenizer, text).len();
        let best = tokenizer.nbest(text, 2).unwrap().swap_remove(0).ids;
        for samples in [0, 1, 2, all - 1, all, all + 1, 300] {
            let mut draw = |replacement| {
                let random = || random.next_u64();
                let drawn = tokenizer.sample_with_scores(text, samples, 1.0, replacement, random);
                drawn.unwrap()
            };
            let drawn = draw(Replacement::Without);
            assert_eq!(drawn.len(), samples.min(all), "{text}");
            if samples >= all {
                // All of them, for certain.
                assert!(drawn.iter().all(|candidate| candidate.score == 0.0));
            }
            let drawn = draw(Replacement::WithoutBestFirst);
            assert_eq!(drawn.len(), samples.min(all), "{text}");
            if let Some(first) = drawn.first() {
                assert_eq!((&first.ids, first.score), (&best, 0.0));
            }
        }
    }
    let drawn = tokenizer.sample_with_scores("", 3, 1.0, Replacement::WithoutBestFirst, || 1);
    let drawn = drawn.unwrap();
    assert_eq!((drawn.len(), &drawn[0].ids[..]), (1, &[][..]));
}

#[test]
fn entropy_and_normalizer_are_those_of_the_enumeration() {
    let tokenizer = small_model();
    for text in SMALL_TEXTS {
        for alpha in [0.0f32, 0.3, 1.0, 4.0] {
            let paths = enumerate(&tokenizer, text);
            let weights: Vec<f64> = paths
                .iter()
                .map(|(_, score)| (f64::from(alpha) * score).exp())
                .collect();
            let total: f64 = weights.iter().sum();
            let entropy: f64 = weights.iter().map(|w| -w / total * (w / total).ln()).sum();
            let found = f64::from(tokenizer.entropy(text, alpha).unwrap());
            assert!((found - entropy).abs() < 1e-4, "{text} {alpha}");
            let found = f64::from(tokenizer.log_normalizer(text, alpha).unwrap());
            assert!((found - total.ln()).abs() < 1e-4, "{text} {alpha}");
        }
    }
}

#[test]
fn a_seed_gives_the_same_samples_again() {
    let tokenizer = xlm_roberta(Reference::SentencePiece023);
    let draw = |seed| {
        let mut random = SplitMix64::new(seed);
        let random = || random.next_u64();
        tokenizer.sample(
            "Everyone has the right to life",
            0.1,
            SampleFrom::All,
            random,
        )
    };
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
}

/// Samples are segmentations: they decode to what the text decodes to.
#[test]
fn samples_are_segmentations_of_the_text() {
    let tokenizer = xlm_roberta(Reference::SentencePiece023);
    let mut random = SplitMix64::new(9);
    for text in ["Everyone has the right to life", "すべて人は", "x² + ½ = ℃"] {
        let whole = tokenizer
            .decode_to_string(&tokenizer.encode_to_vec(text))
            .unwrap();
        for _ in 0..50 {
            let random = || random.next_u64();
            let ids = tokenizer
                .sample(text, 0.0, SampleFrom::All, random)
                .unwrap();
            assert_eq!(tokenizer.decode_to_string(&ids).unwrap(), whole);
        }
    }
}

#[test]
fn what_cannot_be_answered_is_an_error() {
    let tokenizer = small_model();
    let sample = |alpha| tokenizer.sample("a", alpha, SampleFrom::All, || 0);
    assert_eq!(
        tokenizer.nbest("a", 513),
        Err(LatticeError::TooMany { asked: 513 })
    );
    assert_eq!(tokenizer.nbest("a", 512).map(|list| list.len()), Ok(1));
    for alpha in [-0.5, f32::NAN, f32::INFINITY] {
        assert!(matches!(sample(alpha), Err(LatticeError::BadAlpha { .. })));
        assert!(tokenizer.entropy("a", alpha).is_err());
    }
    assert!(tokenizer.score_of(&[999]).is_err());
    let many = tokenizer.sample_with_scores("a", 513, 1.0, Replacement::Without, || 0);
    assert_eq!(many, Err(LatticeError::TooMany { asked: 513 }));
    let mut random = SplitMix64::new(1);
    let long =
        tokenizer.sample_with_scores("ab".repeat(200_000), 2, 1.0, Replacement::Without, || {
            random.next_u64()
        });
    assert!(matches!(long, Err(LatticeError::GaveUp { asked: 2, .. })));
    let path = model_path("trained", None).unwrap();
    let options = options("sentencepiece", Reference::HuggingFace023);
    let tokenizer = trie_tests::tokenizer(&path, &options);
    assert_eq!(tokenizer.nbest("a", 3), Err(LatticeError::NoReference));
    assert_eq!(tokenizer.entropy("a", 1.0), Err(LatticeError::NoReference));
}

/// The inputs of `encode.jsonl`, without the very long ones.
fn hard_inputs() -> Vec<Vec<u8>> {
    let rows = rows(&data_dir().join("encode.jsonl"));
    let inputs = rows.iter().filter_map(|row| row.bytes("input"));
    inputs.filter(|input| input.len() < 300).collect()
}

/// The explained path is the encoded one, and runners-up are never better.
#[test]
fn explanations_are_of_the_encoded_path() {
    for (reference, _) in REFERENCES {
        for model in ["xlm-roberta", "bytefb", "uds"] {
            let path = model_path(model, None).unwrap();
            let tokenizer = tokenizer(&path, &options("sentencepiece", reference));
            let unk = tokenizer.special_ids().unk.unwrap();
            let byte_id = |byte: &u8| tokenizer.piece_to_id(format!("<0x{byte:02X}>")).unwrap();
            for input in hard_inputs() {
                let explanation = tokenizer.explain(&input, 3).unwrap();
                let mut ids = Vec::new();
                let mut after_unknown = false;
                for segment in &explanation.segments {
                    assert_eq!(segment.best.len(), segment.running.len());
                    for piece in segment.best.iter().map(|&index| segment.pieces[index]) {
                        let text = &explanation.normalized[piece.start..piece.end];
                        match piece.id {
                            Some(id) => ids.push(id),
                            None if model == "bytefb" => ids.extend(text.iter().map(byte_id)),
                            None if after_unknown => {}
                            None => ids.push(unk),
                        }
                        after_unknown = piece.id.is_none();
                    }
                    let is_text = std::str::from_utf8(&input).is_ok();
                    for runner in segment.runners.iter().filter(|_| is_text && model != "uds") {
                        // Sums from the other end are rounded otherwise.
                        assert!(runner.behind > -1e-3, "{model} {input:?} {runner:?}");
                    }
                }
                assert_eq!(ids, explanation.ids, "{model} {input:?}");
                assert_eq!(ids, tokenizer.encode_to_vec(&input));
            }
        }
    }
}

/// Under the Hugging Face reference, the explained words and added tokens are those that are encoded.
#[test]
fn explained_words_are_the_encoded_ones() {
    let source = Source::new("bytefb", "sentencepiece");
    let mut random = Random(6);
    let mut documents = sentencepiece_shapes(&source);
    documents.extend((0..40).map(|_| random_document("random", &source, &mut random)));
    documents.extend(
        fairseq_shapes(&Source::new("xlm-roberta", "fairseq"))
            .into_iter()
            .skip(1)
            .take(2),
    );
    let mut scratch = Scratch::new();
    let (mut compared, mut added) = (0, 0);
    for document in documents {
        // Random ones may be refused.
        let Ok(image) = trie_compiler::compile(document.json.as_bytes(), &Default::default())
        else {
            continue;
        };
        let tokenizer = Tokenizer::new(Image::from_bytes(&image).expect("a fresh image is sound"));
        for input in hard_inputs() {
            let explanation = tokenizer.explain(&input, 1).unwrap();
            let mut ids = Vec::new();
            for segment in &explanation.segments {
                match segment.added_token {
                    Some(id) => {
                        added += 1;
                        ids.push(id);
                    }
                    None => {
                        let word = &explanation.normalized[segment.start..segment.end];
                        ids.extend_from_slice(tokenizer.encode_normalized(word, &mut scratch));
                    }
                }
            }
            compared += 1;
            assert_eq!(ids, explanation.ids, "{} {input:?}", document.name);
        }
    }
    assert!(compared > 20_000 && added > 1_000, "{compared} {added}");
}

//! Under the Hugging Face reference: a text in chunks, and a text of which only the first tokens are asked
//! for, give what encoding it at once gives.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use trie_runtime::{
    EncodeOptions, Image, OffsetUnit, Scratch, StreamEncoder, Tokenizer, Truncation,
};
use trie_tests::fragments::FRAGMENTS;
use trie_tests::hf_models::{
    Document, Source, fairseq_shapes, random_document, sentencepiece_shapes,
};
use trie_tests::images::Random;
use trie_tests::{corpus_dir, text_files};

/// Tokens, and those of them that were final before the text's end.
static TOKENS: AtomicUsize = AtomicUsize::new(0);
static EARLY: AtomicUsize = AtomicUsize::new(0);

/// A configuration.
struct Subject {
    name: String,
    tokenizer: Tokenizer,
    /// How often its template takes the text.
    times: usize,
    /// Whether offsets are trimmed when all is done.
    trims: bool,
}

impl Subject {
    fn new(document: &Document) -> Option<Self> {
        let image = trie_compiler::compile(document.json.as_bytes(), &Default::default()).ok()?;
        let image = Image::from_bytes(&image).expect("a fresh image is sound");
        let tokenizer = Tokenizer::new(image);
        let (options, mut scratch) = (EncodeOptions::default(), Scratch::new());
        let once = tokenizer.encode("x y", &mut scratch).len();
        let all = tokenizer
            .encode_with("x y", &options, &mut scratch)
            .unwrap();
        Some(Self {
            name: document.name.clone(),
            times: all.len() / once,
            trims: document.json.contains("trim_offsets"),
            tokenizer,
        })
    }
}

static FAIRSEQ: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let shapes = fairseq_shapes(&Source::new("xlm-roberta", "fairseq"));
    shapes.iter().filter_map(Subject::new).collect()
});

static SMALL: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    ["trained", "bytefb"]
        .iter()
        .flat_map(|name| sentencepiece_shapes(&Source::new(name, "sentencepiece")))
        .filter_map(|document| Subject::new(&document))
        .collect()
});

static RANDOM: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let names = [
        "trained",
        "bytefb",
        "uds",
        "identity",
        "nmt_nfkc_cf",
        "suffix",
    ];
    let sources = names.map(|name| Source::new(name, "sentencepiece"));
    let mut random = Random(11);
    (0..120)
        .map(|i| {
            random_document(
                names[i % names.len()],
                &sources[i % names.len()],
                &mut random,
            )
        })
        .filter_map(|document| Subject::new(&document))
        .collect()
});

/// Chunks of `len` bytes, or of lengths that a generator draws.
fn chunks(text: &[u8], lens: impl IntoIterator<Item = usize>) -> Vec<&[u8]> {
    let mut rest = text;
    let mut chunks = Vec::new();
    for len in lens {
        if rest.is_empty() {
            break;
        }
        let (chunk, after) = rest.split_at(len.min(rest.len()));
        chunks.push(chunk);
        rest = after;
    }
    chunks.push(rest);
    chunks
}

/// The first difference between two lists, with what is around it.
fn difference<T: PartialEq + std::fmt::Debug>(whole: &[T], found: &[T]) -> Option<String> {
    if whole == found {
        return None;
    }
    let equal = whole.iter().zip(found).take_while(|(a, b)| a == b).count();
    let from = equal.saturating_sub(2);
    let part = |list: &[T]| format!("{:?}", &list[from..list.len().min(equal + 6)]);
    Some(format!(
        "at {equal}:\n  whole {}\n  found {}",
        part(whole),
        part(found)
    ))
}

/// What is different in chunks, if anything.
fn in_chunks(
    subject: &Subject,
    text: &[u8],
    chunks: &[&[u8]],
    as_text: bool,
    scratch: &mut Scratch,
) -> Result<(), String> {
    let options = EncodeOptions::default()
        .with_offsets(OffsetUnit::Bytes)
        .with_special_tokens_as_text(as_text);
    let (mut ids, mut offsets) = (Vec::new(), Vec::new());
    let mut stream = StreamEncoder::new(&subject.tokenizer, &options);
    for chunk in chunks {
        ids.extend(stream.push(chunk));
        offsets.extend(stream.offsets());
    }
    let early = ids.len();
    ids.extend(stream.finish());
    offsets.extend(stream.offsets());
    let whole = subject
        .tokenizer
        .encode_with(text, &options, scratch)
        .unwrap();
    let once = whole.len() / subject.times;
    let difference = difference(&whole.ids()[..once], &ids).or_else(|| {
        let whole = &whole.offsets()[..once];
        difference(whole, &offsets).filter(|_| !subject.trims)
    });
    if let Some(difference) = difference {
        let text: String = String::from_utf8_lossy(text).chars().take(300).collect();
        let chunks = &chunks[..chunks.len().min(30)];
        return Err(format!(
            "{} {text:?} in {chunks:?} {difference}",
            subject.name
        ));
    }
    TOKENS.fetch_add(ids.len(), Ordering::Relaxed);
    EARLY.fetch_add(early, Ordering::Relaxed);
    Ok(())
}

/// What is different if no more than `limit` tokens are asked for, if anything.
fn limited(
    subject: &Subject,
    text: &[u8],
    limit: usize,
    scratch: &mut Scratch,
) -> Result<(), String> {
    let tokenizer = &subject.tokenizer;
    let options = EncodeOptions::default()
        .with_pieces(true)
        .with_offsets(OffsetUnit::Bytes);
    let whole = tokenizer
        .encode_with(text, &options, scratch)
        .unwrap()
        .to_buf();
    let once = whole.ids.len() / subject.times;
    let count = limit.min(once);
    let cut = options.with_truncation(Truncation::new(limit));
    let found = tokenizer.encode_with(text, &cut, scratch).unwrap();
    let pieces: Vec<_> = found.pieces().map(<[u8]>::to_vec).collect();
    let difference = difference(&whole.ids[..count], &found.ids()[..count])
        .or_else(|| difference(&whole.offsets[..count], &found.offsets()[..count]))
        .or_else(|| difference(&whole.pieces[..count], &pieces[..count]))
        .or_else(|| (found.len() != count * subject.times).then(|| "in length".to_owned()));
    match difference {
        None => Ok(()),
        Some(difference) => {
            let text: String = String::from_utf8_lossy(text).chars().take(300).collect();
            Err(format!("{} {text:?} to {limit} {difference}", subject.name))
        }
    }
}

fn assert_early(share: f64) {
    let (early, tokens) = (
        EARLY.load(Ordering::Relaxed),
        TOKENS.load(Ordering::Relaxed),
    );
    println!("{early} of {tokens} tokens were final before the end");
    assert!(early as f64 > share * tokens as f64, "{early} of {tokens}");
}

#[test]
fn corpora() {
    let mut scratch = Scratch::new();
    for (name, text) in text_files(&corpus_dir()) {
        let text = &text[..text.len().min(6000)];
        for tokenizer in FAIRSEQ.iter().chain(&*SMALL) {
            for len in [1, 10, 1000] {
                let chunks = chunks(text, std::iter::repeat_n(len, text.len()));
                if let Err(error) = in_chunks(tokenizer, text, &chunks, false, &mut scratch) {
                    panic!("{name} by {len}: {error}");
                }
            }
            for limit in [1, 2, 15, 100, 500] {
                if let Err(error) = limited(tokenizer, text, limit, &mut scratch) {
                    panic!("{name}: {error}");
                }
            }
        }
    }
    assert_early(0.9);
}

/// What is kept between chunks does not grow with the text.
#[test]
fn memory_is_bounded() {
    let texts = text_files(&corpus_dir());
    for subject in FAIRSEQ.iter().take(3) {
        let options = EncodeOptions::default().with_offsets(OffsetUnit::Bytes);
        let mut stream = StreamEncoder::new(&subject.tokenizer, &options);
        let mut held = Vec::new();
        for _ in 0..3 {
            for (_, text) in &texts {
                stream.push(text);
            }
            held.push(stream.allocated_bytes());
        }
        assert_eq!(held[1], held[2], "{}: {held:?}", subject.name);
        assert!(held[2] < 8 << 20, "{}: {held:?}", subject.name);
    }
}

/// Words, with fragments on which something hangs, and random characters and bytes.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let fragment = proptest::sample::select(FRAGMENTS).prop_map(|text| text.as_bytes().to_vec());
    let word = "[a-z]{2,9}| [a-z]{2,9}|[A-Z][a-z]{3,6} |[\u{3042}-\u{3050}\u{4e00}-\u{4e20}]{3,6}|[\u{ac00}-\u{ac20}]{3}"
        .prop_map(String::into_bytes);
    let part = prop_oneof![
        6 => fragment,
        8 => word,
        1 => any::<char>().prop_map(|c| c.to_string().into_bytes()),
        1 => "\\PC{1,4}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 1..3),
    ];
    proptest::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
}

fn check(
    tokenizers: &[Subject],
    text: &[u8],
    lens: &[usize],
    limit: usize,
) -> Result<(), TestCaseError> {
    let mut scratch = Scratch::new();
    let chunks = chunks(text, lens.iter().copied());
    for tokenizer in tokenizers {
        in_chunks(
            tokenizer,
            text,
            &chunks,
            limit.is_multiple_of(2),
            &mut scratch,
        )
        .map_err(TestCaseError::fail)?;
        limited(tokenizer, text, limit, &mut scratch).map_err(TestCaseError::fail)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        // The same texts in every run: `PROPTEST_RNG_SEED` and `PROPTEST_CASES` look further.
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn published_shapes(
        text in text(),
        lens in proptest::collection::vec(1..24usize, 0..60),
        limit in 1..40usize,
    ) {
        check(&FAIRSEQ, &text, &lens, limit)?;
        check(&SMALL, &text, &lens, limit)?;
    }

    #[test]
    fn random_steps(
        text in text(),
        lens in proptest::collection::vec(1..24usize, 0..60),
        limit in 1..40usize,
    ) {
        check(&RANDOM, &text, &lens, limit)?;
    }
}

//! A text that arrives in chunks gives what it gives as a whole, and a limit gives the beginning of it, under
//! both SentencePiece references and every committed model.

use std::collections::HashMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use trie_runtime::oracle::{Streamed, count, limited, stream};
use trie_runtime::{EncodeOptions, OffsetUnit, Scratch, Tokenizer};
use trie_tests::{
    REFERENCES, compile_file, corpus_dir, data_dir, model_path, options, rows, text_files,
    tokenizer, xlm_roberta,
};

/// Models of every kind: switches, rules, symbols, byte fallback, pieces that are no UTF-8.
const MODELS: [&str; 32] = [
    "trained",
    "nmt_nfkc_cf",
    "nfkc_cf",
    "bytefb",
    "bytefb_identity",
    "uds",
    "ctrl",
    "suffix",
    "nodummy",
    "keepws",
    "nosplitws",
    "identity",
    "identity_keepws",
    "denorm",
    "h_tie",
    "h_tie_dummy",
    "h_zero",
    "h_pos",
    "h_hugepos",
    "h_nonormal",
    "h_unused",
    "h_unkpos",
    "h_ctrltext",
    "h_nospace",
    "h_suffix",
    "h_escfalse",
    "h_innerspace",
    "h_uds",
    "h_uds_norm",
    "h_bytes",
    "badutf8_piece",
    "cm_badutf8",
];

static TOKENIZERS: LazyLock<Vec<Tokenizer>> = LazyLock::new(|| {
    let named = |name: &&str| {
        let path = model_path(name, None).expect("the model is committed");
        REFERENCES.map(|(reference, _)| tokenizer(&path, &options("sentencepiece", reference)))
    };
    let mut all: Vec<Tokenizer> = MODELS.iter().flat_map(named).collect();
    all.extend(REFERENCES.map(|(reference, _)| xlm_roberta(reference)));
    all
});

/// The whole text in one call: ids by the plain pass, the rest as it was compared with the real releases.
fn whole(tokenizer: &Tokenizer, text: &[u8]) -> Streamed {
    let mut scratch = Scratch::new();
    let ids = tokenizer.encode(text, &mut scratch).to_vec();
    let asked = EncodeOptions::default()
        .with_offsets(OffsetUnit::Bytes)
        .with_pieces(true);
    let (all, complete) = limited(tokenizer, text, usize::MAX);
    let encoding = tokenizer
        .encode_with(text, &asked, &mut scratch)
        .expect("nothing is truncated");
    assert_eq!(encoding.offsets(), all.offsets);
    assert_eq!(all.ids, ids);
    assert!(complete);
    // Tokens are the normalized text, end to end.
    let texts = all.texts.concat();
    assert_eq!(texts, tokenizer.normalize(text, &mut scratch));
    all
}

fn without_sizes(streamed: Streamed) -> Streamed {
    Streamed {
        allocated: 0,
        ..streamed
    }
}

fn check(tokenizer: &Tokenizer, text: &[u8], chunk_lens: &[usize]) -> Result<(), TestCaseError> {
    let expected = whole(tokenizer, text);
    let mut cut = Vec::new();
    let mut rest = text;
    for &len in chunk_lens.iter().cycle() {
        if rest.is_empty() || chunk_lens.iter().all(|&len| len == 0) {
            break;
        }
        let (chunk, after) = rest.split_at(len.min(rest.len()));
        cut.push(chunk);
        rest = after;
    }
    cut.push(rest);
    let streamed = without_sizes(stream(tokenizer, cut.iter().copied(), true));
    prop_assert_eq!(&streamed, &expected);
    let ids_only = stream(tokenizer, cut.iter().copied(), false);
    prop_assert_eq!(&ids_only.ids, &expected.ids);
    prop_assert!(ids_only.texts.is_empty() && ids_only.offsets.is_empty());
    let bytewise = without_sizes(stream(tokenizer, text.chunks(1), true));
    prop_assert_eq!(&bytewise, &expected);
    prop_assert_eq!(count(tokenizer, text), expected.ids.len());
    Ok(())
}

const PARTS: &[&str] = &[
    "a",
    "b",
    "foo",
    "bar ",
    " Hello",
    "world",
    ".",
    "1",
    " ",
    " ",
    "  ",
    "\t",
    "\n",
    "\u{3000}",
    "\u{200b}",
    "\u{2581}",
    "\u{2581}\u{2581}",
    "<s>",
    "<unk>",
    "\0",
    "\u{1}",
    "\u{301}",
    "e\u{301}",
    "\u{3099}",
    "\u{30ab}\u{3099}",
    "\u{1100}\u{1161}",
    "\u{fdfa}",
    "\u{ff76}\u{ff9e}",
    "\u{3347}",
    "\u{2026}",
    "\u{4e16}\u{754c}",
    "\u{e2a}\u{e27}\u{e31}",
    "\u{e9}",
    "\u{12000}",
    "\u{12000}\u{12001}",
    "\u{1f600}",
    "abb",
    "zz",
    "x",
];

fn text() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        14 => prop::sample::select(PARTS).prop_map(|text| text.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
        1 => prop::collection::vec(0x80..=0xffu8, 1..4),
        1 => prop::sample::select(PARTS).prop_map(|text| text.as_bytes()[..1].to_vec()),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_chunks(text in text(), chunk_lens in prop::collection::vec(0..12usize, 1..8), third in 0..3usize) {
        // A third of the models each time.
        for tokenizer in TOKENIZERS.iter().skip(third).step_by(3) {
            check(tokenizer, &text, &chunk_lens)?;
        }
    }

    #[test]
    fn a_limit_gives_the_beginning(text in text(), repeats in 1..30usize, limit in 0..200usize, third in 0..3usize) {
        let text = text.repeat(repeats);
        for tokenizer in TOKENIZERS.iter().skip(third).step_by(3) {
            let all = limited(tokenizer, &text, usize::MAX).0;
            let (some, complete) = limited(tokenizer, &text, limit);
            let len = some.ids.len();
            let expected_len = if complete { all.ids.len() } else { len.max(limit) };
            prop_assert_eq!(len, expected_len);
            prop_assert_eq!(&some.ids, &all.ids[..len]);
            prop_assert_eq!(&some.texts, &all.texts[..len]);
            prop_assert_eq!(&some.offsets, &all.offsets[..len]);
        }
    }
}

#[test]
fn hard_inputs() {
    // Some models are good under one reference only.
    let mut compiles = HashMap::new();
    for row in rows(&data_dir().join("encode.jsonl")) {
        let name = row.str("model").unwrap_or("xlm-roberta").to_owned();
        let (Some(path), Some(input)) = (model_path(&name, None), row.bytes("input")) else {
            continue;
        };
        for (reference, version) in REFERENCES {
            let options = options("sentencepiece", reference);
            let compiles = compiles
                .entry((name.clone(), version))
                .or_insert_with(|| compile_file(&path, &options).is_ok());
            if *compiles {
                check(&tokenizer(&path, &options), &input, &[3, 1, 7])
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
    }
}

#[test]
fn committed_texts() {
    let tokenizer = xlm_roberta(REFERENCES[0].0);
    for (name, text) in text_files(&corpus_dir()) {
        check(&tokenizer, &text, &[100, 1000]).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// The answers that a scratch space remembers, whatever the input.
const MEMO_BYTES: usize = 7 << 18;

/// More than 20 MB pass through buffers of some kilobytes.
#[test]
fn memory_is_bounded() {
    let tokenizer = xlm_roberta(REFERENCES[0].0);
    let texts: Vec<Vec<u8>> = text_files(&corpus_dir())
        .into_iter()
        .map(|file| file.1)
        .collect();
    let once: usize = texts.iter().map(Vec::len).sum();
    let rounds = 21_000_000 / once + 1;
    for (chunk_len, bound) in [(100, 60_000), (4096, 300_000), (1 << 20, 1_475_000)] {
        let round = texts.iter().flat_map(|text| text.chunks(chunk_len));
        let chunks = (0..rounds).flat_map(|_| round.clone());
        let streamed = stream(&tokenizer, chunks, false);
        println!(
            "{} MB in chunks of {chunk_len}: {} tokens, {} bytes",
            once * rounds / 1_000_000,
            streamed.ids.len(),
            streamed.allocated
        );
        assert!(
            streamed.allocated < bound + MEMO_BYTES,
            "{chunk_len}: {}",
            streamed.allocated
        );
    }
}

//! `tokenizer.json` texts over real vocabularies: the shapes in which models are published, fixed mixes of
//! every kind of step, and random ones.
//!
//! The published files themselves are not here. Their shapes are (as `transformers` writes them, old and
//! new), around the vocabulary and rule table of a committed model.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use trie_format::ImageView;
use trie_runtime::{Image, Reference, Tokenizer};

use crate::images::{Aligned, Random};
use crate::{compile_file, model_path, options};

/// What a `.model` gives to a `tokenizer.json`.
#[derive(Debug, Clone)]
pub struct Source {
    /// Texts and scores, by id.
    pub vocab: Vec<(String, f64)>,
    /// The id of the unknown piece.
    pub unk: u32,
    /// The rule table in base64, if there is one.
    pub charsmap: Option<String>,
}

impl Source {
    /// The committed model `name`, with ids in the order `ids` (`fairseq` or `sentencepiece`).
    ///
    /// # Panics
    /// If it is not there or a piece is no UTF-8.
    #[must_use]
    pub fn new(name: &str, ids: &str) -> Self {
        let path = model_path(name, None).expect("the model is committed");
        let bytes = compile_file(&path, &options(ids, Reference::SentencePiece023))
            .expect("the model compiles");
        let aligned = Aligned::new(&bytes);
        let view = ImageView::parse(&aligned).expect("a fresh image is sound");
        let view = view.validate().expect("a fresh image is sound");
        let charsmap = view.charsmap().map(|charsmap| {
            let units = bytemuck::cast_slice::<u32, u8>(charsmap.units());
            let len = u32::try_from(units.len()).expect("a small table");
            BASE64_STANDARD.encode([&len.to_le_bytes()[..], units, charsmap.texts()].concat())
        });
        let tokenizer = Tokenizer::new(Image::from_bytes(&bytes).expect("a fresh image is sound"));
        let piece = |id| {
            let text = std::str::from_utf8(tokenizer.piece(id).unwrap()).expect("UTF-8");
            (text.to_owned(), f64::from(tokenizer.score(id).unwrap()))
        };
        Self {
            vocab: (0..tokenizer.piece_count()).map(piece).collect(),
            unk: tokenizer.special_ids().unk.expect("an unknown piece"),
            charsmap,
        }
    }

    /// The Precompiled normalizer with the model's rule table; an empty Sequence if it has none.
    #[must_use]
    pub fn precompiled(&self) -> Value {
        match &self.charsmap {
            Some(charsmap) => json!({"type": "Precompiled", "precompiled_charsmap": charsmap}),
            None => sequence("normalizers", vec![]),
        }
    }

    /// A document over this vocabulary; parts that `parts` has not are `null`. A part `byte_fallback`
    /// goes into the model.
    #[must_use]
    pub fn json(&self, parts: &Value) -> String {
        json!({
            "version": "1.0",
            "truncation": parts["truncation"],
            "padding": parts["padding"],
            "added_tokens": added_tokens(parts["added_tokens"].as_array().map_or(&[], Vec::as_slice)),
            "normalizer": parts["normalizer"],
            "pre_tokenizer": parts["pre_tokenizer"],
            "post_processor": parts["post_processor"],
            "decoder": parts["decoder"],
            "model": {
                "type": "Unigram",
                "unk_id": self.unk,
                "vocab": self.vocab,
                "byte_fallback": parts["byte_fallback"] == true,
            },
        })
        .to_string()
    }
}

/// A document and where it comes from.
pub struct Document {
    /// For messages.
    pub name: String,
    /// The `tokenizer.json`.
    pub json: String,
}

fn document(name: impl Into<String>, source: &Source, parts: &Value) -> Document {
    Document {
        name: name.into(),
        json: source.json(parts),
    }
}

/// An added token: flags are `s`pecial, `n`ormalized, `l`strip, `r`strip, single `w`ord.
fn token(content: &str, flags: &str) -> Value {
    let has = |flag| flags.contains(flag);
    json!({
        "id": 0, "content": content, "single_word": has('w'), "lstrip": has('l'), "rstrip": has('r'),
        "normalized": has('n'), "special": has('s'),
    })
}

fn tokens(list: &[(&str, &str)]) -> Vec<Value> {
    list.iter()
        .map(|(content, flags)| token(content, flags))
        .collect()
}

/// The tokens; ids count for nothing, and are those of the list.
fn added_tokens(list: &[Value]) -> Vec<Value> {
    let mut list = list.to_vec();
    for (id, token) in list.iter_mut().enumerate() {
        token["id"] = id.into();
    }
    list
}

fn sequence(field: &str, steps: Vec<Value>) -> Value {
    json!({"type": "Sequence", field: steps})
}

fn replace(kind: &str, pattern: &str, content: &str) -> Value {
    json!({"type": "Replace", "pattern": {kind: pattern}, "content": content})
}

fn metaspace(scheme: &str, split: bool) -> Value {
    json!({"type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": scheme, "split": split})
}

fn old_metaspace() -> Value {
    json!({
        "type": "Metaspace", "replacement": "\u{2581}", "str_rep": "\u{2581}", "add_prefix_space": true,
    })
}

/// `<s> $A </s>` from a text, with ids 0, 1, ... for the names in order of `specials`.
fn template(single: &str, pair: &str, specials: &[(&str, u32)]) -> Value {
    let items = |text: &str| -> Vec<Value> {
        let item = |word: &str| match word {
            "$A" | "$B" => json!({"Sequence": {"id": &word[1..], "type_id": 0}}),
            name => json!({"SpecialToken": {"id": name, "type_id": 0}}),
        };
        text.split(' ').map(item).collect()
    };
    let map: serde_json::Map<String, Value> = specials
        .iter()
        .map(|&(name, id)| {
            let token = json!({"id": name, "ids": [id], "tokens": [name]});
            (name.to_owned(), token)
        })
        .collect();
    json!({
        "type": "TemplateProcessing", "single": items(single), "pair": items(pair),
        "special_tokens": map,
    })
}

const FAIRSEQ: [(&str, &str); 5] = [
    ("<s>", "s"),
    ("<pad>", "s"),
    ("</s>", "s"),
    ("<unk>", "s"),
    ("<mask>", "sl"),
];

/// The published shapes over the vocabulary of XLM-RoBERTa.
#[must_use]
pub fn fairseq_shapes(source: &Source) -> Vec<Document> {
    let rules = || source.precompiled();
    let runs = |content: &str| replace("Regex", " {2,}", content);
    let robust = template(
        "<s> $A </s>",
        "<s> $A </s> </s> $B </s>",
        &[("<s>", 0), ("</s>", 2)],
    );
    let split = |last: Value| {
        sequence(
            "pretokenizers",
            vec![json!({"type": "WhitespaceSplit"}), last],
        )
    };
    let normalizers = |steps: Vec<Value>| sequence("normalizers", steps);
    let strip = json!({"type": "Strip", "strip_left": false, "strip_right": true});
    let mut languages = tokens(&FAIRSEQ);
    languages.extend(["ar_AR", "en_XX", "ro_RO", "zh_CN"].map(|name| token(name, "s")));
    let english = source.vocab.len() as u32 + 1;
    vec![
        document(
            "xlm-r old",
            source,
            &json!({
                "added_tokens": tokens(&FAIRSEQ), "normalizer": rules(), "pre_tokenizer": split(old_metaspace()),
                "post_processor": robust, "decoder": old_metaspace(),
            }),
        ),
        document(
            "xlm-r new",
            source,
            &json!({
                "added_tokens": tokens(&FAIRSEQ), "normalizer": normalizers(vec![rules(), runs(" ")]),
                "pre_tokenizer": metaspace("always", true),
                "post_processor": robust, "decoder": metaspace("always", true),
            }),
        ),
        document(
            "bge-m3",
            source,
            &json!({
                "added_tokens": tokens(&FAIRSEQ),
                "normalizer": normalizers(vec![rules(), strip, runs("\u{2581}")]),
                "pre_tokenizer": metaspace("always", true),
                "post_processor": robust, "decoder": metaspace("always", true),
            }),
        ),
        document(
            "bge-reranker",
            source,
            &json!({
                "added_tokens": tokens(&FAIRSEQ), "normalizer": rules(),
                "pre_tokenizer": split(metaspace("first", true)),
                "post_processor": {
                    "type": "RobertaProcessing", "cls": ["<s>", 0], "sep": ["</s>", 2],
                    "trim_offsets": true, "add_prefix_space": true,
                },
                "decoder": metaspace("first", true),
            }),
        ),
        document(
            "mbart",
            source,
            &json!({
                "added_tokens": languages, "normalizer": normalizers(vec![rules(), runs(" ")]),
                "pre_tokenizer": split(metaspace("always", true)),
                "post_processor": template(
                    "$A </s> en_XX", "$A $B </s> en_XX", &[("</s>", 2), ("en_XX", english)],
                ),
                "decoder": metaspace("always", true),
            }),
        ),
    ]
}

/// The shape of multilingual-e5: XLM-RoBERTa's, with truncation and padding.
#[must_use]
pub fn multilingual_e5(source: &Source) -> Document {
    let steps = vec![
        json!({"type": "WhitespaceSplit"}),
        metaspace("always", true),
    ];
    document(
        "multilingual-e5",
        source,
        &json!({
            "truncation": {
                "direction": "Right", "max_length": 512, "strategy": "LongestFirst", "stride": 0,
            },
            "padding": {
                "strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": null, "pad_id": 1,
                "pad_type_id": 0, "pad_token": "<pad>",
            },
            "added_tokens": tokens(&FAIRSEQ), "normalizer": source.precompiled(),
            "pre_tokenizer": sequence("pretokenizers", steps),
            "post_processor": template(
                "<s> $A </s>", "<s> $A </s> </s> $B </s>", &[("<s>", 0), ("</s>", 2)],
            ),
            "decoder": metaspace("always", true),
        }),
    )
}

/// The published shapes of models with a vocabulary in SentencePiece's order.
#[must_use]
pub fn sentencepiece_shapes(source: &Source) -> Vec<Document> {
    let rules = || source.precompiled();
    let runs = || replace("Regex", " {2,}", " ");
    let quotes = || [replace("String", "``", "\""), replace("String", "''", "\"")];
    let plain = |kind: &str| json!({"type": kind});
    let normalizers = |steps: Vec<Value>| sequence("normalizers", steps);
    let split = sequence(
        "pretokenizers",
        vec![json!({"type": "WhitespaceSplit"}), old_metaspace()],
    );
    let end = template("$A </s>", "$A </s> $B </s>", &[("</s>", 2)]);
    let count = source.vocab.len() as u32;
    let mut sentinels = tokens(&[("</s>", "s"), ("<unk>", "s")]);
    sentinels.extend(
        (0..20)
            .rev()
            .map(|n| token(&format!("<extra_id_{n}>"), "s")),
    );
    let mut loose = tokens(&[("<unk>", "s"), ("</s>", "s")]);
    loose.extend((0..100).map(|n| token(&format!("<extra_id_{n}>"), "slr")));
    let mut camembert = source.clone();
    let head = [
        "<s>NOTUSED",
        "<pad>",
        "</s>NOTUSED",
        "<unk>",
        "<unk>NOTUSED",
    ];
    let vocab = head.iter().map(|name| ((*name).to_owned(), 0.0));
    camembert.vocab = vocab.chain(source.vocab[3..].iter().cloned()).collect();
    camembert.unk = 3;
    let lower = |first: Vec<Value>, last: Vec<Value>| {
        normalizers([first, quotes().to_vec(), last].concat())
    };
    vec![
        document(
            "t5",
            source,
            &json!({
                "added_tokens": sentinels, "normalizer": rules(), "pre_tokenizer": split,
                "post_processor": end, "decoder": old_metaspace(),
            }),
        ),
        document(
            "mt5",
            source,
            &json!({
                "added_tokens": loose, "normalizer": normalizers(vec![rules(), runs()]),
                "pre_tokenizer": metaspace("always", true),
                "post_processor": end, "decoder": metaspace("always", true),
            }),
        ),
        document(
            "albert",
            source,
            &json!({
                "added_tokens": tokens(&[
                    ("<pad>", "s"), ("<unk>", "s"), ("[CLS]", "s"), ("[SEP]", "s"), ("[MASK]", "sl"),
                ]),
                "normalizer": lower(vec![], vec![
                    plain("NFKD"), plain("StripAccents"), plain("Lowercase"), rules(), runs(),
                ]),
                "pre_tokenizer": metaspace("always", true),
                "post_processor": template(
                    "[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", &[("[CLS]", count + 1), ("[SEP]", count + 2)],
                ),
                "decoder": metaspace("always", true),
            }),
        ),
        document(
            "xlnet",
            source,
            &json!({
                "added_tokens": tokens(&[
                    ("<s>", "s"), ("</s>", "s"), ("<unk>", "s"), ("<sep>", "s"), ("<pad>", "s"), ("<cls>", "s"),
                    ("<mask>", "sl"), ("<eop>", "s"), ("<eod>", "s"),
                ]),
                "normalizer": lower(vec![], vec![plain("NFKD"), plain("StripAccents"), rules(), runs()]),
                "pre_tokenizer": split,
                "post_processor": template(
                    "$A <sep> <cls>", "$A <sep> $B <sep> <cls>", &[("<sep>", count), ("<cls>", count + 2)],
                ),
                "decoder": old_metaspace(),
            }),
        ),
        document(
            "camembert",
            &camembert,
            &json!({
                "added_tokens": tokens(&[
                    ("<s>NOTUSED", "s"), ("<pad>", "s"), ("</s>NOTUSED", "s"), ("<unk>", "s"),
                    ("<unk>NOTUSED", "s"), ("<s>", "s"), ("</s>", "s"), ("<mask>", "sl"),
                ]),
                "normalizer": normalizers(vec![rules(), runs()]), "pre_tokenizer": split,
                "post_processor": {
                    "type": "RobertaProcessing", "cls": ["<s>", 5], "sep": ["</s>", 6],
                    "trim_offsets": true, "add_prefix_space": true,
                },
                "decoder": old_metaspace(),
            }),
        ),
        document(
            "deberta-v3",
            source,
            &json!({
                "added_tokens": tokens(&[
                    ("[PAD]", "s"), ("[CLS]", "s"), ("[SEP]", "s"), ("[UNK]", "sn"), ("[MASK]", "s"),
                ]),
                "normalizer": normalizers(vec![
                    replace("Regex", "\n", " "), replace("Regex", "\r", " "), replace("Regex", "\t", " "),
                    json!({"type": "Strip", "strip_left": true, "strip_right": true}),
                    rules(), runs(),
                ]),
                "pre_tokenizer": sequence("pretokenizers", vec![
                    json!({"type": "Punctuation", "behavior": "Isolated"}), metaspace("always", true),
                ]),
                "post_processor": template(
                    "[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", &[("[CLS]", count + 1), ("[SEP]", count + 2)],
                ),
                "decoder": metaspace("always", true),
            }),
        ),
        document(
            "pegasus",
            source,
            &json!({
                "added_tokens": tokens(&[
                    ("<pad>", "s"), ("</s>", "s"), ("<mask_1>", "s"), ("<mask_2>", "s"), ("<unk_2>", "s"),
                    ("<unk_3>", "s"), ("<unk>", "s"),
                ]),
                "normalizer": normalizers(vec![rules(), runs()]), "pre_tokenizer": split,
                "post_processor": end, "decoder": old_metaspace(),
            }),
        ),
    ]
}

/// Added tokens with every flag: overlapping, with spaces, changed by normalization, in the vocabulary and
/// after it.
const ODD_TOKENS: [(&str, &str); 26] = [
    ("<s>", "s"),
    ("</s>", "s"),
    ("<unk>", "s"),
    ("<mask>", "sl"),
    ("<tok>", "sr"),
    ("<tok><tok>", ""),
    ("foo", "n"),
    ("foo bar", ""),
    ("Foo Bar", "nlr"),
    ("\u{dc}n\u{ef}", "n"),
    ("ABC", "nw"),
    ("\u{ff26}\u{ff55}", "ns"),
    ("the", "w"),
    ("an", "wlr"),
    (" x ", "lr"),
    ("  ", "l"),
    ("\n", "r"),
    ("\u{e9}", "nl"),
    ("e\u{301}", ""),
    ("\u{3002}", "r"),
    ("1", "w"),
    ("12", "ns"),
    ("\u{2581}\u{2581}", ""),
    ("[DAY]", "n"),
    ("\u{200d}", "n"),
    ("\u{fb01}", "nsw"),
];

/// Documents that `tokenizers` garbles: two added tokens that become the same, one that becomes
/// nothing, and an empty text to prepend.
#[must_use]
pub fn faulty(source: &Source) -> [Document; 3] {
    let lower = json!({"type": "Lowercase"});
    let marks = json!({"type": "StripAccents"});
    let prepend = json!({"type": "Prepend", "prepend": ""});
    let steps = |steps| sequence("normalizers", steps);
    [
        document(
            "same",
            source,
            &json!({
                "added_tokens": tokens(&[("ABC", "n"), ("abc", "n")]), "normalizer": lower,
            }),
        ),
        document(
            "nothing",
            source,
            &json!({
                "added_tokens": tokens(&[("\u{301}", "n")]), "normalizer": marks,
            }),
        ),
        document(
            "prepend",
            source,
            &json!({"normalizer": steps(vec![prepend, lower])}),
        ),
    ]
}

/// A random normalizer step.
fn normalizer(source: &Source, random: &mut Random) -> Value {
    let mut flag = || random.draw() & 1 == 1;
    let flags = [flag(), flag(), flag()];
    let accents = [json!(null), json!(true), json!(false)][random.below(3)].clone();
    let texts = ["\u{2581}", " ", "a", "x y", "\u{e9}"];
    match random.below(17) {
        0 | 1 => source.precompiled(),
        2 => json!({"type": "NFC"}),
        3 => json!({"type": "NFD"}),
        4 => json!({"type": "NFKC"}),
        5 => json!({"type": "NFKD"}),
        6 => json!({"type": "Nmt"}),
        7 => json!({"type": "Lowercase"}),
        8 => json!({"type": "StripAccents"}),
        9 | 10 => json!({
            "type": "BertNormalizer", "clean_text": flags[0], "handle_chinese_chars": flags[1],
            "strip_accents": accents, "lowercase": flags[2],
        }),
        11 => json!({"type": "Prepend", "prepend": texts[random.below(5)]}),
        12 => json!({"type": "Strip", "strip_left": flags[0], "strip_right": flags[1]}),
        13 => replace(
            "String",
            ["a", "  ", "\u{301}", "``"][random.below(4)],
            ["", "b", " "][random.below(3)],
        ),
        14 => replace(
            "Regex",
            [" {2,}", "\\s+", "[\u{3040}-\u{309f}a]", "x{1,3}"][random.below(4)],
            ["", " ", "\u{2581}"][random.below(3)],
        ),
        15 => replace("Regex", "[0-9]+", ["0", "", "12 3"][random.below(3)]),
        _ => sequence(
            "normalizers",
            vec![json!({"type": "NFKC"}), json!({"type": "Lowercase"})],
        ),
    }
}

/// A random pre-tokenizer step.
fn pre_tokenizer(random: &mut Random) -> Value {
    let behaviors = [
        "Removed",
        "Isolated",
        "MergedWithPrevious",
        "MergedWithNext",
        "Contiguous",
    ];
    match random.below(9) {
        0 => json!({"type": "WhitespaceSplit"}),
        1 => json!({"type": "Whitespace"}),
        2 | 3 => json!({"type": "Punctuation", "behavior": behaviors[random.below(5)]}),
        4 => json!({"type": "Digits", "individual_digits": random.below(2) == 1}),
        5 => json!({"type": "Metaspace", "replacement": "_", "prepend_scheme": "always"}),
        _ => metaspace(
            ["always", "first", "first", "never"][random.below(4)],
            random.below(3) > 0,
        ),
    }
}

/// A random decoder step.
fn decoder(random: &mut Random) -> Value {
    match random.below(7) {
        0 => json!({"type": "ByteFallback"}),
        1 => json!({"type": "Fuse"}),
        2 => json!({"type": "Strip", "content": "\u{2581}", "start": 1, "stop": 0}),
        3 => replace("String", "\u{2581}", " "),
        4 => replace("Regex", "[ \u{2581}]{2,}", "-"),
        _ => metaspace(["always", "first", "never"][random.below(3)], true),
    }
}

/// A random document over `source`: up to four normalizers (Precompiled at most once), up to three
/// pre-tokenizers, up to two decoders, some of the odd tokens.
#[must_use]
pub fn random_document(name: &str, source: &Source, random: &mut Random) -> Document {
    let number = random.0;
    let mut normalizers = Vec::new();
    for _ in 0..random.below(5) {
        let step = normalizer(source, random);
        let is_table = |step: &Value| step["type"] == "Precompiled";
        if !(is_table(&step) && normalizers.iter().any(is_table)) {
            normalizers.push(step);
        }
    }
    let pre_tokenizers: Vec<Value> = (0..random.below(4))
        .map(|_| pre_tokenizer(random))
        .collect();
    let decoders: Vec<Value> = (0..1 + random.below(2)).map(|_| decoder(random)).collect();
    let mut tokens = tokens(&ODD_TOKENS);
    tokens.retain(|_| random.below(3) > 0);
    let mut source = source.clone();
    // A repeated text: the later entry is the one that counts.
    if random.below(3) == 0 {
        let again = source.vocab[source.vocab.len() / 2].0.clone();
        source.vocab.push((again, -1.5));
        source.vocab.push(("</s>".into(), 0.0));
    }
    let mut parts = json!({
        "added_tokens": tokens,
        "pre_tokenizer": sequence("pretokenizers", pre_tokenizers),
        "post_processor": template("$A </s> $A", "$A $B", &[("</s>", 2)]),
        "byte_fallback": random.below(2) == 0,
    });
    if !normalizers.is_empty() {
        parts["normalizer"] = sequence("normalizers", normalizers);
    }
    if random.below(5) > 0 {
        parts["decoder"] = sequence("decoders", decoders);
    }
    document(format!("{name} {number:#x}"), &source, &parts)
}

//! Whole files: the shapes that published models have, with tiny vocabularies, and refusals.

use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::*;
use crate::hf::pipeline::{
    AddedToken, DecoderStep, NormalizerStep, Pattern, PreTokenizerStep, PrependScheme,
    SplitBehavior,
};
use crate::post::{Direction, TemplateItem, TruncationStrategy};

fn minimal() -> Value {
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [],
        "normalizer": null,
        "pre_tokenizer": null,
        "post_processor": null,
        "decoder": null,
        "model": {
            "type": "Unigram",
            "unk_id": 3,
            "vocab": [["<s>", 0.0], ["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0], ["▁", -3.5], ["a", -4]],
            "byte_fallback": false
        }
    })
}

/// The minimal file with another value at a JSON pointer.
fn with(pointer: &str, value: Value) -> Value {
    let mut file = minimal();
    set(&mut file, pointer, value);
    file
}

fn set(file: &mut Value, pointer: &str, value: Value) {
    match file.pointer_mut(pointer) {
        Some(place) => *place = value,
        None => {
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            file.pointer_mut(parent).unwrap()[name] = value;
        }
    }
}

fn read(file: &Value) -> Result<HfModel, String> {
    parse(file.to_string().as_bytes()).map_err(|error| error.to_string())
}

fn refusal(file: &Value) -> String {
    let text = read(file).err().expect("accepted");
    assert!(!text.contains('\n'), "{text}");
    text.strip_prefix("tokenizer.json: ").unwrap().to_owned()
}

fn refusal_with(pointer: &str, value: Value) -> String {
    refusal(&with(pointer, value))
}

fn token(id: u32, content: &str, special: bool) -> Value {
    json!({
        "id": id, "content": content, "single_word": false, "lstrip": content == "<mask>",
        "rstrip": false, "normalized": !special, "special": special
    })
}

/// A charsmap without rules: a root whose block has no children, and one text.
fn precompiled() -> Value {
    let mut units = [1u32 << 31; 512];
    units[0] = 256 << 10;
    let units = units.iter().flat_map(|unit| unit.to_le_bytes());
    let blob: Vec<u8> = 2048u32
        .to_le_bytes()
        .into_iter()
        .chain(units)
        .chain([0])
        .collect();
    json!({"type": "Precompiled", "precompiled_charsmap": STANDARD.encode(blob)})
}

fn metaspace() -> Value {
    json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true})
}

fn spaces_to_one() -> Value {
    json!({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
}

fn sequence(field: &str, items: &[Value]) -> Value {
    json!({"type": "Sequence", field: items})
}

fn template_of(items: &[(&str, u32)]) -> Vec<Value> {
    let item = |&(name, type_id): &(&str, u32)| match name {
        "A" | "B" => json!({"Sequence": {"id": name, "type_id": type_id}}),
        name => json!({"SpecialToken": {"id": name, "type_id": type_id}}),
    };
    items.iter().map(item).collect()
}

fn template(single: &[(&str, u32)], pair: &[(&str, u32)], specials: &[(&str, u32)]) -> Value {
    let specials: serde_json::Map<String, Value> = specials
        .iter()
        .map(|&(name, id)| {
            (
                name.into(),
                json!({"id": name, "ids": [id], "tokens": [name]}),
            )
        })
        .collect();
    json!({
        "type": "TemplateProcessing",
        "single": template_of(single),
        "pair": template_of(pair),
        "special_tokens": specials
    })
}

const A: TemplateItem = sequence_item(0, 0);
const ALWAYS: PreTokenizerStep = PreTokenizerStep::Metaspace {
    replacement: '▁',
    prepend_scheme: PrependScheme::Always,
    split: true,
};

const fn sequence_item(index: u8, type_id: u32) -> TemplateItem {
    TemplateItem::Sequence { index, type_id }
}

const fn special(id: u32, type_id: u32) -> TemplateItem {
    TemplateItem::Special { id, type_id }
}

/// The kinds of normalizers, one letter each.
fn normalizer_kinds(model: &HfModel) -> String {
    let letter = |step: &NormalizerStep| match step {
        NormalizerStep::Precompiled(_) => 'P',
        NormalizerStep::Replace { .. } => 'R',
        NormalizerStep::Strip { .. } => 'S',
        NormalizerStep::Prepend(_) => '+',
        NormalizerStep::Nfc => 'C',
        NormalizerStep::Nfd => 'D',
        NormalizerStep::Nfkc => 'c',
        NormalizerStep::Nfkd => 'd',
        NormalizerStep::Nmt => 'N',
        NormalizerStep::Lowercase => 'L',
        NormalizerStep::StripAccents => 'A',
        NormalizerStep::Bert { .. } => 'B',
    };
    model.normalizers.iter().map(letter).collect()
}

/// XLM-R as first published.
fn xlm_roberta_old() -> Value {
    let mut file = minimal();
    set(
        &mut file,
        "/added_tokens",
        json!([
            token(0, "<s>", true),
            token(1, "<pad>", true),
            token(2, "</s>", true),
            token(3, "<unk>", true),
            token(6, "<mask>", true)
        ]),
    );
    set(&mut file, "/normalizer", precompiled());
    set(
        &mut file,
        "/pre_tokenizer",
        sequence(
            "pretokenizers",
            &[
                json!({"type": "WhitespaceSplit"}),
                json!({"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": true}),
            ],
        ),
    );
    set(
        &mut file,
        "/post_processor",
        template(
            &[("<s>", 0), ("A", 0), ("</s>", 0)],
            &[
                ("<s>", 0),
                ("A", 0),
                ("</s>", 0),
                ("</s>", 0),
                ("B", 0),
                ("</s>", 0),
            ],
            &[("<s>", 0), ("</s>", 2)],
        ),
    );
    set(
        &mut file,
        "/decoder",
        json!({"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": true}),
    );
    file
}

#[test]
fn xlm_roberta_as_first_published() {
    let model = read(&xlm_roberta_old()).unwrap();
    assert_eq!(model.vocab.last(), Some(&("a".to_owned(), -4.0)));
    assert_eq!((model.unk_id, model.byte_fallback), (Some(3), false));
    assert_eq!(normalizer_kinds(&model), "P");
    assert_eq!(
        model.pre_tokenizers,
        [PreTokenizerStep::WhitespaceSplit, ALWAYS]
    );
    assert_eq!(
        model.post_processor.single,
        [special(0, 0), A, special(2, 0)]
    );
    let pair = [
        special(0, 0),
        A,
        special(2, 0),
        special(2, 0),
        sequence_item(1, 0),
        special(2, 0),
    ];
    assert_eq!(model.post_processor.pair, pair);
    let decoder = DecoderStep::Metaspace {
        replacement: '▁',
        prepend_scheme: PrependScheme::Always,
    };
    assert_eq!(model.decoders, [decoder]);
    let mask = AddedToken {
        id: 6,
        content: "<mask>".to_owned(),
        single_word: false,
        lstrip: true,
        rstrip: false,
        normalized: false,
        special: true,
    };
    assert_eq!(model.added_tokens.last(), Some(&mask));
}

/// The converter's present form; with truncation and padding as in bge-m3 and bge-reranker-v2-m3.
#[test]
fn xlm_roberta_as_converted_now() {
    let mut file = xlm_roberta_old();
    set(
        &mut file,
        "/normalizer",
        sequence("normalizers", &[precompiled(), spaces_to_one()]),
    );
    set(&mut file, "/pre_tokenizer", metaspace());
    set(&mut file, "/decoder", metaspace());
    set(
        &mut file,
        "/truncation",
        json!({
            "direction": "Right", "max_length": 8192, "strategy": "LongestFirst", "stride": 0
        }),
    );
    set(
        &mut file,
        "/padding",
        json!({
            "strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": null, "pad_id": 1,
            "pad_type_id": 0, "pad_token": "<pad>"
        }),
    );
    let model = read(&file).unwrap();
    assert_eq!(normalizer_kinds(&model), "PR");
    assert_eq!(model.pre_tokenizers, [ALWAYS]);
    let truncation = model.truncation.unwrap();
    assert_eq!(
        (truncation.max_length, truncation.strategy),
        (8192, TruncationStrategy::LongestFirst)
    );
    let padding = model.padding.unwrap();
    assert_eq!(
        (padding.fixed, padding.pad_id, padding.direction),
        (None, 1, Direction::Right)
    );
}

#[test]
fn t5() {
    let mut file = with("/normalizer", precompiled());
    set(
        &mut file,
        "/added_tokens",
        json!([
            token(2, "</s>", true),
            token(7, "<extra_id_0>", true),
            token(6, "<extra_id_1>", true)
        ]),
    );
    set(&mut file, "/pre_tokenizer", metaspace());
    set(
        &mut file,
        "/post_processor",
        template(
            &[("A", 0), ("</s>", 0)],
            &[("A", 0), ("</s>", 0), ("B", 0), ("</s>", 0)],
            &[("</s>", 2)],
        ),
    );
    let model = read(&file).unwrap();
    // Not the ids of the file.
    let ids: Vec<u32> = model.added_tokens.iter().map(|token| token.id).collect();
    assert_eq!(ids, [2, 6, 7]);
    assert_eq!(model.post_processor.single, [A, special(2, 0)]);
}

/// ALBERT and XLNet.
#[test]
fn albert_and_xlnet() {
    let quote =
        |from: &str| json!({"type": "Replace", "pattern": {"String": from}, "content": "\""});
    let mut file = with(
        "/normalizer",
        sequence(
            "normalizers",
            &[
                quote("``"),
                quote("''"),
                json!({"type": "NFKD"}),
                json!({"type": "StripAccents"}),
                json!({"type": "Lowercase"}),
                precompiled(),
                spaces_to_one(),
            ],
        ),
    );
    set(
        &mut file,
        "/pre_tokenizer",
        sequence(
            "pretokenizers",
            &[json!({"type": "WhitespaceSplit"}), metaspace()],
        ),
    );
    set(
        &mut file,
        "/post_processor",
        template(
            &[("A", 0), ("</s>", 0), ("<s>", 2)],
            &[("A", 0), ("</s>", 0), ("B", 1), ("</s>", 1), ("<s>", 2)],
            &[("<s>", 0), ("</s>", 2)],
        ),
    );
    let model = read(&file).unwrap();
    assert_eq!(normalizer_kinds(&model), "RRdALPR");
    assert!(matches!(&model.normalizers[0],
        NormalizerStep::Replace { pattern: Pattern::Literal(text), content } if text == "``" && content == "\""));
    assert!(matches!(
        &model.normalizers[6],
        NormalizerStep::Replace {
            pattern: Pattern::Run {
                min: 2,
                max: None,
                ..
            },
            ..
        }
    ));
    assert_eq!(
        model.post_processor.single,
        [A, special(2, 0), special(0, 2)]
    );
}

#[test]
fn camembert() {
    let mut file = xlm_roberta_old();
    let cls = json!(["<s>", 0]);
    set(
        &mut file,
        "/post_processor",
        json!({
            "type": "RobertaProcessing", "sep": ["</s>", 2], "cls": cls, "trim_offsets": true,
            "add_prefix_space": true
        }),
    );
    let model = read(&file).unwrap();
    let pair = [
        special(0, 0),
        A,
        special(2, 0),
        special(2, 0),
        sequence_item(1, 0),
        special(2, 0),
    ];
    assert_eq!(model.post_processor.pair, pair);
    assert_eq!(model.post_processor.trim_offsets, Some(true));
    // By its fields this is the other one, whatever its type says.
    let fields = file["post_processor"].as_object_mut().unwrap();
    fields.remove("trim_offsets");
    let model = read(&file).unwrap();
    let pair = [
        special(0, 0),
        A,
        special(2, 0),
        sequence_item(1, 1),
        special(2, 1),
    ];
    assert_eq!(model.post_processor.pair, pair);
    assert_eq!(model.post_processor.trim_offsets, None);
}

/// DeBERTa-v3, and v2 with `split_by_punct`.
#[test]
fn deberta() {
    let mut file = with(
        "/normalizer",
        sequence(
            "normalizers",
            &[
                json!({"type": "Strip", "strip_left": true, "strip_right": true}),
                precompiled(),
                spaces_to_one(),
            ],
        ),
    );
    set(
        &mut file,
        "/pre_tokenizer",
        sequence(
            "pretokenizers",
            &[
                sequence(
                    "pretokenizers",
                    &[json!({"type": "Punctuation", "behavior": "Isolated"})],
                ),
                metaspace(),
            ],
        ),
    );
    set(
        &mut file,
        "/post_processor",
        json!({"sep": ["</s>", 2], "cls": ["<s>", 0]}),
    );
    let model = read(&file).unwrap();
    assert_eq!(normalizer_kinds(&model), "SPR");
    assert_eq!(
        model.pre_tokenizers,
        [
            PreTokenizerStep::Punctuation(SplitBehavior::Isolated),
            ALWAYS
        ]
    );
    assert_eq!(
        model.post_processor.single,
        [special(0, 0), A, special(2, 0)]
    );
}

/// Pegasus and mBART.
#[test]
fn pegasus_and_mbart() {
    let mut file = with(
        "/pre_tokenizer",
        sequence(
            "pretokenizers",
            &[json!({"type": "WhitespaceSplit"}), metaspace()],
        ),
    );
    set(&mut file, "/normalizer", precompiled());
    set(
        &mut file,
        "/added_tokens",
        json!([token(6, "en_XX", true), token(7, "<mask>", true)]),
    );
    set(
        &mut file,
        "/post_processor",
        template(
            &[("A", 0), ("</s>", 0), ("en_XX", 0)],
            &[("A", 0), ("B", 0), ("</s>", 0), ("en_XX", 0)],
            &[("en_XX", 6), ("</s>", 2)],
        ),
    );
    let model = read(&file).unwrap();
    assert_eq!(
        model.post_processor.single,
        [A, special(2, 0), special(6, 0)]
    );
    assert_eq!(model.post_processor.pair[1], sequence_item(1, 0));
}

#[test]
fn every_other_step_is_read() {
    let mut file = with(
        "/normalizer",
        sequence(
            "normalizers",
            &[
                json!({"type": "NFC"}),
                json!({"type": "NFD"}),
                json!({"type": "NFKC"}),
                json!({"type": "Nmt"}),
                json!({"type": "Prepend", "prepend": "▁"}),
                json!({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": false,
               "strip_accents": null, "lowercase": true}),
                json!({"type": "Bert", "clean_text": true, "handle_chinese_chars": false, "lowercase": false,
               "strip_accents": true}),
                // Without types.
                json!({"clean_text": true, "handle_chinese_chars": false, "lowercase": false}),
                sequence(
                    "normalizers",
                    &[json!({"strip_left": false, "strip_right": true})],
                ),
                json!({"normalizers": [{"prepend": "x"}, {"pattern": {"String": "a"}, "content": ""}]}),
            ],
        ),
    );
    set(
        &mut file,
        "/pre_tokenizer",
        sequence(
            "pretokenizers",
            &[
                json!({"type": "Whitespace"}),
                json!({"type": "Punctuation"}),
                json!({"type": "Digits", "individual_digits": true}),
                json!({"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "split": false}),
                json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "add_prefix_space": false,
               "split": null}),
            ],
        ),
    );
    set(
        &mut file,
        "/decoder",
        sequence(
            "decoders",
            &[
                json!({"type": "Replace", "pattern": {"String": "▁"}, "content": " "}),
                json!({"type": "ByteFallback"}),
                sequence("decoders", &[json!({"type": "Fuse"})]),
                json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}),
                json!({"content": "x", "start": 0, "stop": 2}),
            ],
        ),
    );
    set(&mut file, "/model/some_field", json!("that nobody reads"));
    set(&mut file, "/decoder/some_field", json!({"or": "this"}));
    let model = read(&file).unwrap();
    assert_eq!(normalizer_kinds(&model), "CDcN+BBBS+R");
    let accents: Vec<bool> = model
        .normalizers
        .iter()
        .filter_map(|step| match step {
            NormalizerStep::Bert { strip_accents, .. } => Some(*strip_accents),
            _ => None,
        })
        .collect();
    assert_eq!(accents, [true, true, false]);
    let metaspace = |replacement, prepend_scheme, split| PreTokenizerStep::Metaspace {
        replacement,
        prepend_scheme,
        split,
    };
    assert_eq!(
        model.pre_tokenizers,
        [
            PreTokenizerStep::Whitespace,
            PreTokenizerStep::Punctuation(SplitBehavior::Isolated),
            PreTokenizerStep::Digits { individual: true },
            metaspace('_', PrependScheme::First, false),
            metaspace('▁', PrependScheme::Never, true),
        ]
    );
    let strip = |content, start, stop| DecoderStep::Strip {
        content,
        start,
        stop,
    };
    let replace = DecoderStep::Replace {
        pattern: Pattern::Literal("▁".to_owned()),
        content: " ".to_owned(),
    };
    assert_eq!(
        model.decoders,
        [
            replace,
            DecoderStep::ByteFallback,
            DecoderStep::Fuse,
            strip(' ', 1, 0),
            strip('x', 0, 2)
        ]
    );
    // No decoder, and none in a sequence, are different things.
    assert_eq!(read(&minimal()).unwrap().decoders, []);
    let empty = read(&with("/decoder", sequence("decoders", &[]))).unwrap();
    assert_eq!(empty.decoders, [DecoderStep::Fuse]);
}

#[test]
fn templates_may_be_written_as_text() {
    let mut value = template(&[], &[], &[("<s>", 0), ("</s>", 2)]);
    value["special_tokens"]["</s>"] =
        json!({"id": "</s>", "ids": [2, 3], "tokens": ["</s>", "<unk>"]});
    value["single"] = json!("<s>:7 $A </s>");
    value["pair"] = json!(["$", "$2", "$B:1", "</s>:1"]);
    let post_processor = read(&with("/post_processor", value))
        .unwrap()
        .post_processor;
    assert_eq!(
        post_processor.single,
        [special(0, 7), A, special(2, 0), special(3, 0)]
    );
    let pair = [
        A,
        sequence_item(0, 2),
        sequence_item(1, 1),
        special(2, 1),
        special(3, 1),
    ];
    assert_eq!(post_processor.pair, pair);
}

#[test]
fn post_processors_in_sequence() {
    let bert = json!({"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]});
    let one = sequence("processors", &[sequence("processors", &[]), bert.clone()]);
    assert_eq!(
        read(&with("/post_processor", one)).unwrap().post_processor,
        read(&with("/post_processor", bert.clone()))
            .unwrap()
            .post_processor
    );
    assert_eq!(
        refusal_with(
            "/post_processor",
            sequence("processors", &[bert.clone(), bert])
        ),
        "post_processor.processors[1] is a second post-processor after another: only one can be compiled"
    );
}

#[test]
fn added_tokens_get_the_ids_that_tokenizers_gives_them() {
    let mut file = minimal();
    set(&mut file, "/model/vocab/5", json!(["▁", -1.5]));
    set(
        &mut file,
        "/added_tokens",
        json!([
            token(0, "new", false),
            token(1, "▁", true),
            token(9, "", true),
            token(100, "newer", true),
            token(2, "new", false)
        ]),
    );
    let tokens = read(&file).unwrap().added_tokens;
    let ids: Vec<(u32, &str)> = tokens
        .iter()
        .map(|token| (token.id, &*token.content))
        .collect();
    assert_eq!(ids, [(6, "new"), (5, "▁"), (7, "newer")]);
    set(&mut file, "/added_tokens/4/special", json!(true));
    assert_eq!(
        refusal(&file),
        "added_tokens[4] defines \"new\" otherwise than added_tokens[0]: remove one of them"
    );
    file["added_tokens"][4]
        .as_object_mut()
        .unwrap()
        .remove("lstrip");
    assert_eq!(refusal(&file), "added_tokens[4] has no field \"lstrip\"");
    assert_eq!(
        refusal_with("/added_tokens", json!([token(0, &"x".repeat(8000), true)])),
        "added_tokens[0].content is 8000 bytes long: tokens must be shorter than 8,000 bytes"
    );
}

#[test]
fn models_are_refused_by_name() {
    let unigram_only = "model.type is \"BPE\"; only Unigram models can be compiled";
    assert_eq!(refusal_with("/model/type", json!("BPE")), unigram_only);
    assert_eq!(
        refusal_with(
            "/model",
            json!({"vocab": {"a": 0}, "merges": [], "type": "BPE"})
        ),
        unigram_only
    );
    assert_eq!(
        refusal_with("/model", json!({"vocab": {"a": 0}})),
        "model.vocab is an object, but must be a list; only Unigram models can be compiled"
    );
    assert_eq!(
        refusal_with("/model", json!({})),
        "model has no field \"vocab\""
    );
    assert_eq!(
        refusal_with("/model/vocab", json!([])),
        "model.vocab is empty: there is nothing to segment with"
    );
    assert_eq!(
        refusal_with("/model/unk_id", json!(6)),
        "model.unk_id is 6, but the vocabulary has 6 entries"
    );
    assert_eq!(
        refusal_with("/model/unk_id", json!("<unk>")),
        "model.unk_id is \"<unk>\", but must be a whole number, not negative"
    );
    for byte_fallback in [false, true] {
        let mut file = with("/model/unk_id", Value::Null);
        set(&mut file, "/model/byte_fallback", json!(byte_fallback));
        assert!(refusal(&file).starts_with("model.unk_id is null: tokenizers would fail"));
    }
    assert_eq!(
        refusal_with("/model/byte_fallback", Value::Null),
        "model.byte_fallback is null, but must be true or false"
    );
    assert_eq!(
        refusal_with("/version", json!("2.0")),
        "version is \"2.0\"; only \"1.0\" is known"
    );
    let mut file = minimal();
    file.as_object_mut().unwrap().remove("model");
    assert_eq!(
        refusal(&file),
        "model is missing; is this a complete tokenizer.json?"
    );
}

/// The type came with a later version, and only `model` has to be there.
#[test]
fn old_and_short_files_are_read() {
    let file = json!({"model": {"vocab": [["", -2], ["b", 1.5]], "unk_id": 1}});
    let model = read(&file).unwrap();
    assert_eq!(model.vocab, [(String::new(), -2.0), ("b".to_owned(), 1.5)]);
    assert!(!model.byte_fallback && model.decoders.is_empty() && model.added_tokens.is_empty());
}

#[test]
fn vocabulary_entries_are_refused_by_place() {
    assert_eq!(
        refusal_with("/model/vocab/4", json!(["▁", 1e39])),
        "model.vocab[4][1] is 1e39, the score of \"▁\": scores must be finite in single precision"
    );
    assert_eq!(
        refusal_with("/model/vocab/4", json!(["x".repeat(8000), 1])),
        "model.vocab[4][0] is 8000 bytes long: texts must be shorter than 8,000 bytes"
    );
    assert!(read(&with("/model/vocab/4", json!(["x".repeat(7999), 1]))).is_ok());
    for entry in [
        json!(["a"]),
        json!(["a", "b"]),
        json!([1, 1.0]),
        json!({"a": 1}),
        json!(["a", null]),
    ] {
        let text = refusal_with("/model/vocab/4", entry);
        assert!(
            text.starts_with("model.vocab[4] must be [text, number]: "),
            "{text}"
        );
    }
    let text = with("/model/vocab/4", json!(["HERE", 1])).to_string();
    let error = parse(text.replace("[\"HERE\",1]", "[\"a\",1e999]").as_bytes())
        .err()
        .unwrap();
    assert!(error.to_string().contains("number out of range"), "{error}");
}

#[test]
fn steps_are_refused_by_path() {
    let byte_level = json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true});
    assert_eq!(
        refusal_with(
            "/normalizer",
            sequence("normalizers", &[precompiled(), byte_level.clone()])
        ),
        "normalizer.normalizers[1].type is \"ByteLevel\", which is not supported"
    );
    assert_eq!(
        refusal_with("/pre_tokenizer", byte_level.clone()),
        "pre_tokenizer.type is \"ByteLevel\", which is not supported"
    );
    assert_eq!(
        refusal_with("/post_processor", byte_level),
        "post_processor.type is \"ByteLevel\", which is not supported"
    );
    assert_eq!(
        refusal_with(
            "/decoder",
            sequence("decoders", &[json!({"type": "WordPiece"})])
        ),
        "decoder.decoders[0].type is \"WordPiece\", which is not supported"
    );
    assert_eq!(
        refusal_with("/normalizer", json!({})),
        "normalizer has no type, and no known fields from which it could be told"
    );
    assert_eq!(
        refusal_with("/normalizer", json!([])),
        "normalizer is a list, but must be an object"
    );
    assert_eq!(
        refusal_with("/normalizer", json!({"type": "Strip", "strip_left": true})),
        "normalizer has no field \"strip_right\""
    );
    assert_eq!(
        refusal_with(
            "/normalizer",
            json!({"type": "Replace", "pattern": {"Regex": "a|b"}, "content": ""})
        ),
        "normalizer.pattern.Regex is \"a|b\", which is not supported: only plain texts and repetitions of one character or class can be compiled"
    );
    assert_eq!(
        refusal_with(
            "/normalizer",
            json!({"type": "Replace", "pattern": {"String": ""}, "content": "x"})
        ),
        "normalizer.pattern.String is \"\", which is not supported: it can match the empty text"
    );
    assert_eq!(
        refusal_with(
            "/pre_tokenizer",
            json!({"type": "Metaspace", "replacement": "▁", "add_prefix_space": false})
        ),
        "pre_tokenizer.add_prefix_space is false, which tokenizers accepts only with \"prepend_scheme\": \"never\""
    );
    assert_eq!(
        refusal_with(
            "/pre_tokenizer",
            json!({"type": "Metaspace", "replacement": "▁▁"})
        ),
        "pre_tokenizer.replacement is \"▁▁\", but must be one character"
    );
    assert_eq!(
        refusal_with(
            "/pre_tokenizer",
            json!({"type": "Punctuation", "behavior": "removed"})
        ),
        "pre_tokenizer.behavior is \"removed\", but must be one of Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous"
    );
}

#[test]
fn charsmaps_are_refused_by_path() {
    let refused = |text: &str| {
        let map = json!({"type": "Precompiled", "precompiled_charsmap": text});
        refusal_with("/normalizer", sequence("normalizers", &[map]))
    };
    let path = "normalizer.normalizers[0].precompiled_charsmap";
    assert!(refused("*").starts_with(&format!("{path} is not base64: ")));
    assert_eq!(
        refused(""),
        format!("{path} is damaged: it is too short for its size field")
    );
    assert_eq!(
        refused("AQAAAAAA"),
        format!("{path} is damaged: it is not in blocks").replace(
            "it is not in blocks",
            "its double array is not in blocks of 1,024 bytes"
        )
    );
}

#[test]
fn templates_are_refused_by_path() {
    let good = [("A", 0), ("</s>", 0)];
    let with_single = |single: &[(&str, u32)], id| {
        refusal_with("/post_processor", template(single, &good, &[("</s>", id)]))
    };
    assert_eq!(
        with_single(&good, 6),
        "post_processor.special_tokens.</s>.ids[0] is 6, but there are only 6 ids"
    );
    assert_eq!(
        with_single(&[("A", 0), ("B", 0)], 2),
        "post_processor.single names sequence B, but there is only A"
    );
    assert_eq!(
        with_single(&[("<cls>", 0)], 2),
        "post_processor.single[0] names \"<cls>\", which is not among special_tokens"
    );
    assert_eq!(
        with_single(&[], 2),
        "post_processor.single is empty: it would leave nothing of the text"
    );
    assert_eq!(
        refusal_with(
            "/post_processor",
            json!({"type": "RobertaProcessing", "sep": ["</s>", 2]})
        ),
        "post_processor has not the fields of any post-processor that is supported"
    );
    assert_eq!(
        refusal_with(
            "/post_processor",
            json!({"sep": ["</s>", 2], "cls": ["<s>"]})
        ),
        "post_processor.cls must be [text, id]"
    );
}

#[test]
fn bad_json_has_a_line_and_a_column() {
    let message = |text: &str| parse(text.as_bytes()).err().unwrap().to_string();
    assert_eq!(
        message("{\n  \"model\": nil\n}"),
        "tokenizer.json, line 2, column 13: expected ident"
    );
    assert!(message("{").starts_with("tokenizer.json, line 1, column 1: EOF"));
    assert!(message("[]").contains("expected the object of a tokenizer.json"));
    assert!(message(&format!("{} x", minimal())).contains("trailing characters"));
    assert!(message("{\"model\": 3}").contains("expected model to be an object"));
    assert!(message("{\"model\": {\"vocab\": 3}}").contains("expected model.vocab to be a list"));
    assert!(message("{\"decoder\": null, \"decoder\": {}}").contains("duplicate field `decoder`"));
    assert!(
        message("{\"model\": {\"unk_id\": 1, \"unk_id\": 2}}").contains("duplicate field `unk_id`")
    );
    assert_eq!(
        message("{\"models\": {}}"),
        "tokenizer.json, line 1, column 9: unknown field \"models\", which tokenizers refuses too"
    );
    assert!(parse(b"{\"version\": \"\xff\"}").is_err());
    let deep = format!(
        "{{\"normalizer\":{}",
        "{\"type\":\"Sequence\",\"normalizers\":[".repeat(50_000)
    );
    assert!(message(&deep).contains("recursion limit exceeded"));
    let deep = format!("{{\"model\":{{\"vocab\":{}", "[".repeat(100_000));
    assert!(message(&deep).len() < 400);
    let long = format!("{{\"model\": {:?}}}", "x".repeat(100_000));
    assert!(message(&long).len() < 400);
}

#[test]
fn every_prefix_is_refused() {
    let text = xlm_roberta_old().to_string();
    for end in (0..text.len()).filter(|end| end % 7 == 0 || text.len() - end < 20) {
        assert!(parse(&text.as_bytes()[..end]).is_err());
    }
    assert!(parse(text.as_bytes()).is_ok());
}

#[test]
fn json_is_told_by_its_first_byte() {
    for json in ["{", " \r\n\t{}", "\u{feff}{", "\u{feff} {"] {
        assert!(looks_like_json(json.as_bytes()));
    }
    for other in [
        &b""[..],
        b"\n",
        b"\x0a\x0c",
        b"[",
        b"\xef\xbb{",
        b"\xef\xbb\xbf",
    ] {
        assert!(!looks_like_json(other));
    }
    let file = minimal().to_string();
    assert!(parse(format!("\u{feff}\n{file}").as_bytes()).is_ok());
}

/// Scores are read as the reference reads them: see the module's documentation.
#[test]
fn scores_are_not_the_nearest() {
    let text = with("/model/vocab/4", json!(["HERE", 1])).to_string();
    let text = text.replace("[\"HERE\",1]", "[\"b\",-13.371798554876483]");
    let vocab = parse(text.as_bytes()).ok().unwrap().vocab;
    assert_eq!(
        "-13.371798554876483".parse::<f64>().unwrap().to_bits(),
        0xc02a_be5c_6153_ca03
    );
    assert_eq!(vocab[4].1.to_bits(), 0xc02a_be5c_6153_ca04);
}

#[test]
fn a_large_vocabulary_is_read_quickly() {
    let vocab: Vec<Value> = (0..250_000)
        .map(|id| json!([format!("▁piece{id}"), -f64::from(id) / 7.0]))
        .collect();
    let tokens: Vec<Value> = (0..5_000)
        .map(|id| token(id, &format!("<extra_{id}>"), true))
        .collect();
    let mut file = with("/model/vocab", json!(vocab));
    set(&mut file, "/added_tokens", json!(tokens));
    let text = file.to_string();
    let start = Instant::now();
    let model = parse(text.as_bytes()).ok().unwrap();
    // A hundred times as long as it takes when optimised.
    assert!(start.elapsed().as_secs() < 10);
    assert_eq!(model.added_tokens.last().unwrap().id, 254_999);
}

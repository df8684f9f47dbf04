//! JSON into a typed vocabulary and values for everything else.
//!
//! Invariant: a [`Document`] is one JSON object, each of whose known fields is there at most once; no
//! memory is taken for numbers in the file, only for what is read.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use trie_format::MAX_PIECE_BYTES;

use super::node::{Node, quoted};
use crate::CompileError;

/// The fields of the file that the reference reads, but for `model`.
const PARTS: [&str; 8] = [
    "version",
    "truncation",
    "padding",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
];

/// The fields of a Unigram model that the reference reads, but for `vocab`.
const MODEL_PARTS: [&str; 3] = ["type", "unk_id", "byte_fallback"];

pub(super) struct Document {
    parts: Vec<(&'static str, Value)>,
    model: Option<RawModel>,
}

#[derive(Default)]
struct RawModel {
    parts: Vec<(&'static str, Value)>,
    vocab: Option<RawVocab>,
}

enum RawVocab {
    List(Vec<(String, f64)>),
    /// As in other kinds of model.
    Object,
}

/// A checked Unigram model.
pub(super) struct UnigramModel {
    /// Not empty; scores are finite in both precisions.
    pub(super) vocab: Vec<(String, f64)>,
    pub(super) unk_id: u32,
    pub(super) byte_fallback: bool,
}

impl Document {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, CompileError> {
        let entry = Cell::new(None);
        let mut json = serde_json::Deserializer::from_slice(bytes);
        DocumentVisitor(&entry)
            .deserialize(&mut json)
            .and_then(|document| json.end().map(|()| document))
            .map_err(|error| refusal(&error, entry.get()))
    }

    /// A field other than `model`, `null` or not.
    pub(super) fn part(&self, name: &'static str) -> Option<Node<'_>> {
        find(&self.parts, name).map(|value| Node::root(name, value))
    }

    /// Takes the model out and checks it.
    pub(super) fn model(&mut self) -> Result<UnigramModel, CompileError> {
        let raw = self
            .model
            .take()
            .ok_or_else(|| refuse("model", "is missing; is this a complete tokenizer.json?"))?;
        raw.check()
    }
}

fn find<'a>(parts: &'a [(&'static str, Value)], name: &str) -> Option<&'a Value> {
    parts
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, value)| value)
}

fn refuse(path: impl Into<String>, reason: impl Into<String>) -> CompileError {
    CompileError::Json {
        path: path.into(),
        reason: reason.into(),
    }
}

/// What `serde_json` says, cut to one short line; `entry` is the place in the vocabulary.
fn refusal(error: &serde_json::Error, entry: Option<usize>) -> CompileError {
    const MOST: usize = 200;
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let reason = text
        .strip_suffix(&format!(" at line {line} column {column}"))
        .unwrap_or(&text);
    let mut reason: String = reason.chars().take(MOST).collect();
    match entry {
        Some(index) if error.is_data() => refuse(
            format!("model.vocab[{index}]"),
            format!("must be [text, number]: {reason} (line {line}, column {column})"),
        ),
        _ => {
            if text.chars().nth(MOST).is_some() {
                reason.push('…');
            }
            CompileError::JsonSyntax {
                line,
                column,
                reason,
            }
        }
    }
}

impl RawModel {
    fn part(&self, name: &'static str, path: &'static str) -> Option<Node<'_>> {
        find(&self.parts, name).map(|value| Node::root(path, value))
    }

    fn check(mut self) -> Result<UnigramModel, CompileError> {
        // Files from before there was a type are told apart by their vocabulary, which is a list here.
        if let Some(kind) = self.part("type", "model.type") {
            let text = kind.text()?;
            if text != "Unigram" {
                let name = quoted(text);
                return kind.fail(format!("is {name}; only Unigram models can be compiled"));
            }
        }
        let vocab = match self.vocab.take() {
            Some(RawVocab::List(vocab)) => vocab,
            Some(RawVocab::Object) => {
                return Err(refuse(
                    "model.vocab",
                    "is an object, but must be a list; only Unigram models can be compiled",
                ));
            }
            None => return Err(refuse("model", "has no field \"vocab\"")),
        };
        check_vocab(&vocab)?;
        let byte_fallback = self
            .part("byte_fallback", "model.byte_fallback")
            .map(|node| node.flag())
            .transpose()?
            .unwrap_or(false);
        let unk_id = self.unk_id(vocab.len())?;
        Ok(UnigramModel {
            vocab,
            unk_id,
            byte_fallback,
        })
    }

    /// Byte fallback is no substitute: the reference looks for the unknown id first.
    fn unk_id(&self, count: usize) -> Result<u32, CompileError> {
        let node = self.part("unk_id", "model.unk_id");
        let Some(node) = node.filter(|node| !node.is_null()) else {
            return Err(refuse(
                "model.unk_id",
                "is null: tokenizers would fail at the first unknown character, byte_fallback or not; \
                 set it to the id of the unknown token",
            ));
        };
        let id = node.whole()?;
        match u32::try_from(id) {
            Ok(small) if id < count as u64 => Ok(small),
            _ => node.fail(format!("is {id}, but the vocabulary has {count} entries")),
        }
    }
}

fn check_vocab(vocab: &[(String, f64)]) -> Result<(), CompileError> {
    if vocab.is_empty() {
        return Err(refuse(
            "model.vocab",
            "is empty: there is nothing to segment with",
        ));
    }
    for (index, (text, score)) in vocab.iter().enumerate() {
        if text.len() > MAX_PIECE_BYTES as usize {
            let reason = format!(
                "is {} bytes long: texts must be shorter than 8,000 bytes",
                text.len()
            );
            return Err(refuse(format!("model.vocab[{index}][0]"), reason));
        }
        if !(*score as f32).is_finite() {
            let reason = format!(
                "is {score:e}, the score of {}: scores must be finite in single precision",
                quoted(text)
            );
            return Err(refuse(format!("model.vocab[{index}][1]"), reason));
        }
    }
    Ok(())
}

/// Where in the vocabulary reading is, for messages.
type Entry<'a> = &'a Cell<Option<usize>>;

/// Puts the value of a field of `known` where it belongs, and skips every other.
fn read_part<'de, M: MapAccess<'de>>(
    key: &str,
    known: &[&'static str],
    parts: &mut Vec<(&'static str, Value)>,
    map: &mut M,
) -> Result<(), M::Error> {
    match known.iter().find(|name| **name == key) {
        Some(name) if find(parts, name).is_some() => Err(M::Error::duplicate_field(name)),
        Some(name) => {
            parts.push((name, map.next_value()?));
            Ok(())
        }
        None => map.next_value::<IgnoredAny>().map(|_| ()),
    }
}

struct DocumentVisitor<'a>(Entry<'a>);

impl<'de> DeserializeSeed<'de> for DocumentVisitor<'_> {
    type Value = Document;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Document, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for DocumentVisitor<'_> {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object of a tokenizer.json")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Document, M::Error> {
        let mut document = Document {
            parts: Vec::new(),
            model: None,
        };
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "model" if document.model.is_some() => {
                    return Err(M::Error::duplicate_field("model"));
                }
                "model" => document.model = Some(map.next_value_seed(ModelVisitor(self.0))?),
                key if PARTS.contains(&key) => {
                    read_part(key, &PARTS, &mut document.parts, &mut map)?;
                }
                // Elsewhere unknown fields are passed over; here they are an error in the reference.
                key => {
                    let name = quoted(key);
                    let reason = format!("unknown field {name}, which tokenizers refuses too");
                    return Err(M::Error::custom(reason));
                }
            }
        }
        Ok(document)
    }
}

struct ModelVisitor<'a>(Entry<'a>);

impl<'de> DeserializeSeed<'de> for ModelVisitor<'_> {
    type Value = RawModel;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<RawModel, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ModelVisitor<'_> {
    type Value = RawModel;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("model to be an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<RawModel, M::Error> {
        let mut model = RawModel::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "vocab" if model.vocab.is_some() => {
                    return Err(M::Error::duplicate_field("vocab"));
                }
                "vocab" => model.vocab = Some(map.next_value_seed(VocabVisitor(self.0))?),
                key => read_part(key, &MODEL_PARTS, &mut model.parts, &mut map)?,
            }
        }
        Ok(model)
    }
}

struct VocabVisitor<'a>(Entry<'a>);

impl<'de> DeserializeSeed<'de> for VocabVisitor<'_> {
    type Value = RawVocab;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<RawVocab, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for VocabVisitor<'_> {
    type Value = RawVocab;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("model.vocab to be a list")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<RawVocab, S::Error> {
        let mut vocab = Vec::new();
        self.0.set(Some(0));
        while let Some(entry) = seq.next_element()? {
            vocab.push(entry);
            self.0.set(Some(vocab.len()));
        }
        self.0.set(None);
        Ok(RawVocab::List(vocab))
    }

    /// Skipped, so that the model's type is what gets refused.
    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<RawVocab, M::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(RawVocab::Object)
    }
}

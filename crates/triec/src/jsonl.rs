//! Lines that are JSON, in both directions.
//!
//! Bytes that are not UTF-8 cannot stand in a JSON string; they are an object `{"base64": "..."}`.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use trie_runtime::Candidate;

/// A string that is borrowed where it has no escapes, which serde does not do for a bare `Cow`.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// An object that holds a text. Other keys are ignored.
#[derive(Deserialize)]
struct TextRecord<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    base64: Option<Text<'a>>,
}

/// A text, and the second one of a pair.
pub(crate) type TextAndPair<'t> = (Cow<'t, [u8]>, Option<Cow<'t, [u8]>>);

#[derive(Deserialize)]
struct PairRecord<'a> {
    #[serde(borrow, default)]
    pair: Option<SecondRecord<'a>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SecondRecord<'a> {
    #[serde(borrow)]
    Text(Text<'a>),
    Bytes {
        base64: String,
    },
}

#[derive(Deserialize)]
struct IdsRecord {
    ids: Vec<u32>,
}

#[derive(Deserialize)]
struct PiecesRecord {
    pieces: Vec<PieceRecord>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PieceRecord {
    Text(String),
    Bytes { base64: String },
}

#[derive(Serialize)]
struct TextOut<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct BytesOut<'a> {
    base64: &'a str,
}

/// serde's message without the line number, which is 1 in every line.
fn reason(error: &serde_json::Error, wanted: &str) -> String {
    let message = error
        .to_string()
        .replace(" at line 1 column ", " at column ");
    format!("{message}; give {wanted}")
}

fn parse<'a, T: Deserialize<'a>>(line: &'a [u8], wanted: &str) -> Result<T, String> {
    serde_json::from_slice(line).map_err(|error| reason(&error, wanted))
}

fn is_object(line: &[u8]) -> bool {
    line.trim_ascii_start().first() == Some(&b'{')
}

fn from_base64(text: &str) -> Result<Vec<u8>, String> {
    STANDARD
        .decode(text)
        .map_err(|error| format!("`base64` is not standard base64: {error}"))
}

fn bytes(text: Text<'_>) -> Cow<'_, [u8]> {
    match text.0 {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// The text in a line: a JSON string, or an object with `text` or `base64`.
pub(crate) fn read_text(line: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    const WANTED: &str = "a JSON string, or an object with `text` or `base64`";
    if !is_object(line) {
        return parse(line, WANTED).map(bytes);
    }
    let record: TextRecord<'_> = parse(line, WANTED)?;
    match (record.text, record.base64) {
        (Some(text), None) => Ok(bytes(text)),
        (None, Some(base64)) => from_base64(&base64.0).map(Cow::Owned),
        (Some(_), Some(_)) => Err(format!("the object has both; give {WANTED}")),
        (None, None) => Err(format!("the object has neither; give {WANTED}")),
    }
}

/// The text in a line as [`read_text`], and the second one of a pair: the object's `pair`, a string or an object
/// with `base64`.
pub(crate) fn read_pair(line: &[u8]) -> Result<TextAndPair<'_>, String> {
    const WANTED: &str = "`pair` as a string, or as an object with `base64`";
    let first = read_text(line)?;
    if !is_object(line) {
        return Ok((first, None));
    }
    let record: PairRecord<'_> = parse(line, WANTED)?;
    let second = match record.pair {
        None => None,
        Some(SecondRecord::Text(text)) => Some(bytes(text)),
        Some(SecondRecord::Bytes { base64 }) => Some(Cow::Owned(from_base64(&base64)?)),
    };
    Ok((first, second))
}

/// The ids in a line: an array, or an object with `ids`.
pub(crate) fn read_ids(line: &[u8]) -> Result<Vec<u32>, String> {
    const WANTED: &str = "an array of ids, or an object with `ids`";
    if is_object(line) {
        parse(line, WANTED).map(|record: IdsRecord| record.ids)
    } else {
        parse(line, WANTED)
    }
}

/// The pieces in a line: an array of strings and `{"base64": ...}` objects, or an object with `pieces`.
pub(crate) fn read_pieces(line: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    const WANTED: &str =
        "an array of strings and objects with `base64`, or an object with `pieces`";
    let pieces: Vec<PieceRecord> = if is_object(line) {
        parse(line, WANTED).map(|record: PiecesRecord| record.pieces)?
    } else {
        parse(line, WANTED)?
    };
    pieces
        .into_iter()
        .map(|piece| match piece {
            PieceRecord::Text(text) => Ok(text.into_bytes()),
            PieceRecord::Bytes { base64 } => from_base64(&base64),
        })
        .collect()
}

fn push(value: &impl Serialize, out: &mut Vec<u8>) -> Result<(), String> {
    serde_json::to_writer(out, value).map_err(|error| error.to_string())
}

fn push_base64(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    push(
        &BytesOut {
            base64: &STANDARD.encode(bytes),
        },
        out,
    )
}

/// Appends `{"text": ...}`, or `{"base64": ...}`.
pub(crate) fn push_text(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => push(&TextOut { text }, out),
        Err(_) => push_base64(bytes, out),
    }
}

/// Appends a string, or `{"base64": ...}`.
pub(crate) fn push_piece(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => push(&text, out),
        Err(_) => push_base64(bytes, out),
    }
}

/// A piece in an output record.
/// A string, or `{"base64": ...}`.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum PieceOut<'a> {
    Text(&'a str),
    Bytes { base64: String },
}

impl<'a> PieceOut<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(_) => Self::Bytes {
                base64: STANDARD.encode(bytes),
            },
        }
    }

    fn all(pieces: &'a [Vec<u8>]) -> Vec<Self> {
        pieces.iter().map(|piece| Self::new(piece)).collect()
    }
}

#[derive(Serialize)]
struct CandidateOut<'a> {
    ids: &'a [u32],
    score: f32,
}

#[derive(Serialize)]
struct CandidatesOut<'a> {
    nbest: Vec<CandidateOut<'a>>,
}

/// Appends `{"nbest": [{"ids": ..., "score": ...}, ...]}`.
pub(crate) fn push_candidates(candidates: &[Candidate], out: &mut Vec<u8>) -> Result<(), String> {
    let nbest = candidates.iter().map(|candidate| CandidateOut {
        ids: &candidate.ids,
        score: candidate.score,
    });
    let nbest = nbest.collect();
    push(&CandidatesOut { nbest }, out)
}

/// A text that two sides encode differently.
#[derive(Serialize)]
pub(crate) struct Difference<'a> {
    place: String,
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    ids_a: &'a [u32],
    ids_b: &'a [u32],
    pieces_a: Vec<PieceOut<'a>>,
    pieces_b: Vec<PieceOut<'a>>,
}

impl<'a> Difference<'a> {
    /// The ids and pieces of both sides for the text `bytes` at `place`, which is line `line` of its file.
    pub(crate) fn new(
        place: String,
        line: u64,
        bytes: &'a [u8],
        [a, b]: [(&'a [u32], &'a [Vec<u8>]); 2],
    ) -> Self {
        let text = std::str::from_utf8(bytes).ok();
        Self {
            place,
            line,
            text,
            base64: text.is_none().then(|| STANDARD.encode(bytes)),
            ids_a: a.0,
            ids_b: b.0,
            pieces_a: PieceOut::all(a.1),
            pieces_b: PieceOut::all(b.1),
        }
    }

    pub(crate) fn push(&self, out: &mut Vec<u8>) -> Result<(), String> {
        push(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_strings_or_objects() {
        let text = |line: &'static str| read_text(line.as_bytes()).unwrap().into_owned();
        assert_eq!(text(r#""a\u00e9\n""#), "aé\n".as_bytes());
        assert_eq!(text(" \"\"\r"), b"");
        assert_eq!(text(r#"{"id": [1, {}], "text": "x"}"#), b"x");
        assert_eq!(text(r#"{"base64": "/w==", "text": null}"#), b"\xff");
        for line in [
            "",
            "x",
            "7",
            "[]",
            "{}",
            r#""a" "b""#,
            r#""\ud800""#,
            r#"{"text": "a", "base64": "YQ=="}"#,
            r#"{"text": "a", "text": "b"}"#,
            r#"{"text": 1}"#,
            r#"{"base64": "?"}"#,
            r#"{"base64": "YQ"}"#,
        ] {
            let message = read_text(line.as_bytes()).unwrap_err();
            assert!(!message.contains("line 1"), "{message}");
        }
        assert!(read_text(b"\"\xff\"").is_err());
    }

    #[test]
    fn strings_without_escapes_are_borrowed() {
        assert!(matches!(read_text(b"\"abc\""), Ok(Cow::Borrowed(b"abc"))));
        assert!(matches!(
            read_text(b"{\"text\":\"abc\"}"),
            Ok(Cow::Borrowed(b"abc"))
        ));
    }

    #[test]
    fn ids_and_pieces_are_arrays_or_objects() {
        assert_eq!(read_ids(b"[1, 2]").unwrap(), [1, 2]);
        assert_eq!(read_ids(br#"{"pieces": ["a"], "ids": [3]}"#).unwrap(), [3]);
        for line in ["[-1]", "[1.5]", "[4294967296]", "{}", "1", r#"["1"]"#] {
            assert!(read_ids(line.as_bytes()).is_err(), "{line}");
        }
        let pieces = read_pieces(br#"{"pieces": ["a", {"base64": "/w=="}]}"#).unwrap();
        assert_eq!(pieces, [&b"a"[..], b"\xff"]);
        assert!(read_pieces(b"[1]").is_err());
    }

    #[test]
    fn what_is_not_utf8_is_base64() {
        let mut out = Vec::new();
        push_text(b"a\"\n", &mut out).unwrap();
        push_piece(b"\xff", &mut out).unwrap();
        assert_eq!(out, br#"{"text":"a\"\n"}{"base64":"/w=="}"#);
    }
}

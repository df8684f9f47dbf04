//! Sets of documents: (a) one repeated, (b) a stream of different ones, (d) adversarial, (e) by
//! language. (c), unseen text, is (b) in a fresh process: see [`crate::process`].

use crate::Result;
use crate::corpus::{Doc, Skipped};
use crate::lab::Lab;
use crate::measure::Ids;

/// Documents that are encoded in order, pass after pass.
pub struct Workload {
    /// Name in the results.
    pub name: String,
    /// What it is, for people.
    pub title: String,
    /// The documents.
    pub docs: Vec<Doc>,
    /// How strictly ids are compared.
    pub ids: Ids,
    /// Documents not admitted.
    pub skipped: Skipped,
}

/// Length of an ordinary document in tokens.
pub const DOC_TOKENS: usize = 512;

/// Lengths of the document that is repeated.
pub const REPEATED_TOKENS: [usize; 5] = [128, 512, 1024, 4096, 16384];

/// The languages that get a table row each.
pub const LANGUAGES: [&str; 12] = [
    "en", "de", "fr", "ru", "ar", "hi", "th", "zh", "ja", "ko", "vi", "code",
];

/// English runs out first in a small corpus; these go on.
const LONG_DOC_LANGUAGES: [&str; 8] = ["en", "de", "fr", "es", "it", "pt", "nl", "pl"];

/// In a stream, a document with a larger share of unknown ids is in a script the model does not know.
const MAX_UNKNOWN_SHARE: f64 = 0.01;

/// (a): one document of about `tokens` tokens.
///
/// # Errors
/// If no document of that length is admitted.
pub fn repeated(lab: &Lab, tokens: usize) -> Result<Workload> {
    let mut maker = lab.maker()?;
    let mut text = String::new();
    let mut skipped = Skipped::default();
    for language in LONG_DOC_LANGUAGES {
        text.push_str(lab.corpus.texts.get(language).map_or("", String::as_str));
        text.push('\n');
        let candidates = maker.cut(&text, tokens);
        let (docs, left_out) = maker.admit("en", candidates)?;
        skipped = left_out;
        if let Some(doc) = docs.into_iter().next() {
            return Ok(Workload {
                name: format!("repeated-{tokens}"),
                title: format!("one document of {} tokens, repeated", doc.ids.len()),
                docs: vec![doc],
                ids: Ids::Equal,
                skipped: Skipped::default(),
            });
        }
    }
    Err(format!("no document of {tokens} tokens was admitted: {skipped:?}").into())
}

/// (b): different documents in turn through all languages the model knows.
///
/// # Errors
/// If the corpus cannot be used.
pub fn stream(lab: &Lab) -> Result<Workload> {
    let mut maker = lab.maker()?;
    let mut skipped = Skipped::default();
    let mut by_language = Vec::new();
    let unknown = maker.unknown();
    for (language, text) in &lab.corpus.texts {
        let candidates = maker.cut(text, DOC_TOKENS);
        let (mut docs, left_out) = maker.admit(language, candidates)?;
        skipped.add(left_out);
        docs.retain(|doc| {
            let count = doc.ids.iter().filter(|&&id| id == unknown).count();
            count as f64 <= MAX_UNKNOWN_SHARE * doc.ids.len() as f64
        });
        by_language.push(docs.into_iter());
    }
    let mut docs = Vec::new();
    loop {
        let before = docs.len();
        docs.extend(by_language.iter_mut().filter_map(Iterator::next));
        if docs.len() == before {
            break;
        }
    }
    if lab.quick {
        docs.truncate(60);
    }
    Ok(Workload {
        name: "stream".into(),
        title: format!(
            "{} different documents of about {DOC_TOKENS} tokens, all languages in turn",
            docs.len()
        ),
        docs,
        ids: Ids::Equal,
        skipped,
    })
}

/// (e): the documents of each language.
///
/// # Errors
/// If the corpus lacks a language.
pub fn languages(lab: &Lab) -> Result<Vec<Workload>> {
    let mut maker = lab.maker()?;
    let tokens = DOC_TOKENS / 4;
    let mut workloads = Vec::new();
    for language in LANGUAGES {
        let candidates = maker.cut(lab.corpus.text(language)?, tokens);
        let (docs, skipped) = maker.admit(language, candidates)?;
        workloads.push(Workload {
            name: format!("language-{language}"),
            title: format!(
                "{language}: {} documents of about {tokens} tokens",
                docs.len()
            ),
            docs,
            ids: Ids::Equal,
            skipped,
        });
    }
    Ok(workloads)
}

/// A small deterministic generator (xorshift64*): the same documents everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }

    fn letter(&mut self) -> char {
        char::from(b'a' + self.below(26) as u8)
    }

    fn word(&mut self) -> String {
        let letters = 4 + self.below(9);
        (0..letters).map(|_| self.letter()).collect()
    }

    fn code_point(&mut self) -> char {
        loop {
            if let Some(character) = char::from_u32(0x21 + self.below(0x2_ffdf) as u32) {
                return character;
            }
        }
    }
}

/// (d): what caches, look-up tables and pruning dislike. Engines may differ here in ties and in what
/// they do with odd code points; the tables say how much.
///
/// # Errors
/// If normalised text is not UTF-8.
pub fn adversarial(lab: &Lab) -> Result<Vec<Workload>> {
    /// Token counts may differ by this share.
    const WITHIN: f64 = 0.02;
    let mut random = Random(0x5eed);
    let scale = if lab.quick { 10 } else { 1 };
    let fresh_words = (0..100 / scale).map(|_| {
        let words: Vec<String> = (0..180).map(|_| random.word()).collect();
        words.join(" ")
    });
    let fresh_words: Vec<String> = fresh_words.collect();
    let long_word: String = (0..1_000_000 / scale).map(|_| random.letter()).collect();
    let odd = (0..100 / scale).map(|_| (0..400).map(|_| random.code_point()).collect());
    let odd: Vec<String> = odd.collect();
    // Private-use characters are in no vocabulary.
    let unknown = (0..100 / scale).map(|_| {
        (0..2000)
            .map(|_| char::from_u32(0xe000 + random.below(0x1800) as u32).unwrap_or('\u{e000}'))
            .collect()
    });
    let unknown: Vec<String> = unknown.collect();
    let cases = [
        (
            "fresh-words",
            "no word ever repeats: random letters",
            fresh_words,
        ),
        (
            "long-word",
            "one word of 10^6 random letters",
            vec![long_word],
        ),
        ("code-points", "random code points, U+0021 to U+2FFFF", odd),
        ("all-unknown", "private-use characters only", unknown),
    ];
    let mut maker = lab.maker()?;
    let mut workloads = Vec::new();
    for (name, title, texts) in cases {
        let docs: Result<Vec<Doc>> = texts
            .into_iter()
            .map(|text| maker.doc(name, text))
            .collect();
        workloads.push(Workload {
            name: name.into(),
            title: title.into(),
            docs: docs?,
            ids: Ids::Within(WITHIN),
            skipped: Skipped::default(),
        });
    }
    Ok(workloads)
}

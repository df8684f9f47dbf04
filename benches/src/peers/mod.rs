//! Other projects' tokenizers over the same vocabulary, each through its fastest entry that gives ids.

mod accuracy;
mod kitoken;
mod lite;
mod sentencepiece;
mod tokenizers;
mod tokenizers_rc;
mod tokie;

pub use accuracy::accuracy;

use crate::engine::{Group, Spec};

/// What is linked into this build.
pub const VERSIONS: [&str; 5] = [
    "tokenizers 0.22.2",
    "tokenizers 1.0.0-rc.3",
    "SentencePiece C++ 0.2.1 (sentencepiece-sys 0.14.0)",
    "kitoken 0.11.1",
    "tokie 0.1.4",
];

/// All peers.
#[must_use]
pub fn specs() -> Vec<Spec> {
    let spec = |name, title, build| Spec {
        name,
        title,
        group: Group::Peer,
        build,
    };
    let mut specs = vec![
        spec(
            "tokenizers-0.22",
            "tokenizers 0.22.2, encode_fast",
            tokenizers::build,
        ),
        spec(
            "tokenizers-1.0rc",
            "tokenizers 1.0.0-rc.3, encode_into",
            tokenizers_rc::build,
        ),
        spec(
            "sentencepiece",
            "SentencePiece C++ 0.2.1, ids only",
            sentencepiece::build,
        ),
        spec("kitoken", "kitoken 0.11.1", kitoken::build),
        spec("tokie", "tokie 0.1.4, encode_ids", tokie::build),
    ];
    if lite::directory().is_some() {
        specs.push(spec("lite", "SentencePiece Lite 0.2.3", |_| {
            lite::build(false)
        }));
        specs.push(spec(
            "lite-cached",
            "SentencePiece Lite 0.2.3 with its cache",
            |_| lite::build(true),
        ));
    }
    specs
}

/// SentencePiece's own id in fairseq order.
fn fairseq(id: u32) -> u32 {
    match id {
        0 => 3,
        1 => 0,
        2 => 2,
        id => id + 1,
    }
}

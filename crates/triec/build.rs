//! Compiles the default model, which the executable embeds.
//!
//! `TRIEC_DEFAULT_MODEL` names another one (an absolute path); its ids are the model's own, unless
//! `TRIEC_DEFAULT_IDS` is `fairseq`.

use trie_compiler::{IdMap, Options, build};

fn main() {
    for variable in ["TRIEC_DEFAULT_MODEL", "TRIEC_DEFAULT_IDS"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let model = std::env::var_os("TRIEC_DEFAULT_MODEL");
    let ids = match (&model, std::env::var("TRIEC_DEFAULT_IDS").as_deref()) {
        (_, Ok("fairseq")) | (None, Err(_)) => IdMap::Fairseq,
        (_, Ok("sentencepiece")) | (Some(_), Err(_)) => IdMap::SentencePiece,
        (_, Ok(other)) => {
            println!("cargo::error=TRIEC_DEFAULT_IDS is {other}: use sentencepiece or fairseq");
            std::process::exit(1);
        }
    };
    let model = model.unwrap_or_else(|| "../../models/xlm-roberta.model".into());
    build::compile(model, "default.trie", &Options::default().with_ids(ids));
}

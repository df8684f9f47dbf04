//! Compiles the model into an image that the executable embeds.

use trie_compiler::{IdMap, Options, build};

fn main() {
    let options = Options::default().with_ids(IdMap::Fairseq);
    build::compile(
        "../../models/xlm-roberta.model",
        "xlm-roberta.trie",
        &options,
    );
}

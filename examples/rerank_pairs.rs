//! Question and passages as pairs, as a reranker wants them: the question kept whole, passages cut.
//!
//! ```sh
//! cargo run --release -p trie-examples --example rerank_pairs
//! ```

use std::error::Error;

use trie_runtime::{EncodeOptions, Scratch, Truncation, TruncationStrategy};

fn main() -> Result<(), Box<dyn Error>> {
    let tokenizer = trie_examples::tokenizer()?;
    let question = "Which data structure finds all prefixes?";
    let long = "Tries were first described by René de la Briandais in 1959. ".repeat(50);
    let passages = [
        "A trie walks a text once and meets every prefix on its way.",
        &long,
    ];
    let options = EncodeOptions::default()
        .with_special_tokens(true)
        .with_masks(true)
        .with_truncation(Truncation::new(64).with_strategy(TruncationStrategy::OnlySecond));
    // One scratch for each thread: after the largest pair nothing is allocated any more.
    let mut scratch = Scratch::new();
    for passage in passages {
        let encoding = tokenizer.encode_pair(question, passage, &options, &mut scratch)?;
        let of_passage = encoding.sequence_ids().filter(|id| *id == Some(1)).count();
        println!(
            "{:3} ids, {of_passage:3} of them the passage's: {:?} …",
            encoding.len(),
            encoding.ids().get(..12).unwrap_or(encoding.ids()),
        );
    }
    Ok(())
}

//! A batch of texts as one padded matrix with its attention mask, as an embedding model wants it.
//!
//! ```sh
//! cargo run --release -p trie-examples --example embed_batch
//! ```

use std::error::Error;

use trie_runtime::{Batch, BatchEncoder, EncodeOptions, Padding, Truncation};

fn main() -> Result<(), Box<dyn Error>> {
    let tokenizer = trie_examples::tokenizer()?;
    let texts = [
        "Hello World!",
        "Всі люди народжуються вільними",
        "人人生而自由，在尊严和权利上一律平等。",
        "",
    ];
    // The padding of the model's template: its id, and the end it goes to.
    let padding = tokenizer.padding().unwrap_or(Padding::new(1));
    let options = EncodeOptions::default()
        .with_special_tokens(true)
        .with_masks(true)
        .with_truncation(Truncation::new(512))
        .with_padding(padding.with_multiple_of(8));
    // Both are kept from batch to batch.
    let mut encoder = BatchEncoder::with_threads(2);
    let mut batch = Batch::new();
    encoder.encode(&tokenizer, &texts, &options, &mut batch)?;

    let columns = batch.columns().ok_or("rows of one length")?;
    println!("input_ids [{}, {columns}]", batch.len());
    for (ids, mask) in batch
        .ids()
        .chunks(columns)
        .zip(batch.attention_mask().chunks(columns))
    {
        println!("{ids:?}\n{mask:?}");
    }
    Ok(())
}

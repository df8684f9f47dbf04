//! How many tokens a text has, without its ids: for limits, prices, and cutting text into chunks.
//!
//! ```sh
//! cargo run --release -p trie-examples --example count_tokens < file.txt
//! ```

use std::error::Error;
use std::io::Read;

use trie_runtime::Scratch;

fn main() -> Result<(), Box<dyn Error>> {
    let tokenizer = trie_examples::tokenizer()?;
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text)?;
    let mut scratch = Scratch::new();
    let count = tokenizer.count_tokens(&text, &mut scratch);
    let bytes = text.len();
    println!("{count} tokens in {bytes} bytes");
    Ok(())
}

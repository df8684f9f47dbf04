//! Which part of the text each token stands for, and back: a span of tokens shown in its text.
//!
//! ```sh
//! cargo run --release -p trie-examples --example highlight
//! ```

use std::error::Error;

use trie_runtime::{EncodeOptions, OffsetUnit, Scratch};

fn main() -> Result<(), Box<dyn Error>> {
    let tokenizer = trie_examples::tokenizer()?;
    let text = "The ﬁrst trie (1959)  by de la Briandais";
    let options = EncodeOptions::default()
        .with_special_tokens(true)
        .with_pieces(true)
        .with_offsets(OffsetUnit::Bytes);
    let mut scratch = Scratch::new();
    let encoding = tokenizer.encode_with(text, &options, &mut scratch)?;
    for (piece, &(start, end)) in encoding.pieces().zip(encoding.offsets()) {
        let part = text.get(start..end).unwrap_or_default();
        println!(
            "{:12} {start:3}..{end:<3} {part:?}",
            String::from_utf8_lossy(piece)
        );
    }
    // An answer from token 5 to token 7, say.
    if let [Some(&(start, _)), Some(&(_, end))] = [5, 7].map(|at| encoding.offsets().get(at)) {
        let [before, part, after] = [0..start, start..end, end..text.len()]
            .map(|range| text.get(range).unwrap_or_default());
        println!("{before}[{part}]{after}");
    }
    Ok(())
}

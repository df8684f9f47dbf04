//! An executable with its tokenizer inside: no file to ship, to find or to replace.
//!
//! Prints the ids of its arguments, a line each, and on standard error what starting took.

use std::process::ExitCode;
use std::time::Instant;

use trie_runtime::{Image, Scratch, Tokenizer};

fn main() -> ExitCode {
    let start = Instant::now();
    // What `build.rs` compiled. The build fails if it is not an image of this version.
    let bytes = trie_runtime::include_image!(concat!(env!("OUT_DIR"), "/xlm-roberta.trie"));
    let image = match Image::from_static(bytes) {
        Ok(image) => image,
        Err(error) => {
            eprintln!("the embedded image: {error}");
            return ExitCode::FAILURE;
        }
    };
    let tokenizer = Tokenizer::new(image);
    let mut scratch = Scratch::new();
    let first = tokenizer.encode("Hello World!", &mut scratch).len();
    let elapsed = start.elapsed();
    eprintln!(
        "{first} ids after {elapsed:.2?}: {}",
        tokenizer.image().report().times
    );
    for text in std::env::args().skip(1) {
        let ids = tokenizer.encode(&text, &mut scratch);
        let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
        println!("{}", ids.join(" "));
    }
    ExitCode::SUCCESS
}

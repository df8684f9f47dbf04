//! Any bytes as a model: what compiles must load and work.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trie_compiler::Options;
use trie_runtime::Image;
use trie_tests::images::use_image;

fuzz_target!(|data: &[u8]| {
    if let Ok(image) = trie_compiler::compile(data, &Options::default()) {
        use_image(Image::from_bytes(&image).expect("a fresh image is sound"));
    }
});

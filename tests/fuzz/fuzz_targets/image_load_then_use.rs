//! Any bytes as an image: with right checksums, so that the fuzzer gets past them, then used.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trie_runtime::Image;
use trie_tests::images::{try_reseal, use_image};

fuzz_target!(|data: &[u8]| {
    let mut image = data.to_vec();
    try_reseal(&mut image);
    if let Ok(image) = Image::from_bytes(&image) {
        use_image(image);
    }
});

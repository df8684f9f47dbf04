//! A process that forks after it has encoded: the child has none of its parent's threads, and must neither wait for
//! them nor give anything else.
#![cfg(target_os = "linux")]

use trie_runtime::{Batch, BatchEncoder, EncodeOptions, Reference};
use trie_tests::{corpus_dir, lines, text_files, xlm_roberta};

#[test]
fn a_forked_child_goes_on_with_its_parents_tokenizer_and_batch_encoder() {
    let tokenizer = xlm_roberta(Reference::SentencePiece023);
    let files = text_files(&corpus_dir());
    let texts: Vec<&[u8]> = files
        .iter()
        .flat_map(|(_, text)| lines(text))
        .take(500)
        .collect();
    let options = EncodeOptions::default().with_special_tokens(true);
    let mut encoder = BatchEncoder::with_threads(4);
    let mut expected = Batch::new();
    encoder
        .encode(&tokenizer, &texts, &options, &mut expected)
        .unwrap();

    // SAFETY: the child has a copy of this thread alone. It does nothing but encode, and ends by `_exit`, which runs
    // nothing of the parent's.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let mut found = Batch::new();
        let outcome = encoder.encode(&tokenizer, &texts, &options, &mut found);
        let is_equal = outcome.is_ok() && found == expected;
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(i32::from(!is_equal)) };
    }
    assert!(child > 0, "the process could not fork");
    let mut status = 0;
    for _ in 0..600 {
        // SAFETY: `status` outlives the call.
        let ended = unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) };
        if ended == child {
            assert_eq!(status, 0, "the child gave something else");
            // The parent goes on as before.
            let mut found = Batch::new();
            encoder
                .encode(&tokenizer, &texts, &options, &mut found)
                .unwrap();
            assert_eq!(found, expected);
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    // SAFETY: the child is this process's own, and has not been waited for.
    unsafe { libc::kill(child, libc::SIGKILL) };
    panic!("the child hangs");
}

//! After warm-up an encode allocates nothing and no buffer moves.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use trie_compiler::Options;
use trie_runtime::{
    Batch, BatchEncoder, EncodeOptions, Image, OffsetUnit, Reference, Scratch, StreamEncoder,
    Tokenizer, Truncation,
};
use trie_tests::hf_models::{Source, fairseq_shapes, sentencepiece_shapes};
use trie_tests::{corpus_dir, text_files, xlm_roberta};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting each thread's calls.
struct Counting;

fn count() {
    // A thread that is ending has no counter any more, and is not the one that is measured.
    let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
}

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps `realloc`'s contract.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(run: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.with(Cell::get);
    run();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(
        allocations(|| drop(std::hint::black_box(vec![1u8; 100]))),
        1
    );
}

#[test]
fn a_warm_scratch_is_enough() {
    let tokenizer = xlm_roberta(Reference::SentencePiece023);
    let texts = text_files(&corpus_dir());
    let mut scratch = Scratch::new();
    let options = EncodeOptions::default()
        .with_special_tokens(true)
        .with_pieces(true)
        .with_masks(true)
        .with_offsets(OffsetUnit::Chars)
        .with_truncation(Truncation::new(100).with_stride(7))
        .with_overflowing(true);
    let pass = |scratch: &mut Scratch| {
        let mut tokens = 0;
        for (_, text) in &texts {
            tokens += tokenizer.encode(text, scratch).len();
            let encoding = tokenizer.encode_with(text, &options, scratch).unwrap();
            tokens += encoding.pieces().map(<[u8]>::len).sum::<usize>();
            let _ = tokenizer.normalize(text, scratch);
            let _ = tokenizer.decode(&[0, 35378, 6661, 38, 2], scratch);
        }
        tokens
    };
    let warm = pass(&mut scratch);
    let place = |scratch: &mut Scratch| tokenizer.encode(&texts[0].1, scratch).as_ptr().addr();
    let before = (place(&mut scratch), scratch.allocated_bytes());
    let mut tokens = 0;
    assert_eq!(allocations(|| tokens = pass(&mut scratch)), 0);
    assert_eq!(tokens, warm);
    assert_eq!(before, (place(&mut scratch), scratch.allocated_bytes()));
}

/// Also where `tokenizers` works step by step: added tokens, normalizers, words, decoders; with a limit, too.
#[test]
fn a_warm_scratch_is_enough_for_tokenizer_json() {
    let texts = text_files(&corpus_dir());
    let options = EncodeOptions::default()
        .with_special_tokens(true)
        .with_pieces(true)
        .with_offsets(OffsetUnit::Bytes);
    let limited = options.with_truncation(Truncation::new(100));
    let published = fairseq_shapes(&Source::new("xlm-roberta", "fairseq"));
    let small = sentencepiece_shapes(&Source::new("bytefb", "sentencepiece"));
    for document in published.into_iter().take(4).chain(small) {
        let image = trie_compiler::compile(document.json.as_bytes(), &Options::default()).unwrap();
        let tokenizer = Tokenizer::new(Image::from_bytes(&image).unwrap());
        let mut scratch = Scratch::new();
        let mut ids = Vec::new();
        let pass = |scratch: &mut Scratch, ids: &mut Vec<u32>| {
            for (_, text) in &texts {
                ids.clear();
                ids.extend(tokenizer.encode(text, scratch));
                let _ = tokenizer.encode_with(text, &options, scratch).unwrap();
                let _ = tokenizer.encode_with(text, &limited, scratch).unwrap();
                let _ = tokenizer.decode(ids, scratch).unwrap();
            }
            let _ = tokenizer.encode_with(b"\x01a \xff", &options, scratch);
            let marks = " <mask> a</s>\u{fb01} \u{301}\u{302}\u{303}\u{304}\u{305}\u{fdfa}";
            let _ = tokenizer.encode(marks, scratch);
        };
        pass(&mut scratch, &mut ids);
        let again = allocations(|| pass(&mut scratch, &mut ids));
        assert_eq!(again, 0, "{}", document.name);
    }
}

#[test]
fn one_tokenizer_serves_all_threads() {
    let tokenizer = xlm_roberta(Reference::SentencePiece023);
    let texts = text_files(&corpus_dir());
    let expected: Vec<Vec<u32>> = texts
        .iter()
        .map(|(_, text)| tokenizer.encode_to_vec(text))
        .collect();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut scratch = Scratch::new();
                for ((name, text), expected) in texts.iter().zip(&expected) {
                    assert_eq!(tokenizer.encode(text, &mut scratch), expected, "{name}");
                }
            });
        }
    });
}

#[test]
fn a_warm_batch_encoder_is_enough() {
    let tokenizer = xlm_roberta(Reference::SentencePiece023);
    let texts: Vec<Vec<u8>> = text_files(&corpus_dir())
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    let options = EncodeOptions::default()
        .with_special_tokens(true)
        .with_masks(true)
        .with_truncation(Truncation::new(64))
        .with_padding(tokenizer.padding().unwrap());
    let (mut encoder, mut batch) = (BatchEncoder::new(), Batch::new());
    let mut run = || {
        encoder
            .encode(&tokenizer, &texts, &options, &mut batch)
            .unwrap()
    };
    run();
    assert_eq!(allocations(run), 0);
    assert_eq!(batch.columns(), Some(64));
}

#[test]
fn a_warm_stream_and_a_count_are_enough() {
    let tokenizer = xlm_roberta(Reference::SentencePiece023);
    let texts = text_files(&corpus_dir());
    let mut scratch = Scratch::new();
    let mut stream = StreamEncoder::new(&tokenizer, &EncodeOptions::default());
    let mut run = || {
        let mut tokens = 0;
        for (_, text) in &texts {
            for chunk in text.chunks(1000) {
                tokens += stream.push(chunk).len();
            }
            tokens += stream.finish().len();
            tokens -= tokenizer.count_tokens(text, &mut scratch);
        }
        assert_eq!(tokens, 0);
    };
    run();
    assert_eq!(allocations(run), 0);
}

//! baseline
use std::time::Instant;
use trie_runtime::{Backing, Image, LoadOptions, Tokenizer};
fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().unwrap();
    let way = args.next().unwrap();
    if way == "nothing" { return; }
    let t = Instant::now();
    let load = |b| Image::load(&path, &LoadOptions::default().with_backing(b).with_fallback(false)).unwrap();
    let image = match &*way {
        "map" => unsafe { Image::map(&path) }.unwrap(),
        "hugetlb" => load(Backing::HugeTlb),
        "thp" => load(Backing::TransparentHuge),
        _ => load(Backing::Copy),
    };
    let l = t.elapsed();
    let tok = Tokenizer::new(image);
    let ids = tok.encode_to_vec("Hello World!");
    assert_eq!(ids, [35378, 6661, 38]);
    println!("{way} load {l:?} all {:?}", t.elapsed());
}

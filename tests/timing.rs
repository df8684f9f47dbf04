#[test]
fn t(){
 use std::time::Instant;
 let m=std::fs::read("/work/main/models/xlm-roberta.model").unwrap();
 let mut last=Instant::now();
 let t=Instant::now();
 let i=trie_compiler::compile_with_progress(&m,&trie_compiler::Options::default().with_ids(trie_compiler::IdMap::Fairseq),|s| {eprintln!("{:?} {:?}",s,last.elapsed()); last=Instant::now();}).unwrap();
 eprintln!("last {:?} total {:?} {} bytes",last.elapsed(),t.elapsed(),i.len()); 
 trie_compiler::write_image("/tmp/t/xlmr.trie".as_ref(),&i).unwrap();
 for _ in 0..5 { let t=Instant::now(); let im=unsafe{trie_runtime::Image::map("/tmp/t/xlmr.trie")}.unwrap(); eprintln!("map {:?} {}",t.elapsed(), im.report()); 
 let v=trie_format::ImageView::parse(im.view().bytes()).unwrap(); let t=Instant::now(); v.validate().unwrap(); eprintln!("validate again {:?}",t.elapsed());
 eprintln!("slots {} nodes {}", im.view().nodes().len(), im.view().metadata().node_count);}
 for b in [trie_runtime::Backing::HugeTlb,trie_runtime::Backing::TransparentHuge,trie_runtime::Backing::Copy] { for _ in 0..3 { let t=Instant::now(); let im=trie_runtime::Image::load("/tmp/t/xlmr.trie",&trie_runtime::LoadOptions::default().with_backing(b)).unwrap(); eprintln!("load {:?} {}",t.elapsed(), im.report()); } }
 let text=std::fs::read("/work/shared/corpus/en.txt").unwrap();
 for b in [trie_runtime::Backing::HugeTlb, trie_runtime::Backing::Copy] {
 let tok=trie_runtime::Tokenizer::new(trie_runtime::Image::load("/tmp/t/xlmr.trie",&trie_runtime::LoadOptions::default().with_backing(b)).unwrap());
 let mut s=trie_runtime::Scratch::new();
 let doc=&text[1000..3200];
 for _ in 0..3{ let t=Instant::now(); let mut n=0; for _ in 0..1000 { n+=tok.encode(doc,&mut s).len(); } let e=t.elapsed(); 
 let t=Instant::now(); for _ in 0..1000 { n+=tok.normalize(doc,&mut s).len(); } let e2=t.elapsed();
 eprintln!("{b} doc {} tokens, {:?} per encode, {:.1} MB/s, normalize {:?}", tok.encode(doc,&mut s).len(), e/1000, 2.2e3*1000./e.as_secs_f64()/1e6, e2/1000); std::hint::black_box(n);}
 }
}

//! Hugging Face `tokenizers` 0.22, without offsets and special tokens.

use tokenizers_022::Tokenizer;

use crate::Result;
use crate::corpus::Doc;
use crate::engine::{Engine, Session};
use crate::fixture::Fixture;

struct Peer(Tokenizer);

struct Caller<'a>(&'a Tokenizer, Vec<u32>);

pub(super) fn build(fixture: &Fixture) -> Result<Box<dyn Engine>> {
    Ok(Box::new(Peer(Tokenizer::from_file(
        fixture.tokenizer_json(),
    )?)))
}

impl Engine for Peer {
    fn session(&self) -> Box<dyn Session + '_> {
        Box::new(Caller(&self.0, Vec::new()))
    }
}

impl Session for Caller<'_> {
    fn encode(&mut self, doc: &Doc) -> &[u32] {
        self.1.clear();
        if let Ok(encoding) = self.0.encode_fast(doc.text.as_str(), false) {
            self.1.extend_from_slice(encoding.get_ids());
        }
        &self.1
    }
}

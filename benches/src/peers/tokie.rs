//! `tokie`, through the entry that returns bare ids.

use tokie_peer::Tokenizer;

use crate::Result;
use crate::corpus::Doc;
use crate::engine::{Engine, Session};
use crate::fixture::Fixture;

struct Peer(Tokenizer);

struct Caller<'a>(&'a Tokenizer, Vec<u32>);

pub(super) fn build(fixture: &Fixture) -> Result<Box<dyn Engine>> {
    let tokenizer = Tokenizer::from_json(fixture.tokenizer_json()).map_err(|e| e.to_string())?;
    Ok(Box::new(Peer(tokenizer)))
}

impl Engine for Peer {
    fn session(&self) -> Box<dyn Session + '_> {
        Box::new(Caller(&self.0, Vec::new()))
    }
}

impl Session for Caller<'_> {
    fn encode(&mut self, doc: &Doc) -> &[u32] {
        self.1 = self.0.encode_ids(&doc.text, false);
        &self.1
    }
}

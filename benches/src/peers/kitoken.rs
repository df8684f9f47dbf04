//! `kitoken`, from the SentencePiece model.

use kitoken_peer::Kitoken;

use super::fairseq;
use crate::Result;
use crate::corpus::Doc;
use crate::engine::{Engine, Session};
use crate::fixture::Fixture;

struct Peer(Kitoken);

struct Caller<'a>(&'a Kitoken, Vec<u32>);

pub(super) fn build(fixture: &Fixture) -> Result<Box<dyn Engine>> {
    let tokenizer = Kitoken::from_sentencepiece_file(fixture.model()).map_err(|e| e.to_string())?;
    Ok(Box::new(Peer(tokenizer)))
}

impl Engine for Peer {
    fn session(&self) -> Box<dyn Session + '_> {
        Box::new(Caller(&self.0, Vec::new()))
    }
}

impl Session for Caller<'_> {
    fn encode(&mut self, doc: &Doc) -> &[u32] {
        let Self(tokenizer, ids) = self;
        *ids = tokenizer.encode(&doc.text, false).unwrap_or_default();
        ids.iter_mut().for_each(|id| *id = fairseq(*id));
        ids
    }
}

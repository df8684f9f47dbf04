//! Hugging Face `tokenizers` 1.0.0-rc: it reads only a newer form of `tokenizer.json`, into which its own
//! converter turns the fixture's; that is part of loading here.

use tokenizers_rc::pipeline::{EncodeOptions, PipelineToken, PipelineTokenizer};
use tokenizers_rc::{canonicalize_file, from_json};

use crate::Result;
use crate::corpus::Doc;
use crate::engine::{Engine, Session};
use crate::fixture::Fixture;

struct Peer(PipelineTokenizer);

struct Caller<'a> {
    tokenizer: &'a PipelineTokenizer,
    options: EncodeOptions,
    tokens: Vec<PipelineToken>,
}

pub(super) fn build(fixture: &Fixture) -> Result<Box<dyn Engine>> {
    let json = canonicalize_file(fixture.tokenizer_json())?;
    Ok(Box::new(Peer(from_json(&json)?)))
}

impl Engine for Peer {
    fn session(&self) -> Box<dyn Session + '_> {
        let options = EncodeOptions::no_specials();
        Box::new(Caller {
            tokenizer: &self.0,
            options,
            tokens: Vec::new(),
        })
    }
}

impl Session for Caller<'_> {
    fn encode(&mut self, doc: &Doc) -> &[u32] {
        self.tokens.clear();
        if self
            .tokenizer
            .encode_into(&doc.text, &self.options, &mut self.tokens)
            .is_err()
        {
            self.tokens.clear();
        }
        PipelineToken::cast_slice(&self.tokens)
    }
}

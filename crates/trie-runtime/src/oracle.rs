//! The plain ways beside the clever ones, for this project's tests. Not part of the API.

use trie_format::Reference;

use crate::normalize::Normalizer;
use crate::parts::{Found, Parts, Segmenter};
use crate::segment::Window;
use crate::sequence::{Ask, Sequence};
use crate::sp::model::Model;
use crate::sp::stream;
use crate::tokenizer::Tokenizer;
use crate::trie::Trie;
use crate::viterbi::{Arithmetic, Double, Mixed, Single, UnkScore, backtrack, segment};

/// A token of the model: start, end, id.
pub type Token = (usize, usize, u32);

/// The tokens of normalized `text` by the plain pass.
#[must_use]
pub fn plain_tokens(tokenizer: &Tokenizer, text: &[u8]) -> Vec<Token> {
    fn tokens<A: Arithmetic>(tokenizer: &Tokenizer, text: &[u8]) -> Vec<Token> {
        let image = tokenizer.image().view();
        let mut cells = Vec::new();
        segment::<A>(Trie::pieces(image), UnkScore::new(image), text, &mut cells);
        let mut tokens: Vec<Token> = backtrack(&cells).collect();
        tokens.reverse();
        tokens
    }
    match tokenizer.image().view().metadata().reference.into() {
        Reference::SentencePiece021 => tokens::<Mixed>(tokenizer, text),
        Reference::SentencePiece023 => tokens::<Single>(tokenizer, text),
        _ => tokens::<Double>(tokenizer, text),
    }
}

/// The length, id and path score of every piece that `text` begins with, by the walk that segmentation takes.
#[must_use]
pub fn prefixes(tokenizer: &Tokenizer, text: &[u8]) -> Vec<(usize, u32, f32)> {
    let mut found = Vec::new();
    Trie::pieces(tokenizer.image().view()).prefixes(text, |len, piece| {
        found.push((len, piece.id, piece.score));
    });
    found
}

/// `input`, normalized with a look at the rules for every character (not under the Hugging Face reference).
#[must_use]
pub fn normalize_by_rules(tokenizer: &Tokenizer, input: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Normalizer::by_rules(tokenizer.image().view()).normalize(input, &mut out);
    out
}

/// The same by the window, the text arriving in pieces that end at `cuts` (ascending); and the bytes that the
/// window held at the end.
#[must_use]
pub fn window_tokens(tokenizer: &Tokenizer, text: &[u8], cuts: &[usize]) -> (Vec<Token>, usize) {
    fn tokens<A: Arithmetic>(
        tokenizer: &Tokenizer,
        text: &[u8],
        cuts: &[usize],
    ) -> (Vec<Token>, usize)
    where
        A::Score: Default,
    {
        let image = tokenizer.image().view();
        let mut window = Window::<A::Score>::default();
        // Remains of an earlier text must not matter.
        let _ = window.advance::<A>(
            Trie::pieces(image),
            UnkScore::new(image),
            text,
            false,
            |_, _, _| {},
        );
        window.begin();
        let mut tokens = Vec::new();
        let mut settled = 0;
        let ends = cuts.iter().map(|&cut| (cut.min(text.len()), false));
        for (end, last) in ends.chain([(text.len(), true)]) {
            settled += window.advance::<A>(
                Trie::pieces(image),
                UnkScore::new(image),
                text.get(settled..end.max(settled)).unwrap_or_default(),
                last,
                |start, end, id| tokens.push((settled + start, settled + end, id)),
            );
        }
        (tokens, window.allocated_bytes())
    }
    match tokenizer.image().view().metadata().reference.into() {
        Reference::SentencePiece021 => tokens::<Mixed>(tokenizer, text, cuts),
        Reference::SentencePiece023 => tokens::<Single>(tokenizer, text, cuts),
        _ => tokens::<Double>(tokenizer, text, cuts),
    }
}

/// The way part by part, with what it remembers from text to text.
#[derive(Debug, Default)]
pub struct PartByPart {
    single: Segmenter<f32>,
    double: Segmenter<f64>,
}

impl PartByPart {
    /// The tokens of normalized `text`, which arrives in pieces that end at `cuts` (ascending); `None` if the image
    /// has no parts.
    pub fn tokens(
        &mut self,
        tokenizer: &Tokenizer,
        text: &[u8],
        cuts: &[usize],
    ) -> Option<Vec<Token>> {
        let parts = Parts::new(tokenizer.image().view())?;
        Some(match tokenizer.image().view().metadata().reference.into() {
            Reference::SentencePiece021 => tokens_of::<Mixed>(&mut self.single, &parts, text, cuts),
            Reference::SentencePiece023 => {
                tokens_of::<Single>(&mut self.single, &parts, text, cuts)
            }
            _ => tokens_of::<Double>(&mut self.double, &parts, text, cuts),
        })
    }
}

fn tokens_of<A: Arithmetic>(
    segmenter: &mut Segmenter<A::Score>,
    parts: &Parts<'_>,
    text: &[u8],
    cuts: &[usize],
) -> Vec<Token> {
    struct List {
        tokens: Vec<Token>,
        settled: usize,
    }
    impl Found for List {
        fn token(&mut self, start: usize, end: usize, id: u32) {
            let Self { tokens, settled } = self;
            tokens.push((*settled + start, *settled + end, id));
        }
    }
    let mut list = List {
        tokens: Vec::new(),
        settled: 0,
    };
    segmenter.begin(parts);
    let ends = cuts.iter().map(|&cut| (cut.min(text.len()), false));
    for (end, last) in ends.chain([(text.len(), true)]) {
        let rest = text.get(list.settled..end.max(list.settled));
        list.settled += segmenter.advance::<A>(parts, rest.unwrap_or_default(), last, &mut list);
    }
    list.tokens
}

/// What a stream under a SentencePiece reference has given out.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Streamed {
    /// Token ids.
    pub ids: Vec<u32>,
    /// The normalized text of each.
    pub texts: Vec<Vec<u8>>,
    /// Bytes of the input.
    pub offsets: Vec<(usize, usize)>,
    /// Most bytes that the stream's buffers held.
    pub allocated: usize,
}

/// Encodes `chunks` as one text under a SentencePiece reference, emptying the output after each.
#[must_use]
pub fn stream<'t>(
    tokenizer: &Tokenizer,
    chunks: impl Iterator<Item = &'t [u8]>,
    everything: bool,
) -> Streamed {
    let image = tokenizer.image().view();
    let model = Model::new(image);
    let ask = Ask {
        spans: everything,
        offsets: everything,
        ..Ask::IDS
    };
    let mut state = stream::Stream::default();
    state.begin(&model);
    let mut out = Sequence::default();
    let mut all = Streamed::default();
    let mut chunks = chunks.peekable();
    loop {
        let chunk = chunks.next().unwrap_or_default();
        let last = chunks.peek().is_none();
        out.clear();
        state.push(&model, chunk, last, ask, &mut out);
        all.ids.extend_from_slice(&out.ids);
        let texts = out.spans.iter();
        all.texts.extend(texts.map(|&(start, end)| {
            let text = out.normalized.get(start..end);
            text.unwrap_or_default().to_vec()
        }));
        all.offsets.extend_from_slice(&out.offsets);
        all.allocated = all
            .allocated
            .max(state.allocated_bytes() + out.allocated_bytes());
        if last {
            return all;
        }
    }
}

/// What [`Tokenizer`] gives for one text under a SentencePiece reference, stopped at `limit` tokens; and whether
/// that is all.
#[must_use]
pub fn limited(tokenizer: &Tokenizer, input: &[u8], limit: usize) -> (Streamed, bool) {
    let ask = Ask {
        spans: true,
        offsets: true,
        limit,
        ..Ask::IDS
    };
    let mut work = crate::scratch::Work::default();
    let mut out = Sequence::default();
    let image = tokenizer.image().view();
    crate::sp::encode::sequence(image, input, ask, &mut work, &mut out);
    let texts = out.spans.iter().map(|&(start, end)| {
        let text = out.normalized.get(start..end);
        text.unwrap_or_default().to_vec()
    });
    let streamed = Streamed {
        texts: texts.collect(),
        ids: out.ids,
        offsets: out.offsets,
        allocated: 0,
    };
    (streamed, out.complete)
}

/// How many tokens `input` has under a SentencePiece reference.
#[must_use]
pub fn count(tokenizer: &Tokenizer, input: &[u8]) -> usize {
    let mut state = stream::Stream::default();
    let image = tokenizer.image().view();
    stream::count(image, input, &mut state)
}

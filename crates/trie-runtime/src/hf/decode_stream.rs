//! Decoder steps over tokens that come one at a time.
//!
//! Up to `Fuse` every step works on whole tokens, and only `ByteFallback` waits: a run of byte tokens is their
//! text if *all* of them are UTF-8, so nothing is known of it before it ends, or is known to be broken. `Fuse`
//! makes one token of all; what comes behind it works on a text without an end, and waits for what could be
//! the beginning of something to be replaced or stripped.
//!
//! Invariant: the texts of all calls together are what `decode` makes of all tokens.

use trie_format::pipeline::{CharClass, Step, StepKind};
use trie_format::{PipelineView, ValidImage};
use trie_normalize::{Pattern, pattern_of, replace, str_of};

use super::decode::{Tokens, byte_of, strip, token_text};
use crate::error::DecodeError;
use crate::options::DecodeOptions;

/// U+FFFD.
const REPLACEMENT: &str = "\u{fffd}";

/// The steps with what they hold back.
#[derive(Debug)]
pub(crate) struct HfDecoder {
    /// Each with the index of its step.
    stages: Vec<(usize, Stage)>,
    /// Whether a token has come.
    begun: bool,
    tokens: Tokens,
    next: Tokens,
}

/// A step at work. `Open` ones come behind `Fuse`.
#[derive(Debug)]
enum Stage {
    Metaspace { is_first: bool },
    Replace,
    Strip,
    Bytes(ByteRun),
    Fuse,
    OpenMetaspace,
    OpenLiteral { held: String },
    OpenRun { held: String, count: u32 },
    OpenStrip { left: u32, held: String },
    OpenByte { held: Option<String> },
}

impl HfDecoder {
    pub(crate) fn new(pipeline: &PipelineView<'_>) -> Self {
        let mut is_fused = false;
        let stage = |(index, step): (usize, &Step)| {
            let held = String::new();
            let stage = match (StepKind::from_number(step.kind)?, is_fused) {
                (StepKind::DecodeMetaspace, false) => Stage::Metaspace { is_first: true },
                (StepKind::DecodeMetaspace, true) => Stage::OpenMetaspace,
                (StepKind::DecodeReplaceLiteral, true) => Stage::OpenLiteral { held },
                (StepKind::DecodeReplaceRun, true) => Stage::OpenRun { held, count: 0 },
                (StepKind::DecodeReplaceLiteral | StepKind::DecodeReplaceRun, false) => {
                    Stage::Replace
                }
                (StepKind::DecodeStrip, false) => Stage::Strip,
                (StepKind::DecodeStrip, true) => Stage::OpenStrip {
                    left: step.n[0],
                    held,
                },
                (StepKind::DecodeByteFallback, false) => Stage::Bytes(ByteRun::default()),
                (StepKind::DecodeByteFallback, true) => Stage::OpenByte { held: Some(held) },
                (StepKind::DecodeFuse, _) => {
                    is_fused = true;
                    Stage::Fuse
                }
                _ => return None,
            };
            Some((index, stage))
        };
        Self {
            stages: pipeline
                .steps()
                .iter()
                .enumerate()
                .filter_map(stage)
                .collect(),
            begun: false,
            tokens: Tokens::default(),
            next: Tokens::default(),
        }
    }

    /// Appends to `out` what becomes final with `id`.
    pub(crate) fn push_id(
        &mut self,
        image: &ValidImage<'_>,
        pipeline: &PipelineView<'_>,
        id: u32,
        options: &DecodeOptions,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let Some(token) = token_text(image, id, options)? else {
            return Ok(());
        };
        // Without a decoder, tokens are joined by spaces.
        if self.stages.is_empty() && self.begun {
            out.push(b' ');
        }
        self.begun = true;
        self.tokens.clear();
        self.tokens.push(&token);
        self.run(pipeline, false, out);
        Ok(())
    }

    /// Appends to `out` what has been held back.
    pub(crate) fn finish(&mut self, pipeline: &PipelineView<'_>, out: &mut Vec<u8>) {
        self.tokens.clear();
        self.run(pipeline, true, out);
    }

    /// Leads the tokens at hand through all steps.
    fn run(&mut self, pipeline: &PipelineView<'_>, is_last: bool, out: &mut Vec<u8>) {
        for (index, stage) in &mut self.stages {
            let Some(step) = pipeline.steps().get(*index) else {
                continue;
            };
            self.next.clear();
            stage.run(pipeline, step, &self.tokens, is_last, &mut self.next);
            std::mem::swap(&mut self.tokens, &mut self.next);
        }
        out.extend_from_slice(self.tokens.text.as_bytes());
    }
}

impl Stage {
    /// Puts into `next` what becomes final with `tokens`; behind `Fuse`, those are parts of one token.
    fn run(
        &mut self,
        pipeline: &PipelineView<'_>,
        step: &Step,
        tokens: &Tokens,
        is_last: bool,
        next: &mut Tokens,
    ) {
        let text = str_of(pipeline.step_text(step));
        match self {
            Self::Metaspace { is_first } => {
                for token in tokens.iter() {
                    let drops = std::mem::take(is_first) && step.flags != 2;
                    next.push(&token.replace(text, if drops { "" } else { " " }));
                }
            }
            Self::Replace => {
                for token in tokens.iter() {
                    replace(token, pattern_of(pipeline, step), text, &mut next.text);
                    next.ends.push(next.text.len());
                }
            }
            Self::Strip => {
                for token in tokens.iter() {
                    next.push(strip(token, text, step.n[0], step.n[1]));
                }
            }
            Self::Bytes(run) => {
                for token in tokens.iter() {
                    match byte_of(token) {
                        Some(byte) => run.push(byte, next),
                        None => {
                            run.end(next);
                            next.push(token);
                        }
                    }
                }
                if is_last {
                    run.end(next);
                }
            }
            Self::Fuse => next.push(&tokens.text),
            Self::OpenMetaspace => {
                let space = if step.flags == 2 { " " } else { "" };
                next.push(&tokens.text.replace(text, space));
            }
            Self::OpenLiteral { held } => {
                let Pattern::Literal(literal) = pattern_of(pipeline, step) else {
                    return;
                };
                held.push_str(&tokens.text);
                replace_literal(held, literal, text, is_last, &mut next.text);
                next.ends.push(next.text.len());
            }
            Self::OpenRun { held, count } => {
                let Pattern::Run { class, min, max } = pattern_of(pipeline, step) else {
                    return;
                };
                let run = Run {
                    class,
                    min,
                    max,
                    content: text,
                };
                run.replace(&tokens.text, held, count, &mut next.text);
                if is_last {
                    next.text.push_str(&std::mem::take(held));
                }
                next.ends.push(next.text.len());
            }
            Self::OpenStrip { left, held } => {
                let mut rest = tokens.text.as_str();
                while *left > 0 && !rest.is_empty() {
                    match rest.strip_prefix(text) {
                        Some(stripped) => {
                            *left -= 1;
                            rest = stripped;
                        }
                        None => *left = 0,
                    }
                }
                held.push_str(rest);
                // What could be the end of the text is stripped if it is.
                let kept = strip(held, text, 0, step.n[1]).len();
                next.push(&held[..kept]);
                held.drain(..kept);
            }
            Self::OpenByte { held } => {
                let Some(all) = held else {
                    next.push(&tokens.text);
                    return;
                };
                all.push_str(&tokens.text);
                let may_be_byte = all.len() <= BYTE_TOKEN && "<0x".starts_with(head(all, 3));
                if may_be_byte && !is_last {
                    return;
                }
                match byte_of(all) {
                    Some(byte) if byte.is_ascii() => {
                        next.push(char::from(byte).encode_utf8(&mut [0; 4]))
                    }
                    Some(_) => next.push(REPLACEMENT),
                    None => next.push(all),
                }
                *held = None;
            }
        }
    }
}

/// Length of `<0xHH>`.
const BYTE_TOKEN: usize = 6;

/// The beginning of `text`, at most `len` bytes.
fn head(text: &str, len: usize) -> &str {
    &text[..text.floor_char_boundary(len)]
}

/// The byte tokens in a row so far.
#[derive(Debug, Default)]
struct ByteRun {
    /// Their bytes, unless they are known to be no UTF-8.
    bytes: Vec<u8>,
    /// How many of them are whole characters.
    valid: usize,
    is_broken: bool,
}

impl ByteRun {
    fn push(&mut self, byte: u8, next: &mut Tokens) {
        if self.is_broken {
            next.push(REPLACEMENT);
            return;
        }
        self.bytes.push(byte);
        match std::str::from_utf8(&self.bytes[self.valid..]) {
            Ok(_) => self.valid = self.bytes.len(),
            Err(error) if error.error_len().is_none() => self.valid += error.valid_up_to(),
            Err(_) => {
                self.is_broken = true;
                self.bytes.drain(..).for_each(|_| next.push(REPLACEMENT));
            }
        }
    }

    /// Something else follows, or nothing.
    fn end(&mut self, next: &mut Tokens) {
        match std::str::from_utf8(&self.bytes) {
            Ok("") => {}
            Ok(text) => next.push(text),
            Err(_) => self.bytes.iter().for_each(|_| next.push(REPLACEMENT)),
        }
        self.bytes.clear();
        self.valid = 0;
        self.is_broken = false;
    }
}

/// Replaces `literal` in `held`, and leaves there what could be the beginning of another one.
fn replace_literal(
    held: &mut String,
    literal: &str,
    content: &str,
    is_last: bool,
    out: &mut String,
) {
    let mut copied = 0;
    for (start, matched) in held.match_indices(literal) {
        out.push_str(&held[copied..start]);
        out.push_str(content);
        copied = start + matched.len();
    }
    let rest = &held[copied..];
    let may_begin = |at: &usize| rest.get(*at..).is_some_and(|end| literal.starts_with(end));
    let first = rest.len().saturating_sub(literal.len().saturating_sub(1));
    let kept = match is_last {
        true => rest.len(),
        false => (first..rest.len()).find(may_begin).unwrap_or(rest.len()),
    };
    out.push_str(&rest[..kept]);
    held.drain(..copied + kept);
}

/// Runs of characters to be replaced.
struct Run<'a> {
    class: CharClass<'a>,
    min: u32,
    max: u32,
    content: &'a str,
}

impl Run<'_> {
    /// Replaces runs in `text`, before which `count` characters of a run have come; if they are too few to
    /// be sure, they are in `held`. A run that is long enough becomes the content at once: what else belongs to
    /// it changes nothing.
    fn replace(&self, text: &str, held: &mut String, count: &mut u32, out: &mut String) {
        for character in text.chars() {
            if !self.class.contains(character) {
                out.push_str(held);
                out.push(character);
                held.clear();
                *count = 0;
                continue;
            }
            *count += 1;
            if *count < self.min {
                held.push(character);
            } else if *count == self.min {
                held.clear();
                out.push_str(self.content);
            }
            if *count == self.max {
                *count = 0;
            }
        }
    }
}

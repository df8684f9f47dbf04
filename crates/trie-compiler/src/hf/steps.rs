//! The pipeline as an image holds it: steps, character classes and rules, added tokens.

use std::collections::HashSet;

use trie_format::pipeline::{
    AddedToken as ImageToken, CharRange, CharRule, SplitBehavior as ImageBehavior, Step, StepKind,
};
use trie_format::{MAX_PIECE_BYTES, PipelineView};
use trie_normalize::{Prefix, Room, normalize};

use super::classes::Class;
use super::local::{Local, rules};
use super::pipeline::{
    AddedToken, DecoderStep, HfModel, NormalizerStep, Pattern, PreTokenizerStep, PrependScheme,
    SplitBehavior,
};
use crate::charsmap::Charsmap;
use crate::error::{CompileError, PieceName};
use crate::trie::{Key, Trie};

/// The sections of a pipeline. Texts are offsets into `texts`, which begins the image's texts section.
#[derive(Default)]
pub(crate) struct Sections {
    pub(crate) steps: Vec<Step>,
    pub(crate) ranges: Vec<CharRange>,
    pub(crate) rules: Vec<CharRule>,
    pub(crate) added: Vec<ImageToken>,
    pub(crate) texts: Vec<u8>,
    /// Tries of the added tokens, as they are and normalized.
    pub(crate) added_trie: Option<Trie>,
    pub(crate) normalized_added_trie: Option<Trie>,
    /// The added tokens as they are decoded: those that are looked for in normalized text, normalized.
    pub(crate) added_texts: Vec<String>,
    classes: Vec<(Class, [u32; 2])>,
}

/// The rule table of the pipeline's Precompiled step.
///
/// # Errors
/// If there are several, which an image has no room for, or one that `tokenizers` refuses.
pub(crate) fn charsmap(model: &HfModel) -> Result<Option<&Charsmap>, CompileError> {
    let mut tables = model.normalizers.iter().filter_map(|step| match step {
        NormalizerStep::Precompiled(charsmap) => Some(charsmap),
        _ => None,
    });
    let table = tables.next();
    let fail = |rule| CompileError::Charsmap {
        field: "normalizer",
        rule,
    };
    if tables.next().is_some() {
        return Err(fail(
            "there is more than one Precompiled normalizer; one can be compiled",
        ));
    }
    if let Some(charsmap) = table {
        let text = std::str::from_utf8(&charsmap.texts)
            .map_err(|_| fail("its replacements are not UTF-8, which tokenizers refuses"))?;
        if !charsmap.values().all(|value| text.is_char_boundary(value)) {
            return Err(fail("a replacement begins inside a character"));
        }
    }
    Ok(table)
}

impl Sections {
    /// The sections of `model`'s pipeline; `charsmap` is its rule table.
    pub(crate) fn new(model: &HfModel, charsmap: Option<&Charsmap>) -> Result<Self, CompileError> {
        let mut sections = Self::default();
        sections.push_normalizers(&model.normalizers)?;
        for step in &model.pre_tokenizers {
            sections.push_pre_tokenizer(step)?;
        }
        for step in &model.decoders {
            sections.push_decoder(step)?;
        }
        sections.push_added(&model.added_tokens, charsmap)?;
        Ok(sections)
    }

    /// The tables as the runtime sees them.
    fn view(&self) -> PipelineView<'_> {
        PipelineView::new(
            &self.steps,
            &self.ranges,
            &self.rules,
            &self.added,
            &self.texts,
        )
    }

    fn text(&mut self, text: &str) -> Result<[u32; 2], CompileError> {
        let start = self.texts.len();
        self.texts.extend_from_slice(text.as_bytes());
        match (u32::try_from(start), u32::try_from(self.texts.len())) {
            (Ok(start), Ok(end)) => Ok([start, end - start]),
            _ => Err(CompileError::TooLarge {
                what: "the texts of the normalizers",
                limit: u64::from(u32::MAX),
            }),
        }
    }

    fn class(&mut self, class: Class) -> [u32; 2] {
        if let Some((_, place)) = self.classes.iter().find(|(known, _)| *known == class) {
            return *place;
        }
        let place = self.push_ranges(class.ranges());
        self.classes.push((class, place));
        place
    }

    fn push_ranges(&mut self, ranges: impl IntoIterator<Item = CharRange>) -> [u32; 2] {
        let start = self.ranges.len() as u32;
        self.ranges.extend(ranges);
        [start, self.ranges.len() as u32 - start]
    }

    fn push(&mut self, kind: StepKind, flags: u32, n: [u32; 4], text: [u32; 2]) {
        self.steps.push(Step {
            kind: kind as u32,
            flags,
            n,
            text_start: text[0],
            text_len: text[1],
        });
    }

    fn push_normalizers(&mut self, steps: &[NormalizerStep]) -> Result<(), CompileError> {
        // Character-local normalizers wait for the next one that is not, to become one table.
        let mut chain = Vec::new();
        for step in steps {
            match step {
                NormalizerStep::Nmt => chain.push(Local::Nmt),
                NormalizerStep::Lowercase => chain.push(Local::Lowercase),
                NormalizerStep::StripAccents => chain.push(Local::StripAccents),
                NormalizerStep::Bert {
                    clean_text,
                    handle_chinese_chars,
                    strip_accents,
                    lowercase,
                } => {
                    chain.extend(clean_text.then_some(Local::BertCleanText));
                    chain.extend(handle_chinese_chars.then_some(Local::BertChineseChars));
                    if *strip_accents {
                        self.flush_chain(&mut chain)?;
                        self.push(StepKind::Nfd, 0, [0; 4], [0; 2]);
                        chain.push(Local::BertStripMarks);
                    }
                    chain.extend(lowercase.then_some(Local::Lowercase));
                }
                other => {
                    self.flush_chain(&mut chain)?;
                    self.push_normalizer(other)?;
                }
            }
        }
        self.flush_chain(&mut chain)
    }

    fn flush_chain(&mut self, chain: &mut Vec<Local>) -> Result<(), CompileError> {
        if chain.is_empty() {
            return Ok(());
        }
        let start = self.rules.len() as u32;
        for (character, replacement) in rules(chain) {
            let [text_start, text_len] = self.text(&replacement)?;
            self.rules.push(CharRule {
                character: u32::from(character),
                text_start,
                text_len,
            });
        }
        let len = self.rules.len() as u32 - start;
        self.push(StepKind::MapChars, 0, [start, len, 0, 0], [0; 2]);
        chain.clear();
        Ok(())
    }

    /// Pushes a step that is not character-local.
    fn push_normalizer(&mut self, step: &NormalizerStep) -> Result<(), CompileError> {
        let simple = match step {
            NormalizerStep::Precompiled(_) => StepKind::Precompiled,
            NormalizerStep::Nfc => StepKind::Nfc,
            NormalizerStep::Nfd => StepKind::Nfd,
            NormalizerStep::Nfkc => StepKind::Nfkc,
            NormalizerStep::Nfkd => StepKind::Nfkd,
            NormalizerStep::Replace { pattern, content } => {
                let kinds = [StepKind::ReplaceLiteral, StepKind::ReplaceRun];
                return self.push_replace(kinds, pattern, content);
            }
            NormalizerStep::Strip { left, right } => {
                let [start, len] = self.class(Class::Whitespace);
                let flags = u32::from(*left) | u32::from(*right) << 1;
                self.push(StepKind::Strip, flags, [start, len, 0, 0], [0; 2]);
                return Ok(());
            }
            NormalizerStep::Prepend(text) => {
                let text = self.text(text)?;
                self.push(StepKind::Prepend, 0, [0; 4], text);
                return Ok(());
            }
            // Character-local ones are in a chain.
            _ => return Ok(()),
        };
        self.push(simple, 0, [0; 4], [0; 2]);
        Ok(())
    }

    /// Pushes the first of `kinds` for a literal pattern, the second for a run.
    fn push_replace(
        &mut self,
        kinds: [StepKind; 2],
        pattern: &Pattern,
        content: &str,
    ) -> Result<(), CompileError> {
        let content = self.text(content)?;
        match pattern {
            Pattern::Literal(literal) => {
                let [start, len] = self.text(literal)?;
                self.push(kinds[0], 0, [start, len, 0, 0], content);
            }
            Pattern::Run { ranges, min, max } => {
                let [start, len] =
                    self.push_ranges(ranges.iter().map(|&(first, last)| CharRange {
                        first: u32::from(first),
                        last: u32::from(last),
                    }));
                let max = max.unwrap_or(u32::MAX);
                self.push(kinds[1], 0, [start, len, *min, max], content);
            }
        }
        Ok(())
    }

    fn push_pre_tokenizer(&mut self, step: &PreTokenizerStep) -> Result<(), CompileError> {
        let split = |behavior: ImageBehavior| behavior as u32;
        let (class, flags) = match step {
            PreTokenizerStep::Metaspace {
                replacement,
                prepend_scheme,
                split,
            } => {
                let text = self.text(replacement.encode_utf8(&mut [0; 4]))?;
                let flags = scheme(*prepend_scheme) | u32::from(*split) << 2;
                self.push(StepKind::Metaspace, flags, [0; 4], text);
                return Ok(());
            }
            PreTokenizerStep::Whitespace => {
                let [word, word_len] = self.class(Class::Word);
                let [space, space_len] = self.class(Class::RegexSpace);
                let n = [word, word_len, space, space_len];
                self.push(StepKind::Words, 0, n, [0; 2]);
                return Ok(());
            }
            PreTokenizerStep::WhitespaceSplit => (Class::Whitespace, split(ImageBehavior::Removed)),
            PreTokenizerStep::Punctuation(behavior) => {
                (Class::Punctuation, split(image_behavior(*behavior)))
            }
            PreTokenizerStep::Digits { individual: true } => {
                (Class::Numeric, split(ImageBehavior::Isolated))
            }
            PreTokenizerStep::Digits { individual: false } => {
                (Class::Numeric, split(ImageBehavior::Contiguous))
            }
        };
        let [start, len] = self.class(class);
        self.push(StepKind::SplitClass, flags, [start, len, 0, 0], [0; 2]);
        Ok(())
    }

    fn push_decoder(&mut self, step: &DecoderStep) -> Result<(), CompileError> {
        match step {
            DecoderStep::Metaspace {
                replacement,
                prepend_scheme,
            } => {
                let text = self.text(replacement.encode_utf8(&mut [0; 4]))?;
                self.push(
                    StepKind::DecodeMetaspace,
                    scheme(*prepend_scheme),
                    [0; 4],
                    text,
                );
            }
            DecoderStep::Replace { pattern, content } => {
                let kinds = [StepKind::DecodeReplaceLiteral, StepKind::DecodeReplaceRun];
                self.push_replace(kinds, pattern, content)?;
            }
            DecoderStep::Strip {
                content,
                start,
                stop,
            } => {
                let text = self.text(content.encode_utf8(&mut [0; 4]))?;
                self.push(StepKind::DecodeStrip, 0, [*start, *stop, 0, 0], text);
            }
            DecoderStep::ByteFallback => {
                self.push(StepKind::DecodeByteFallback, 0, [0; 4], [0; 2]);
            }
            DecoderStep::Fuse => self.push(StepKind::DecodeFuse, 0, [0; 4], [0; 2]),
        }
        Ok(())
    }

    fn push_added(
        &mut self,
        tokens: &[AddedToken],
        charsmap: Option<&Charsmap>,
    ) -> Result<(), CompileError> {
        if tokens.is_empty() {
            return Ok(());
        }
        let [word, word_len] = self.class(Class::Word);
        let [space, space_len] = self.class(Class::RegexSpace);
        let n = [word, word_len, space, space_len];
        self.push(StepKind::AddedClasses, 0, n, [0; 2]);
        for token in tokens {
            let flag = |set: bool, flag: u32| if set { flag } else { 0 };
            self.added.push(ImageToken {
                id: token.id,
                flags: flag(token.single_word, ImageToken::SINGLE_WORD)
                    | flag(token.lstrip, ImageToken::LSTRIP)
                    | flag(token.rstrip, ImageToken::RSTRIP)
                    | flag(token.special, ImageToken::SPECIAL),
            });
        }
        let charsmap = charsmap.map(Charsmap::view);
        let mut room = Room::default();
        let mut texts = Vec::new();
        let mut patterns = HashSet::new();
        for token in tokens {
            let mut text = token.content.clone();
            if token.normalized {
                let track = &mut Prefix::default();
                normalize(
                    charsmap,
                    &self.view(),
                    &token.content,
                    false,
                    track,
                    &mut text,
                    &mut room,
                );
                check_pattern(&token.content, &text, &mut patterns)?;
            }
            texts.push(text);
        }
        let [normalized, raw] = [true, false].map(|wanted| {
            tokens
                .iter()
                .zip(&texts)
                .enumerate()
                .filter(move |(_, (token, _))| token.normalized == wanted)
                .map(|(i, (_, text))| (i, text.as_str()))
        });
        self.added_trie = added_trie(raw)?;
        self.normalized_added_trie = added_trie(normalized)?;
        self.added_texts = texts;
        Ok(())
    }

    /// Length of the longest added token in bytes.
    pub(crate) fn max_added_bytes(&self) -> u32 {
        let tries = [&self.added_trie, &self.normalized_added_trie];
        tries
            .into_iter()
            .flatten()
            .map(|trie| trie.max_key_bytes)
            .max()
            .unwrap_or(0)
    }
}

/// Refuses an added token that `tokenizers` cannot look for in normalized text: an empty one it finds
/// everywhere, also inside characters, where it stops; of two that have become the same it takes the one
/// that its hash table has first, which changes from run to run.
fn check_pattern(
    content: &str,
    normalized: &str,
    known: &mut HashSet<String>,
) -> Result<(), CompileError> {
    let fate = if normalized.is_empty() {
        "becomes nothing under the normalizer: tokenizers would fail at most texts"
    } else if !known.insert(normalized.to_owned()) {
        "becomes the same as another under the normalizer: tokenizers would take either at random"
    } else {
        return Ok(());
    };
    let name = PieceName::new(content.as_bytes());
    Err(CompileError::Json {
        path: "added_tokens".into(),
        reason: format!("has {name}, which {fate}; set its \"normalized\" to false or remove it"),
    })
}

/// The trie of these texts, with positions for ids; of equal texts the last one counts, empty ones never.
fn added_trie<'t>(
    texts: impl Iterator<Item = (usize, &'t str)>,
) -> Result<Option<Trie>, CompileError> {
    let mut keys = Vec::new();
    for (index, text) in texts.filter(|(_, text)| !text.is_empty()) {
        let len = text.len();
        if len > MAX_PIECE_BYTES as usize {
            return Err(CompileError::PieceTooLong { index, len });
        }
        keys.push(Key {
            text: text.as_bytes(),
            id: index as u32,
            score: 0.0,
            score64: 0.0,
        });
    }
    keep_last_of_equals(&mut keys);
    (!keys.is_empty()).then(|| Trie::build(&keys)).transpose()
}

/// Sorts `keys` by text and keeps, of those with equal texts, the one with the greatest id.
pub(crate) fn keep_last_of_equals(keys: &mut Vec<Key<'_>>) {
    keys.sort_unstable_by(|a, b| a.text.cmp(b.text).then(b.id.cmp(&a.id)));
    keys.dedup_by_key(|key| key.text);
}

fn scheme(scheme: PrependScheme) -> u32 {
    match scheme {
        PrependScheme::Always => 0,
        PrependScheme::First => 1,
        PrependScheme::Never => 2,
    }
}

fn image_behavior(behavior: SplitBehavior) -> ImageBehavior {
    match behavior {
        SplitBehavior::Removed => ImageBehavior::Removed,
        SplitBehavior::Isolated => ImageBehavior::Isolated,
        SplitBehavior::MergedWithPrevious => ImageBehavior::MergedWithPrevious,
        SplitBehavior::MergedWithNext => ImageBehavior::MergedWithNext,
        SplitBehavior::Contiguous => ImageBehavior::Contiguous,
    }
}

//! Added tokens: the leftmost, of those the longest, in one pass over the text (`AddedVocabulary` in
//! `tokenizers`).

use trie_format::PipelineView;
use trie_format::pipeline::{AddedToken, CharClass, StepKind};

use crate::ids::Below;
use crate::trie::Trie;

/// A part of a text: an added token, or what is between two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) id: Option<u32>,
}

/// What counts as a word character and as white space next to added tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Classes<'a> {
    word: CharClass<'a>,
    space: CharClass<'a>,
}

impl<'a> Classes<'a> {
    pub(crate) fn new(pipeline: &PipelineView<'a>) -> Self {
        let step = pipeline
            .steps()
            .iter()
            .find(|step| step.kind == StepKind::AddedClasses as u32);
        let class = |at: usize| {
            let operands = step.map_or([0; 4], |step| step.n);
            pipeline.class(operands[at], operands[at + 1])
        };
        Self {
            word: class(0),
            space: class(2),
        }
    }

    fn is_word(&self, character: Option<char>) -> bool {
        character.is_some_and(|c| self.word.contains(c))
    }
}

/// Cuts `text` into added tokens and what is between them, in `found`, which is cleared first.
///
/// With `keep_special_text`, special tokens are not looked for.
pub(crate) fn cut(
    text: &str,
    trie: Option<Trie<'_, Below>>,
    tokens: &[AddedToken],
    classes: Classes<'_>,
    keep_special_text: bool,
    found: &mut Vec<Found>,
) {
    found.clear();
    let mut done = 0;
    let mut at = 0;
    while let Some(trie) = trie
        && at < text.len()
    {
        let mut longest = None;
        trie.prefixes(&text.as_bytes()[at..], |len, index| {
            longest = Some((len, index));
        });
        let token = longest.and_then(|(len, index)| Some((len, tokens.get(index as usize)?)));
        let Some((len, token)) = token else {
            at += 1;
            continue;
        };
        let (mut start, mut end) = (at, at + len);
        // The search goes on behind the match, whether it counts or not.
        at = end;
        let has = |flag: u32| token.flags & flag != 0;
        if keep_special_text && has(AddedToken::SPECIAL) {
            continue;
        }
        let (Some(before), Some(after)) = (text.get(..start), text.get(end..)) else {
            continue;
        };
        if has(AddedToken::SINGLE_WORD)
            && (classes.is_word(before.chars().next_back())
                || classes.is_word(after.chars().next()))
        {
            continue;
        }
        let is_space = |c: char| classes.space.contains(c);
        if has(AddedToken::LSTRIP) {
            start = before.trim_end_matches(is_space).len().max(done);
        }
        if has(AddedToken::RSTRIP) {
            end = text.len() - after.trim_start_matches(is_space).len();
        }
        if done < start {
            found.push(Found {
                start: done,
                end: start,
                id: None,
            });
        }
        // White space that the match before has taken may leave nothing of this one: it is dropped.
        if start < end {
            found.push(Found {
                start,
                end,
                id: Some(token.id),
            });
        }
        done = end;
    }
    if done < text.len() {
        found.push(Found {
            start: done,
            end: text.len(),
            id: None,
        });
    }
}

//! The automaton of the pieces ([`trie_format::automaton`]).
//!
//! Invariant: the state after a text is the longest of its ends that one of the automaton's pieces begins with; fail is the
//! longest shorter one. So the pieces that end there are exactly those on the way along fail.

use std::collections::{BTreeMap, HashSet};

use trie_format::automaton::{AutomatonHeader, State};

use crate::trie::Key;

/// More characters have no codes.
const MAX_CODES: usize = u16::MAX as usize - 1;

/// A beginning of pieces, in the making.
#[derive(Debug, Clone)]
struct Draft {
    /// By code.
    steps: Vec<(u16, usize)>,
    parent: usize,
    fail: usize,
    code: u16,
    len: usize,
    piece: Option<(u32, f32)>,
    /// The best score of a piece that begins with it: what is likely stands together.
    best: f32,
    base: u32,
    number: u32,
}

/// The section for the pieces `keys`, which are UTF-8, sorted by text.
///
/// `None` if they have more characters than there are codes, or a path score that is no float32.
pub(crate) fn section<'a>(keys: impl Iterator<Item = &'a Key<'a>>) -> Option<Vec<u8>> {
    let mut pieces = Vec::new();
    for key in keys {
        if f64::from(key.score) != key.score64 {
            return None;
        }
        pieces.push((std::str::from_utf8(key.text).ok()?, key.id, key.score));
    }
    let codes = codes(&pieces)?;
    let mut drafts = drafts(&pieces, &codes)?;
    link(&mut drafts);
    let count = place(&mut drafts, codes.len());
    Some(bytes(&drafts, &codes, count))
}

/// A code for each character: those that most states end with have the least.
fn codes(pieces: &[(&str, u32, f32)]) -> Option<BTreeMap<char, u16>> {
    let mut counts: BTreeMap<char, usize> = BTreeMap::new();
    for (text, ..) in pieces {
        for character in text.chars() {
            *counts.entry(character).or_default() += 1;
        }
    }
    let mut order: Vec<(char, usize)> = counts.into_iter().collect();
    order.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    (order.len() <= MAX_CODES).then(|| (1..).zip(order).map(|(code, (c, _))| (c, code)).collect())
}

/// The trie of the pieces, breadth first, the root at 0.
///
/// All characters have a state, though no piece may begin with some.
fn drafts(pieces: &[(&str, u32, f32)], codes: &BTreeMap<char, u16>) -> Option<Vec<Draft>> {
    let new = |parent, code, len| Draft {
        steps: Vec::new(),
        parent,
        fail: 0,
        code,
        len,
        piece: None,
        best: f32::NEG_INFINITY,
        base: 0,
        number: 0,
    };
    let mut drafts = vec![new(0, 0, 0)];
    for (character, &code) in codes {
        let at = drafts.len();
        drafts[0].steps.push((code, at));
        drafts.push(new(0, code, character.len_utf8()));
    }
    drafts[0].steps.sort_unstable();
    let mut level: Vec<(usize, &str, u32, f32)> = pieces
        .iter()
        .map(|&(t, id, score)| (0, t, id, score))
        .collect();
    while !level.is_empty() {
        let mut next = Vec::new();
        for (at, rest, id, score) in level {
            drafts[at].best = drafts[at].best.max(score);
            let mut chars = rest.chars();
            let Some(character) = chars.next() else {
                drafts[at].piece = Some((id, score));
                continue;
            };
            let code = *codes.get(&character)?;
            // Pieces are sorted by text, so that one step's follow each other; the root's steps are all there.
            let known = match at {
                0 => drafts[0]
                    .steps
                    .binary_search_by_key(&code, |step| step.0)
                    .ok(),
                _ => drafts[at].steps.iter().rposition(|step| step.0 == code),
            };
            let to = match known {
                Some(step) => drafts[at].steps[step].1,
                None => {
                    let len = drafts[at].len + character.len_utf8();
                    let to = drafts.len();
                    drafts.push(new(at, code, len));
                    drafts[at].steps.push((code, to));
                    to
                }
            };
            next.push((to, chars.as_str(), id, score));
        }
        level = next;
    }
    Some(drafts)
}

/// Sets fail everywhere. Drafts are breadth first.
fn link(drafts: &mut [Draft]) {
    let step = |drafts: &[Draft], from: usize, code: u16| {
        let steps = &drafts[from].steps;
        match from {
            0 => steps.binary_search_by_key(&code, |step| step.0).ok(),
            _ => steps.iter().position(|step| step.0 == code),
        }
        .map(|at| steps[at].1)
    };
    for at in 1..drafts.len() {
        let (parent, code) = (drafts[at].parent, drafts[at].code);
        if parent == 0 {
            continue;
        }
        let mut from = drafts[parent].fail;
        drafts[at].fail = loop {
            match step(drafts, from, code) {
                Some(to) => break to,
                None if from == 0 => break 0,
                None => from = drafts[from].fail,
            }
        };
    }
}

/// Numbers the states and gives them bases; returns how many numbers there are.
fn place(drafts: &mut [Draft], codes: usize) -> usize {
    // The characters' states have their codes for numbers: the root's base is 0.
    let mut used = vec![true; codes + 1];
    let mut bases = HashSet::from([0u32]);
    for step in 0..drafts[0].steps.len() {
        let (code, to) = drafts[0].steps[step];
        drafts[to].number = code.into();
    }
    let mut order: Vec<usize> = (1..drafts.len())
        .filter(|&at| !drafts[at].steps.is_empty())
        .collect();
    // Those with many steps find room while there is much, and fill it up in the end.
    order.sort_by(|&a, &b| {
        let many = |at: usize| drafts[at].steps.len() > 3;
        many(b)
            .cmp(&many(a))
            .then(drafts[b].best.total_cmp(&drafts[a].best))
    });
    // Where room for as many steps, or for more than eight, was last found: there is little before it. A single step finds
    // room wherever a number is free and the base is not taken.
    let mut from = [used.len(); 9];
    for at in order {
        let mut steps = drafts[at].steps.clone();
        steps.sort_unstable();
        // There is a step: see above.
        let (least, _) = steps[0];
        let from = &mut from[steps.len().min(8)];
        while used.get(*from).copied().unwrap_or(false) {
            *from += 1;
        }
        let mut number = *from;
        let base = loop {
            let base = (number as u32).wrapping_sub(least.into());
            let is_free = |code: u16| {
                let number = base.wrapping_add(code.into()) as usize;
                number > codes && !used.get(number).copied().unwrap_or(false)
            };
            if !bases.contains(&base) && steps.iter().all(|&(code, _)| is_free(code)) {
                break base;
            }
            number += 1;
        };
        if steps.len() > 1 {
            *from = number;
        }
        bases.insert(base);
        for &(code, to) in &steps {
            let number = base.wrapping_add(code.into());
            if used.len() <= number as usize {
                used.resize(number as usize + 1, false);
            }
            used[number as usize] = true;
            drafts[to].number = number;
        }
        drafts[at].base = base;
    }
    // Without steps: those of the first behind it that has some. Drafts are breadth first, so that one is done.
    for at in 1..drafts.len() {
        if drafts[at].steps.is_empty() {
            drafts[at].base = drafts[drafts[at].fail].base;
        }
    }
    used.len()
}

/// The section's bytes.
fn bytes(drafts: &[Draft], codes: &BTreeMap<char, u16>, count: usize) -> Vec<u8> {
    let none = State {
        len: 0,
        ..State::ROOT
    };
    let mut states = vec![none; count];
    let mut ids = vec![0u32; count];
    states[0] = State::ROOT;
    for draft in &drafts[1..] {
        states[draft.number as usize] = State {
            base: draft.base,
            fail: drafts[draft.fail].number,
            score: draft.piece.map_or(f32::NEG_INFINITY, |(_, score)| score),
            code: draft.code,
            len: draft.len as u16,
        };
        ids[draft.number as usize] = draft.piece.map_or(0, |(id, _)| id);
    }
    let last = codes.keys().next_back().map_or(0, |&c| c as usize / 64);
    let mut index = vec![0u16; last + 1];
    let mut blocks = vec![[0u16; 64]];
    for (&character, &code) in codes {
        let (block, bits) = (character as usize / 64, character as usize % 64);
        if index[block] == 0 {
            index[block] = blocks.len() as u16;
            blocks.push([0; 64]);
        }
        blocks[usize::from(index[block])][bits] = code;
    }
    let header = AutomatonHeader {
        states: count as u32,
        blocks: blocks.len() as u32,
        index: index.len() as u32,
        reserved: [0; 13],
    };
    let parts: [&[u8]; 5] = [
        bytemuck::bytes_of(&header),
        bytemuck::cast_slice(&states),
        bytemuck::cast_slice(&ids),
        bytemuck::cast_slice(&index),
        bytemuck::cast_slice(&blocks),
    ];
    parts.concat()
}

#[cfg(test)]
mod tests {
    use trie_format::{Automaton, NO_ID};

    use super::*;

    /// What the automaton of `pieces` says of the ends of `text`, character by character: lengths and ids, the longest first.
    fn ends(pieces: &[&str], text: &str) -> Vec<Vec<(usize, u32)>> {
        let keys: Vec<Key<'_>> = (0..)
            .zip(pieces)
            .map(|(id, text)| Key {
                text: text.as_bytes(),
                id,
                score: -1.0,
                score64: -1.0,
            })
            .collect();
        let bytes = section(keys.iter()).unwrap();
        let mut aligned = vec![0u128; bytes.len().div_ceil(16)];
        bytemuck::cast_slice_mut(&mut aligned)[..bytes.len()].copy_from_slice(&bytes);
        let automaton = Automaton::parse(&bytemuck::cast_slice(&aligned)[..bytes.len()]).unwrap();
        let mut state = &State::ROOT;
        text.chars()
            .map(|character| {
                let code = automaton.code_of(character);
                if code == 0 {
                    state = &State::ROOT;
                    return Vec::new();
                }
                let mut number = automaton.step(state, code);
                state = automaton.state(number);
                let mut found = Vec::new();
                let mut at = state;
                loop {
                    if at.score == -1.0 {
                        found.push((at.len.into(), automaton.id(number).unwrap_or(NO_ID)));
                    }
                    let fail = automaton.state(at.fail);
                    if fail.len >= at.len {
                        return found;
                    }
                    (number, at) = (at.fail, fail);
                }
            })
            .collect()
    }

    #[test]
    fn all_pieces_that_end_at_a_character_are_found() {
        let mut pieces = [
            "a",
            "ab",
            "abc",
            "abcabd",
            "b",
            "bc",
            "bcab",
            "bd",
            "cab",
            "d",
            "\u{e9}a",
            "\u{4e00}\u{4e01}",
            "\u{4e01}",
            "\u{1f600}",
            "\u{1f600}a",
            "xyz",
        ];
        pieces.sort_unstable();
        let mut texts = vec![String::new()];
        for _ in 0..6 {
            let longer: Vec<String> = texts
                .iter()
                .flat_map(|text| ["a", "b", "c", "d"].map(|c| format!("{text}{c}")))
                .collect();
            texts = longer;
        }
        texts.push("\u{e9}a\u{4e00}\u{4e01}\u{4e01}q\u{1f600}axyzxy\u{e9}\u{4e00}a".into());
        for text in &texts {
            let found = ends(&pieces, text);
            for (found, (at, character)) in found.iter().zip(text.char_indices()) {
                let read = &text[..at + character.len_utf8()];
                let mut expected: Vec<(usize, u32)> = (0..)
                    .zip(pieces)
                    .filter(|(_, piece)| read.ends_with(piece))
                    .map(|(id, piece)| (piece.len(), id))
                    .collect();
                expected.sort_unstable_by(|a, b| b.cmp(a));
                assert_eq!(found, &expected, "{read}");
            }
        }
    }

    #[test]
    fn scores_must_be_float32() {
        let key = Key {
            text: b"a",
            id: 0,
            score: -0.1,
            score64: -0.1,
        };
        assert_eq!(section([key].iter()), None);
    }
}

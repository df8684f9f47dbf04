//! The automaton has to be that of the image's pieces: states, ids and scores, fail, and no step too many.

use std::collections::{BTreeMap, HashMap, HashSet};

use trie_format::automaton::State;
use trie_format::parts::PartKey;
use trie_format::{Automaton, ValidImage};
use trie_runtime::Tokenizer;

use crate::semantics::{Finding, shown};

/// The states that there should be: by text, with the id and score of the piece that each is.
type Expected<'a> = BTreeMap<&'a str, Option<(u32, f32)>>;

/// After every beginning of a piece the automaton is in a state of its own, which has the piece's id and score, the right
/// fail, and no steps but those that pieces make.
pub(crate) fn automaton(image: &ValidImage<'_>, _: &Tokenizer) -> Finding {
    let Some(automaton) = image.automaton() else {
        return Ok("automaton: none stated".into());
    };
    let Some((pairs, _)) = image.parts() else {
        return Err("there is an automaton without joined pairs".into());
    };
    let expected = expected(image, pairs.leading_space())?;
    check_codes(&automaton, &expected)?;
    let mut numbers = HashMap::from([("", 0u32)]);
    for (&text, piece) in &expected {
        let wrong = |what: &str| {
            Err(format!(
                "the automaton's state {}{what}",
                shown(Some(text.as_bytes()))
            ))
        };
        let Some(number) = walk(&automaton, text) else {
            return wrong(" has a character without a code");
        };
        let state = automaton.state(number);
        if usize::from(state.len) != text.len() {
            return wrong(" is not there");
        }
        let score = piece.map_or(f32::NEG_INFINITY, |(_, score)| score);
        if state.score != score || piece.is_some_and(|(id, _)| automaton.id(number) != Some(id)) {
            return wrong(" has another id or score than its piece");
        }
        numbers.insert(text, number);
    }
    let distinct: HashSet<u32> = numbers.values().copied().collect();
    let stated = automaton.states().iter().filter(|state| state.code != 0);
    if distinct.len() != numbers.len() || stated.count() != expected.len() {
        return Err("the automaton has states that are no piece's beginning".into());
    }
    check_steps(&automaton, &expected, &numbers)?;
    Ok(format!(
        "automaton: {} states are those of the pieces",
        numbers.len()
    ))
}

/// All beginnings of the pieces that should be in the automaton, and all their characters.
fn expected<'a>(image: &ValidImage<'a>, leading_space: bool) -> Result<Expected<'a>, String> {
    let mut expected = Expected::new();
    let pieces = image.pieces();
    for id in 0..pieces.len() {
        let is_key = |text: &&[u8]| image.nodes().find(text) == Some(id);
        let Some(text) = pieces.text(id).filter(is_key) else {
            continue;
        };
        if leading_space && text.starts_with(&PartKey::SPACE) {
            continue;
        }
        let wrong = |what| format!("piece {id} {} {what}", shown(Some(text)));
        let piece = std::str::from_utf8(text).map_err(|_| wrong("is no text"))?;
        for (at, character) in piece.char_indices() {
            let end = at + character.len_utf8();
            for beginning in [piece.get(..end), piece.get(at..end)] {
                expected.entry(beginning.unwrap_or_default()).or_default();
            }
        }
        let score = image.pieces().scores().get(id as usize).copied();
        let score = score.filter(|_| image.path_scores().is_empty());
        let path = image
            .path_scores()
            .get(id as usize)
            .map(|&score| score as f32);
        let score = score.or(path).ok_or_else(|| wrong("has no score"))?;
        expected.insert(piece, Some((id, score)));
    }
    Ok(expected)
}

/// Exactly the pieces' characters have codes, each its own.
fn check_codes(automaton: &Automaton<'_>, expected: &Expected<'_>) -> Result<(), String> {
    let mut codes = HashSet::new();
    for character in '\0'..=char::MAX {
        let mut buffer = [0; 4];
        let text: &str = character.encode_utf8(&mut buffer);
        let code = automaton.code_of(character);
        if expected.contains_key(text) != (code != 0) || code != 0 && !codes.insert(code) {
            let number = u32::from(character);
            return Err(format!("the automaton has a wrong code for U+{number:04X}"));
        }
    }
    Ok(())
}

/// Fail is right, and where a state has no step there seems to be none.
fn check_steps(
    automaton: &Automaton<'_>,
    expected: &Expected<'_>,
    numbers: &HashMap<&str, u32>,
) -> Result<(), String> {
    let parents: HashSet<&str> = expected
        .keys()
        .filter_map(|text| text.char_indices().next_back())
        .zip(expected.keys())
        .filter_map(|((at, _), text)| text.get(..at))
        .collect();
    let mut bases = HashSet::new();
    for (text, &number) in numbers {
        let wrong = |what: &str| {
            Err(format!(
                "the automaton's state {}{what}",
                shown(Some(text.as_bytes()))
            ))
        };
        let state = automaton.state(number);
        let ends = || {
            text.char_indices()
                .skip(1)
                .filter_map(|(at, _)| text.get(at..))
        };
        let fail = ends()
            .find_map(|end| numbers.get(end))
            .copied()
            .unwrap_or_default();
        if !text.is_empty() && state.fail != fail {
            return wrong(" has another fail than its longest end");
        }
        // No two states with steps have one base, so that a step's code tells whose it is.
        if parents.contains(text) {
            if !bases.insert(state.base) {
                return wrong(" has the base of another one");
            }
        } else if !text.is_empty() {
            let behind = ends().find(|end| parents.contains(end)).unwrap_or_default();
            let base = numbers
                .get(behind)
                .map(|&number| automaton.state(number).base);
            if base != Some(state.base) {
                return wrong(" has no steps, and not the base of the one behind it that has some");
            }
        }
    }
    Ok(())
}

/// The number of the state behind `text`; `None` if one of its characters has no code.
fn walk(automaton: &Automaton<'_>, text: &str) -> Option<u32> {
    let (mut state, mut number) = (&State::ROOT, 0);
    for character in text.chars() {
        let code = automaton.code_of(character);
        if code == 0 {
            return None;
        }
        number = automaton.step(state, code);
        state = automaton.state(number);
    }
    Some(number)
}

//! Characters that normalizers leave alone, whatever stands next to them.

use trie_format::pipeline::StepKind;
use trie_format::{CharsmapView, PipelineView};
use unicode_normalization_alignments::UnicodeNormalization;
use unicode_normalization_alignments::char::canonical_combining_class;
use unicode_segmentation::UnicodeSegmentation;

use crate::replace::Pattern;
use crate::steps::pattern_of;

/// Whether every normalizer step leaves `character` as it is, between any two others of which the same can be
/// said.
///
/// - It is no part of a text or run that is replaced, has no rule of its own, and is not stripped.
/// - It is a grapheme of its own there: not a control, nor what extends, precedes or joins others (regional
///   indicators and the letters of Hangul syllables among them).
/// - A normalization form leaves it alone: it is its own decomposition, a starter, and never composes with
///   what stands before it. All characters that do are graphemes of the kinds above.
#[must_use]
pub fn stands_alone(
    charsmap: Option<CharsmapView<'_>>,
    pipeline: &PipelineView<'_>,
    character: char,
) -> bool {
    let mut buffer = [0; 4];
    let text: &str = character.encode_utf8(&mut buffer);
    let is_itself = |normalized: &mut dyn Iterator<Item = (char, isize)>| {
        normalized.next() == Some((character, 0))
            && normalized.next().is_none()
            && canonical_combining_class(character) == 0
    };
    let keeps = |kind: StepKind, step| match kind {
        StepKind::Precompiled => {
            charsmap.is_none_or(|charsmap| charsmap.shortest_match(text.as_bytes()).is_none())
        }
        StepKind::ReplaceLiteral | StepKind::ReplaceRun => match pattern_of(pipeline, step) {
            Pattern::Literal(literal) => !literal.contains(character),
            Pattern::Run { class, .. } => !class.contains(character),
        },
        StepKind::Strip => !pipeline.class(step.n[0], step.n[1]).contains(character),
        StepKind::MapChars => {
            let rules = pipeline.rules(step.n[0], step.n[1]);
            pipeline.mapped(rules, character).is_none()
        }
        StepKind::Nfc => is_itself(&mut text.nfc()),
        StepKind::Nfd => is_itself(&mut text.nfd()),
        StepKind::Nfkc => is_itself(&mut text.nfkc()),
        StepKind::Nfkd => is_itself(&mut text.nfkd()),
        _ => true,
    };
    is_grapheme(character)
        && pipeline
            .steps()
            .iter()
            .all(|step| StepKind::from_number(step.kind).is_none_or(|kind| keeps(kind, step)))
}

/// Whether `character` is a grapheme of its own between any two of which the same can be said.
fn is_grapheme(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    // Regional indicators pair up by their number.
    if matches!(u32::from(character), 0x1f1e6..=0x1f1ff) {
        return false;
    }
    // A Hangul syllable joins what is made to go before or after one.
    let mut buffer = [0; 10];
    ["a", "\u{ac00}"].iter().all(|side| {
        let mut len = 0;
        let mut own = [0; 4];
        let character: &str = character.encode_utf8(&mut own);
        for part in [side, character, side] {
            buffer[len..len + part.len()].copy_from_slice(part.as_bytes());
            len += part.len();
        }
        let text = std::str::from_utf8(&buffer[..len]).unwrap_or_default();
        text.graphemes(true).count() == 3
    })
}

#[cfg(test)]
mod tests {
    use unicode_normalization_alignments::char::{compose, decompose_canonical};

    use super::*;

    /// Those of the planes in which characters differ.
    fn alone() -> impl Iterator<Item = char> {
        let planes = ('\0'..'\u{20000}').chain('\u{e0000}'..'\u{e1000}');
        planes.filter(|&c| is_grapheme(c))
    }

    #[test]
    fn letters_are_and_marks_are_not() {
        for c in "a1!\u{e9}\u{4e2d}\u{ac00}\u{1f600}\u{e01}".chars() {
            assert!(is_grapheme(c), "{c}");
        }
        for c in "\n\u{301}\u{200d}\u{fe0f}\u{600}\u{903}\u{e33}\u{1f1e9}\u{1161}\u{1f3fd}".chars()
        {
            assert!(!is_grapheme(c), "{c:?}");
        }
    }

    /// Those that do are second in the decomposition of some character, or Hangul letters.
    #[test]
    fn what_stands_alone_never_composes_with_what_is_before() {
        let mut seconds = 0;
        for c in '\0'..=char::MAX {
            let first_level = |c: char| {
                let mut parts = Vec::new();
                decompose_canonical(c, |part| parts.push(part));
                parts
            };
            let parts = first_level(c);
            // Whatever composes, composes one part at a time.
            for pair in 1..parts.len() {
                let second = parts[pair];
                let mut first = parts[0];
                for &next in &parts[1..pair] {
                    first = compose(first, next).unwrap_or(first);
                }
                if compose(first, second).is_some() {
                    seconds += 1;
                    assert!(!is_grapheme(second), "{second:?} composes");
                }
            }
        }
        assert!(seconds > 900, "{seconds}");
    }

    /// Every boundary between two of them is one, whatever stands before and after: as pairs, and with
    /// everything that could join across.
    #[test]
    fn what_stands_alone_is_a_grapheme_in_any_company() {
        let kinds: Vec<char> = "a\u{ac00}\u{ac01}\u{1f469}\u{915}\u{4e2d}\u{e01}\u{a9}"
            .chars()
            .collect();
        let before = [
            "",
            "\u{600}",
            "\u{1f1e9}",
            "\u{1f469}\u{200d}",
            "\u{915}\u{94d}",
            "\u{1100}",
            "\r",
        ];
        let after = [
            "",
            "\u{301}",
            "\u{200d}\u{1f469}",
            "\u{11a8}",
            "\u{903}",
            "\n",
        ];
        for c in alone() {
            for &other in &kinds {
                for (x, y) in [(c, other), (other, c)] {
                    for before in before {
                        let text = format!("{before}{other}{x}{y}");
                        let cut = text.len() - y.len_utf8();
                        let mut starts = text.grapheme_indices(true).map(|(at, _)| at);
                        assert!(starts.any(|at| at == cut), "{text:?}");
                    }
                }
            }
            for after in after {
                let text = format!("a{c}a{after}");
                assert!(
                    text.grapheme_indices(true)
                        .any(|(at, _)| at == 1 + c.len_utf8())
                );
            }
        }
    }
}

//! Search texts and the regular expressions that are runs of one class or plain texts.
//!
//! Invariant: a [`Pattern`] never matches the empty text, and what is accepted here means the same to
//! Oniguruma (what `tokenizers` is built with by default), to fancy-regex (its other choice), and to us.
//! That is why only syntax on which they agree is let through. `\s` is the Unicode property White_Space
//! in all of them, and has not changed for years; `\w`, `\d` and named classes depend on who defines them
//! in which Unicode version, so they are refused.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{
    Ast, ClassBracketed, ClassPerl, ClassPerlKind, ClassSet, ClassSetItem, Group, GroupKind,
    HexLiteralKind, Literal, LiteralKind, Repetition, RepetitionKind, RepetitionRange,
};

use super::node::{Node, quoted};
use crate::CompileError;
use crate::hf::pipeline::Pattern;

/// Oniguruma allows no greater repetition.
const MAX_REPETITION: u32 = 100_000;

/// Unicode's White_Space.
const SPACES: [(char, char); 10] = [
    ('\t', '\r'),
    (' ', ' '),
    ('\u{85}', '\u{85}'),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
];

type Ranges = Vec<(char, char)>;

/// Why a pattern is refused.
type Refusal = &'static str;

const NOT_A_RUN: Refusal =
    "only plain texts and repetitions of one character or class can be compiled";
const MAY_BE_EMPTY: Refusal = "it can match the empty text";

/// Reads `{"String": …}` or `{"Regex": …}`.
pub(super) fn read(node: &Node<'_>) -> Result<Pattern, CompileError> {
    if let Some(text) = node.given("String")? {
        return match text.text()? {
            "" => text.fail(format!("is \"\", which is not supported: {MAY_BE_EMPTY}")),
            literal => Ok(Pattern::Literal(literal.to_owned())),
        };
    }
    let regex = node.field("Regex")?;
    let text = regex.text()?;
    from_regex(text).map_err(|reason| {
        let name = quoted(text);
        regex.error(format!("is {name}, which is not supported: {reason}"))
    })
}

fn from_regex(regex: &str) -> Result<Pattern, String> {
    let ast = Parser::new()
        .parse(regex)
        .map_err(|error| error.kind().to_string())?;
    if let Some(literal) = plain_text(&ast) {
        return Ok(Pattern::Literal(literal));
    }
    let (ranges, min, max) = run(&ast)?;
    if min == 0 {
        return Err(MAY_BE_EMPTY.to_owned());
    }
    if ranges.is_empty() {
        return Err("it matches nothing".to_owned());
    }
    Ok(Pattern::Run { ranges, min, max })
}

fn plain_text(ast: &Ast) -> Option<String> {
    match ast {
        Ast::Literal(literal) => character(literal).ok().map(String::from),
        Ast::Concat(concat) => concat.asts.iter().map(plain_text).collect(),
        _ => None,
    }
}

/// A class and how often it is repeated. The parser bounds how deeply groups are nested.
fn run(ast: &Ast) -> Result<(Ranges, u32, Option<u32>), Refusal> {
    match ast {
        Ast::Empty(_) => Err(MAY_BE_EMPTY),
        Ast::Group(group) => run(inside(group)?),
        Ast::Repetition(repetition) => repeated(repetition),
        // Several runs of the same class in a row are one: ` {2,}` is also written with two spaces and `+`.
        Ast::Concat(concat) => {
            let mut runs = concat.asts.iter().map(run);
            let (ranges, mut min, mut max) = runs.next().ok_or(MAY_BE_EMPTY)??;
            for other in runs {
                let (other_ranges, other_min, other_max) = other?;
                if other_ranges != ranges {
                    return Err(NOT_A_RUN);
                }
                min = min.saturating_add(other_min);
                max = max.zip(other_max).map(|(a, b)| a.saturating_add(b));
            }
            Ok((ranges, min, max))
        }
        _ => Ok((class(ast)?, 1, Some(1))),
    }
}

fn repeated(repetition: &Repetition) -> Result<(Ranges, u32, Option<u32>), Refusal> {
    if !repetition.greedy {
        return Err("only greedy repetitions can be compiled");
    }
    let (min, max) = match &repetition.op.kind {
        RepetitionKind::ZeroOrOne => (0, Some(1)),
        RepetitionKind::ZeroOrMore => (0, None),
        RepetitionKind::OneOrMore => (1, None),
        RepetitionKind::Range(RepetitionRange::Exactly(count)) => (*count, Some(*count)),
        RepetitionKind::Range(RepetitionRange::AtLeast(min)) => (*min, None),
        RepetitionKind::Range(RepetitionRange::Bounded(min, max)) => (*min, Some(*max)),
    };
    if min.max(max.unwrap_or(0)) > MAX_REPETITION {
        return Err("more than 100,000 repetitions are not allowed");
    }
    let mut repeated = &*repetition.ast;
    while let Ast::Group(group) = repeated {
        repeated = inside(group)?;
    }
    Ok((class(repeated)?, min, max))
}

fn inside(group: &Group) -> Result<&Ast, Refusal> {
    match &group.kind {
        GroupKind::CaptureIndex(_) => Ok(&group.ast),
        GroupKind::NonCapturing(flags) if flags.items.is_empty() => Ok(&group.ast),
        _ => Err("flags and named groups cannot be compiled"),
    }
}

fn class(ast: &Ast) -> Result<Ranges, Refusal> {
    match ast {
        Ast::Literal(literal) => character(literal).map(|c| vec![(c, c)]),
        Ast::Dot(_) => Ok(complement(&[('\n', '\n')])),
        Ast::ClassPerl(perl) => perl_class(perl),
        Ast::ClassBracketed(bracketed) => bracketed_class(bracketed),
        _ => Err(NOT_A_RUN),
    }
}

fn perl_class(perl: &ClassPerl) -> Result<Ranges, Refusal> {
    match (&perl.kind, perl.negated) {
        (ClassPerlKind::Space, false) => Ok(SPACES.to_vec()),
        (ClassPerlKind::Space, true) => Ok(complement(&SPACES)),
        _ => Err("\\d and \\w cannot be compiled: what they mean depends on the Unicode version"),
    }
}

fn bracketed_class(bracketed: &ClassBracketed) -> Result<Ranges, Refusal> {
    let ClassSet::Item(item) = &bracketed.kind else {
        return Err("set operations in classes cannot be compiled");
    };
    let mut ranges = Vec::new();
    match item {
        ClassSetItem::Union(union) => {
            for item in &union.items {
                class_item(item, &mut ranges)?;
            }
        }
        item => class_item(item, &mut ranges)?,
    }
    let ranges = merged(ranges);
    Ok(if bracketed.negated {
        complement(&ranges)
    } else {
        ranges
    })
}

fn class_item(item: &ClassSetItem, ranges: &mut Ranges) -> Result<(), Refusal> {
    match item {
        ClassSetItem::Empty(_) => {}
        ClassSetItem::Literal(literal) => {
            let c = character(literal)?;
            ranges.push((c, c));
        }
        ClassSetItem::Range(range) => {
            ranges.push((character(&range.start)?, character(&range.end)?));
        }
        ClassSetItem::Perl(perl) => ranges.extend(perl_class(perl)?),
        _ => return Err("named and nested classes cannot be compiled"),
    }
    Ok(())
}

/// The character of a literal whose notation means the same everywhere.
fn character(literal: &Literal) -> Result<char, Refusal> {
    let agreed = match &literal.kind {
        LiteralKind::Verbatim | LiteralKind::Meta | LiteralKind::Special(_) => true,
        // Two digits are a byte to Oniguruma.
        LiteralKind::HexFixed(HexLiteralKind::X) => literal.c.is_ascii(),
        LiteralKind::HexFixed(HexLiteralKind::UnicodeShort) => true,
        LiteralKind::HexBrace(HexLiteralKind::X) => true,
        _ => false,
    };
    if agreed {
        Ok(literal.c)
    } else {
        Err("this notation of a character cannot be compiled: write the character itself")
    }
}

/// Sorted and disjoint.
fn merged(mut ranges: Ranges) -> Ranges {
    ranges.sort_unstable();
    let mut merged: Ranges = Vec::with_capacity(ranges.len());
    for (start, end) in ranges {
        match merged.last_mut() {
            Some((_, last)) if after(*last).is_none_or(|next| start <= next) => {
                *last = end.max(*last);
            }
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// All characters but these, which are sorted and disjoint.
fn complement(ranges: &[(char, char)]) -> Ranges {
    let mut rest = Vec::new();
    let mut next = Some('\0');
    for &(start, end) in ranges {
        if let (Some(from), Some(to)) = (next, before(start))
            && from <= to
        {
            rest.push((from, to));
        }
        next = after(end);
    }
    if let Some(from) = next {
        rest.push((from, char::MAX));
    }
    rest
}

fn after(c: char) -> Option<char> {
    (c..=char::MAX).nth(1)
}

fn before(c: char) -> Option<char> {
    ('\0'..c).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_of(ranges: &[(char, char)], min: u32, max: Option<u32>) -> Result<Pattern, String> {
        Ok(Pattern::Run {
            ranges: ranges.to_vec(),
            min,
            max,
        })
    }

    #[test]
    fn runs_are_recognised() {
        let space = [(' ', ' ')];
        assert_eq!(from_regex(" {2,}"), run_of(&space, 2, None));
        assert_eq!(from_regex(" +"), run_of(&space, 1, None));
        assert_eq!(from_regex("  +"), run_of(&space, 2, None));
        assert_eq!(from_regex("( ){2,5}"), run_of(&space, 2, Some(5)));
        assert_eq!(from_regex("(?: {3})"), run_of(&space, 3, Some(3)));
        assert_eq!(from_regex("[ ]"), run_of(&space, 1, Some(1)));
        assert_eq!(from_regex(r"\s+"), run_of(&SPACES, 1, None));
        assert_eq!(from_regex(r"\s\s+"), run_of(&SPACES, 2, None));
        assert_eq!(
            from_regex(r"[\n\r]"),
            run_of(&[('\n', '\n'), ('\r', '\r')], 1, Some(1))
        );
        assert_eq!(
            from_regex(r"[\t-\x0c\r ]+"),
            run_of(&[('\t', '\r'), (' ', ' ')], 1, None)
        );
        assert_eq!(
            from_regex(r"[b-da-c\u2581]"),
            run_of(&[('a', 'd'), ('▁', '▁')], 1, Some(1))
        );
    }

    #[test]
    fn negated_classes_skip_the_surrogates() {
        let expected = [('\0', '\t'), ('\u{b}', char::MAX)];
        assert_eq!(from_regex(r"[^\n]+"), run_of(&expected, 1, None));
        assert_eq!(from_regex(".+"), run_of(&expected, 1, None));
        assert_eq!(
            from_regex("[^\u{d7ff}\u{e001}]"),
            run_of(
                &[
                    ('\0', '\u{d7fe}'),
                    ('\u{e000}', '\u{e000}'),
                    ('\u{e002}', char::MAX)
                ],
                1,
                Some(1)
            )
        );
        assert!(from_regex(r"\S+").is_ok());
        assert_eq!(from_regex(r"[^\s\S]+").unwrap_err(), "it matches nothing");
        assert_eq!(
            merged(vec![('b', char::MAX), ('a', 'a')]),
            [('a', char::MAX)]
        );
    }

    #[test]
    fn plain_texts_are_recognised() {
        let literal = |text: &str| Ok(Pattern::Literal(text.to_owned()));
        assert_eq!(from_regex("``"), literal("``"));
        assert_eq!(from_regex(r"\t"), literal("\t"));
        assert_eq!(from_regex(r"a\.b\x41\x{2581}"), literal("a.bA▁"));
        assert_eq!(from_regex("▁"), literal("▁"));
    }

    #[test]
    fn everything_else_is_refused() {
        for empty in ["", " *", " ?", " {0,3}", "()", "( *)"] {
            assert_eq!(from_regex(empty).unwrap_err(), MAY_BE_EMPTY, "{empty}");
        }
        for regex in [
            "^ ",
            " $",
            r"\b",
            "a|b",
            "a+b",
            "ab+",
            " +?",
            " ++",
            "( +)+",
            "(?i)a",
            "(?i:a)",
            r"\d+",
            r"\w",
            r"[\d]",
            r"\p{L}",
            r"[[:space:]]+",
            "[a&&b]",
            "[a[b]]",
            "(?P<n>a)",
            "[",
            "a{100001}",
            r"\xe9",
            r"\U00002581",
            r"\u{2581}",
            r"\%",
            r"(?<=a)b",
            r"\h+",
            "(",
            "[b-a]",
        ] {
            let reason = from_regex(regex).unwrap_err();
            assert!(
                !reason.is_empty() && !reason.contains('\n'),
                "{regex}: {reason}"
            );
        }
        assert!(from_regex(&"(".repeat(100_000)).is_err());
        assert!(from_regex(&("(".repeat(240) + " " + &")".repeat(240))).is_ok());
    }
}

//! `triec explain`: what the encoder had to choose from, what it chose, and what came close; for people
//! (this file) or as JSON (`explain_json`).

use std::fmt::Write as _;
use std::io::Write;

use anstyle::{AnsiColor, Style};
use trie_runtime::{Explanation, LatticePiece, Runner, Segment, Tokenizer};
use unicode_width::UnicodeWidthStr;

use crate::args::ExplainArgs;
use crate::diff::printable;
use crate::error::CliError;
use crate::{explain_json, image};

/// Rows of candidates, and of every path, that are shown of a text without `--all`.
const ROWS: usize = 120;
/// Places where a runner-up differs that are shown without `--all`.
const PLACES: usize = 4;
/// Characters of the normalized text, and of the ids, that are shown without `--all`.
const HEAD: usize = 400;
/// Texts up to so many columns have their candidates below them, each at its place.
const NARROW: usize = 64;

const BEST: Style = AnsiColor::Green.on_default().bold();
const UNKNOWN: Style = AnsiColor::Yellow.on_default();
const HEADING: Style = Style::new().bold();
const NOTE: Style = Style::new().dimmed();

pub(crate) fn run(args: &ExplainArgs) -> Result<(), CliError> {
    let tokenizer = Tokenizer::new(image::open(args.image.as_deref())?);
    // Colour only on a terminal that wants it.
    let mut out = anstream::stdout().lock();
    for (index, text) in args.texts.iter().enumerate() {
        let bytes = text.as_encoded_bytes();
        let explanation = tokenizer.explain(bytes, args.nbest.into());
        let explanation = explanation.map_err(|error| CliError::Line {
            place: format!("text {}", index + 1),
            reason: error.to_string(),
        })?;
        let shown = match args.json {
            true => explain_json::line(&tokenizer, bytes, &explanation)?,
            false => {
                let gap = if index > 0 { "\n" } else { "" };
                format!("{gap}{}", for_people(&tokenizer, &explanation, args.all))
            }
        };
        out.write_all(shown.as_bytes())
            .map_err(|source| CliError::write("standard output", source))?;
    }
    out.flush()
        .map_err(|source| CliError::write("standard output", source))
}

/// The whole explanation.
fn for_people(tokenizer: &Tokenizer, explanation: &Explanation, all: bool) -> String {
    let most = |limit| if all { usize::MAX } else { limit };
    let mut view = View {
        explanation,
        head: most(HEAD),
        places: most(PLACES),
        path_rows: most(ROWS),
        rows: most(ROWS),
        out: String::new(),
    };
    view.head();
    let segments = &explanation.segments;
    let is_whole = tokenizer.image().view().pipeline().is_none();
    for (index, segment) in segments.iter().enumerate() {
        if view.rows == 0 {
            let left = segments.len() - index;
            let _ = writeln!(
                view.out,
                "\n{NOTE}… and {left} more words: --all shows them{NOTE:#}"
            );
            break;
        }
        if !is_whole {
            view.word_heading(index, segment);
        }
        if segment.added_token.is_none() {
            view.segment(segment);
        }
    }
    view.out
}

struct View<'a> {
    explanation: &'a Explanation,
    /// What is shown at most: characters of the head, places of a runner-up, rows of a path, and rows of
    /// candidates from here on.
    head: usize,
    places: usize,
    path_rows: usize,
    rows: usize,
    out: String,
}

impl View<'_> {
    fn head(&mut self) {
        let ids: Vec<String> = self.explanation.ids.iter().map(u32::to_string).collect();
        let normalized = self.cut(printable(&self.explanation.normalized));
        let ids = self.cut(ids.join(" "));
        for (name, value) in [("normalized", normalized), ("ids", ids)] {
            let value = match value.is_empty() {
                true => "(nothing)".into(),
                false => value,
            };
            let _ = writeln!(self.out, "{HEADING}{name:<10}{HEADING:#}  {value}");
        }
    }

    /// The beginning of `text`, if it is long.
    fn cut(&self, mut text: String) -> String {
        if let Some((at, _)) = text.char_indices().nth(self.head) {
            text.truncate(at);
            text.push('…');
        }
        text
    }

    fn word_heading(&mut self, index: usize, segment: &Segment) {
        let number = format!("word {}", index + 1);
        let text = self.text(segment.start, segment.end);
        let _ = match segment.added_token {
            Some(id) => writeln!(
                self.out,
                "\n{HEADING}{number}{HEADING:#}  {text}  added token {id}: cut out before words are made"
            ),
            None => writeln!(self.out, "\n{HEADING}{number}{HEADING:#}  {text}"),
        };
    }

    fn segment(&mut self, segment: &Segment) {
        self.candidates(segment);
        self.path(segment);
        self.runners(segment);
    }

    /// A part of the normalized text.
    fn text(&self, start: usize, end: usize) -> String {
        printable(
            self.explanation
                .normalized
                .get(start..end)
                .unwrap_or_default(),
        )
    }

    /// Id and score of a piece, in columns.
    fn columns(&self, piece: &LatticePiece) -> String {
        let id = piece.id.map_or("unknown".into(), |id| id.to_string());
        format!("{id:>8} {:>11.4}", piece.score)
    }

    /// Every candidate; those on the best path are marked. The pieces of a narrow text stand below it.
    fn candidates(&mut self, segment: &Segment) {
        let whole = self.text(segment.start, segment.end);
        let is_narrow = whole.width() <= NARROW;
        let last = segment.pieces.iter().map(|piece| piece.end).max();
        let range_width = format!("{}..{}", last.unwrap_or(0), last.unwrap_or(0)).len();
        let title = format!("{:<range_width$} {:>8} {:>11}", "bytes", "id", "score");
        let text = if is_narrow { whole.as_str() } else { "piece" };
        let _ = writeln!(
            self.out,
            "\n{HEADING}candidates{HEADING:#}  * on the best path\n  {title}  {text}"
        );
        let mut best = segment.best.iter().peekable();
        let shown = segment.pieces.len().min(self.rows);
        for (index, piece) in segment.pieces.iter().take(shown).enumerate() {
            let is_best = best.next_if(|&&best| best == index).is_some();
            let style = match (is_best, piece.id) {
                (true, _) => BEST,
                (false, None) => UNKNOWN,
                _ => Style::new(),
            };
            let mark = if is_best { '*' } else { ' ' };
            let range = format!("{}..{}", piece.start, piece.end);
            let indent = match is_narrow {
                true => self.text(segment.start, piece.start).width(),
                false => 0,
            };
            let (columns, text) = (self.columns(piece), self.text(piece.start, piece.end));
            let _ = writeln!(
                self.out,
                "{style}{mark} {range:<range_width$} {columns}  {:indent$}{text}{style:#}",
                ""
            );
        }
        self.rest(segment.pieces.len() - shown, "candidates");
        self.rows -= shown;
    }

    /// The chosen path, with the score up to each piece.
    fn path(&mut self, segment: &Segment) {
        let score = segment.running.last().copied().unwrap_or_default();
        let _ = writeln!(
            self.out,
            "\n{HEADING}best path{HEADING:#}  score {score:.4}\n  {:>8} {:>11} {:>11}  piece",
            "id", "score", "so far"
        );
        let shown = segment.best.len().min(self.path_rows);
        for (&index, running) in segment.best.iter().zip(&segment.running).take(shown) {
            let Some(piece) = segment.pieces.get(index) else {
                continue;
            };
            let (columns, text) = (self.columns(piece), self.text(piece.start, piece.end));
            let _ = writeln!(self.out, "  {columns} {running:>11.4}  {text}");
        }
        self.rest(segment.best.len() - shown, "pieces");
    }

    /// The runners-up: how much less, and where they differ.
    fn runners(&mut self, segment: &Segment) {
        if segment.runners.is_empty() {
            return;
        }
        let _ = writeln!(
            self.out,
            "\n{HEADING}runners-up{HEADING:#}\n  {:>4} {:>11} {:>11}  instead of -> this",
            "", "score", "behind"
        );
        for (index, runner) in segment.runners.iter().enumerate() {
            let places = self.differences(segment, runner);
            let hidden = places.len().saturating_sub(self.places);
            let mut text = places[..places.len() - hidden].join(" | ");
            if hidden > 0 {
                let _ = write!(text, " | … and {hidden} more places");
            }
            // Seen as zero, but not equal: the difference is in the last digits.
            let behind = match runner.behind {
                0.0 => "tie".into(),
                behind if behind.abs() < 0.000_05 => format!("{behind:.1e}"),
                behind => format!("{behind:.4}"),
            };
            let _ = writeln!(
                self.out,
                "  {:>4} {:>11.4} {behind:>11}  {text}",
                index + 2,
                runner.score
            );
        }
    }

    /// Where a runner-up differs from the best path, as `pieces -> pieces`.
    fn differences(&self, segment: &Segment, runner: &Runner) -> Vec<String> {
        let mut best = segment.best.iter().filter_map(|&at| segment.pieces.get(at));
        let mut other = runner.pieces.iter();
        let mut places = Vec::new();
        while let (Some(a), Some(b)) = (best.next(), other.next()) {
            if (a.end, a.id) == (b.end, b.id) {
                continue;
            }
            let text = |piece: &LatticePiece| self.text(piece.start, piece.end);
            let (mut side_a, mut side_b) = (vec![text(a)], vec![text(b)]);
            let (mut end_a, mut end_b) = (a.end, b.end);
            // Both go on until they are at the same place again.
            while end_a != end_b {
                let (side, end, next) = match end_a < end_b {
                    true => (&mut side_a, &mut end_a, best.next()),
                    false => (&mut side_b, &mut end_b, other.next()),
                };
                let Some(piece) = next else { break };
                side.push(text(piece));
                *end = piece.end;
            }
            places.push(format!("{} -> {}", side_a.join(" "), side_b.join(" ")));
        }
        places
    }

    fn rest(&mut self, count: usize, what: &str) {
        if count > 0 {
            let _ = writeln!(
                self.out,
                "  {NOTE}… and {count} more {what}: --all shows them{NOTE:#}"
            );
        }
    }
}

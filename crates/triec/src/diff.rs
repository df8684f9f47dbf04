//! `triec diff`: where two images disagree about the user's text.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;

use trie_format::{IdMap, MAGIC};
use trie_runtime::{EncodeOptions, Image, Scratch, Setting, Tokenizer};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::align::{align, shown};
use crate::args::{self, DiffArgs, Format};
use crate::compile::{read_input, reference_name};
use crate::error::CliError;
use crate::lines::Input;
use crate::stream::{Step, run_as_is};
use crate::{image, jsonl};

/// Equal pieces shown before and after a difference.
const CONTEXT: usize = 2;

/// Characters of the text shown above its pieces.
const SHOWN_TEXT: usize = 60;

pub(crate) fn run(args: DiffArgs) -> Result<(), CliError> {
    let a = image::tokenizer(&args.stream)?;
    let b = against(&args, &a)?;
    let input = Input::new(args.texts, args.stream.input);
    let (format, jsonl) = (args.format, args.stream.jsonl);
    // What is compared is the text, all of it.
    let options = EncodeOptions::default()
        .with_special_tokens(args.special)
        .with_special_tokens_as_text(args.special_as_text)
        .with_truncation(Setting::Off)
        .with_padding(Setting::Off);
    let mut sides = [Side::default(), Side::default()];
    let mut scratch = Scratch::new();
    let (mut texts, mut different) = (0u64, 0u64);
    let work = |step: Step<'_>, out: &mut Vec<u8>| {
        let text = match step {
            Step::Text(text) => text,
            Step::Wait => return Ok(()),
            Step::End if jsonl => return Ok(()),
            Step::End => {
                out.extend_from_slice(summary(different, texts).as_bytes());
                out.push(b'\n');
                return Ok(());
            }
        };
        let bytes = match jsonl && !text.is_argument {
            true => jsonl::read_text(text.bytes)?,
            false => text.bytes.into(),
        };
        texts += 1;
        for (tokenizer, side) in [&a, &b].into_iter().zip(&mut sides) {
            side.encode(tokenizer, &bytes, &options, &mut scratch)?;
        }
        // Most lines end here, so pieces are not gathered before.
        if format == Format::Ids && sides[0].ids == sides[1].ids {
            return Ok(());
        }
        for (tokenizer, side) in [&a, &b].into_iter().zip(&mut sides) {
            side.encode(tokenizer, &bytes, &options.with_pieces(true), &mut scratch)?;
        }
        let [side_a, side_b] = &sides;
        if format == Format::Pieces && side_a.pieces == side_b.pieces {
            return Ok(());
        }
        different += 1;
        if jsonl {
            let sides = [side_a, side_b].map(|side| (&side.ids[..], &side.pieces[..]));
            jsonl::Difference::new((text.place)(), text.number, &bytes, sides).push(out)?;
            out.push(b'\n');
            return Ok(());
        }
        if different == 1 {
            for (name, tokenizer) in [("a", &a), ("b", &b)] {
                let reference = reference_name(tokenizer.image().view().metadata());
                out.extend_from_slice(format!("{name}: {reference}\n").as_bytes());
            }
        }
        out.extend_from_slice(heading(&(text.place)(), &bytes).as_bytes());
        out.extend_from_slice(table(side_a, side_b, format).as_bytes());
        Ok(())
    };
    run_as_is(&input, args.stream.output.as_deref(), work)?;
    if jsonl {
        // Standard output is for the objects.
        crate::note(&summary(different, texts));
    }
    match different {
        0 => Ok(()),
        _ => Err(CliError::Different),
    }
}

fn summary(different: u64, texts: u64) -> String {
    format!("{different} of {texts} lines differ")
}

/// The other side: an image, or something to compile in memory.
fn against(args: &DiffArgs, a: &Tokenizer) -> Result<Tokenizer, CliError> {
    let path = args.against.as_path();
    let mut head = Vec::with_capacity(MAGIC.len());
    File::open(path)
        .and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut head))
        .map_err(|source| CliError::read(path.display(), source))?;
    if head == MAGIC {
        if args.against_reference.is_some() || args.against_ids.is_some() {
            return Err(CliError::Usage(format!(
                "{}: is an image, whose reference and ids are fixed: leave out --against-reference and \
                 --against-ids, or give the model",
                path.display()
            )));
        }
        return Ok(Tokenizer::new(image::open(Some(path))?));
    }
    let input = read_input(path)?;
    let mut options = args::options(args.against_ids, args.against_reference);
    let is_json = trie_compiler::is_tokenizer_json(&input);
    if args.against_ids.is_none() && !is_json {
        let ids = IdMap::from(a.image().view().metadata().id_map);
        options = options.with_ids(ids);
    }
    let compiled = trie_compiler::compile(&input, &options).map_err(|source| CliError::Model {
        path: path.into(),
        source,
    })?;
    Ok(Tokenizer::new(Image::from_bytes(&compiled)?))
}

/// What one side makes of a text.
#[derive(Default)]
struct Side {
    ids: Vec<u32>,
    pieces: Vec<Vec<u8>>,
}

impl Side {
    fn encode(
        &mut self,
        tokenizer: &Tokenizer,
        text: &[u8],
        options: &EncodeOptions,
        scratch: &mut Scratch,
    ) -> Result<(), String> {
        self.ids.clear();
        self.pieces.clear();
        let encoding = tokenizer
            .encode_with(text, options, scratch)
            .map_err(|error| error.to_string())?;
        self.ids.extend_from_slice(encoding.ids());
        self.pieces.extend(encoding.pieces().map(<[u8]>::to_vec));
        Ok(())
    }

    /// The cell for the piece at `at`, with its id if ids are what is compared.
    fn cell(&self, at: Option<usize>, format: Format) -> String {
        let Some((id, piece)) = at.and_then(|at| Some((self.ids.get(at)?, self.pieces.get(at)?)))
        else {
            return String::new();
        };
        let piece = printable(piece);
        match format {
            Format::Ids => format!("{id:>7} {piece}"),
            Format::Pieces => piece,
        }
    }
}

/// `bytes` so that they stay on one line of a terminal, and visible.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for character in String::from_utf8_lossy(bytes).chars() {
        // A mark needs something before it to stand on.
        let is_lone_mark = text.is_empty() && character.width() == Some(0);
        if character.is_control() {
            text.extend(character.escape_default());
        } else if is_lone_mark || is_format(character) {
            text.extend(character.escape_unicode());
        } else {
            text.push(character);
        }
    }
    text
}

/// Whether `character` is invisible and may disturb what stands around it, such as a bidi control.
fn is_format(character: char) -> bool {
    matches!(
        u32::from(character),
        0xad | 0x61c
            | 0x180e
            | 0x200b..=0x200f
            | 0x2028..=0x202e
            | 0x2060..=0x206f
            | 0xfeff
            | 0xfff9..=0xfffb
            | 0xe0000..=0xe0fff
    )
}

fn heading(place: &str, text: &[u8]) -> String {
    let whole = printable(text);
    let mut text: String = whole.chars().take(SHOWN_TEXT).collect();
    if text.len() < whole.len() {
        text.push('…');
    }
    format!("\n{place}: {text}\n")
}

/// Both sides in two columns, where they differ; those rows begin with `!`.
fn table(a: &Side, b: &Side, format: Format) -> String {
    let rows = match format {
        Format::Ids => align(&a.ids, &b.ids),
        Format::Pieces => align(&a.pieces, &b.pieces),
    };
    let shown = shown(&rows, CONTEXT);
    let cells: Vec<Option<(char, String, String)>> = rows
        .iter()
        .zip(shown)
        .map(|(row, shown)| {
            let mark = if row.is_equal { ' ' } else { '!' };
            shown.then(|| (mark, a.cell(row.a, format), b.cell(row.b, format)))
        })
        .collect();
    let width = |text: &str| UnicodeWidthStr::width(text);
    let column = cells.iter().flatten().map(|(_, a, _)| width(a)).max();
    let column = column.unwrap_or(0).max(8);
    let mut out = String::new();
    let mut was_left_out = false;
    for cell in &cells {
        match cell {
            Some((mark, a, b)) => {
                let gap = column - width(a);
                let line = format!("{mark} {a}{:gap$} | {b}", "");
                out.push_str(line.trim_end());
                out.push('\n');
            }
            None if !was_left_out => {
                let _ = writeln!(out, "  …");
            }
            None => {}
        }
        was_left_out = cell.is_none();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(ids: &[u32], pieces: &[&str]) -> Side {
        Side {
            ids: ids.to_vec(),
            pieces: pieces
                .iter()
                .map(|piece| piece.as_bytes().to_vec())
                .collect(),
        }
    }

    #[test]
    fn columns_are_aligned_by_width() {
        let a = side(&[1, 2, 3, 4, 5], &["x", "y", "z", "漢字", "w"]);
        let b = side(&[1, 2, 3, 6, 7, 5], &["x", "y", "z", "漢", "字", "w"]);
        assert_eq!(
            table(&a, &b, Format::Ids),
            "  …\n        2 y    |       2 y\n        3 z    |       3 z\n!       4 漢字 |       6 漢\n\
             !              |       7 字\n        5 w    |       5 w\n"
        );
    }

    #[test]
    fn what_would_not_show_is_escaped() {
        let shown = |text: &str| printable(text.as_bytes());
        assert_eq!(shown("a\u{200e}\t"), "a\\u{200e}\\t");
        assert_eq!(shown("\u{309a}"), "\\u{309a}");
        assert_eq!(shown("フ\u{309a}"), "フ\u{309a}");
    }
}

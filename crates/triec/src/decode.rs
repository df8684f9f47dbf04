//! `triec decode`: ids or pieces to text.

use std::ffi::OsString;

use trie_runtime::{DecodeOptions, Scratch, Tokenizer};

use crate::args::{DecodeArgs, Format};
use crate::error::CliError;
use crate::lines::Input;
use crate::{image, jsonl, stream};

pub(crate) fn run(args: DecodeArgs) -> Result<(), CliError> {
    let tokenizer = image::tokenizer(&args.stream)?;
    let input = Input::new(one_text(args.ids), args.stream.input);
    let jsonl = args.stream.jsonl;
    let options = DecodeOptions::default().with_skip_special_tokens(!args.keep_special);
    let mut scratch = Scratch::new();
    let mut ids = Vec::new();
    stream::run(&input, args.stream.output.as_deref(), |text, out| {
        let is_json = jsonl && !text.is_argument;
        let decoded = match args.format {
            Format::Ids => {
                if is_json {
                    ids = jsonl::read_ids(text.bytes)?;
                } else {
                    read_ids(text.bytes, &tokenizer, &mut ids)?;
                }
                tokenizer
                    .decode_with(&ids, &options, &mut scratch)
                    .map_err(|error| error.to_string())?
            }
            Format::Pieces if is_json => {
                tokenizer.decode_pieces(jsonl::read_pieces(text.bytes)?, &mut scratch)
            }
            Format::Pieces => {
                let pieces = text.bytes.split(|&byte| byte == b' ');
                // An empty line is no piece, not one empty piece.
                tokenizer.decode_pieces(pieces.filter(|piece| !piece.is_empty()), &mut scratch)
            }
        };
        if jsonl {
            jsonl::push_text(decoded, out)
        } else {
            out.extend_from_slice(decoded);
            Ok(())
        }
    })
}

/// The arguments as one line.
fn one_text(arguments: Vec<OsString>) -> Vec<OsString> {
    arguments
        .into_iter()
        .reduce(|mut line, argument| {
            line.push(" ");
            line.push(argument);
            line
        })
        .into_iter()
        .collect()
}

/// Replaces `ids` by those in `line`, separated by whitespace.
fn read_ids(line: &[u8], tokenizer: &Tokenizer, ids: &mut Vec<u32>) -> Result<(), String> {
    ids.clear();
    for word in line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
    {
        let id = std::str::from_utf8(word)
            .ok()
            .and_then(|word| word.parse().ok());
        ids.push(id.ok_or_else(|| {
            let most = tokenizer.piece_count().saturating_sub(1);
            let shown: String = String::from_utf8_lossy(word).chars().take(40).collect();
            format!(
                "{shown:?} is not an id: give numbers from 0 to {most}, separated by spaces \
                 (or --format pieces)"
            )
        })?);
    }
    Ok(())
}

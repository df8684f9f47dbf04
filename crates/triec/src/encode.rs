//! `triec encode`: text to ids or pieces.

use trie_runtime::{EncodeOptions, Scratch};

use crate::args::{EncodeArgs, Format};
use crate::error::CliError;
use crate::lines::Input;
use crate::{image, jsonl, stream};

pub(crate) fn run(args: EncodeArgs) -> Result<(), CliError> {
    let tokenizer = image::tokenizer(&args.stream)?;
    let input = Input::new(args.texts, args.stream.input);
    let jsonl = args.stream.jsonl;
    let options = EncodeOptions::default()
        .with_special_tokens(args.special)
        .with_special_tokens_as_text(args.special_as_text)
        .with_pieces(args.format == Format::Pieces);
    let ids_suffice = args.format == Format::Ids
        && !args.special
        && !args.special_as_text
        && tokenizer.truncation().is_none();
    let mut scratch = Scratch::new();
    stream::run(&input, args.stream.output.as_deref(), |text, out| {
        let bytes = match jsonl && !text.is_argument {
            true => jsonl::read_text(text.bytes)?,
            false => text.bytes.into(),
        };
        let open = if jsonl { &b"{\"ids\":["[..] } else { b"" };
        let separator = if jsonl { b',' } else { b' ' };
        out.extend_from_slice(open);
        if ids_suffice {
            push_ids(tokenizer.encode(&bytes, &mut scratch), separator, out);
        } else {
            let encoding = tokenizer
                .encode_with(&bytes, &options, &mut scratch)
                .map_err(|error| error.to_string())?;
            if jsonl || args.format == Format::Ids {
                push_ids(encoding.ids(), separator, out);
            }
            if args.format == Format::Pieces {
                if jsonl {
                    out.extend_from_slice(b"],\"pieces\":[");
                }
                for (index, piece) in encoding.pieces().enumerate() {
                    if index != 0 {
                        out.push(separator);
                    }
                    match jsonl {
                        true => jsonl::push_piece(piece, out)?,
                        false => out.extend_from_slice(piece),
                    }
                }
            }
        }
        if jsonl {
            out.extend_from_slice(b"]}");
        }
        Ok(())
    })
}

fn push_ids(ids: &[u32], separator: u8, out: &mut Vec<u8>) {
    for (index, &id) in ids.iter().enumerate() {
        if index != 0 {
            out.push(separator);
        }
        push_decimal(id, out);
    }
}

/// Appends `number` in decimal. The formatting machinery of `write!` would take longer than encoding.
fn push_decimal(mut number: u32, out: &mut Vec<u8>) {
    let from = out.len();
    loop {
        out.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    if let Some(digits) = out.get_mut(from..) {
        digits.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_those_of_the_standard_library() {
        for number in [0, 7, 10, 250_001, 1_000_000_000, u32::MAX] {
            let mut out = b"x".to_vec();
            push_decimal(number, &mut out);
            assert_eq!(out, format!("x{number}").into_bytes());
        }
    }
}

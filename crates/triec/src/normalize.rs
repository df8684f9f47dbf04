//! `triec normalize`: text as the model sees it.

use trie_runtime::Scratch;

use crate::args::NormalizeArgs;
use crate::error::CliError;
use crate::lines::Input;
use crate::{image, jsonl, stream};

pub(crate) fn run(args: NormalizeArgs) -> Result<(), CliError> {
    let tokenizer = image::tokenizer(&args.stream)?;
    let input = Input::new(args.texts, args.stream.input);
    let jsonl = args.stream.jsonl;
    let mut scratch = Scratch::new();
    stream::run(&input, args.stream.output.as_deref(), |text, out| {
        if !jsonl {
            out.extend_from_slice(tokenizer.normalize(text.bytes, &mut scratch));
            return Ok(());
        }
        let bytes = match text.is_argument {
            true => text.bytes.into(),
            false => jsonl::read_text(text.bytes)?,
        };
        jsonl::push_text(tokenizer.normalize(&bytes, &mut scratch), out)
    })
}

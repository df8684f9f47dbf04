//! `triec encode`: text to ids, pieces, or objects with everything about them.

use std::ffi::OsString;

use trie_runtime::{EncodeOptions, Scratch, Setting};

use crate::args::{EncodeArgs, Format};
use crate::block::{Blocks, longest};
use crate::error::CliError;
use crate::lines::Input;
use crate::record::{Job, Layout};
use crate::serving::Field;
use crate::stream::Step;
use crate::{image, jsonl, stream, whole};

pub(crate) fn run(args: EncodeArgs) -> Result<(), CliError> {
    let tokenizer = image::tokenizer(&args.stream)?;
    if args.whole {
        let options = EncodeOptions::default().with_special_tokens_as_text(args.special_as_text);
        let output = args.stream.output.as_deref();
        return whole::run(&tokenizer, &options, args.stream.input, args.count, output);
    }
    let mut alternatives = args.alternatives.wanted();
    let input = Input::new(args.texts, args.stream.input);
    let output = args.stream.output.as_deref();
    let is_json = args.stream.jsonl;
    let layout = match (is_json, args.format) {
        (_, _) if args.count => Layout::Count(is_json),
        (true, Format::Pieces) => Layout::Object(vec![Field::Ids, Field::Pieces]),
        (true, Format::Ids) if args.fields.is_empty() => Layout::Object(vec![Field::Ids]),
        (true, Format::Ids) => Layout::Object(args.fields),
        (false, Format::Ids) => Layout::Ids,
        (false, Format::Pieces) => Layout::Pieces,
    };
    let options = EncodeOptions::default()
        .with_special_tokens(args.special)
        .with_special_tokens_as_text(args.special_as_text);
    let options = layout.record(args.serving.apply(options, &tokenizer)?);
    let pair = args.serving.pair.map(OsString::into_encoded_bytes);
    let is_plain = !args.special
        && !args.special_as_text
        && pair.is_none()
        && tokenizer.truncation().is_none()
        && options.truncation == Setting::AsCompiled
        && options.padding == Setting::AsCompiled
        && !tokenizer.pads();
    let job = Job {
        tokenizer: &tokenizer,
        options,
        layout,
        is_plain,
    };
    let longest = longest(&options);
    if args.serving.batch_size.is_some() && longest.is_none() {
        return Err(CliError::Usage(
            "--batch-size is for --pad longest: add that, or leave it out".into(),
        ));
    }
    if alternatives.is_some() && (longest.is_some() || args.serving.threads > 1) {
        return Err(CliError::Usage(
            "--nbest and --sample go without --pad and --threads: leave those out".into(),
        ));
    }
    if longest.is_some() || args.serving.threads > 1 {
        let mut blocks = Blocks::new(
            job,
            pair,
            is_json,
            longest,
            args.serving.batch_size,
            args.serving.threads,
        )?;
        return stream::run_as_is(&input, output, |step, out| match step {
            Step::Text(text) => blocks.push(&text, out),
            Step::Wait => blocks.wait(out),
            Step::End => blocks.flush(out),
        });
    }
    let mut scratch = Scratch::new();
    stream::run(&input, output, |text, out| {
        if let Some(alternatives) = &mut alternatives {
            let bytes = match is_json && !text.is_argument {
                true => jsonl::read_text(text.bytes)?,
                false => text.bytes.into(),
            };
            return alternatives.push(&tokenizer, &bytes, is_json, out);
        }
        if is_json && !text.is_argument {
            let (first, second) = jsonl::read_pair(text.bytes)?;
            let second = second.as_deref().or(pair.as_deref());
            job.push((&first, second), &options, &mut scratch, out)
        } else {
            job.push((text.bytes, pair.as_deref()), &options, &mut scratch, out)
        }
    })
}

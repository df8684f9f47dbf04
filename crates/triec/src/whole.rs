//! Whole inputs as one text each, however long: read in chunks, and forgotten as soon as their ids are out.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use trie_runtime::{EncodeOptions, StreamEncoder, Tokenizer};

use crate::error::CliError;
use crate::lines::Input;
use crate::progress;
use crate::record::{push_decimal, push_list};
use crate::sink::Sink;

/// Bytes read at once.
const CHUNK: usize = 64 << 10;

/// Writes a line for each of `files`: its ids, or how many they are.
pub(crate) fn run(
    tokenizer: &Tokenizer,
    options: &EncodeOptions,
    files: Vec<PathBuf>,
    count_only: bool,
    output: Option<&Path>,
) -> Result<(), CliError> {
    let input = Input::new(Vec::new(), files);
    let bar = progress::bytes(input.check()?, output.is_some());
    let Input::Files(files) = input else {
        return Ok(());
    };
    let mut sink = Sink::open(output)?;
    let mut stream = StreamEncoder::new(tokenizer, options);
    let outcome = files.iter().try_for_each(|path| {
        let mut line = Line {
            count_only,
            count: 0,
            out: Vec::new(),
        };
        let mut chunk = vec![0; CHUNK];
        let (mut reader, name): (Box<dyn Read>, String) = if path.as_os_str() == "-" {
            (Box::new(io::stdin().lock()), "standard input".into())
        } else {
            let name = path.display().to_string();
            let file = File::open(path).map_err(|source| CliError::read(&name, source))?;
            (Box::new(file), name)
        };
        loop {
            let len = match reader.read(&mut chunk) {
                Ok(len) => len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(CliError::read(&name, source)),
            };
            bar.inc(len as u64);
            match chunk.get(..len) {
                Some(read) if len > 0 => line.push(stream.push(read)),
                _ => line.push(stream.finish()),
            }
            if len == 0 {
                line.end();
            }
            sink.write(&line.out)?;
            line.out.clear();
            if len == 0 {
                return Ok(());
            }
        }
    });
    bar.finish_and_clear();
    match outcome {
        Ok(()) => sink.finish(),
        Err(error) => {
            sink.abandon();
            Err(error)
        }
    }
}

/// An output line in the making.
struct Line {
    count_only: bool,
    count: u64,
    out: Vec<u8>,
}

impl Line {
    fn push(&mut self, ids: &[u32]) {
        if !self.count_only && !ids.is_empty() {
            if self.count > 0 {
                self.out.push(b' ');
            }
            push_list(ids, b' ', &mut self.out);
        }
        self.count += ids.len() as u64;
    }

    fn end(&mut self) {
        if self.count_only {
            push_decimal(self.count, &mut self.out);
        }
        self.out.push(b'\n');
    }
}

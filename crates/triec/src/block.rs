//! Texts that are encoded together: on several threads, or because they are filled up to one length.
//!
//! Invariant: lines come out in the order of the texts, whatever the number of threads; of a block with a bad
//! text those before it.

use rayon::ThreadPool;
use rayon::prelude::*;
use trie_runtime::{EncodeOptions, PadTo, Padding, Scratch, Setting};

use crate::error::CliError;
use crate::jsonl;
use crate::record::Job;
use crate::stream::{Bad, Text};

/// Input bytes after which a block is encoded, if nothing else ends it.
const BLOCK_BYTES: usize = 1 << 20;

/// A text and its pair, as read.
struct Line {
    place: String,
    texts: Result<(Vec<u8>, Option<Vec<u8>>), String>,
}

/// Gathers texts and encodes them.
pub(crate) struct Blocks<'a> {
    job: Job<'a>,
    /// Every text's second one, unless it has its own.
    pair: Option<Vec<u8>>,
    is_json: bool,
    /// The padding, if it goes by the longest text.
    longest: Option<Padding>,
    /// Texts that are filled up together.
    batch_size: usize,
    lines: Vec<Line>,
    bytes: usize,
    pool: ThreadPool,
    workers: Vec<Worker>,
}

#[derive(Default)]
struct Worker {
    scratch: Scratch,
    out: Vec<u8>,
    /// Lines of its share that are done.
    done: usize,
    /// What is wrong with the next one.
    bad: Option<String>,
    /// Ids of its longest text.
    longest: usize,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(
        job: Job<'a>,
        pair: Option<Vec<u8>>,
        is_json: bool,
        longest: Option<Padding>,
        batch_size: Option<u32>,
        threads: u32,
    ) -> Result<Self, CliError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads as usize)
            .build()
            .map_err(|error| {
                CliError::Usage(format!(
                    "cannot start {threads} threads: {error}; ask for fewer"
                ))
            })?;
        Ok(Self {
            job,
            pair,
            is_json,
            longest,
            batch_size: batch_size.map_or(usize::MAX, |size| size as usize),
            lines: Vec::new(),
            bytes: 0,
            pool,
            workers: (0..threads).map(|_| Worker::default()).collect(),
        })
    }

    /// Takes `text`, and encodes the block if it is full.
    pub(crate) fn push(&mut self, text: &Text<'_>, out: &mut Vec<u8>) -> Result<(), Bad> {
        let texts = if self.is_json && !text.is_argument {
            jsonl::read_pair(text.bytes).map(|(first, second)| {
                let second = second.map(|second| second.into_owned());
                (first.into_owned(), second.or_else(|| self.pair.clone()))
            })
        } else {
            Ok((text.bytes.to_vec(), self.pair.clone()))
        };
        self.bytes += text.bytes.len();
        self.lines.push(Line {
            place: (text.place)(),
            texts,
        });
        let is_full = match self.longest {
            Some(_) => self.lines.len() >= self.batch_size,
            None => self.bytes >= BLOCK_BYTES,
        };
        if is_full { self.flush(out) } else { Ok(()) }
    }

    /// There is no text at hand for now: encodes what there is, unless its length depends on what follows.
    pub(crate) fn wait(&mut self, out: &mut Vec<u8>) -> Result<(), Bad> {
        match self.longest {
            Some(_) => Ok(()),
            None => self.flush(out),
        }
    }

    /// Encodes what there is.
    pub(crate) fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), Bad> {
        let lines = std::mem::take(&mut self.lines);
        self.bytes = 0;
        let Self {
            job, pool, workers, ..
        } = self;
        let mut options = job.options;
        if let Some(padding) = self.longest {
            each(pool, workers, &lines, |line, worker| {
                let len = job.len(texts(line)?, &mut worker.scratch)?;
                worker.longest = worker.longest.max(len);
                Ok(())
            });
            let longest = workers.iter().map(|worker| worker.longest).max();
            options.padding = Setting::On(padded_to(&padding, longest.unwrap_or(0)));
        }
        let share = each(pool, workers, &lines, |line, worker| {
            let from = worker.out.len();
            let pushed = job.push(texts(line)?, &options, &mut worker.scratch, &mut worker.out);
            match pushed {
                Ok(()) => worker.out.push(b'\n'),
                Err(_) => worker.out.truncate(from),
            }
            pushed
        });
        for (index, worker) in workers.iter_mut().enumerate() {
            out.extend_from_slice(&worker.out);
            if let Some(reason) = worker.bad.take() {
                let line = lines.get(index * share + worker.done);
                return Err(Bad {
                    place: line.map(|line| line.place.clone()),
                    reason,
                });
            }
        }
        Ok(())
    }
}

/// Calls `work` with every line, on as many threads as there are workers, each of which has an equal share in a
/// row, and stops at its first bad text. Returns how many lines a share has.
fn each(
    pool: &ThreadPool,
    workers: &mut [Worker],
    lines: &[Line],
    work: impl Fn(&Line, &mut Worker) -> Result<(), String> + Sync,
) -> usize {
    let share = lines.len().div_ceil(workers.len()).max(1);
    let shares: Vec<&[Line]> = lines.chunks(share).collect();
    let run = |(index, worker): (usize, &mut Worker)| {
        worker.out.clear();
        worker.done = 0;
        worker.bad = None;
        worker.longest = 0;
        for line in shares.get(index).copied().unwrap_or_default() {
            if let Err(reason) = work(line, worker) {
                worker.bad = Some(reason);
                return;
            }
            worker.done += 1;
        }
    };
    pool.install(|| {
        workers
            .par_iter_mut()
            .with_max_len(1)
            .enumerate()
            .for_each(run);
    });
    share
}

fn texts(line: &Line) -> Result<(&[u8], Option<&[u8]>), String> {
    let (first, second) = line.texts.as_ref().map_err(Clone::clone)?;
    Ok((first, second.as_deref()))
}

/// The padding for a batch whose longest text has `longest` ids.
fn padded_to(padding: &Padding, longest: usize) -> Padding {
    let length = match padding.multiple_of {
        0 => longest,
        multiple => longest.next_multiple_of(multiple),
    };
    padding
        .with_length(PadTo::Fixed(length))
        .with_multiple_of(0)
}

/// The padding that is asked for, if it goes by the longest text.
pub(crate) fn longest(options: &EncodeOptions) -> Option<Padding> {
    match options.padding {
        Setting::On(padding) if padding.to == PadTo::Longest => Some(padding),
        _ => None,
    }
}

//! Workers that take blocks of texts in turn, and the join of what they made, in the texts' order.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::pool::{self, Pool};
use super::rows::Batch;
use crate::error::{BatchError, EncodeError};
use crate::options::{EncodeOptions, Padding, Setting};
use crate::output::Record;
use crate::scratch::Scratch;
use crate::tokenizer::Tokenizer;

/// Texts that a worker takes at once, at most: so many that taking them costs nothing, so few that no worker is
/// left with much when the others are done.
const MAX_BLOCK: usize = 32;

/// Encodes many texts at once. It keeps one scratch for each worker, so that nothing is allocated for texts
/// that are no larger than those before.
///
/// With the feature `rayon`, the workers are threads of its own; a child process that inherits it by a fork
/// makes new ones.
#[derive(Debug)]
pub struct BatchEncoder {
    workers: Vec<Worker>,
    pool: Option<Pool>,
    /// The blocks of all workers, for joining.
    blocks: Vec<(Block, usize)>,
}

/// A worker's buffers.
#[derive(Debug, Default)]
struct Worker {
    scratch: Scratch,
    /// What it made, in the order in which it took the blocks.
    rows: Batch,
    blocks: Vec<Block>,
    /// Its first text that could not be encoded.
    error: Option<BatchError>,
}

/// Rows of a worker: those of the texts from `first_input` on.
#[derive(Debug, Clone, Copy)]
struct Block {
    first_input: usize,
    start: usize,
    end: usize,
}

impl Default for BatchEncoder {
    fn default() -> Self {
        Self::new()
    }
}

impl BatchEncoder {
    /// An encoder that works on the calling thread.
    #[must_use]
    pub fn new() -> Self {
        Self {
            workers: vec![Worker::default()],
            pool: None,
            blocks: Vec::new(),
        }
    }

    /// An encoder with this many threads; 0 and 1 mean the calling one.
    ///
    /// The threads start with the first batch. If they cannot be had, the calling thread does all the work.
    #[cfg(feature = "rayon")]
    #[must_use]
    pub fn with_threads(threads: usize) -> Self {
        let mut encoder = Self::new();
        encoder.workers.resize_with(threads.max(1), Worker::default);
        encoder
    }

    /// Encodes `texts` into `out`, replacing what was there. With padding, to one length: that of the longest
    /// row.
    ///
    /// # Errors
    /// The first text whose truncation cannot be done; `out` is empty then.
    pub fn encode<Text: AsRef<[u8]> + Sync>(
        &mut self,
        tokenizer: &Tokenizer,
        texts: &[Text],
        options: &EncodeOptions,
        out: &mut Batch,
    ) -> Result<(), BatchError> {
        self.run(
            tokenizer,
            texts.len(),
            options,
            out,
            |input, options, worker| {
                let Some(text) = texts.get(input) else {
                    return Ok(());
                };
                let encoding = tokenizer.encode_with(text, options, &mut worker.scratch)?;
                worker.rows.push(&encoding, input);
                for window in encoding.overflowing() {
                    worker.rows.push(&window, input);
                }
                Ok(())
            },
        )
    }

    /// Encodes `pairs` into `out`, as [`BatchEncoder::encode`].
    ///
    /// # Errors
    /// The first pair whose truncation cannot be done; `out` is empty then.
    pub fn encode_pairs<First: AsRef<[u8]> + Sync, Second: AsRef<[u8]> + Sync>(
        &mut self,
        tokenizer: &Tokenizer,
        pairs: &[(First, Second)],
        options: &EncodeOptions,
        out: &mut Batch,
    ) -> Result<(), BatchError> {
        self.run(
            tokenizer,
            pairs.len(),
            options,
            out,
            |input, options, worker| {
                let Some((first, second)) = pairs.get(input) else {
                    return Ok(());
                };
                let encoding =
                    tokenizer.encode_pair(first, second, options, &mut worker.scratch)?;
                worker.rows.push(&encoding, input);
                for window in encoding.overflowing() {
                    worker.rows.push(&window, input);
                }
                Ok(())
            },
        )
    }

    /// Bytes that the workers' buffers hold.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        let of_worker = |worker: &Worker| {
            worker.scratch.allocated_bytes()
                + worker.rows.allocated_bytes()
                + worker.blocks.capacity() * size_of::<Block>()
        };
        self.workers.iter().map(of_worker).sum::<usize>()
            + self.blocks.capacity() * size_of::<(Block, usize)>()
    }

    fn run(
        &mut self,
        tokenizer: &Tokenizer,
        count: usize,
        options: &EncodeOptions,
        out: &mut Batch,
        encode: impl Fn(usize, &EncodeOptions, &mut Worker) -> Result<(), EncodeError> + Sync,
    ) -> Result<(), BatchError> {
        out.clear();
        let padding = options.padding.resolve(tokenizer.compiled_padding());
        let unpadded = EncodeOptions {
            padding: Setting::Off,
            ..*options
        };
        let shares = count.div_ceil(4 * self.workers.len().max(1));
        let block = shares.clamp(1, MAX_BLOCK);
        let next = AtomicUsize::new(0);
        pool::run(&mut self.pool, &mut self.workers, |worker| {
            worker.rows.clear();
            worker.blocks.clear();
            worker.error = None;
            loop {
                let first_input = next.fetch_add(block, Ordering::Relaxed);
                if first_input >= count {
                    return;
                }
                let start = worker.rows.len();
                for input in first_input..count.min(first_input + block) {
                    if let Err(source) = encode(input, &unpadded, worker) {
                        worker.error = Some(BatchError { input, source });
                        // Blocks before this one are taken, and may hold an earlier error; none after counts.
                        next.store(count, Ordering::Relaxed);
                        return;
                    }
                }
                worker.blocks.push(Block {
                    first_input,
                    start,
                    end: worker.rows.len(),
                });
            }
        });
        let errors = self.workers.iter().filter_map(|worker| worker.error);
        if let Some(first) = errors.min_by_key(|error| error.input) {
            return Err(first);
        }
        self.join(padding.as_ref(), Record::new(options), out);
        Ok(())
    }

    /// Puts the workers' rows into `out`, in the texts' order.
    fn join(&mut self, padding: Option<&Padding>, record: Record, out: &mut Batch) {
        self.blocks.clear();
        let mut longest = 0;
        for (index, worker) in self.workers.iter().enumerate() {
            self.blocks
                .extend(worker.blocks.iter().map(|&block| (block, index)));
            let mut previous = None;
            for (row, &input) in worker.rows.inputs().iter().enumerate() {
                // Overflowing windows are filled up with the others, but do not count.
                if previous.replace(input) != Some(input) {
                    longest = longest.max(worker.rows.row_len(row));
                }
            }
        }
        self.blocks
            .sort_unstable_by_key(|(block, _)| block.first_input);
        let fill = padding.map(|padding| (padding, padding.target(longest)));
        for &(block, index) in &self.blocks {
            let Some(worker) = self.workers.get(index) else {
                continue;
            };
            for row in block.start..block.end {
                out.push_row(&worker.rows, row, fill, record);
            }
        }
    }
}

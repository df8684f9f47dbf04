//! Other segmentations than the best: the n best, and drawn ones.

use clap::Args;
use trie_runtime::{Candidate, SampleFrom, SplitMix64, Tokenizer};

use crate::jsonl;
use crate::record::push_list;

#[derive(Debug, Clone, Args)]
#[command(
    next_help_heading = "Other segmentations than the best (not under the Hugging Face reference)"
)]
pub(crate) struct AlternativesArgs {
    /// The N best segmentations of each text, with scores, best first
    #[arg(long, value_name = "N", conflicts_with_all = ["format", "sample", "special", "fields"])]
    nbest: Option<usize>,
    /// A segmentation drawn at random, each with a probability that grows with exp(ALPHA * score)
    #[arg(long, value_name = "ALPHA", conflicts_with_all = ["format", "special", "fields"])]
    sample: Option<f32>,
    /// Draw from so many of the best, instead of from all
    #[arg(long, value_name = "N", requires = "sample")]
    nbest_size: Option<usize>,
    /// Where the random numbers begin; equal seeds give equal output
    #[arg(long, value_name = "SEED", requires = "sample", default_value_t = 0)]
    seed: u64,
}

/// What is printed instead of the best segmentation.
pub(crate) enum Alternatives {
    Best(usize),
    Sample {
        alpha: f32,
        from: SampleFrom,
        random: SplitMix64,
    },
}

impl AlternativesArgs {
    /// What is asked for, if anything is.
    pub(crate) fn wanted(&self) -> Option<Alternatives> {
        if let Some(n) = self.nbest {
            return Some(Alternatives::Best(n));
        }
        self.sample.map(|alpha| Alternatives::Sample {
            alpha,
            from: self.nbest_size.map_or(SampleFrom::All, SampleFrom::Best),
            random: SplitMix64::new(self.seed),
        })
    }
}

impl Alternatives {
    /// Appends what is wanted of `text`, without the last LF: of several segmentations a line for each, its score
    /// before a tab and its ids, or an object with all.
    pub(crate) fn push(
        &mut self,
        tokenizer: &Tokenizer,
        text: &[u8],
        is_json: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        match self {
            Self::Best(n) => {
                let candidates = tokenizer.nbest(text, *n).map_err(|e| e.to_string())?;
                if is_json {
                    return jsonl::push_candidates(&candidates, out);
                }
                for (index, Candidate { ids, score, .. }) in candidates.iter().enumerate() {
                    if index != 0 {
                        out.push(b'\n');
                    }
                    out.extend_from_slice(format!("{score}\t").as_bytes());
                    push_list(ids, b' ', out);
                }
                Ok(())
            }
            Self::Sample {
                alpha,
                from,
                random,
            } => {
                let ids = tokenizer
                    .sample(text, *alpha, *from, || random.next_u64())
                    .map_err(|e| e.to_string())?;
                let (open, separator, close) = match is_json {
                    true => (&b"{\"ids\":["[..], b',', &b"]}"[..]),
                    false => (&b""[..], b' ', &b""[..]),
                };
                out.extend_from_slice(open);
                push_list(&ids, separator, out);
                out.extend_from_slice(close);
                Ok(())
            }
        }
    }
}

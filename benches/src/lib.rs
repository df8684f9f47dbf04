//! Benchmarks: the published engine's ladder, this project's tokenizer, its peers.
//!
//! ```text
//! fixture    the model compiled, and what the peers read; `huge_file`: in huge pages, while that is measured
//! corpus     texts, documents, who is admitted to a comparison
//! engine     one interface over everything that is measured
//! ladder     the published engine's stages; `normalize` is its normaliser
//! ours       this project; `peers`: other projects (cargo feature `peers`)
//! lab        all of the above, loaded once
//! workload   sets of documents
//! measure    interleaved rounds, ratios within a round, spread
//! child      what runs in a fresh process; `process` starts it: cold start, unseen text, memory,
//!            instructions
//! results    everything measured, as data; `report` makes Markdown and plots of it
//! ```
//!
//! Two rules: figures are only printed for engines that did the same work, and only ratios taken within
//! one run are compared.

mod alloc;
pub mod child;
pub mod corpus;
pub mod engine;
pub mod fixture;
mod huge_file;
pub mod lab;
pub mod ladder;
pub mod machine;
pub mod measure;
pub mod normalize;
pub mod ours;
#[cfg(feature = "peers")]
pub mod peers;
pub mod process;
pub mod report;
pub mod results;
pub mod suite;
pub mod workload;

/// Errors are for people: a text that says what to do.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

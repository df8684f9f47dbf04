//! One interface over everything that is measured.

use crate::Result;
use crate::corpus::Doc;
use crate::fixture::Fixture;
#[cfg(feature = "peers")]
use crate::peers;
use crate::{ladder, ours};

/// A loaded tokenizer, shared by threads.
pub trait Engine: Send + Sync {
    /// A caller's own scratch space over this engine; one per thread.
    fn session(&self) -> Box<dyn Session + '_>;

    /// Which memory the engine's tables ended up in, where that is a question.
    fn backing(&self) -> Option<String> {
        None
    }
}

/// One caller.
pub trait Session {
    /// The ids of a document. Ladder stages marked `viterbi` take the prepared text instead.
    fn encode(&mut self, doc: &Doc) -> &[u32];

    /// Heap allocations so far that Rust's allocator does not see; `None` if nobody counts them.
    fn foreign_allocations(&self) -> Option<u64> {
        Some(0)
    }
}

/// Which table a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// A stage of the ladder, from raw text.
    Ladder,
    /// The same stage on normalised text.
    Viterbi,
    /// This project.
    Ours,
    /// This project under another reference: to compare peers with, not to time.
    Reference,
    /// Another project.
    Peer,
}

/// How an engine is found and built.
pub struct Spec {
    /// Name on the command line and in the results.
    pub name: &'static str,
    /// What it is, for people.
    pub title: &'static str,
    /// Which table it belongs to.
    pub group: Group,
    /// Loads it.
    pub build: fn(&Fixture) -> Result<Box<dyn Engine>>,
}

/// The stage that ratios are taken against.
pub const BASELINE: &str = "bitmap-huge";

/// This project's engine as a serving process would load it.
pub const OURS: &str = "ours";

/// Every engine of this build, in the order of the tables.
#[must_use]
pub fn all() -> Vec<Spec> {
    let mut specs = ladder::specs();
    specs.extend(ours::specs());
    #[cfg(feature = "peers")]
    specs.extend(peers::specs());
    specs
}

/// Loads the engine called `name`.
///
/// # Errors
/// If there is none of that name, or it cannot be loaded.
pub fn build(name: &str, fixture: &Fixture) -> Result<Box<dyn Engine>> {
    let spec = all()
        .into_iter()
        .find(|spec| spec.name == name)
        .ok_or_else(|| format!("no engine is called {name}"))?;
    (spec.build)(fixture).map_err(|e| format!("{name}: {e}").into())
}

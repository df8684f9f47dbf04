//! The article's stages as small engines over one vocabulary.
//!
//! ```text
//! strings        1  hash-map children, a String per match
//! hash           2  hash-map children, no allocation
//! double_array   3  base and check
//! bitmap         4  one 64-byte node a step, 4 KiB pages
//! bitmap + pages 5  the same on 2 MiB pages: the published engine's final stage
//! ```
//!
//! Stages 2 to 5 share one segmentation loop and differ in the trie alone. Each is there twice: from raw
//! text, with the published engine's grapheme-wise normaliser, and on prepared text. In the published
//! engine's favour, its search for special tokens and its bounds checks in the trie are left out.

pub mod bitmap;
pub mod double_array;
pub mod hash;
pub mod pages;
pub mod strings;
pub mod viterbi;

use crate::Result;
use crate::corpus::Doc;
use crate::engine::{Engine, Group, Session, Spec};
use crate::fixture::Fixture;
use crate::normalize::{GraphemeNormalizer, prepare};
use bitmap::BitmapTrie;
use double_array::DoubleArray;
use hash::HashTrie;
use pages::PageSize;
use strings::Strings;
use viterbi::{Scratch, Trie, Unknown, viterbi};

/// Segments prepared text.
pub trait Stage: Send + Sync {
    /// Leaves the ids in `scratch.ids`.
    fn run(&self, text: &str, scratch: &mut Scratch);

    /// Which memory the trie is in, where that is a question.
    fn backing(&self) -> Option<String> {
        None
    }
}

/// A stage that is the shared loop over a trie.
struct Over<T> {
    trie: T,
    unknown: Unknown,
    backing: Option<String>,
}

impl<T: Trie> Stage for Over<T> {
    fn run(&self, text: &str, scratch: &mut Scratch) {
        viterbi(&self.trie, self.unknown, text, scratch);
    }

    fn backing(&self) -> Option<String> {
        self.backing.clone()
    }
}

/// A stage as an engine; without a normaliser it takes prepared text.
struct Staged<S> {
    stage: S,
    normalizer: Option<GraphemeNormalizer>,
}

struct StagedSession<'a, S> {
    engine: &'a Staged<S>,
    normalized: String,
    prepared: String,
    scratch: Scratch,
}

impl<S: Stage> Engine for Staged<S> {
    fn session(&self) -> Box<dyn Session + '_> {
        Box::new(StagedSession {
            engine: self,
            normalized: String::new(),
            prepared: String::new(),
            scratch: Scratch::default(),
        })
    }

    fn backing(&self) -> Option<String> {
        self.stage.backing()
    }
}

impl<S: Stage> Session for StagedSession<'_, S> {
    fn encode(&mut self, doc: &Doc) -> &[u32] {
        let text = match &self.engine.normalizer {
            None => &doc.prepared,
            Some(normalizer) => {
                normalizer.normalize(&doc.text, &mut self.normalized);
                prepare(&self.normalized, &mut self.prepared);
                &self.prepared
            }
        };
        self.engine.stage.run(text, &mut self.scratch);
        &self.scratch.ids
    }
}

type Build = fn(&Fixture) -> Result<Box<dyn Engine>>;

/// Builds `stage` over the fixture's vocabulary, with the normaliser if it starts from raw text.
fn staged<S: Stage + 'static>(
    fixture: &Fixture,
    raw: bool,
    stage: impl FnOnce(&crate::fixture::Vocabulary) -> Result<S>,
) -> Result<Box<dyn Engine>> {
    let vocabulary = fixture.vocabulary()?;
    let normalizer = raw
        .then(|| GraphemeNormalizer::new(&vocabulary.charsmap))
        .transpose()?;
    let stage = stage(&vocabulary)?;
    Ok(Box::new(Staged { stage, normalizer }))
}

fn over<T: Trie>(
    vocabulary: &crate::fixture::Vocabulary,
    trie: T,
    backing: Option<String>,
) -> Over<T> {
    let unknown = Unknown {
        id: vocabulary.unk_id,
        score: vocabulary.unk_score,
    };
    Over {
        trie,
        unknown,
        backing,
    }
}

fn strings(fixture: &Fixture, raw: bool) -> Result<Box<dyn Engine>> {
    staged(fixture, raw, |vocabulary| Ok(Strings::new(vocabulary)))
}

fn hash(fixture: &Fixture, raw: bool) -> Result<Box<dyn Engine>> {
    staged(fixture, raw, |v| Ok(over(v, HashTrie::new(v), None)))
}

fn double_array(fixture: &Fixture, raw: bool) -> Result<Box<dyn Engine>> {
    staged(fixture, raw, |v| Ok(over(v, DoubleArray::new(v), None)))
}

fn bitmap(fixture: &Fixture, raw: bool, page: PageSize) -> Result<Box<dyn Engine>> {
    staged(fixture, raw, |v| {
        let trie = BitmapTrie::new(&DoubleArray::new(v), page)
            .map_err(|e| format!("no memory of that page size (is vm.nr_hugepages set?): {e}"))?;
        let backing = trie.backing();
        Ok(over(v, trie, Some(backing)))
    })
}

/// All stages, from raw text and on prepared text.
#[must_use]
pub fn specs() -> Vec<Spec> {
    let raw: [(&str, &str, Build); 5] = [
        ("strings", "1 hash-map children, a String per match", |f| {
            strings(f, true)
        }),
        ("hash", "2 hash-map children, no allocation", |f| {
            hash(f, true)
        }),
        ("double-array", "3 double array (base, check)", |f| {
            double_array(f, true)
        }),
        ("bitmap-4k", "4 64-byte bitmap node, 4 KiB pages", |f| {
            bitmap(f, true, PageSize::Small)
        }),
        ("bitmap-huge", "5 64-byte bitmap node, 2 MiB pages", |f| {
            bitmap(f, true, PageSize::Huge)
        }),
    ];
    let prepared: [(&str, &str, Build); 5] = [
        (
            "strings-viterbi",
            "1 hash-map children, a String per match",
            |f| strings(f, false),
        ),
        ("hash-viterbi", "2 hash-map children, no allocation", |f| {
            hash(f, false)
        }),
        (
            "double-array-viterbi",
            "3 double array (base, check)",
            |f| double_array(f, false),
        ),
        (
            "bitmap-4k-viterbi",
            "4 64-byte bitmap node, 4 KiB pages",
            |f| bitmap(f, false, PageSize::Small),
        ),
        (
            "bitmap-huge-viterbi",
            "5 64-byte bitmap node, 2 MiB pages",
            |f| bitmap(f, false, PageSize::Huge),
        ),
    ];
    let as_spec = |group| {
        move |(name, title, build)| Spec {
            name,
            title,
            group,
            build,
        }
    };
    raw.into_iter()
        .map(as_spec(Group::Ladder))
        .chain(prepared.into_iter().map(as_spec(Group::Viterbi)))
        .collect()
}

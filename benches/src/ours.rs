//! This project's tokenizer, on every kind of memory an image can be in.

use std::path::PathBuf;

use trie_runtime::{Backing, Image, LoadOptions, Scratch, Tokenizer};

use crate::Result;
use crate::corpus::Doc;
use crate::engine::{Engine, Group, Session, Spec};
use crate::fixture::Fixture;

/// Where an encode begins.
#[derive(Clone, Copy, PartialEq)]
enum From {
    Raw,
    /// At what Viterbi runs on.
    Prepared,
}

struct Ours {
    tokenizer: Tokenizer,
    from: From,
}

struct OursSession<'a> {
    engine: &'a Ours,
    scratch: Scratch,
}

impl Engine for Ours {
    fn session(&self) -> Box<dyn Session + '_> {
        let scratch = Scratch::new();
        Box::new(OursSession {
            engine: self,
            scratch,
        })
    }

    fn backing(&self) -> Option<String> {
        Some(self.tokenizer.image().report().to_string())
    }
}

impl Session for OursSession<'_> {
    fn encode(&mut self, doc: &Doc) -> &[u32] {
        let tokenizer = &self.engine.tokenizer;
        match self.engine.from {
            From::Raw => tokenizer.encode(&doc.text, &mut self.scratch),
            From::Prepared => tokenizer.encode_normalized(&doc.prepared, &mut self.scratch),
        }
    }
}

/// The fixture's image in memory of this kind, without falling back unless `Auto` is asked for.
///
/// # Errors
/// If the image cannot be loaded so.
pub fn load(fixture: &Fixture, backing: Backing) -> Result<Tokenizer> {
    load_from(fixture.image(), backing)
}

fn load_from(path: PathBuf, backing: Backing) -> Result<Tokenizer> {
    let options = LoadOptions::default()
        .with_backing(backing)
        .with_fallback(backing == Backing::Auto);
    Ok(Tokenizer::new(Image::load(path, &options)?))
}

fn mapped(fixture: &Fixture) -> Result<Tokenizer> {
    // SAFETY: the fixture's files are written once, before any engine is built, and never changed.
    Ok(Tokenizer::new(unsafe { Image::map(fixture.image()) }?))
}

fn mapped_verified(fixture: &Fixture) -> Result<Tokenizer> {
    let id = std::fs::read_to_string(fixture.image_id())?.parse()?;
    // SAFETY: as above; and the image with this id was loaded when the fixture was made.
    let image = unsafe { Image::map_verified(fixture.image(), id) }?;
    Ok(Tokenizer::new(image))
}

fn mapped_huge(fixture: &Fixture) -> Result<Tokenizer> {
    let path = std::fs::read_to_string(fixture.huge_image_note())
        .map_err(|_| "there is no file of huge pages")?;
    // SAFETY: the file is never changed, only removed after all that map it have ended.
    Ok(Tokenizer::new(unsafe { Image::map(path) }?))
}

fn engine(tokenizer: Result<Tokenizer>, from: From) -> Result<Box<dyn Engine>> {
    let tokenizer = tokenizer?;
    Ok(Box::new(Ours { tokenizer, from }))
}

/// The tokenizer as a serving process would load it, then one row for each kind of memory.
#[must_use]
pub fn specs() -> Vec<Spec> {
    type Build = fn(&Fixture) -> Result<Box<dyn Engine>>;
    let rows: [(&str, &str, Group, Build); 9] = [
        ("ours", "this project", Group::Ours, |f| {
            engine(load(f, Backing::Auto), From::Raw)
        }),
        ("ours-viterbi", "this project", Group::Viterbi, |f| {
            engine(load(f, Backing::Auto), From::Prepared)
        }),
        (
            "ours-0.2.1",
            "this project, reproducing sentencepiece 0.2.1",
            Group::Reference,
            |f| engine(load_from(f.image_021(), Backing::Copy), From::Raw),
        ),
        ("ours-map", "this project, mapped file", Group::Ours, |f| {
            engine(mapped(f), From::Raw)
        }),
        (
            "ours-verified",
            "this project, mapped file that was verified before",
            Group::Ours,
            |f| engine(mapped_verified(f), From::Raw),
        ),
        (
            "ours-hugetlbfs",
            "this project, mapped file of huge pages",
            Group::Ours,
            |f| engine(mapped_huge(f), From::Raw),
        ),
        ("ours-copy", "this project, plain copy", Group::Ours, |f| {
            engine(load(f, Backing::Copy), From::Raw)
        }),
        (
            "ours-thp",
            "this project, transparent huge pages",
            Group::Ours,
            |f| engine(load(f, Backing::TransparentHuge), From::Raw),
        ),
        (
            "ours-hugetlb",
            "this project, reserved huge pages",
            Group::Ours,
            |f| engine(load(f, Backing::HugeTlb), From::Raw),
        ),
    ];
    rows.into_iter()
        .map(|(name, title, group, build)| Spec {
            name,
            title,
            group,
            build,
        })
        .collect()
}

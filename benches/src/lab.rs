//! Everything that is loaded once: fixture, corpus, and the engines of a run.

use std::path::Path;

use tempfile::TempDir;
use trie_runtime::{Backing, Tokenizer};

use crate::corpus::{Corpus, Doc, Maker};
use crate::engine::{BASELINE, Engine, Group, OURS, build};
use crate::fixture::{Fixture, Vocabulary};
use crate::measure::{Against, Contestant, Effort, Figures, Ids, differences, measure};
use crate::results::{LeftOut, Table};
use crate::workload::Workload;
use crate::{Result, engine, ours};

/// A peer that differs on more than this share of a workload's documents does not take part.
const MAX_DIFFERING_DOCS: f64 = 0.25;

/// The fixture, the corpus and what documents are made with.
pub struct Lab {
    /// The compiled model.
    pub fixture: Fixture,
    /// The texts.
    pub corpus: Corpus,
    /// Less work, for trying things out and for tests.
    pub quick: bool,
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    double: Box<dyn Engine>,
    _dir: TempDir,
}

impl Lab {
    /// Compiles `model` into a temporary directory and reads the corpus.
    ///
    /// # Errors
    /// If the model or the corpus cannot be used.
    pub fn open(model: &Path, quick: bool) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("trie-benches").tempdir()?;
        let fixture = Fixture::create(model, dir.path())?;
        Ok(Self {
            corpus: Corpus::read()?,
            quick,
            tokenizer: ours::load(&fixture, Backing::Copy)?,
            vocabulary: fixture.vocabulary()?,
            double: build("double-array-viterbi", &fixture)?,
            fixture,
            _dir: dir,
        })
    }

    /// What cuts and admits documents.
    ///
    /// # Errors
    /// If the rule table is malformed.
    pub fn maker(&self) -> Result<Maker<'_>> {
        Maker::new(&self.tokenizer, self.double.as_ref(), &self.vocabulary)
    }

    /// Rounds, and encodes in a round, for documents of this many tokens.
    #[must_use]
    pub fn effort(&self, tokens: usize) -> Effort {
        let (rounds, per_round) = if self.quick {
            (3, 5_000)
        } else {
            (15, 100_000)
        };
        Effort {
            rounds,
            encodes: (per_round / tokens.max(1)).max(1),
        }
    }
}

/// Engines loaded for a run, and those that could not be.
pub struct Team {
    engines: Vec<(&'static str, Group, Box<dyn Engine>)>,
    baseline: &'static str,
    ours: &'static str,
    left_out: Vec<LeftOut>,
}

impl Team {
    /// Loads the engines of `groups`.
    ///
    /// # Errors
    /// If one that every comparison needs cannot be loaded.
    pub fn load(lab: &Lab, groups: &[Group]) -> Result<Self> {
        let viterbi = groups.contains(&Group::Viterbi);
        let (baseline, small, ours) = if viterbi {
            ("bitmap-huge-viterbi", "bitmap-4k-viterbi", "ours-viterbi")
        } else {
            (BASELINE, "bitmap-4k", OURS)
        };
        let mut team = Self {
            engines: Vec::new(),
            baseline,
            ours,
            left_out: Vec::new(),
        };
        for spec in engine::all() {
            let wanted = match spec.group {
                Group::Ours => spec.name == ours,
                // The last two stages take part in every run.
                Group::Ladder | Group::Viterbi => {
                    groups.contains(&spec.group) || [baseline, small].contains(&spec.name)
                }
                group => groups.contains(&group),
            };
            if !wanted {
                continue;
            }
            match (spec.build)(&lab.fixture) {
                Ok(engine) => team.engines.push((spec.name, spec.group, engine)),
                Err(error) => team.left_out.push(LeftOut {
                    engine: spec.name.to_owned(),
                    reason: error.to_string(),
                }),
            }
        }
        if !team.has(baseline) {
            team.baseline = small;
        }
        for needed in [team.baseline, ours] {
            if !team.has(needed) {
                let reasons: Vec<_> = team.left_out.iter().map(|l| l.reason.as_str()).collect();
                return Err(format!("{needed} is not there: {}", reasons.join("; ")).into());
            }
        }
        Ok(team)
    }

    fn has(&self, name: &str) -> bool {
        self.engines.iter().any(|(n, ..)| *n == name)
    }

    /// Measures a workload: on the documents on which all agree, or on all of them where the workload
    /// is about differing.
    ///
    /// # Errors
    /// If an engine of the ladder or the project gives other ids than it must.
    pub fn run(&self, lab: &Lab, workload: &Workload) -> Result<Table> {
        let mut left_out = self.left_out.clone();
        let (docs, members) = match workload.ids {
            Ids::Equal => self.agree(&workload.docs, &mut left_out)?,
            Ids::Within(share) => (
                workload.docs.clone(),
                self.comparable(&workload.docs, share, &mut left_out),
            ),
        };
        if docs.is_empty() {
            return Err(format!("{}: no document is left to compare", workload.name).into());
        }
        let contestants: Vec<Contestant<'_>> = self
            .engines
            .iter()
            .filter(|(name, ..)| members.contains(name))
            .map(|(name, _, engine)| Contestant {
                name,
                engine: engine.as_ref(),
            })
            .collect();
        let tokens: usize = docs.iter().map(|doc| doc.ids.len()).sum();
        let against = Against {
            baseline: self.baseline,
            ours: self.ours,
        };
        let effort = lab.effort(tokens / docs.len());
        let rows: Vec<Figures> = measure(&contestants, &docs, effort, workload.ids, against)
            .map_err(|e| format!("{}: {e}", workload.name))?;
        Ok(Table {
            name: workload.name.clone(),
            title: workload.title.clone(),
            baseline: self.baseline.to_owned(),
            docs: docs.len(),
            tokens,
            bytes: docs.iter().map(|doc| doc.text.len()).sum(),
            skipped: workload.skipped,
            rows,
            left_out,
        })
    }

    /// The documents on which all engines give the same ids, and the engines that take part. A peer
    /// that differs too often is left out; the ladder and the project may never differ.
    fn agree(
        &self,
        docs: &[Doc],
        left_out: &mut Vec<LeftOut>,
    ) -> Result<(Vec<Doc>, Vec<&'static str>)> {
        let mut common = vec![true; docs.len()];
        let mut members = Vec::new();
        for (name, group, engine) in &self.engines {
            let mut session = engine.session();
            let same: Vec<bool> = docs
                .iter()
                .map(|doc| session.encode(doc) == doc.ids)
                .collect();
            let differing = same.iter().filter(|same| !**same).count();
            let reason = match (differing, *group) {
                (0, _) => None,
                (_, Group::Peer) => Some(format!(
                    "gives other ids on {differing} of {} documents",
                    docs.len()
                )),
                _ => {
                    let first = docs.iter().find(|doc| session.encode(doc) != doc.ids);
                    let first = first.map(|doc| differences(session.encode(doc), &doc.ids));
                    return Err(format!(
                        "{name} gives other ids on {differing} documents (first: {first:?} ids)"
                    )
                    .into());
                }
            };
            let takes_part = differing as f64 <= MAX_DIFFERING_DOCS * docs.len() as f64;
            if takes_part {
                members.push(*name);
                common
                    .iter_mut()
                    .zip(&same)
                    .for_each(|(common, same)| *common &= same);
            }
            left_out.extend(reason.map(|reason| LeftOut {
                engine: (*name).to_owned(),
                reason: if takes_part {
                    format!("{reason}: not timed on those")
                } else {
                    reason
                },
            }));
        }
        let docs = docs.iter().zip(common).filter(|(_, common)| *common);
        Ok((docs.map(|(doc, _)| doc.clone()).collect(), members))
    }

    /// All but the peers whose token count is off by more than `share`.
    fn comparable(
        &self,
        docs: &[Doc],
        share: f64,
        left_out: &mut Vec<LeftOut>,
    ) -> Vec<&'static str> {
        let expected: usize = docs.iter().map(|doc| doc.ids.len()).sum();
        let mut members = Vec::new();
        for (name, group, engine) in &self.engines {
            let mut session = engine.session();
            let tokens: usize = docs.iter().map(|doc| session.encode(doc).len()).sum();
            if *group == Group::Peer && tokens.abs_diff(expected) as f64 > share * expected as f64 {
                let reason = format!("gives {tokens} tokens, not {expected}");
                left_out.push(LeftOut {
                    engine: (*name).to_owned(),
                    reason,
                });
            } else {
                members.push(*name);
            }
        }
        members
    }
}

//! The parts of a run, each adding to [`Results`].

use std::path::Path;
use std::sync::Barrier;
use std::time::Instant;

use crate::Result;
use crate::corpus::Doc;
use crate::engine::{self, BASELINE, Engine, Group, OURS, build};
use crate::huge_file::HugeFile;
use crate::lab::{Lab, Team};
use crate::machine::Machine;
use crate::measure::Spread;
use crate::process::{Processes, may_drop_page_cache};
use crate::results::{Fresh, LeftOut, Results, Threads};
use crate::workload::{self, DOC_TOKENS, REPEATED_TOKENS};

/// The rows of cold start that are this project's.
const OUR_BACKINGS: [&str; 6] = [
    "ours-map",
    "ours-verified",
    "ours-hugetlbfs",
    "ours-copy",
    "ours-thp",
    "ours-hugetlb",
];

/// The rows of shared memory that are this project's.
const OUR_SHARED: [&str; 4] = ["nothing", "ours-map", "ours-hugetlbfs", "ours-copy"];

/// A run in progress.
pub struct Suite<'a> {
    lab: &'a Lab,
    /// What was measured so far.
    pub results: Results,
}

impl<'a> Suite<'a> {
    /// An empty run.
    #[must_use]
    pub fn new(lab: &'a Lab) -> Self {
        let results = Results {
            machine: Machine::here(),
            quick: lab.quick,
            ..Results::default()
        };
        Self { lab, results }
    }

    fn note(&mut self, left_out: Vec<LeftOut>, from: &str) {
        for LeftOut { engine, reason } in left_out {
            self.results
                .notes
                .push(format!("{engine} is not in \"{from}\": {reason}."));
        }
    }

    /// The article's ladder: every stage from raw text, then on normalised text.
    ///
    /// # Errors
    /// If a stage gives other ids.
    pub fn ladder(&mut self) -> Result<()> {
        let workload = workload::repeated(self.lab, DOC_TOKENS)?;
        for (group, name) in [
            (Group::Ladder, "ladder"),
            (Group::Viterbi, "ladder-viterbi"),
        ] {
            let mut table = Team::load(self.lab, &[group])?.run(self.lab, &workload)?;
            table.name = name.into();
            self.results.tables.push(table);
        }
        Ok(())
    }

    /// One document repeated, at all lengths, or at this one.
    ///
    /// # Errors
    /// If an engine does other work than the rest.
    pub fn repeated(&mut self, tokens: Option<usize>) -> Result<()> {
        let team = Team::load(self.lab, &[Group::Peer])?;
        let quick: &[usize] = &REPEATED_TOKENS[..3];
        let lengths = match &tokens {
            Some(tokens) => std::slice::from_ref(tokens),
            None if self.lab.quick => quick,
            None => &REPEATED_TOKENS,
        };
        for &tokens in lengths {
            let workload = workload::repeated(self.lab, tokens)?;
            self.results.tables.push(team.run(self.lab, &workload)?);
        }
        Ok(())
    }

    /// A stream of different documents.
    ///
    /// # Errors
    /// If an engine does other work than the rest.
    pub fn stream(&mut self) -> Result<()> {
        let team = Team::load(self.lab, &[Group::Peer])?;
        let workload = workload::stream(self.lab)?;
        self.results.tables.push(team.run(self.lab, &workload)?);
        Ok(())
    }

    /// Language by language.
    ///
    /// # Errors
    /// If an engine does other work than the rest.
    pub fn languages(&mut self) -> Result<()> {
        let team = Team::load(self.lab, &[Group::Peer])?;
        for workload in workload::languages(self.lab)? {
            if workload.docs.is_empty() {
                let text = format!(
                    "{}: no document is admitted ({:?}).",
                    workload.name, workload.skipped
                );
                self.results.notes.push(text);
                continue;
            }
            self.results.tables.push(team.run(self.lab, &workload)?);
        }
        Ok(())
    }

    /// Adversarial documents.
    ///
    /// # Errors
    /// If an engine of the ladder does other work than the rest.
    pub fn adversarial(&mut self) -> Result<()> {
        let team = Team::load(self.lab, &[Group::Peer])?;
        for workload in workload::adversarial(self.lab)? {
            self.results.tables.push(team.run(self.lab, &workload)?);
        }
        Ok(())
    }

    /// Peers' ids against their references.
    ///
    /// # Errors
    /// If a peer cannot be loaded.
    pub fn accuracy(&mut self) -> Result<()> {
        #[cfg(feature = "peers")]
        self.results
            .accuracy
            .extend(crate::peers::accuracy(self.lab)?);
        Ok(())
    }

    /// The baseline that can be had here, the project and the peers, by name.
    fn names(&mut self) -> Vec<&'static str> {
        let baseline = if build(BASELINE, &self.lab.fixture).is_ok() {
            BASELINE
        } else {
            self.results
                .notes
                .push("No reserved huge pages: the baseline is on 4 KiB pages.".to_owned());
            "bitmap-4k"
        };
        let peers = engine::all()
            .into_iter()
            .filter(|spec| spec.group == Group::Peer);
        [baseline, OURS]
            .into_iter()
            .chain(peers.map(|spec| spec.name))
            .collect()
    }

    /// Unseen text: fresh processes, warmed up on other documents and not at all.
    ///
    /// # Errors
    /// If a child fails.
    pub fn unseen(&mut self) -> Result<()> {
        let names = self.names();
        let stream = workload::stream(self.lab)?.docs;
        let stream = self.common_docs(&names, stream)?;
        let words = workload::adversarial(self.lab)?.swap_remove(0).docs;
        let words = self.common_docs(&names, words)?;
        let processes = Processes::new(self.lab)?;
        for fresh in Fresh::ALL {
            let docs = match fresh {
                Fresh::Stream | Fresh::StreamCold => &stream,
                Fresh::Words => &words,
            };
            let (rows, left_out) = processes.unseen(&names, names[0], names[1], docs, fresh)?;
            self.results.unseen.extend(rows);
            self.note(left_out, fresh.name());
        }
        Ok(())
    }

    /// The documents on which all engines agree.
    fn common_docs(&mut self, names: &[&str], mut docs: Vec<Doc>) -> Result<Vec<Doc>> {
        let all = docs.len();
        for name in names {
            let engine = build(name, &self.lab.fixture)?;
            let mut session = engine.session();
            docs.retain(|doc| session.encode(doc) == doc.ids);
        }
        if docs.len() < all {
            let text = format!(
                "Unseen text: {} of {all} documents are left out because engines differ on them.",
                all - docs.len()
            );
            self.results.notes.push(text);
        }
        Ok(docs)
    }

    /// Process start to first ids.
    ///
    /// # Errors
    /// If a child cannot be started.
    pub fn cold(&mut self) -> Result<()> {
        let mut names = vec!["nothing"];
        names.extend(OUR_BACKINGS);
        names.extend(self.names());
        let processes = Processes::new(self.lab)?;
        let _file = self.huge_file("cold start");
        let mut states = vec![false];
        // A quick run is often a test beside other work, which dropping the cache would slow down.
        if !self.lab.quick && may_drop_page_cache() {
            states.push(true);
        } else {
            self.results.notes.push(
                "The page cache is not dropped in this run: cold starts are with a warm one only."
                    .to_owned(),
            );
        }
        for dropped in states {
            let (rows, left_out) = processes.cold(&names, dropped)?;
            self.results.cold.extend(rows);
            self.note(left_out, "cold start");
        }
        Ok(())
    }

    /// Memory of several processes.
    ///
    /// # Errors
    /// If a child fails.
    pub fn shared(&mut self) -> Result<()> {
        let docs = workload::stream(self.lab)?.docs;
        let file = self.huge_file("shared memory");
        let ours = OUR_SHARED
            .into_iter()
            .filter(|name| *name != "ours-hugetlbfs" || file.is_some());
        let peers = engine::all()
            .into_iter()
            .filter(|spec| spec.group == Group::Peer);
        let processes = Processes::new(self.lab)?;
        let counts = |of: &'static [usize]| if self.lab.quick { &[1, 2] } else { of };
        let ours = ours.map(|name| (name, counts(&[1, 4, 8, 32])));
        let rows = ours.chain(peers.map(|spec| (spec.name, counts(&[1, 4, 8]))));
        for (name, counts) in rows {
            let rows = processes.shared(name, &docs, counts)?;
            self.results.shared.extend(rows);
        }
        Ok(())
    }

    /// The image in a file of huge pages, if that can be had.
    fn huge_file(&mut self, wanted_for: &str) -> Option<HugeFile> {
        HugeFile::write(&self.lab.fixture)
            .map_err(|error| {
                let engine = "ours-hugetlbfs".to_owned();
                let reason = error.to_string();
                self.note(vec![LeftOut { engine, reason }], wanted_for);
            })
            .ok()
    }

    /// Instructions per token.
    ///
    /// # Errors
    /// If documents cannot be made.
    pub fn instructions(&mut self) -> Result<()> {
        let repeated = workload::repeated(self.lab, DOC_TOKENS)?;
        let mut docs = workload::stream(self.lab)?.docs;
        docs.truncate(if self.lab.quick { 10 } else { 120 });
        let mut names = self.names();
        if self.lab.quick {
            names.truncate(2);
        }
        let rows = Processes::new(self.lab)?.instructions(&names, &repeated.docs[0], &docs)?;
        for row in &rows {
            if let Some(problem) = &row.problem {
                let text = format!("No instruction count of {}: {problem}.", row.engine);
                eprintln!("{text}");
                self.results.notes.push(text);
            }
        }
        self.results.instructions.extend(rows);
        Ok(())
    }

    /// One shared tokenizer, 1 to N threads.
    ///
    /// # Errors
    /// If an engine cannot be loaded.
    pub fn threads(&mut self) -> Result<()> {
        let docs = workload::stream(self.lab)?.docs;
        let available = std::thread::available_parallelism().map_or(1, usize::from);
        let names = self.names();
        let mut counts: Vec<usize> = std::iter::successors(Some(1), |n| Some(n * 2))
            .take_while(|&n| n < available)
            .collect();
        counts.push(available);
        let rounds = if self.lab.quick { 2 } else { 9 };
        for name in names {
            let engine = build(name, &self.lab.fixture)?;
            let mut rates = vec![Vec::new(); counts.len()];
            for _ in 0..rounds {
                for (rates, &threads) in rates.iter_mut().zip(&counts) {
                    rates.push(parallel_mb_per_s(engine.as_ref(), &docs, threads));
                }
            }
            for (of, &threads) in rates.iter().zip(&counts) {
                self.results.threads.push(Threads {
                    engine: name.to_owned(),
                    threads,
                    mb_per_s: Spread::of(of.iter().copied()),
                    scaling: Spread::of(of.iter().zip(&rates[0]).map(|(many, one)| many / one)),
                });
            }
        }
        Ok(())
    }

    /// What the Python harness reads: the model, `tokenizer.json`, and the documents with their ids.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn export(&self, dir: &Path) -> Result<()> {
        std::fs::create_dir_all(dir)?;
        std::fs::copy(self.lab.fixture.model(), dir.join("model.model"))?;
        std::fs::copy(
            self.lab.fixture.tokenizer_json(),
            dir.join("tokenizer.json"),
        )?;
        let documents = serde_json::json!({
            "repeated": workload::repeated(self.lab, DOC_TOKENS)?.docs,
            "stream": workload::stream(self.lab)?.docs,
        });
        Ok(std::fs::write(
            dir.join("documents.json"),
            serde_json::to_vec(&documents)?,
        )?)
    }

    /// Everything.
    ///
    /// # Errors
    /// The first part that fails.
    pub fn everything(&mut self) -> Result<()> {
        type Part<'a> = fn(&mut Suite<'a>) -> Result<()>;
        let parts: [(&str, Part<'a>); 11] = [
            ("accuracy", Self::accuracy),
            ("ladder", Self::ladder),
            ("repeated", |suite| suite.repeated(None)),
            ("stream", Self::stream),
            ("unseen", Self::unseen),
            ("adversarial", Self::adversarial),
            ("languages", Self::languages),
            ("threads", Self::threads),
            ("cold start", Self::cold),
            ("shared memory", Self::shared),
            ("instructions", Self::instructions),
        ];
        for (name, part) in parts {
            eprintln!("measuring: {name}");
            part(self).map_err(|e| format!("{name}: {e}"))?;
        }
        Ok(())
    }
}

/// Every thread encodes all documents once after a pass to warm up; all start together.
fn parallel_mb_per_s(engine: &dyn Engine, docs: &[Doc], threads: usize) -> f64 {
    let barrier = Barrier::new(threads);
    let worker = || {
        let mut session = engine.session();
        let mut pass = || {
            docs.iter()
                .map(|doc| session.encode(doc).len())
                .sum::<usize>()
        };
        let warm = pass();
        barrier.wait();
        let start = Instant::now();
        let timed = pass();
        assert_eq!(warm, timed, "an engine must encode alike in every pass");
        (start, Instant::now())
    };
    let spans: Vec<(Instant, Instant)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        handles
            .into_iter()
            .filter_map(|handle| handle.join().ok())
            .collect()
    });
    let start = spans.iter().map(|span| span.0).min();
    let end = spans.iter().map(|span| span.1).max();
    let seconds = start
        .zip(end)
        .map_or(f64::NAN, |(start, end)| (end - start).as_secs_f64());
    let bytes: usize = docs.iter().map(|doc| doc.text.len()).sum();
    (bytes * threads) as f64 / 1e6 / seconds
}

//! Measurements that need fresh processes: unseen text (c), cold starts, shared memory, instructions.
//! Children are this very program; documents reach them as files beside the fixture.

use std::io::{BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use crate::Result;
use crate::child::{ColdAnswer, UnseenAnswer, hear};
use crate::corpus::Doc;
use crate::lab::Lab;
use crate::machine::mib;
use crate::measure::{Spread, quantile};
use crate::results::{ColdStart, Fresh, Instructions, LeftOut, Shared, Unseen};

/// Set in the environment of a process whose instructions are counted.
pub(crate) const UNDER_VALGRIND: &str = "TRIE_BENCHES_UNDER_VALGRIND";

/// Starts children over a lab's fixture.
pub struct Processes<'a> {
    lab: &'a Lab,
    program: PathBuf,
}

impl<'a> Processes<'a> {
    /// Children are started from the running program.
    ///
    /// # Errors
    /// If the system does not say where that is.
    pub fn new(lab: &'a Lab) -> Result<Self> {
        Ok(Self {
            lab,
            program: std::env::current_exe()?,
        })
    }

    fn arguments(&self, job: &str, engine: &str) -> Vec<String> {
        let dir = self.lab.fixture.dir().display().to_string();
        ["child", dir.as_str(), job, engine]
            .map(str::to_owned)
            .to_vec()
    }

    fn write_docs(&self, name: &str, docs: &[Doc]) -> Result<String> {
        let path = self.lab.fixture.dir().join(name);
        std::fs::write(&path, serde_json::to_vec(docs)?)?;
        Ok(path.display().to_string())
    }

    fn start(&self, arguments: &[String]) -> Result<(Child, BufReader<ChildStdout>)> {
        let mut child = Command::new(&self.program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let out = child.stdout.take().ok_or("the child has no output")?;
        Ok((child, BufReader::new(out)))
    }

    fn rounds(&self) -> usize {
        if self.lab.quick { 2 } else { 9 }
    }

    /// (c): `docs` in two halves; each engine is warmed on the first, if at all, and encodes each
    /// document of the second once. Engines whose ids differ are left out, loudly.
    ///
    /// # Errors
    /// If a child fails.
    pub fn unseen(
        &self,
        engines: &[&str],
        baseline: &str,
        ours: &str,
        docs: &[Doc],
        fresh: Fresh,
    ) -> Result<(Vec<Unseen>, Vec<LeftOut>)> {
        let (warm, timed): (Vec<_>, Vec<_>) = docs
            .iter()
            .cloned()
            .enumerate()
            .partition(|(i, _)| i % 2 == 0);
        let strip = |docs: Vec<(usize, Doc)>| -> Vec<Doc> {
            docs.into_iter().map(|(_, doc)| doc).collect()
        };
        let (warm, timed) = (strip(warm), strip(timed));
        let bytes: usize = timed.iter().map(|doc| doc.text.len()).sum();
        let warm = self.write_docs("warm.json", &warm)?;
        let timed = self.write_docs("timed.json", &timed)?;
        let mut runs: Vec<Vec<UnseenAnswer>> = engines.iter().map(|_| Vec::new()).collect();
        for _ in 0..self.rounds() {
            for (engine, runs) in engines.iter().zip(&mut runs) {
                let mut arguments = self.arguments("unseen", engine);
                arguments.extend(["--docs".to_owned(), timed.clone()]);
                if fresh != Fresh::StreamCold {
                    arguments.extend(["--warm".to_owned(), warm.clone()]);
                }
                let (mut child, mut out) = self.start(&arguments)?;
                runs.push(hear(&mut out).map_err(|e| format!("{engine} on unseen text: {e}"))?);
                child.wait()?;
            }
        }
        let total = |run: &UnseenAnswer| run.cpu_ns;
        let totals_of = |name: &str| -> Result<Vec<f64>> {
            let index = engines.iter().position(|engine| *engine == name);
            let index = index.ok_or_else(|| format!("{name} did not run"))?;
            Ok(runs[index].iter().map(total).collect())
        };
        let (baseline, ours) = (totals_of(baseline)?, totals_of(ours)?);
        let mut rows = Vec::new();
        let mut left_out = Vec::new();
        for (engine, runs) in engines.iter().zip(&runs) {
            if !runs.iter().all(|run| run.ids_equal) {
                let reason = "gives other ids on unseen text".to_owned();
                left_out.push(LeftOut {
                    engine: (*engine).to_owned(),
                    reason,
                });
                continue;
            }
            let mut us: Vec<f64> = runs
                .iter()
                .flat_map(|run| &run.ns)
                .map(|&ns| ns as f64 / 1e3)
                .collect();
            us.sort_unstable_by(f64::total_cmp);
            let totals: Vec<f64> = runs.iter().map(total).collect();
            let ratio = |a: &[f64], b: &[f64]| Spread::of(a.iter().zip(b).map(|(a, b)| a / b));
            rows.push(Unseen {
                engine: (*engine).to_owned(),
                fresh,
                p50_us: quantile(&us, 0.5),
                p99_us: quantile(&us, 0.99),
                mb_per_s: Spread::of(totals.iter().map(|ns| bytes as f64 * 1e3 / ns)),
                speedup_over_baseline: ratio(&baseline, &totals),
                ours_faster_by: ratio(&totals, &ours),
                page_faults: Spread::of(runs.iter().map(|run| run.page_faults as f64)).median,
            });
        }
        Ok((rows, left_out))
    }

    /// Process start to first ids, engine after engine, round after round.
    ///
    /// # Errors
    /// If a child cannot be started. An engine that cannot be loaded is left out.
    pub fn cold(
        &self,
        engines: &[&str],
        dropped_cache: bool,
    ) -> Result<(Vec<ColdStart>, Vec<LeftOut>)> {
        let mut runs: Vec<Vec<(f64, ColdAnswer)>> = engines.iter().map(|_| Vec::new()).collect();
        let mut left_out = Vec::new();
        for round in 0..self.rounds() {
            for (engine, runs) in engines.iter().zip(&mut runs) {
                if runs.len() < round {
                    continue;
                }
                if dropped_cache {
                    drop_page_cache()?;
                }
                let start = Instant::now();
                let (mut child, mut out) = self.start(&self.arguments("cold", engine))?;
                let answer = hear::<ColdAnswer>(&mut out);
                let ms = start.elapsed().as_secs_f64() * 1e3;
                child.wait()?;
                match answer {
                    Ok(answer) => runs.push((ms, answer)),
                    Err(_) => left_out.push(LeftOut {
                        engine: (*engine).to_owned(),
                        reason: "does not load here (see its message above)".to_owned(),
                    }),
                }
            }
        }
        let expected = runs
            .iter()
            .flatten()
            .map(|(_, a)| &a.ids)
            .find(|ids| !ids.is_empty())
            .cloned();
        let mut rows = Vec::new();
        for (engine, runs) in engines
            .iter()
            .zip(&runs)
            .filter(|(_, runs)| !runs.is_empty())
        {
            if *engine != "nothing"
                && runs
                    .iter()
                    .any(|(_, answer)| Some(&answer.ids) != expected.as_ref())
            {
                return Err(format!("{engine} gives other first ids: not the same work").into());
            }
            rows.push(ColdStart {
                engine: (*engine).to_owned(),
                dropped_cache,
                ms: Spread::of(runs.iter().map(|(ms, _)| *ms)),
                load_ms: Spread::of(runs.iter().map(|(_, answer)| answer.load_ns as f64 / 1e6)),
                peak_rss_mib: Spread::of(runs.iter().map(|(_, answer)| answer.peak_rss_mib)).median,
            });
        }
        Ok((rows, left_out))
    }

    /// Memory of so many processes that have each encoded `docs`.
    ///
    /// # Errors
    /// If a child fails.
    pub fn shared(&self, engine: &str, docs: &[Doc], counts: &[usize]) -> Result<Vec<Shared>> {
        let docs = self.write_docs("held.json", docs)?;
        let mut rows = Vec::new();
        for &processes in counts {
            let mut children = Vec::new();
            for _ in 0..processes {
                let mut arguments = self.arguments("hold", engine);
                arguments.extend(["--docs".to_owned(), docs.clone()]);
                let (child, mut out) = self.start(&arguments)?;
                hear::<String>(&mut out).map_err(|e| format!("{engine}: {e}"))?;
                children.push((child, out));
            }
            let (mut pss, mut hugetlb) = (0.0, 0.0);
            for (child, _) in &children {
                let rollup = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", child.id()))?;
                pss += mib(&rollup, "Pss").ok_or("the kernel does not say Pss")?;
                // All of them share the same pages, if any.
                hugetlb += mib(&rollup, "Private_Hugetlb").unwrap_or(0.0)
                    + mib(&rollup, "Shared_Hugetlb").unwrap_or(0.0) / processes as f64;
            }
            for (mut child, _) in children {
                drop(child.stdin.take());
                child.wait()?;
            }
            rows.push(Shared {
                engine: engine.to_owned(),
                processes,
                pss_mib: pss,
                hugetlb_mib: hugetlb,
            });
        }
        Ok(rows)
    }

    /// Instructions per token, for a document seen before and for documents not seen before.
    ///
    /// # Errors
    /// If documents cannot be written.
    pub fn instructions(
        &self,
        engines: &[&str],
        repeated: &Doc,
        docs: &[Doc],
    ) -> Result<Vec<Instructions>> {
        let times = if self.lab.quick { 50 } else { 200 };
        let half = docs.len() / 2;
        let tokens = |docs: &[Doc]| docs.iter().map(|doc| doc.ids.len()).sum::<usize>() as f64;
        let one = self.write_docs("one.json", std::slice::from_ref(repeated))?;
        let warm = self.write_docs("count-warm.json", &docs[..half])?;
        let fresh = self.write_docs("count-fresh.json", &docs[half..])?;
        let measure = |engine: &str| -> Result<(f64, f64)> {
            let count = |warm: &str, docs: &str, times| self.count(engine, warm, docs, times);
            let repeated_tokens = repeated.ids.len() as f64 * times as f64;
            let per_repeated =
                (count(&one, &one, 2 * times)? - count(&one, &one, times)?) / repeated_tokens;
            let per_fresh =
                (count(&warm, &fresh, 1)? - count(&warm, &fresh, 0)?) / tokens(&docs[half..]);
            Ok((per_repeated, per_fresh))
        };
        let row = |engine: &&str| {
            let (repeated, unseen, problem) = match measure(engine) {
                Ok((repeated, unseen)) => (Some(repeated), Some(unseen), None),
                Err(error) => (None, None, Some(error.to_string())),
            };
            Instructions {
                engine: (*engine).to_owned(),
                repeated,
                unseen,
                problem,
            }
        };
        Ok(engines.iter().map(row).collect())
    }

    /// All instructions of a child that loads, warms up and encodes.
    fn count(&self, engine: &str, warm: &str, docs: &str, times: usize) -> Result<f64> {
        let out = self.lab.fixture.dir().join("valgrind.txt");
        let status = Command::new("valgrind")
            .env(UNDER_VALGRIND, "1")
            .args([
                "--tool=cachegrind",
                "--cache-sim=no",
                "--cachegrind-out-file=/dev/null",
            ])
            .arg(format!("--log-file={}", out.display()))
            .arg(&self.program)
            .args(self.arguments("count", engine))
            .args([
                "--warm",
                warm,
                "--docs",
                docs,
                "--times",
                &times.to_string(),
            ])
            .stdout(Stdio::null())
            .status()
            .map_err(|e| format!("valgrind cannot be started: {e}"))?;
        let log = std::fs::read_to_string(&out)?;
        if !status.success() {
            let cause = ["unrecognised instruction", "SIGILL", "Illegal"];
            let line = log
                .lines()
                .find(|line| cause.iter().any(|c| line.contains(c)));
            return Err(format!(
                "valgrind ended with {status}: {}",
                line.unwrap_or("no illegal instruction reported")
            )
            .into());
        }
        let line = log
            .lines()
            .find(|line| line.contains("refs:"))
            .ok_or("valgrind printed no count")?;
        let digits: String = line
            .rsplit(':')
            .next()
            .unwrap_or("")
            .chars()
            .filter(char::is_ascii_digit)
            .collect();
        Ok(digits.parse()?)
    }
}

/// Writes dirty pages back and drops the clean ones of the whole machine.
fn drop_page_cache() -> Result<()> {
    // SAFETY: takes nothing and returns nothing.
    unsafe { libc::sync() };
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .open("/proc/sys/vm/drop_caches")?;
    Ok(file.write_all(b"1")?)
}

/// Whether [`Processes::cold`] can drop the page cache.
#[must_use]
pub fn may_drop_page_cache() -> bool {
    drop_page_cache().is_ok()
}

//! The threads of a [`BatchEncoder`](super::BatchEncoder), which owns them: there is no global pool.
//!
//! A child process has none of its parent's threads, so a pool is used only by the process that made it; after
//! a fork the child makes a new one.

#[cfg(feature = "rayon")]
#[derive(Debug)]
pub(super) struct Pool {
    threads: rayon::ThreadPool,
    /// The process that the threads are of.
    process: u32,
}

#[cfg(feature = "rayon")]
impl Pool {
    /// `None` if the threads cannot be had.
    fn new(threads: usize) -> Option<Self> {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let threads = builder
            .thread_name(|index| format!("trie-batch-{index}"))
            .build()
            .ok()?;
        Some(Self {
            threads,
            process: std::process::id(),
        })
    }
}

/// Runs `work` for every one of `workers`, on threads if there are several workers and threads can be had, else
/// one after the other.
#[cfg(feature = "rayon")]
pub(super) fn run<W: Send>(
    pool: &mut Option<Pool>,
    workers: &mut [W],
    work: impl Fn(&mut W) + Send + Sync,
) {
    use rayon::prelude::*;

    if workers.len() > 1 {
        if let Some(stale) = pool.take_if(|pool| pool.process != std::process::id()) {
            // Ending it would wait for threads that this process does not have.
            std::mem::forget(stale);
        }
        if pool.is_none() {
            *pool = Pool::new(workers.len());
        }
        if let Some(pool) = pool {
            let threads = &pool.threads;
            threads.install(|| workers.par_iter_mut().with_max_len(1).for_each(work));
            return;
        }
    }
    workers.iter_mut().for_each(work);
}

#[cfg(not(feature = "rayon"))]
#[derive(Debug)]
pub(super) enum Pool {}

/// Runs `work` for every one of `workers`, one after the other.
#[cfg(not(feature = "rayon"))]
pub(super) fn run<W: Send>(
    _: &mut Option<Pool>,
    workers: &mut [W],
    work: impl Fn(&mut W) + Send + Sync,
) {
    workers.iter_mut().for_each(work);
}

//! Work without the interpreter: every job goes through [`detached`], which listens to Ctrl-C meanwhile.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use evenkeel_jobs::Observer;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::Failure;

/// How often the waiting thread looks for signals. Short enough for a person at the keyboard.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Watches a job, and ends it once it was interrupted.
#[derive(Debug)]
pub(crate) struct Watcher<'a> {
    interrupted: &'a AtomicBool,
}

impl Observer for Watcher<'_> {
    fn reached(&mut self, _done: u64) -> ControlFlow<()> {
        // Relaxed: nothing is read on the strength of it, and a block more or less does not matter.
        if self.interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Does `work` on the threads of the package while the interpreter runs other Python threads.
///
/// Python delivers signals to its main thread only, so the calling thread waits and listens, and `work` runs on
/// another one. After Ctrl-C its [`Watcher`] ends the job, and what the signal handler raised is raised once it has.
pub(crate) fn detached<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut Watcher<'_>) -> Result<R, Failure> + Send,
) -> PyResult<R> {
    let pool = pool()?;
    let interrupted = AtomicBool::new(false);
    py.detach(|| {
        let mut raised = None;
        let (sender, receiver) = channel();
        // A scope: the work borrows the caller's arrays, so that it must end before this returns.
        let done = pool.in_place_scope(|scope| {
            scope.spawn(|_| {
                // Nobody waits for the result if the thread that waits was torn down with the interpreter.
                drop(sender.send(work(&mut Watcher { interrupted: &interrupted })));
            });
            loop {
                match receiver.recv_timeout(SIGNAL_INTERVAL) {
                    Ok(done) => return Some(done),
                    // The work panicked; the scope passes it on.
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) => {
                        #[expect(
                            clippy::redundant_closure_for_method_calls,
                            reason = "the method itself is not general enough in its lifetime"
                        )]
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            interrupted.store(true, Ordering::Relaxed);
                            raised = Some(error);
                        }
                    }
                }
            }
        });
        match (raised, done) {
            (Some(raised), _) => Err(Failure::Interrupted(raised)),
            (None, Some(done)) => done,
            (None, None) => Err(Failure::Setting("the work ended without a result".into())),
        }
    })
    .map_err(PyErr::from)
}

/// Most threads that are started. More than cores make nothing faster, and starting thousands takes longer than most jobs.
const MOST_THREADS: usize = 512;

/// The threads, and the process they belong to.
static POOL: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);

/// The package's threads, as many as cores or as `RAYON_NUM_THREADS` says.
///
/// A forked child (multiprocessing) inherits the pool but none of its threads and would wait for them forever, so each
/// process makes its own; the inherited one is left alone, a few hundred bytes a fork.
fn pool() -> Result<&'static ThreadPool, Failure> {
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|asked| asked.parse().ok());
    if let Some(asked) = asked.filter(|asked: &usize| *asked > MOST_THREADS) {
        return Err(Failure::Setting(format!(
            "RAYON_NUM_THREADS is {asked}; use 1 to {MOST_THREADS}, or leave it out for all cores"
        )));
    }
    let failed = |reason: &str| Failure::Setting(format!("could not start threads: {reason}"));
    let mut current = POOL.lock().map_err(|_| failed("an earlier call failed"))?;
    let process = std::process::id();
    match *current {
        Some((owner, pool)) if owner == process => Ok(pool),
        _ => {
            let built = ThreadPoolBuilder::new().thread_name(|index| format!("evenkeel-{index}"));
            let built = built.build().map_err(|error| failed(&error.to_string()))?;
            let pool: &'static ThreadPool = Box::leak(Box::new(built));
            *current = Some((process, pool));
            Ok(pool)
        }
    }
}

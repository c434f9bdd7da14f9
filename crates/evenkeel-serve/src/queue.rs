//! Checks run on threads of their own, and only so many wait: a server that is full says so at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::error::ServeError;
use crate::problem::Problem;

/// The bounded queue in front of the threads that check batches.
///
/// Never on the threads that talk to callers: a check takes milliseconds of arithmetic, and meanwhile nobody would be heard.
#[derive(Debug, Clone)]
pub(crate) struct CheckQueue {
    work: Sender<Work>,
    places: Arc<Semaphore>,
    most: usize,
    /// Requests for which there was no place.
    pub refused: Arc<AtomicU64>,
}

/// What a thread does.
type Work = Box<dyn FnOnce() + Send>;

/// A place in the queue, held until the answer is known.
#[derive(Debug)]
pub(crate) struct Place {
    _permit: OwnedSemaphorePermit,
}

impl CheckQueue {
    /// A queue of `most` places in front of `threads` threads.
    pub(crate) fn start(threads: usize, most: usize) -> Result<Self, ServeError> {
        let (work, waiting) = channel::<Work>();
        let waiting = Arc::new(Mutex::new(waiting));
        for number in 0..threads.max(1) {
            let waiting = Arc::clone(&waiting);
            // Threads of their own, not rayon's: one of rayon's that waits for its share of a loop takes the next batch meanwhile, and
            // may then wait for a lock that it holds itself.
            std::thread::Builder::new()
                .name(format!("check-{number}"))
                .spawn(move || work_until_closed(&waiting))
                .map_err(|error| ServeError::Threads { reason: error.to_string() })?;
        }
        Ok(Self { work, places: Arc::new(Semaphore::new(most)), most, refused: Arc::default() })
    }

    /// An error if there is no place now: asked before a body is read, so that none is read in vain.
    ///
    /// No place is taken yet: bodies that trickle in would hold all of them.
    pub(crate) fn require_room(&self) -> Result<(), Problem> {
        match self.places.available_permits() {
            0 => Err(self.full()),
            _ => Ok(()),
        }
    }

    /// A place, if there is one.
    pub(crate) fn place(&self) -> Result<Place, Problem> {
        let permit = Arc::clone(&self.places).try_acquire_owned();
        permit.map(|permit| Place { _permit: permit }).map_err(|_| self.full())
    }

    fn full(&self) -> Problem {
        self.refused.fetch_add(1, Ordering::Relaxed);
        Problem::busy(format!(
            "{} batches wait already, which is all that this server lets wait; send this one again later with the same key",
            self.most
        ))
    }

    /// Places that are taken.
    pub(crate) fn depth(&self) -> usize {
        self.most - self.places.available_permits()
    }

    /// Does the work on one of the threads, and keeps the place until it is done: also where the caller has gone.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        place: Place,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (tell, told) = oneshot::channel();
        let doing: Work = Box::new(move || {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            drop(place);
            let done = done.unwrap_or_else(|_| Err(Problem::system(&"a check panicked")));
            // The caller may have hung up; what was stored is stored, and a repeated key will say so.
            let _ = tell.send(done);
        });
        // The threads live as long as the queue.
        let _ = self.work.send(doing);
        told.await.unwrap_or_else(|_| Err(Problem::system(&"a check ended without an answer")))
    }
}

/// Does one piece of work after the other; ends with the queue.
fn work_until_closed(waiting: &Mutex<Receiver<Work>>) {
    loop {
        // The lock is held while waiting, by one thread, and given back before the work.
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match next {
            Ok(work) => work(),
            Err(_) => return,
        }
    }
}

//! Who watches a job, and may stop it.

use std::ops::ControlFlow;

use crate::error::{JobError, Result};

/// What a job is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Rows of the target data; counted in rows.
    Reading,
    /// Weights; counted in steps.
    Learning,
    /// Sets; counted in rows.
    Predicting,
    /// Labeled rows of one calibration; counted in rows.
    Evaluating,
    /// Labeled rows of a comparison; counted in rows.
    Testing,
}

impl Stage {
    /// A word for a progress bar.
    pub fn doing(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Learning => "learning weights",
            Self::Predicting => "predicting",
            Self::Evaluating => "evaluating",
            Self::Testing => "testing",
        }
    }
}

/// Hears of progress; a stage begins, reaches rows or steps, and ends.
pub trait Observer {
    /// A stage begins; `total` rows or steps are ahead, if that is known.
    fn begin(&mut self, stage: Stage, total: Option<u64>) {
        // Defaults that do nothing: an observer writes only what it wants to hear.
        let _ = (stage, total);
    }

    /// So many rows or steps of the stage are done. `Break` ends the job with [`JobError::Stopped`].
    fn reached(&mut self, done: u64) -> ControlFlow<()> {
        let _ = done;
        ControlFlow::Continue(())
    }

    /// The stage is over.
    fn end(&mut self) {}
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}

/// An error if the observer asks the job to end.
pub(crate) fn go_on(observer: &mut dyn Observer, done: u64) -> Result<()> {
    match observer.reached(done) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(JobError::Stopped),
    }
}

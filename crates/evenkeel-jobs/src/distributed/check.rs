//! A check whose target rows lie elsewhere.

use evenkeel::check::{Check, CheckEnded};
use evenkeel::score::Labels;

use super::states_of;
use crate::check::{CheckJob, Checked, assembled};
use crate::error::{JobError, Result};
use crate::labeled::LabeledData;

/// A check in the making, on the driver. Its examples are left out: no row lies here.
#[derive(Debug)]
pub struct DistributedCheck {
    check: Check,
    job: CheckJob,
    scores: Vec<f64>,
    labels: Labels,
}

/// What a pass leads to.
#[derive(Debug)]
pub enum CheckPassEnded {
    /// All rows are needed once more, with the plan that the check has now.
    Again(Box<DistributedCheck>),
    /// The answer.
    Done(Box<Checked>),
}

impl DistributedCheck {
    /// Takes the calibration data. The job's labels of target rows are not used, nor another number of permutations than that of
    /// `auto`, whose answer is part of a check. `rows` is the number of all target rows, where it is known.
    ///
    /// # Errors
    /// If the settings make no sense.
    pub fn begin(job: CheckJob, labeled: &LabeledData<'_>, rows: Option<u64>) -> Result<Self> {
        if job.law_of.is_some() {
            return Err(JobError::NotCheckable {
                input: "calibration".to_owned(),
                why: "its score is plan, and what would be recommended needs the target rows in one process; check there, or a sample",
            });
        }
        let scores = labeled.scores(&job.score)?;
        let check = labeled.begin_check(&job.score, &job.settings)?;
        let check = match rows {
            Some(rows) => check.expecting(rows),
            None => check,
        };
        Ok(Self { check, job, scores, labels: labeled.labels().clone() })
    }

    /// Number of rows merged in this pass.
    pub fn rows(&self) -> u64 {
        self.check.rows()
    }

    /// What workers need for this pass.
    ///
    /// # Errors
    /// If it cannot be written, which does not happen for a check that was begun.
    pub fn plan(&self) -> Result<Vec<u8>> {
        Ok(self.check.plan()?)
    }

    /// An error unless this state, or every one of a bundle, can be merged.
    ///
    /// # Errors
    /// As [`DistributedFit::require_new`](super::DistributedFit::require_new).
    pub fn require_new(&self, state: &[u8]) -> Result<()> {
        states_of(state)?.into_iter().try_for_each(|state| Ok(self.check.require_new(state)?))
    }

    /// Takes what parts made of their rows, in any order.
    ///
    /// # Errors
    /// As [`require_new`](Self::require_new).
    pub fn merge(mut self, state: &[u8]) -> Result<Self> {
        for state in states_of(state)? {
            self.check = self.check.absorb(state)?;
        }
        Ok(self)
    }

    /// Ends a pass over the target rows.
    ///
    /// # Errors
    /// If there were no rows, or not those of the pass before.
    pub fn end_pass(self) -> Result<CheckPassEnded> {
        let Self { check, job, scores, labels } = self;
        let (threshold, classes) = (check.threshold(), check.classes());
        Ok(match check.end_pass()? {
            CheckEnded::Again(check) => {
                CheckPassEnded::Again(Box::new(Self { check, job, scores, labels }))
            }
            CheckEnded::Done(found) => {
                let given = (scores, labels.as_slice(), classes);
                CheckPassEnded::Done(Box::new(assembled(&job, threshold, *found, given)?))
            }
        })
    }
}

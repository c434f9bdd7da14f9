//! A calibration whose target rows lie elsewhere.

use std::ops::ControlFlow;

use evenkeel::calibration::Reference;
use evenkeel::calibrator::{Ended, Fit, Fitted, Ready, ShiftCalibrator};
use evenkeel::evaluation::ClassCoverage;

use super::states_of;
use crate::calibrate::Calibrated;
use crate::check::split_coverage_by_class;
use crate::error::{JobError, Result};
use crate::labeled::LabeledData;

/// A calibration in the making, on the driver.
#[derive(Debug)]
pub struct DistributedFit {
    fit: Fit,
    beside: Beside,
}

/// What the calibration data alone give.
#[derive(Debug)]
struct Beside {
    reference: Reference,
    per_class: Vec<ClassCoverage>,
}

/// What a pass leads to.
#[derive(Debug)]
pub enum FitPassEnded {
    /// All rows are needed once more, with the plan that the fit has now.
    Again(Box<DistributedFit>),
    /// No more rows are needed.
    Done(Box<ReadyFit>),
}

/// A fit that has seen all it needs.
#[derive(Debug)]
pub struct ReadyFit {
    ready: Ready,
    beside: Beside,
}

impl DistributedFit {
    /// Takes the calibration data. `rows` is the number of all target rows, where it is known: states are smaller then.
    ///
    /// # Errors
    /// If the method lacks something it needs.
    pub fn begin(
        calibrator: &ShiftCalibrator,
        labeled: &LabeledData<'_>,
        rows: Option<u64>,
    ) -> Result<Self> {
        let fit = labeled.begin(calibrator)?;
        let fit = match rows {
            Some(rows) => fit.expecting(rows),
            None => fit,
        };
        let reference = labeled.reference(calibrator.seed)?;
        let per_class = split_coverage_by_class(labeled, &calibrator.score, calibrator.alpha)?;
        Ok(Self { fit, beside: Beside { reference, per_class } })
    }

    /// Number of rows merged in this pass.
    pub fn rows(&self) -> u64 {
        self.fit.rows()
    }

    /// What workers need for this pass.
    ///
    /// # Errors
    /// If it cannot be written, which does not happen for a fit that was begun.
    pub fn plan(&self) -> Result<Vec<u8>> {
        Ok(self.fit.plan()?)
    }

    /// An error unless this state, or every one of a bundle, can be merged. After it [`merge`](Self::merge) fails for states that
    /// were made up only.
    ///
    /// # Errors
    /// If it is damaged, belongs to another job or pass, or holds a part that was merged already.
    pub fn require_new(&self, state: &[u8]) -> Result<()> {
        states_of(state)?.into_iter().try_for_each(|state| Ok(self.fit.require_new(state)?))
    }

    /// Takes what parts made of their rows, in any order.
    ///
    /// # Errors
    /// As [`require_new`](Self::require_new).
    pub fn merge(mut self, state: &[u8]) -> Result<Self> {
        for state in states_of(state)? {
            self.fit = self.fit.absorb(state)?;
        }
        Ok(self)
    }

    /// Ends a pass over the target rows.
    ///
    /// # Errors
    /// If there were no rows, or not those of the pass before.
    pub fn end_pass(self) -> Result<FitPassEnded> {
        let beside = self.beside;
        Ok(match self.fit.end_pass()? {
            Ended::Again(fit) => FitPassEnded::Again(Box::new(Self { fit, beside })),
            Ended::Done(ready) => FitPassEnded::Done(Box::new(ReadyFit { ready, beside })),
        })
    }
}

impl ReadyFit {
    /// The calibration; `go_on` is asked after every recorded step of an optimisation.
    ///
    /// # Errors
    /// If the method cannot work with what it has seen, or it was not to go on.
    pub fn finish(self, go_on: &mut dyn FnMut(u64) -> ControlFlow<()>) -> Result<Calibrated> {
        let mut stopped = false;
        let fitted = self.ready.finish(&mut |point| {
            let next = go_on(point.step as u64);
            stopped |= next.is_break();
            next
        });
        if stopped {
            return Err(JobError::Stopped);
        }
        let Fitted { calibration, order, .. } = fitted?;
        let Beside { reference, per_class } = self.beside;
        let calibration = calibration.with_reference(reference)?;
        // No clock ran: where the time went is the engine's to say.
        Ok(Calibrated { calibration, order, seconds: 0.0, per_class })
    }
}

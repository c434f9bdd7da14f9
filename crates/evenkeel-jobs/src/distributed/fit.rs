//! A calibration whose target rows lie elsewhere.

use std::ops::ControlFlow;

use evenkeel::calibration::Reference;
use evenkeel::calibrator::{Ended, Fit, Fitted, Ready, ShiftCalibrator};
use evenkeel::evaluation::ClassCoverage;
use evenkeel::per_group::{PerClassCalibration, SmallGroups};

use super::bundle::require_parts_once;
use super::per_class::{ClassesEnded, ClassesFit};
use super::per_group::{GroupsEnded, GroupsFit, ReadyGroups};
use super::states_of;
use crate::calibrate::Calibrated;
use crate::check::split_coverage_by_class;
use crate::error::{JobError, Result};
use crate::grouped::{AnyCalibration, GroupColumn, GroupJob};
use crate::labeled::LabeledData;

/// A calibration in the making, on the driver.
#[derive(Debug)]
pub struct DistributedFit(Kind);

/// Whose coverage is to hold.
#[derive(Debug)]
enum Kind {
    /// That of all rows.
    One(Box<OneFit>),
    /// That of each class.
    PerClass(Box<ClassesFit>),
    /// That of each group.
    PerGroup(Box<GroupsFit>),
}

#[derive(Debug)]
struct OneFit {
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
pub struct ReadyFit(ReadyKind);

#[derive(Debug)]
enum ReadyKind {
    One(Box<(Ready, Beside)>),
    PerClass(Box<PerClassCalibration>),
    PerGroup(Box<ReadyGroups>),
}

/// What a fit came to.
#[derive(Debug)]
pub enum FinishedFit {
    /// One threshold for all rows, or one for each.
    One(Box<Calibrated>),
    /// Thresholds for each class or group.
    Grouped(Box<AnyCalibration>),
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
        let fit = expecting(labeled.begin(calibrator)?, rows);
        let reference = labeled.reference(calibrator.seed)?;
        let per_class = split_coverage_by_class(labeled, &calibrator.score, calibrator.alpha)?;
        let beside = Beside { reference, per_class };
        Ok(Self(Kind::One(Box::new(OneFit { fit, beside }))))
    }

    /// The same with a threshold for each class. Methods that fit a label law read the target rows once or twice more.
    ///
    /// # Errors
    /// As [`begin`](Self::begin), and if the method has no thresholds for each class.
    pub fn begin_per_class(
        calibrator: &ShiftCalibrator,
        labeled: &LabeledData<'_>,
        small: SmallGroups,
        rows: Option<u64>,
    ) -> Result<Self> {
        let fit = ClassesFit::begin(calibrator, labeled, small, rows)?;
        Ok(Self(Kind::PerClass(Box::new(fit))))
    }

    /// The same with a calibration for each group; every target row comes with its group. One pass more, over the groups, says how
    /// many rows each has.
    ///
    /// # Errors
    /// As [`begin`](Self::begin), and if there is not a group for each calibration row.
    pub fn begin_per_group(
        calibrator: &ShiftCalibrator,
        job: GroupJob,
        (labeled, groups): (&LabeledData<'_>, &mut dyn GroupColumn),
        rows: Option<u64>,
    ) -> Result<Self> {
        let fit = GroupsFit::begin(calibrator, job, (labeled, groups), rows)?;
        Ok(Self(Kind::PerGroup(Box::new(fit))))
    }

    /// Number of rows merged in this pass.
    pub fn rows(&self) -> u64 {
        match &self.0 {
            Kind::One(one) => one.fit.rows(),
            Kind::PerClass(fit) => fit.rows(),
            Kind::PerGroup(fit) => fit.rows(),
        }
    }

    /// What workers need for this pass.
    ///
    /// # Errors
    /// If it cannot be written, which does not happen for a fit that was begun.
    pub fn plan(&self) -> Result<Vec<u8>> {
        match &self.0 {
            Kind::One(one) => Ok(one.fit.plan()?),
            Kind::PerClass(fit) => fit.plan(),
            Kind::PerGroup(fit) => Ok(fit.plan().to_vec()),
        }
    }

    /// Whether this pass looks at keys and groups only.
    pub fn reads_groups_only(&self) -> bool {
        matches!(&self.0, Kind::PerGroup(fit) if fit.is_counting())
    }

    /// An error unless this state, or every one of a bundle, can be merged. After it [`merge`](Self::merge) fails for states that
    /// were made up only.
    ///
    /// # Errors
    /// If it is damaged, belongs to another job or pass, or holds a part that was merged already.
    pub fn require_new(&self, state: &[u8]) -> Result<()> {
        let states = states_of(state)?;
        states.iter().try_for_each(|state| match &self.0 {
            Kind::One(one) => Ok(one.fit.require_new(state)?),
            Kind::PerClass(fit) => fit.require_new(state),
            Kind::PerGroup(fit) => fit.require_new(state),
        })?;
        require_parts_once(&states)
    }

    /// Takes what parts made of their rows, in any order.
    ///
    /// # Errors
    /// As [`require_new`](Self::require_new).
    pub fn merge(mut self, state: &[u8]) -> Result<Self> {
        for state in states_of(state)? {
            self.0 = match self.0 {
                Kind::One(one) => {
                    let OneFit { fit, beside } = *one;
                    Kind::One(Box::new(OneFit { fit: fit.absorb(state)?, beside }))
                }
                Kind::PerClass(fit) => Kind::PerClass(Box::new(fit.absorb(state)?)),
                Kind::PerGroup(fit) => Kind::PerGroup(Box::new(fit.absorb(state)?)),
            };
        }
        Ok(self)
    }

    /// Ends a pass over the target rows.
    ///
    /// # Errors
    /// If there were no rows, or not those of the pass before.
    pub fn end_pass(self) -> Result<FitPassEnded> {
        let again = |kind: Kind| FitPassEnded::Again(Box::new(Self(kind)));
        let done = |ready: ReadyKind| FitPassEnded::Done(Box::new(ReadyFit(ready)));
        Ok(match self.0 {
            Kind::One(one) => {
                let OneFit { fit, beside } = *one;
                match fit.end_pass()? {
                    Ended::Again(fit) => again(Kind::One(Box::new(OneFit { fit, beside }))),
                    Ended::Done(ready) => done(ReadyKind::One(Box::new((ready, beside)))),
                }
            }
            Kind::PerClass(fit) => match fit.end_pass()? {
                ClassesEnded::Again(fit) => again(Kind::PerClass(fit)),
                ClassesEnded::Done(made) => done(ReadyKind::PerClass(made)),
            },
            Kind::PerGroup(fit) => match fit.end_pass()? {
                GroupsEnded::Again(fit) => again(Kind::PerGroup(fit)),
                GroupsEnded::Done(ready) => done(ReadyKind::PerGroup(ready)),
            },
        })
    }
}

/// Tells a fit how many rows will come, where that is known.
pub(super) fn expecting(fit: Fit, rows: Option<u64>) -> Fit {
    match rows {
        Some(rows) => fit.expecting(rows),
        None => fit,
    }
}

impl ReadyFit {
    /// The calibration; `go_on` is asked after every recorded step of an optimisation.
    ///
    /// # Errors
    /// If the method cannot work with what it has seen, or it was not to go on.
    pub fn finish(self, go_on: &mut dyn FnMut(u64) -> ControlFlow<()>) -> Result<FinishedFit> {
        let (ready, beside) = match self.0 {
            ReadyKind::One(one) => *one,
            ReadyKind::PerClass(made) => {
                return Ok(FinishedFit::Grouped(Box::new(AnyCalibration::PerClass(*made))));
            }
            ReadyKind::PerGroup(ready) => {
                let made = ready.finish(go_on)?;
                return Ok(FinishedFit::Grouped(Box::new(AnyCalibration::PerGroup(made))));
            }
        };
        let mut stopped = false;
        let fitted = ready.finish(&mut |point| {
            let next = go_on(point.step as u64);
            stopped |= next.is_break();
            next
        });
        if stopped {
            return Err(JobError::Stopped);
        }
        let Fitted { calibration, order, .. } = fitted?;
        let Beside { reference, per_class } = beside;
        let calibration = calibration.with_reference(reference)?;
        // No clock ran: where the time went is the engine's to say.
        let made = Calibrated { calibration, order, seconds: 0.0, per_class };
        Ok(FinishedFit::One(Box::new(made)))
    }
}

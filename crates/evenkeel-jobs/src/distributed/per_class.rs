//! A threshold for each class, of target rows that lie elsewhere: the passes of the method, then those of the laws of the classes.

use std::ops::ControlFlow;

use evenkeel::calibration::Reference;
use evenkeel::calibrator::{Ended, Fit, ShiftCalibrator};
use evenkeel::per_group::{
    ClassFit, ClassFitOf, ClassRows, ClassRowsEnded, PerClassCalibration, SmallGroups, per_class,
    require_per_class,
};
use evenkeel::score::Labels;
use evenkeel::side_inputs::TargetLabels;

use super::fit::expecting;
use crate::error::Result;
use crate::labeled::LabeledData;

/// A fit on the driver.
#[derive(Debug)]
pub(super) struct ClassesFit {
    stage: Stage,
    kept: Kept,
}

#[derive(Debug)]
enum Stage {
    /// The method is fitted.
    Method(Box<Fit>),
    /// The target rows are read for the laws of the classes.
    Laws(Box<ClassRows>),
}

/// What thresholds are made of beside the rows.
#[derive(Debug)]
struct Kept {
    labels: Labels,
    weights: Option<Vec<f64>>,
    target_labels: Option<TargetLabels>,
    small: SmallGroups,
    reference: Reference,
    rows: Option<u64>,
}

/// What a pass leads to.
pub(super) enum ClassesEnded {
    Again(Box<ClassesFit>),
    Done(Box<PerClassCalibration>),
}

impl ClassesFit {
    pub(super) fn begin(
        calibrator: &ShiftCalibrator,
        labeled: &LabeledData<'_>,
        small: SmallGroups,
        rows: Option<u64>,
    ) -> Result<Self> {
        // One machine finds this out after the fit; here that would cost a pass over a cluster.
        require_per_class(calibrator.method.name())?;
        let side = labeled.side_inputs();
        let kept = Kept {
            labels: labeled.labels().clone(),
            weights: side.weights.map(<[f64]>::to_vec),
            target_labels: side.labels.cloned(),
            small,
            reference: labeled.reference(calibrator.seed)?,
            rows,
        };
        let fit = expecting(labeled.begin(calibrator)?, rows);
        Ok(Self { stage: Stage::Method(Box::new(fit)), kept })
    }

    pub(super) fn rows(&self) -> u64 {
        match &self.stage {
            Stage::Method(fit) => fit.rows(),
            Stage::Laws(rows) => rows.rows(),
        }
    }

    pub(super) fn plan(&self) -> Result<Vec<u8>> {
        Ok(match &self.stage {
            Stage::Method(fit) => fit.plan()?,
            Stage::Laws(rows) => rows.plan()?,
        })
    }

    pub(super) fn require_new(&self, state: &[u8]) -> Result<()> {
        Ok(match &self.stage {
            Stage::Method(fit) => fit.require_new(state)?,
            Stage::Laws(rows) => rows.require_new(state)?,
        })
    }

    pub(super) fn absorb(self, state: &[u8]) -> Result<Self> {
        let stage = match self.stage {
            Stage::Method(fit) => Stage::Method(Box::new(fit.absorb(state)?)),
            Stage::Laws(rows) => Stage::Laws(Box::new(rows.absorb(state)?)),
        };
        Ok(Self { stage, ..self })
    }

    pub(super) fn end_pass(self) -> Result<ClassesEnded> {
        let Self { stage, kept } = self;
        let next = match stage {
            Stage::Method(fit) => match fit.end_pass()? {
                Ended::Again(fit) => Stage::Method(Box::new(fit)),
                Ended::Done(ready) => {
                    // Methods that optimise have no thresholds for each class: nothing here takes long.
                    let fitted = ready.finish(&mut |_| ControlFlow::Continue(()))?;
                    let of = ClassFitOf {
                        labels: &kept.labels,
                        weights: kept.weights.as_deref(),
                        target_labels: kept.target_labels.as_ref(),
                        small: kept.small,
                    };
                    match per_class(fitted, &of)? {
                        ClassFit::Done(made) => return kept.done(*made),
                        ClassFit::Rows(rows) => Stage::Laws(Box::new(match kept.rows {
                            Some(expected) => rows.expecting(expected),
                            None => *rows,
                        })),
                    }
                }
            },
            Stage::Laws(rows) => match rows.end_pass()? {
                ClassRowsEnded::Again(rows) => Stage::Laws(rows),
                ClassRowsEnded::Done(made) => return kept.done(*made),
            },
        };
        Ok(ClassesEnded::Again(Box::new(Self { stage: next, kept })))
    }
}

impl Kept {
    fn done(self, made: PerClassCalibration) -> Result<ClassesEnded> {
        Ok(ClassesEnded::Done(Box::new(made.with_reference(self.reference)?)))
    }
}

//! A set of labels for every row, from a stored calibration.

use evenkeel::calibration::{Calibration, ThresholdsDifferBy};
use evenkeel::conformal::LabelSets;
use evenkeel::error::{Error, Input, PointSet, SideInput, User};
use evenkeel::level::Miscoverage;
use evenkeel::rows::{Real, Rows};
use evenkeel::side_inputs::SideInputs;
use evenkeel::threshold::Threshold;
use rayon::prelude::*;

use crate::any_rows::with_rows;
use crate::blocks::{each_block, shares};
use crate::documents::PredictDocument;
use crate::error::{JobError, Result};
use crate::observer::{Observer, Stage};
use crate::source::{Block, RowSource};

/// What is known of the sets once all are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// Number of points, each with one set.
    pub n: u64,
    /// Miscoverage rate they were made for.
    pub alpha: Miscoverage,
    /// The threshold of all rows; none where each row or label has its own.
    pub threshold: Option<Threshold>,
    /// Whether every label, or every point, has its own.
    pub thresholds_differ_by: ThresholdsDifferBy,
    /// Labels in all sets.
    pub labels: u64,
    /// Sets without a label.
    pub empty: u64,
    /// Sets with every label.
    pub full: u64,
}

impl Predicted {
    /// Counts these sets too.
    pub(crate) fn count(&mut self, sets: &LabelSets) {
        let sizes = sets.sizes();
        self.n += sets.rows() as u64;
        self.labels += sizes.labels;
        self.empty += sizes.empty;
        self.full += sizes.full;
    }

    /// What people see of it.
    pub fn document(&self) -> PredictDocument {
        PredictDocument::new(self)
    }
}

/// An error if features or ratios are given to a calibration that has no use for them.
///
/// # Errors
/// If they are.
pub fn refuse_unused(calibration: &Calibration, features: bool, ratios: bool) -> Result<()> {
    let unused = [
        (SideInput::Features, features && !calibration.needs_features()),
        (SideInput::Ratios, ratios && !calibration.needs_ratios()),
    ];
    match unused.into_iter().find(|(_, unused)| *unused) {
        None => Ok(()),
        Some((side, _)) => Err(JobError::Core(Error::NotUsed {
            what: Input::Side(side, PointSet::Predicted),
            by: User::Calibration(calibration.provenance().method.as_str()),
            owners: Vec::new(),
        })),
    }
}

/// Sets of all rows of a source, handed to `sink` block by block, in order. Without `alpha`, the calibration's is taken.
///
/// # Errors
/// If the calibration needs something the rows do not have, rows are not probabilities, `sink` fails, or the observer
/// stops it.
pub fn predict(
    calibration: &Calibration,
    alpha: Option<Miscoverage>,
    source: &mut dyn RowSource,
    sink: &mut dyn FnMut(&LabelSets) -> Result<()>,
    observer: &mut dyn Observer,
) -> Result<Predicted> {
    let classes = calibration.provenance().classes;
    let mut predicted = Predicted {
        n: 0,
        alpha: alpha.unwrap_or(calibration.provenance().alpha),
        threshold: calibration.threshold(alpha),
        thresholds_differ_by: calibration.thresholds_differ_by(),
        labels: 0,
        empty: 0,
        full: 0,
    };
    each_block(source, classes, (Stage::Predicting, observer), |block| {
        // A whole block before the sink sees any: threads finish in any order, files are written in
        // one.
        let sets = sets_of(block, calibration, alpha)?;
        predicted.count(&sets);
        sink(&sets)
    })?;
    Ok(predicted)
}

/// The sets of a block, made by all threads.
fn sets_of(
    block: &Block<'_>,
    calibration: &Calibration,
    alpha: Option<Miscoverage>,
) -> evenkeel::Result<LabelSets> {
    with_rows!(block.rows, |rows| typed_sets(rows, block.first_row, block.side, calibration, alpha))
}

fn typed_sets<T: Real>(
    rows: Rows<'_, T>,
    first_row: usize,
    side: SideInputs<'_>,
    calibration: &Calibration,
    alpha: Option<Miscoverage>,
) -> evenkeel::Result<LabelSets> {
    let sets = |(offset, part): (usize, evenkeel::Result<Rows<'_, T>>)| {
        let part = part?;
        let side = side.of_rows(offset..offset + part.rows())?;
        calibration.predict_beside(first_row + offset, part, side, alpha)
    };
    // Collected by index, so that sets stand in the order of their rows.
    let parts: Vec<LabelSets> = shares(rows).map(sets).collect::<evenkeel::Result<_>>()?;
    LabelSets::concatenate(&parts)
}

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
use crate::any_table::Turned;
use crate::blocks::{each_block, first_bad_row, require_classes, shares};
use crate::documents::PredictDocument;
use crate::error::{JobError, Result};
use crate::observer::{Observer, Stage, go_on};
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
    let each = &mut |sets: &LabelSets| {
        predicted.count(sets);
        sink(sets)
    };
    if !predict_apart(source, (calibration, alpha), each, observer)? {
        each_block(source, classes, (Stage::Predicting, observer), |block| {
            // A whole block before the sink sees any: threads finish in any order, files are written in
            // one.
            each(&sets_of(block, calibration, alpha)?)
        })?;
    }
    Ok(predicted)
}

/// The same straight from columns, without turning them into rows first; says whether it could.
fn predict_apart(
    source: &dyn RowSource,
    (calibration, alpha): (&Calibration, Option<Miscoverage>),
    each: &mut dyn FnMut(&LabelSets) -> Result<()>,
    observer: &mut dyn Observer,
) -> Result<bool> {
    let Some((table, key)) = source.apart() else { return Ok(false) };
    require_classes(source, calibration.provenance().classes)?;
    let rows = table.rows();
    let part = |first: usize| first..rows.min(first + table.set_rows());
    let mut made = table.sets(part(0), calibration, alpha);
    if made.is_none() {
        return Ok(false);
    }
    observer.begin(Stage::Predicting, source.rows());
    let (mut turned, mut next) = (Turned::default(), part(0));
    while !next.is_empty() {
        let sets = match made.take() {
            Some(sets) => sets,
            None => {
                // By rows, which also know what is wrong with them. What stands beside them is not used where columns are enough.
                let rows = table.part(next.clone(), &mut turned)?;
                let (first_row, side) = (key + next.start, SideInputs::default());
                let block = Block { first_row, rows, side, labels: &[] };
                sets_of(&block, calibration, alpha).map_err(|error| {
                    first_bad_row(&block, error.into()).while_reading(source.name())
                })?
            }
        };
        each(&sets)?;
        go_on(observer, next.end as u64)?;
        next = part(next.end);
        // Also after a block that columns could not settle: the next may be another kind of rows.
        made = table.sets(next.clone(), calibration, alpha);
    }
    observer.end();
    Ok(true)
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

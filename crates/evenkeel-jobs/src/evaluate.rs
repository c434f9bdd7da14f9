//! Coverage, sizes and gap of a stored calibration on labeled rows.

use evenkeel::calibration::Calibration;
use evenkeel::evaluation::{Evaluation, GapPoint, percent_rates};
use evenkeel::level::Miscoverage;
use evenkeel::measure::WeightedEmpirical;

use crate::blocks::each_labeled_block;
use crate::documents::EvaluateDocument;
use crate::error::{JobError, Result};
use crate::evaluation_pass::EvaluationPass;
use crate::observer::{Observer, Stage};
use crate::source::RowSource;

/// What an evaluation gives.
#[derive(Debug, Clone)]
pub struct Evaluated {
    /// Coverage, sizes and gap.
    pub evaluation: Evaluation,
    /// Scores of the rows at their labels, exact at every calibration score.
    pub label_law: WeightedEmpirical,
}

impl Evaluated {
    /// What people see of it.
    pub fn document<'a>(&'a self, class_names: Option<&'a [String]>) -> EvaluateDocument<'a> {
        EvaluateDocument::new(&self.evaluation, class_names)
    }

    /// Coverage at every per cent.
    pub fn gap_curve(&self, calibration: &Calibration) -> Vec<GapPoint> {
        calibration.gap_curve(&self.label_law, &percent_rates())
    }
}

/// Evaluates a calibration in one pass over labeled rows. Without `alpha`, the calibration's is taken.
///
/// # Errors
/// If the rows have no labels, the calibration needs something they do not have, they are not probabilities, or the
/// observer stops it.
pub fn evaluate(
    calibration: &Calibration,
    alpha: Option<Miscoverage>,
    source: &mut dyn RowSource,
    observer: &mut dyn Observer,
) -> Result<Evaluated> {
    let classes = calibration.provenance().classes;
    let mut pass = Some(EvaluationPass::new(calibration, alpha)?);
    each_labeled_block(source, classes, (Stage::Evaluating, observer), |block| {
        // Taken and given back: after a block that failed there is no half-counted pass to read.
        pass = pass.take().map(|pass| pass.add(block)).transpose()?;
        Ok(())
    })?;
    match pass {
        Some(pass) => pass.finish(),
        None => Err(JobError::NoRows { input: source.name().to_owned() }),
    }
}

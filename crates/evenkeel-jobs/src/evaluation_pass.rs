//! What is counted about one calibration on labeled rows, block by block.

use evenkeel::calibration::Calibration;
use evenkeel::conformal::label_scores_of_rows;
use evenkeel::evaluation::{EvaluationCounts, LabelScoreCounts};
use evenkeel::level::Miscoverage;
use evenkeel::score::Score;

use crate::any_rows::with_rows;
use crate::error::Result;
use crate::evaluate::Evaluated;
use crate::predict::sets_of;
use crate::source::Block;

/// Counts of sets and scores; exact, so blocks and threads do not change them.
pub(crate) struct EvaluationPass<'a> {
    calibration: &'a Calibration,
    alpha: Option<Miscoverage>,
    counts: EvaluationCounts,
    scores: LabelScoreCounts,
}

impl<'a> EvaluationPass<'a> {
    pub(crate) fn new(calibration: &'a Calibration, alpha: Option<Miscoverage>) -> Result<Self> {
        Ok(Self {
            calibration,
            alpha,
            counts: EvaluationCounts::new(calibration.provenance().classes)?,
            scores: calibration.label_score_counts(),
        })
    }

    /// Adds a block of labeled rows.
    pub(crate) fn add(self, block: &Block<'_>) -> Result<Self> {
        let (first_row, labels) = (block.first_row, block.labels);
        let sets = sets_of(block, self.calibration, self.alpha)?;
        let scores = label_scores(block, &self.calibration.provenance().score)?;
        Ok(Self {
            counts: self.counts.add(first_row, &sets, labels)?,
            scores: self.scores.add(first_row, &scores)?,
            ..self
        })
    }

    /// The evaluation of everything added.
    pub(crate) fn finish(self) -> Result<Evaluated> {
        let label_law = self.scores.law()?;
        let alpha = self.alpha.unwrap_or(self.calibration.provenance().alpha);
        let evaluation = self.counts.finish(alpha, self.calibration.total_gap(&label_law))?;
        Ok(Evaluated { evaluation, label_law })
    }
}

/// Scores of a block's rows at their labels, with the draws of test points.
pub(crate) fn label_scores(block: &Block<'_>, score: &Score) -> evenkeel::Result<Vec<f64>> {
    let drawn = score.with_draws_for("test");
    with_rows!(block.rows, |rows| label_scores_of_rows(block.first_row, rows, &drawn, block.labels))
}

//! What is counted about one calibration on labeled rows, block by block.

use evenkeel::calibration::Calibration;
use evenkeel::evaluation::{Evaluation, EvaluationCounts, LabelScoreCounts};
use evenkeel::level::Miscoverage;
use evenkeel::measure::WeightedEmpirical;

use crate::inputs::BlockWork;
use crate::job::Failure;
use crate::streams::Points;

/// Counts of sets and scores; exact, so blocks and threads do not change them.
pub(crate) struct Tally<'a> {
    calibration: &'a Calibration,
    alpha: Option<Miscoverage>,
    counts: EvaluationCounts,
    scores: LabelScoreCounts,
}

impl<'a> Tally<'a> {
    pub(crate) fn new(
        calibration: &'a Calibration,
        alpha: Option<Miscoverage>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            calibration,
            alpha,
            counts: EvaluationCounts::new(calibration.provenance().classes)?,
            scores: calibration.label_score_counts(),
        })
    }

    /// Adds a block and the labels of its rows.
    pub(crate) fn add(self, points: &Points<'_>) -> Result<Self, Failure> {
        let Points { first_row, block, labels, beside } = *points;
        let sets = block.predict(self.calibration, first_row, beside, self.alpha)?;
        let score = self.calibration.provenance().score.with_draws_for("test");
        let scores = block.label_scores(first_row, &score, labels)?;
        Ok(Self {
            counts: self.counts.add(first_row, &sets, labels)?,
            scores: self.scores.add(first_row, &scores)?,
            ..self
        })
    }

    /// The evaluation of everything added.
    pub(crate) fn finish(&self) -> Result<Evaluation, Failure> {
        let gap = self.calibration.total_gap(&self.label_law()?);
        let alpha = self.alpha.unwrap_or(self.calibration.provenance().alpha);
        Ok(self.counts.finish(alpha, gap)?)
    }

    /// The law of the scores at the true labels, exact at every calibration score.
    pub(crate) fn label_law(&self) -> Result<WeightedEmpirical, Failure> {
        Ok(self.scores.law()?)
    }
}

//! What labels of a few target rows show: coverage at the threshold in question, counted.

use evenkeel::certify::{CoveredLabels, clopper_pearson};
use evenkeel::conformal::label_scores_of_rows;
use evenkeel::level::FailureProbability;
use evenkeel::reading::Verdict;
use evenkeel::rows::Rows;
use evenkeel::score::Score;
use evenkeel::threshold::Threshold;
use serde::Serialize;

use crate::any_rows::{AnyRows, with_rows};
use crate::error::Result;
use crate::target_labels::TargetLabels;

/// Coverage counted on labeled target rows, with the interval it lies in.
///
/// The interval is exact for labels of rows drawn at random and a threshold that did not look at them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CoverageMeasured {
    /// Labels counted.
    pub k: u64,
    /// Labels that lie in their sets.
    pub covered: u64,
    /// The share covered.
    pub value: f64,
    /// Lowest coverage at this confidence.
    pub low: f64,
    /// Highest coverage at this confidence.
    pub high: f64,
    /// Confidence of the interval.
    pub confidence: f64,
}

impl CoverageMeasured {
    /// What the labels say of the level: they decide where there are any.
    pub fn verdict(&self, level: f64) -> Verdict {
        if self.high < level {
            Verdict::Loss
        } else if self.value >= level {
            Verdict::Ok
        } else {
            // The level is among what the labels allow, and so is less: more labels would tell.
            Verdict::Watch
        }
    }
}

/// Counts labels in their sets as blocks come by.
#[derive(Debug)]
pub(super) struct Counting<'a> {
    labels: &'a TargetLabels,
    score: Score,
    threshold: Threshold,
    seen: u64,
    covered: u64,
}

impl<'a> Counting<'a> {
    pub(super) fn new(labels: &'a TargetLabels, score: &Score, threshold: Threshold) -> Self {
        // Draws as for the law of the target data: a labeled row has one score in a check.
        let score = score.with_draws_for("today");
        Self { labels, score, threshold, seen: 0, covered: 0 }
    }

    /// Looks at the labeled rows of a block.
    pub(super) fn add(&mut self, first_row: usize, rows: &AnyRows<'_>) -> Result<()> {
        let classes = rows.columns();
        for (row, label) in self.labels.within(first_row, rows.rows()) {
            let start = (row - first_row) * classes;
            let scores = with_rows!(rows, |rows| {
                let values = &rows.values()[start..start + classes];
                let one = Rows::new(rows.what(), values, classes)?;
                label_scores_of_rows(row, one, &self.score, &[label])?
            });
            self.seen += 1;
            self.covered +=
                scores.iter().filter(|score| self.threshold.admits(**score)).count() as u64;
        }
        Ok(())
    }

    /// The count with its interval; none where no row was labeled.
    pub(super) fn finish(self, failure: FailureProbability) -> Result<Option<CoverageMeasured>> {
        self.labels.require_seen(self.seen)?;
        let counted = CoveredLabels::new(self.covered, self.seen)?;
        let interval = clopper_pearson(counted, failure);
        Ok(counted.share().map(|value| CoverageMeasured {
            k: self.seen,
            covered: self.covered,
            value,
            low: interval.low,
            high: interval.high,
            confidence: interval.confidence,
        }))
    }
}

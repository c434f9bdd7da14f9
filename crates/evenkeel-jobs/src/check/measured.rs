//! What labels of a few target rows show: coverage at the threshold in question, counted.

use evenkeel::certify::{CoveredLabels, clopper_pearson, same_labels_interval};
use evenkeel::level::FailureProbability;
use evenkeel::method::few_labels::row_marks;
use evenkeel::reading::Verdict;
use evenkeel::rows::Rows;
use evenkeel::threshold::Threshold;
use serde::Serialize;

use super::scoring::ScoredBy;
use super::{CheckJob, UsedLabel};
use crate::any_rows::{AnyRows, with_rows};
use crate::error::Result;
use crate::target_labels::TargetLabels;

/// Coverage counted on labeled target rows, with the interval it lies in.
///
/// The interval is exact for labels of rows drawn at random and a threshold that did not look at them; where it did look,
/// it holds at every threshold at once.
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
    /// Whether the threshold was chosen with these labels; the interval is then the wider one of a band over all thresholds.
    pub chosen_with_labels: bool,
}

/// A loss of less than this is none to be woken for.
const SMALL_LOSS: f64 = 0.02;
/// How often chance alone may speak against a level that holds, for a person to be told.
const RARE: f64 = 0.1;
/// Labels whose interval holds the level and this much less say little: the rows beside them say more.
const SAYS_LITTLE: f64 = 0.15;

impl CoverageMeasured {
    /// Whether the labels are enough to decide, where the readings make of the outputs a coverage of `estimate`:
    ///
    /// ```text
    /// they exclude the level, or coverage far below it, or what the readings say;
    /// or so few covered labels are rarer than one in ten where the level holds
    /// ```
    pub fn decides(&self, level: f64, estimate: f64) -> bool {
        self.high < level
            || self.excludes_far_below(level)
            || self.speaks_against(level)
            || !(self.low..=self.high).contains(&estimate)
    }

    /// What the labels say of the level.
    ///
    /// ```text
    /// loss    the interval lies below the level, and the share is more than 2 points below
    /// ok      the level lies in the interval or below it, which excludes coverage far below, and the share is at most 2 points below
    /// watch   all else: a small loss that is certain, or a larger one that may be chance
    /// ```
    pub fn verdict(&self, level: f64) -> Verdict {
        let large = self.value < level - SMALL_LOSS;
        match (self.high < level, large) {
            (true, true) => Verdict::Loss,
            (false, false) if self.excludes_far_below(level) => Verdict::Ok,
            _ => Verdict::Watch,
        }
    }

    fn excludes_far_below(&self, level: f64) -> bool {
        self.low >= level - SAYS_LITTLE
    }

    /// Whether fewer labels are covered than one time in ten where the level holds; never of labels that chose the threshold.
    fn speaks_against(&self, level: f64) -> bool {
        if self.chosen_with_labels {
            return false;
        }
        let counted = CoveredLabels::new(self.covered, self.k).ok();
        let rare = FailureProbability::new(2.0 * RARE).ok();
        let highest = counted.zip(rare).map(|(counted, rare)| clopper_pearson(counted, rare).high);
        // Not by rounding: one label that is not covered is as rare as one in ten at a level of 90 %.
        highest.is_some_and(|highest| highest < level - 1e-9)
    }

    /// Points lost, as the labels count them: value, and the ends that the interval allows.
    pub(crate) fn loss(&self, level: f64) -> [f64; 3] {
        [self.value, self.high, self.low].map(|coverage| 100.0 * (level - coverage).max(0.0))
    }
}

/// Counts labels in their sets as blocks come by.
#[derive(Debug, Clone)]
pub(crate) struct Counting<'a> {
    labels: &'a TargetLabels,
    scored_by: ScoredBy<'a>,
    threshold: Threshold,
    /// Labels that the threshold was chosen with.
    used: &'a [UsedLabel],
    /// Whether one of them came by.
    chosen_with_labels: bool,
    seen: u64,
    covered: u64,
}

impl<'a> Counting<'a> {
    /// Of the labels of a check, at the threshold in question.
    pub(crate) fn new(job: &'a CheckJob, threshold: Threshold) -> Self {
        Self {
            labels: &job.labels,
            scored_by: job.scored_by(),
            threshold,
            used: &job.chosen_with,
            chosen_with_labels: false,
            seen: 0,
            covered: 0,
        }
    }

    /// Looks at the labeled rows of a block.
    pub(crate) fn add(&mut self, first_row: usize, rows: &AnyRows<'_>) -> Result<()> {
        let classes = rows.columns();
        for (row, label) in self.labels.within(first_row, rows.rows()) {
            let start = (row - first_row) * classes;
            let used = self.used;
            let (scores, again) = with_rows!(rows, |rows| {
                let values = &rows.values()[start..start + classes];
                let one = Rows::new(rows.what(), values, classes)?;
                let marks = if used.is_empty() { Vec::new() } else { row_marks(row as u64, one)? };
                // By what stands in the row, not by its number: rows of another table have the same numbers.
                let again = used.iter().any(|used| {
                    let same_row = used
                        .mark
                        .map_or(used.row == row as u64, |mark| marks.first() == Some(&mark));
                    same_row && used.label == label
                });
                (self.scored_by.label_scores(row, one, &[label])?, again)
            });
            self.chosen_with_labels |= again;
            self.seen += 1;
            self.covered +=
                scores.iter().filter(|score| self.threshold.admits(**score)).count() as u64;
        }
        Ok(())
    }

    /// Takes what another thread has counted.
    pub(crate) fn join(&mut self, other: &Self) {
        self.chosen_with_labels |= other.chosen_with_labels;
        self.seen += other.seen;
        self.covered += other.covered;
    }

    /// The count with its interval; none where no row was labeled.
    pub(crate) fn finish(
        self,
        rows: usize,
        failure: FailureProbability,
    ) -> Result<Option<CoverageMeasured>> {
        self.labels.require_rows(rows)?;
        self.labels.require_seen(self.seen)?;
        let counted = CoveredLabels::new(self.covered, self.seen)?;
        let chosen_with_labels = self.chosen_with_labels;
        let interval = match chosen_with_labels {
            true => same_labels_interval(counted, failure),
            false => clopper_pearson(counted, failure),
        };
        Ok(counted.share().map(|value| CoverageMeasured {
            k: self.seen,
            covered: self.covered,
            value,
            low: interval.low,
            high: interval.high,
            confidence: interval.confidence,
            chosen_with_labels,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(covered: u64, k: u64) -> Result<CoverageMeasured> {
        let counted = CoveredLabels::new(covered, k)?;
        let interval = clopper_pearson(counted, FailureProbability::FIVE_PERCENT);
        Ok(CoverageMeasured {
            k,
            covered,
            value: covered as f64 / k as f64,
            low: interval.low,
            high: interval.high,
            confidence: interval.confidence,
            chosen_with_labels: false,
        })
    }

    /// By the size of the loss and by what the labels exclude; a coin's toss decides nothing.
    #[test]
    fn labels_decide_when_they_exclude_something() -> Result<()> {
        for (covered, k, expected) in [
            (1, 1, None),
            (5, 5, None),
            (0, 1, None),
            (4, 5, None),
            (0, 5, Some(Verdict::Loss)),
            (32, 50, Some(Verdict::Loss)),
            // A level of 90 % gives so few one time in seventeen.
            (41, 50, Some(Verdict::Watch)),
            (44, 50, Some(Verdict::Ok)),
            (47, 50, Some(Verdict::Ok)),
            (87, 100, Some(Verdict::Watch)),
            // Half a point below the level for certain is no loss to be woken for.
            (17_900, 20_000, Some(Verdict::Watch)),
            (17_000, 20_000, Some(Verdict::Loss)),
            (18_000, 20_000, Some(Verdict::Ok)),
        ] {
            let measured = counted(covered, k)?;
            let said = measured.decides(0.9, 0.9).then(|| measured.verdict(0.9));
            assert_eq!(said, expected, "{covered} of {k}: {measured:?}");
        }
        // Labels that exclude what the readings say are heard, and a handful does not show that coverage holds.
        let measured = counted(5, 5)?;
        assert!(measured.decides(0.9, 0.3) && !measured.decides(0.9, 0.6), "{measured:?}");
        assert_eq!(measured.verdict(0.9), Verdict::Watch);
        Ok(())
    }
}

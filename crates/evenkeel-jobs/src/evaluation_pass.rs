//! What is counted about one calibration on labeled rows, block by block.

use evenkeel::calibration::Calibration;
use evenkeel::conformal::label_scores_of_rows;
use evenkeel::evaluation::{Evaluation, EvaluationCounts, LabelScoreCounts};
use evenkeel::level::Miscoverage;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::rows::{Real, Rows};
use evenkeel::score::Score;
use rayon::prelude::*;

use crate::any_rows::with_rows;
use crate::blocks::shares;
use crate::error::Result;
use crate::evaluate::Evaluated;
use crate::oracle::{Half, Halves};
use crate::source::Block;

/// Counts of sets and scores; whole numbers, so blocks and threads do not change them.
pub(crate) struct EvaluationPass<'a> {
    calibration: &'a Calibration,
    alpha: Option<Miscoverage>,
    empty: Counts,
    counts: Counts,
    /// Which rows are counted.
    only: Only<'a>,
}

/// Which rows of a source are counted.
#[derive(Clone, Copy)]
enum Only<'a> {
    All,
    /// One half of the rows.
    Half(&'a Halves, Half),
}

impl Only<'_> {
    fn has(&self, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::Half(halves, half) => halves.of(row) == *half,
        }
    }
}

#[derive(Clone)]
struct Counts {
    sets: EvaluationCounts,
    scores: LabelScoreCounts,
}

impl Counts {
    fn merge(self, other: &Self) -> evenkeel::Result<Self> {
        Ok(Self { sets: self.sets.merge(&other.sets)?, scores: self.scores.merge(&other.scores)? })
    }
}

impl<'a> EvaluationPass<'a> {
    pub(crate) fn new(calibration: &'a Calibration, alpha: Option<Miscoverage>) -> Result<Self> {
        let empty = Counts {
            sets: EvaluationCounts::new(calibration.provenance().classes)?,
            scores: calibration.label_score_counts(),
        };
        Ok(Self { calibration, alpha, counts: empty.clone(), empty, only: Only::All })
    }

    /// The same for the rows of one half.
    pub(crate) fn of_half(self, halves: &'a Halves, half: Half) -> Self {
        Self { only: Only::Half(halves, half), ..self }
    }

    /// Adds a block of labeled rows, counted by all threads.
    pub(crate) fn add(self, block: &Block<'_>) -> Result<Self> {
        let added = with_rows!(block.rows, |rows| self.counted(rows, block))?;
        Ok(Self { counts: self.counts.merge(&added)?, ..self })
    }

    fn counted<T: Real>(&self, rows: Rows<'_, T>, block: &Block<'_>) -> evenkeel::Result<Counts> {
        let count = |counts: Counts, (offset, part): (usize, evenkeel::Result<Rows<'_, T>>)| {
            let part = part?;
            let (first_row, these) = (block.first_row + offset, offset..offset + part.rows());
            // A source that gives too few labels is refused below, where their number is checked.
            let labels = block.labels.get(these.clone()).unwrap_or_default();
            let side = block.side.of_rows(these)?;
            let sets = self.calibration.predict_beside(first_row, part, side, self.alpha)?;
            let mut scores = self.calibration.label_scores(first_row, part, labels)?;
            let counted = |row: usize| self.only.has(first_row + row);
            if let Only::Half(..) = self.only {
                let mut row = 0..;
                scores.retain(|_| row.next().is_some_and(counted));
            }
            Ok(Counts {
                sets: counts.sets.add_chosen(first_row, &sets, labels, counted)?,
                scores: counts.scores.add(first_row, &scores)?,
            })
        };
        // A thread adds up its shares before it merges: merging costs as much as there are calibration points.
        shares(rows)
            .try_fold(|| self.empty.clone(), count)
            .try_reduce(|| self.empty.clone(), |merged, part| merged.merge(&part))
    }

    /// The evaluation of two halves together: counts are added, the gap is the mean over the rows. Also the law of each.
    pub(crate) fn finish_halves(
        self,
        other: &Self,
    ) -> Result<(Evaluation, [WeightedEmpirical; 2])> {
        let laws = [self.counts.scores.law()?, other.counts.scores.law()?];
        let share = |law: &WeightedEmpirical| law.effective_sample_size();
        let (one, two) = (share(&laws[0]), share(&laws[1]));
        let gaps = self.calibration.total_gap(&laws[0]).zip(other.calibration.total_gap(&laws[1]));
        let gap = gaps.map(|(first, second)| (one * first + two * second) / (one + two));
        let alpha = self.alpha.unwrap_or(self.calibration.provenance().alpha);
        let sets = self.counts.sets.merge(&other.counts.sets)?;
        Ok((sets.finish(alpha, gap)?, laws))
    }

    /// The evaluation of everything added.
    pub(crate) fn finish(self) -> Result<Evaluated> {
        let Counts { sets, scores } = self.counts;
        let label_law = scores.law()?;
        let alpha = self.alpha.unwrap_or(self.calibration.provenance().alpha);
        let evaluation = sets.finish(alpha, self.calibration.total_gap(&label_law))?;
        Ok(Evaluated { evaluation, label_law })
    }
}

/// Scores of a block's rows at their labels, with the draws of test points.
pub(crate) fn label_scores(block: &Block<'_>, score: &Score) -> evenkeel::Result<Vec<f64>> {
    let drawn = score.with_draws_for("test");
    with_rows!(block.rows, |rows| label_scores_of_rows(block.first_row, rows, &drawn, block.labels))
}

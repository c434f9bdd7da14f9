//! The oracle of a comparison: calibrated on one half of the test rows, measured on the other, both ways.
//!
//! ```text
//! half(i)     = first for the floor(m / 2) rows with the smallest key(seed, i), second for the others
//! coverage    = 1/m sum_i 1{y_i in C_other(x_i)}        C_other: split conformal prediction on the half that i is not in
//! ```
//! On the rows that chose it, a threshold covers `ceil((m + 1)(1 - alpha)) / m` of them whatever they are: nothing would be measured.

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{Fitted, ShiftCalibrator};
use evenkeel::error::Error;
use evenkeel::evaluation::{Evaluation, GapPoint, percent_rates};
use evenkeel::level::Miscoverage;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::seed::Seed;

use crate::blocks::each_labeled_block;
use crate::error::Result;
use crate::evaluation_pass::{EvaluationPass, label_scores};
use crate::fit::Clock;
use crate::observer::{Observer, Stage};
use crate::source::{Block, RowSource};

/// Stream of the keys by which rows are dealt to halves.
const HALVES: &str = "oracle-halves";

/// A half of the test rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    First,
    Second,
}

/// Which half each test row is in.
#[derive(Debug)]
pub(crate) struct Halves {
    is_second: Vec<bool>,
}

impl Halves {
    /// Deals `rows` rows by their keys.
    fn new(rows: usize, seed: Seed) -> Self {
        let key = |row: usize| (seed.child(HALVES, row as u64).get(), row);
        let mut order: Vec<(u64, usize)> = (0..rows).map(key).collect();
        order.sort_unstable();
        let mut is_second = vec![true; rows];
        order[..rows / 2].iter().for_each(|(_, row)| is_second[*row] = false);
        Self { is_second }
    }

    pub(crate) fn of(&self, row: usize) -> Half {
        match self.is_second.get(row) {
            Some(false) => Half::First,
            _ => Half::Second,
        }
    }
}

/// The oracle on all test rows, and on each half of them.
pub(crate) struct Oracle {
    /// On all rows: its threshold is what the others try to find.
    pub(crate) whole: Fitted,
    pub(crate) seconds: f64,
    scores: Vec<f64>,
    halves: Halves,
    first: Calibration,
    second: Calibration,
}

impl Oracle {
    /// One pass over the test rows.
    ///
    /// # Errors
    /// If there are fewer than two, or they cannot be read.
    pub(crate) fn fit(
        calibrator: &ShiftCalibrator,
        classes: usize,
        test: &mut dyn RowSource,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        let mut clock = Clock::default();
        let mut scores = Vec::new();
        each_labeled_block(test, classes, (Stage::Testing, observer), |block| {
            scores.extend(clock.time(|| label_scores(block, &calibrator.score))?);
            Ok(())
        })?;
        let found = scores.len();
        if found < 2 {
            let what =
                "test points, of which one half calibrates the oracle and the other measures it";
            return Err(Error::TooFew { what, found, least: 2 }.into());
        }
        clock
            .time(|| {
                let halves = Halves::new(found, calibrator.seed);
                let of_half = |half| {
                    let own = scores.iter().enumerate().filter(|(row, _)| halves.of(*row) == half);
                    let own: Vec<f64> = own.map(|(_, score)| *score).collect();
                    calibrator.fit_oracle(&own, classes)
                };
                let whole = calibrator.fit_oracle(&scores, classes)?;
                let (first, second) =
                    (of_half(Half::First)?.calibration, of_half(Half::Second)?.calibration);
                Ok((whole, halves, first, second))
            })
            .map(|(whole, halves, first, second)| {
                let seconds = clock.seconds;
                Self { whole, seconds, scores, halves, first, second }
            })
    }

    /// What counts the rows of each half by the calibration of the other.
    pub(crate) fn measure(&self) -> Result<HalfPasses<'_>> {
        let pass = |calibration, half| {
            Ok::<_, crate::JobError>(
                EvaluationPass::new(calibration, None)?.of_half(&self.halves, half),
            )
        };
        Ok(HalfPasses {
            first: pass(&self.second, Half::First)?,
            second: pass(&self.first, Half::Second)?,
        })
    }

    /// Coverage at every per cent, each row by the calibration of the other half; thresholds are those of all rows.
    fn gap_curve(&self, laws: &[WeightedEmpirical; 2]) -> Vec<GapPoint> {
        let rates: Vec<Miscoverage> = percent_rates();
        let [first, second] = laws;
        let (one, two) = (first.effective_sample_size(), second.effective_sample_size());
        let whole = self.whole.calibration.gap_curve(first, &rates);
        let of_first = self.second.gap_curve(first, &rates);
        let of_second = self.first.gap_curve(second, &rates);
        let mean = |((whole, of_first), of_second): ((GapPoint, GapPoint), GapPoint)| {
            let coverage = (one * of_first.coverage + two * of_second.coverage) / (one + two);
            let gap = (whole.alpha.level().get() - coverage).abs();
            GapPoint { coverage, gap, ..whole }
        };
        whole.into_iter().zip(of_first).zip(of_second).map(mean).collect()
    }

    /// The evaluation, the law of all scores, and the curve of coverage over level.
    pub(crate) fn conclude(&self, passes: HalfPasses<'_>) -> Result<Measured> {
        let (evaluation, laws) = passes.first.finish_halves(&passes.second)?;
        let label_law = WeightedEmpirical::uniform(&self.scores)?;
        Ok(Measured { evaluation, label_law, gap_curve: self.gap_curve(&laws) })
    }
}

/// What is found of a method on test rows.
pub(crate) struct Measured {
    pub(crate) evaluation: Evaluation,
    pub(crate) label_law: WeightedEmpirical,
    pub(crate) gap_curve: Vec<GapPoint>,
}

/// A pass for each half.
pub(crate) struct HalfPasses<'a> {
    first: EvaluationPass<'a>,
    second: EvaluationPass<'a>,
}

impl HalfPasses<'_> {
    pub(crate) fn add(self, block: &Block<'_>) -> Result<Self> {
        Ok(Self { first: self.first.add(block)?, second: self.second.add(block)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_equal_drawn_by_the_seed_and_the_row_alone() {
        for rows in [2, 3, 10, 1001] {
            let halves = Halves::new(rows, Seed::new(4));
            let first = (0..rows).filter(|row| halves.of(*row) == Half::First).count();
            assert_eq!(first, rows / 2);
            assert_eq!(halves.is_second, Halves::new(rows, Seed::new(4)).is_second);
        }
        assert_ne!(
            Halves::new(100, Seed::new(1)).is_second,
            Halves::new(100, Seed::new(2)).is_second
        );
    }
}

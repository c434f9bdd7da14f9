//! Thresholds of a plan for any miscoverage rate, from a stored value of bounded size.
//!
//! ```text
//! t(alpha) = smallest s_i with c_i >= 1 - alpha     where F(s_n) >= 1 - alpha
//!            1 - alpha quantile of F beyond s_n     where the calibration support is exhausted
//! ```

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, require_increasing, require_same_length};
use crate::level::Miscoverage;
use crate::measure::QUANTILE_TOLERANCE;
use crate::sketch::TailAtom;

/// Where a threshold comes from.
///
/// It is part of every threshold: beyond the calibration scores no label was ever seen, and a user
/// must know that the number is the plan's alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ThresholdSource {
    /// A calibration score: the smallest with `c_i >= 1 - alpha`.
    Calibration,
    /// The `1 - alpha` quantile of the planned law itself, because it has too much mass beyond every calibration score.
    PlannedLaw,
}

/// A threshold and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanThreshold {
    /// Labels with scores at or below it are in the set.
    pub score: f64,
    /// A calibration score, or the plan's own quantile.
    pub source: ThresholdSource,
}

/// All that thresholds need: levels at the calibration scores, and the planned law beyond the largest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct PlanThresholds {
    /// Calibration scores, increasing; shape `(n,)`.
    scores: Vec<f64>,
    /// `c_i`, the level reached at each score; increasing, the last one 1.
    cumulative: Vec<f64>,
    /// `F(s_n)`, the planned law at the largest score, in `[0, 1]`.
    reached: f64,
    /// `F` beyond the largest score, increasing in score and level.
    tail: Vec<TailAtom>,
}

impl PlanThresholds {
    /// Increasing `scores` with their levels `c_i` (increasing, the last one 1), the planned law's value `reached` at the largest
    /// score, and its atoms beyond.
    ///
    /// # Errors
    /// If something does not increase, a level is outside `[0, 1]`, or scores and levels differ in
    /// number.
    pub(crate) fn new(
        scores: Vec<f64>,
        cumulative: Vec<f64>,
        reached: f64,
        tail: Vec<TailAtom>,
    ) -> Result<Self> {
        require_increasing("sorted scores", &scores)?;
        require_increasing("levels of the scores", &cumulative)?;
        require_same_length("levels", cumulative.len(), "sorted scores", scores.len())?;
        let last = cumulative.last().copied().unwrap_or(f64::NAN);
        for (what, value) in [("the last level", last), ("the level at the largest score", reached)]
        {
            if !(0.0..=1.0 + QUANTILE_TOLERANCE).contains(&value) {
                return Err(Error::OutOfRange { what, value, expected: "between 0 and 1" });
            }
        }
        // The tail begins where the scores end; an atom below them would let thresholds fall as the
        // level grows.
        let mut ends: Vec<f64> = scores.last().copied().into_iter().collect();
        ends.extend(tail.iter().map(|atom| atom.score));
        require_increasing("scores of the tail", &ends)?;
        let mut levels = vec![reached];
        levels.extend(tail.iter().map(|atom| atom.cdf));
        require_increasing("levels of the tail", &levels)?;
        Ok(Self { scores, cumulative, reached, tail })
    }

    /// Smallest calibration score with `c_i >= 1 - alpha`; where the planned law reaches less than `1 - alpha` at the largest one,
    /// the planned law's own quantile.
    pub(crate) fn threshold(&self, alpha: Miscoverage) -> PlanThreshold {
        // The slack of every quantile here: 270 of 300 equal shares must reach the level 0.9.
        let level = alpha.level().get() - QUANTILE_TOLERANCE;
        let largest = self.scores.last().copied().unwrap_or(f64::NAN);
        // Asked of the law, not of `c`: the last `c` is 1 by construction and would always suffice.
        if self.reached < level {
            let atom = self.tail.partition_point(|atom| atom.cdf < level);
            // The last atom where rounding left the tail short of the level; without a tail the
            // largest score.
            let score = self.tail.get(atom).or(self.tail.last()).map_or(largest, |atom| atom.score);
            return PlanThreshold { score, source: ThresholdSource::PlannedLaw };
        }
        let index = self.cumulative.partition_point(|c| *c < level);
        let score = self.scores.get(index).copied().unwrap_or(largest);
        PlanThreshold { score, source: ThresholdSource::Calibration }
    }

    /// Calibration scores, increasing; shape `(n,)`.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// `c_i` of each score, increasing; the last one is 1.
    pub fn cumulative(&self) -> &[f64] {
        &self.cumulative
    }

    /// The planned law's atoms beyond the largest score; empty where it has none.
    pub fn tail(&self) -> &[TailAtom] {
        &self.tail
    }
}

/// The fields as they stand in a file; their names are part of its format.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Unchecked {
    scores: Vec<f64>,
    cumulative: Vec<f64>,
    reached: f64,
    tail: Vec<TailAtom>,
}

impl TryFrom<Unchecked> for PlanThresholds {
    type Error = Error;

    /// Checks what a constructor checks: files are user input.
    fn try_from(fields: Unchecked) -> Result<Self> {
        Self::new(fields.scores, fields.cumulative, fields.reached, fields.tail)
    }
}

impl From<PlanThresholds> for Unchecked {
    fn from(checked: PlanThresholds) -> Self {
        let PlanThresholds { scores, cumulative, reached, tail } = checked;
        Self { scores, cumulative, reached, tail }
    }
}

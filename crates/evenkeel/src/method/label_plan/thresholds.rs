//! Thresholds of a plan for any miscoverage rate, from a stored value of bounded size.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, require_increasing, require_same_length};
use crate::level::Miscoverage;
use crate::measure::QUANTILE_TOLERANCE;
use crate::sketch::TailAtom;

/// Where a threshold comes from.
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
    /// Where it comes from.
    pub source: ThresholdSource,
}

/// All that thresholds need: levels at the calibration scores, and the planned law beyond the largest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct PlanThresholds {
    scores: Vec<f64>,
    cumulative: Vec<f64>,
    reached: f64,
    tail: Vec<TailAtom>,
}

impl PlanThresholds {
    /// Increasing `scores` with their levels `c_i` (increasing, the last one 1), the planned law's value `reached` at the largest
    /// score, and its atoms beyond.
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
        let level = alpha.level().get() - QUANTILE_TOLERANCE;
        let largest = self.scores.last().copied().unwrap_or(f64::NAN);
        if self.reached < level {
            let atom = self.tail.partition_point(|atom| atom.cdf < level);
            let score = self.tail.get(atom).or(self.tail.last()).map_or(largest, |atom| atom.score);
            return PlanThreshold { score, source: ThresholdSource::PlannedLaw };
        }
        let index = self.cumulative.partition_point(|c| *c < level);
        let score = self.scores.get(index).copied().unwrap_or(largest);
        PlanThreshold { score, source: ThresholdSource::Calibration }
    }

    /// Calibration scores, increasing.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// `c_i` of each.
    pub fn cumulative(&self) -> &[f64] {
        &self.cumulative
    }

    /// The planned law's atoms beyond.
    pub fn tail(&self) -> &[TailAtom] {
        &self.tail
    }
}

/// The fields as they stand in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Unchecked {
    scores: Vec<f64>,
    cumulative: Vec<f64>,
    reached: f64,
    tail: Vec<TailAtom>,
}

impl TryFrom<Unchecked> for PlanThresholds {
    type Error = Error;

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

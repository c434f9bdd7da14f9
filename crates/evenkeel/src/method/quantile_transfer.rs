//! Quantile thresholded confidence (QTC; Yilmaz & Heckel 2022, "Test-time recalibration of conformal predictors under
//! distribution shift based on unlabeled examples").

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::interval::Interval;
use crate::level::{Level, Miscoverage};
use crate::measure::WeightedEmpirical;
use crate::rows::{Real, Rows};
use crate::score::{row_scale, widen_scaled};
use crate::sketch::{QuantileCounts, Rounding};
use crate::threshold::{TestMass, Threshold};

/// Largest probability of a row.
pub fn confidence(probabilities: &[f64]) -> f64 {
    probabilities.iter().copied().fold(0.0, f64::max)
}

/// Which quantile is transferred, and in which direction. Definitions as in the authors' code; quantiles are this
/// library's (smallest value reaching the level) where theirs interpolate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TransferRule {
    /// QTC: `alpha'` = share of calibration confidences below target `alpha` quantile.
    #[default]
    Qtc,
    /// QTC-SC (source coverage): `1 - alpha'` = share of target confidences below calibration `1 - alpha` quantile.
    SourceCoverage,
    /// QTC-ST (source threshold): `tau'` = share of target confidences below calibration `tau` quantile, `tau` the split
    /// conformal threshold of a score with values in `[0, 1]`.
    SourceThreshold,
}

/// A miscoverage rate in `[0, 1]`, both ends included: what split conformal prediction is to be run at.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct TransferredRate(f64);

impl TransferredRate {
    /// The rate itself.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Split conformal prediction at this rate. At 0 every label is in the set: no calibration point is as unsure as
    /// target least sure. At 1 the threshold is the smallest score, the smallest that is one.
    pub fn threshold(self, scores: &WeightedEmpirical) -> Result<Threshold> {
        if self.0 <= 0.0 {
            return Ok(Threshold::AllLabels);
        }
        let share = 1.0 - TestMass::exchangeable(scores.points()).get();
        let threshold = scores.quantile_of_scaled(share, Level::new(1.0 - self.0)?);
        Ok(threshold.map_or(Threshold::AllLabels, Threshold::Finite))
    }
}

/// The confidences of both worlds, from which the rate at any `alpha` follows.
///
/// Up to [`MOST_EXACT_VALUES`](super::MOST_EXACT_VALUES) confidences of a side are kept; more are counted in `2^16` cells
/// of `[0, 1]`, and quantiles and shares are then rounded toward larger sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct QuantileTransfer {
    labeled: QuantileCounts,
    target: QuantileCounts,
}

/// As it is stored; checked when read back.
#[derive(Clone, Serialize, Deserialize)]
struct Stored {
    labeled: QuantileCounts,
    target: QuantileCounts,
}

impl From<QuantileTransfer> for Stored {
    fn from(QuantileTransfer { labeled, target }: QuantileTransfer) -> Self {
        Self { labeled, target }
    }
}

impl TryFrom<Stored> for QuantileTransfer {
    type Error = Error;

    fn try_from(Stored { labeled, target }: Stored) -> Result<Self> {
        let mut transfer = Self::default();
        transfer.labeled.merge(&labeled)?;
        transfer.target.merge(&target)?;
        Ok(transfer)
    }
}

impl Default for QuantileTransfer {
    fn default() -> Self {
        let none = QuantileCounts::new(Interval::UNIT);
        Self { labeled: none.clone(), target: none }
    }
}

impl QuantileTransfer {
    /// From confidences of both worlds.
    pub fn new(labeled: &[f64], target: &[f64]) -> Result<Self> {
        let mut transfer = Self::default();
        transfer.labeled.add(0, labeled)?;
        transfer.target.add(0, target)?;
        Ok(transfer)
    }

    /// Adds a block of calibration probability rows; `first_row` is the index of its first row, for errors.
    pub fn add_labeled<T: Real>(&mut self, first_row: usize, block: Rows<'_, T>) -> Result<()> {
        self.labeled.add(first_row, &confidences(first_row, block)?)
    }

    /// Adds a block of target probability rows.
    pub fn add_target<T: Real>(&mut self, first_row: usize, block: Rows<'_, T>) -> Result<()> {
        self.target.add(first_row, &confidences(first_row, block)?)
    }

    /// Adds what another one saw.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.labeled.merge(&other.labeled)?;
        self.target.merge(&other.target)
    }

    /// Rows of the calibration data and of the target data seen.
    pub fn rows(&self) -> (u64, u64) {
        (self.labeled.len(), self.target.len())
    }

    /// `alpha'` of QTC.
    ///
    /// ```text
    /// q = alpha quantile of target confidences,   alpha' = share of calibration confidences < q
    /// ```
    pub fn rate(&self, alpha: Miscoverage) -> Result<TransferredRate> {
        let q = quantile(&self.target, "target confidences", alpha.get(), Rounding::Down)?;
        require_rows(&self.labeled, "calibration confidences")?;
        Ok(TransferredRate(self.labeled.share_below(q, Rounding::Down)))
    }

    /// `alpha'` of QTC-SC.
    ///
    /// ```text
    /// q = 1 - alpha quantile of calibration confidences,   alpha' = 1 - share of target confidences < q
    /// ```
    pub fn source_coverage_rate(&self, alpha: Miscoverage) -> Result<TransferredRate> {
        let level = alpha.level().get();
        let q = quantile(&self.labeled, "calibration confidences", level, Rounding::Up)?;
        require_rows(&self.target, "target confidences")?;
        Ok(TransferredRate(1.0 - self.target.share_below(q, Rounding::Up)))
    }

    /// `tau'` of QTC-ST, for a score with values in `[0, 1]` (`lac`, `aps`).
    ///
    /// ```text
    /// q = tau quantile of calibration confidences,   tau' = share of target confidences < q
    /// ```
    pub fn source_threshold(&self, split: Threshold) -> Result<Threshold> {
        let Threshold::Finite(tau) = split else { return Ok(Threshold::AllLabels) };
        if !(0.0..=1.0).contains(&tau) {
            return Err(Error::Unsupported {
                what: "QTC-ST with a score outside [0, 1]",
                instead: "it reads the threshold as a quantile level; use lac or aps, or another QTC rule",
            });
        }
        let q = quantile(&self.labeled, "calibration confidences", tau, Rounding::Up)?;
        require_rows(&self.target, "target confidences")?;
        Ok(Threshold::Finite(self.target.share_below(q, Rounding::Up)))
    }

    /// The threshold of a rule, from the uniform law of the calibration scores.
    pub fn threshold(
        &self,
        rule: TransferRule,
        scores: &WeightedEmpirical,
        alpha: Miscoverage,
    ) -> Result<Threshold> {
        match rule {
            TransferRule::Qtc => self.rate(alpha)?.threshold(scores),
            TransferRule::SourceCoverage => self.source_coverage_rate(alpha)?.threshold(scores),
            TransferRule::SourceThreshold => {
                let split = TransferredRate(alpha.get()).threshold(scores)?;
                self.source_threshold(split)
            }
        }
    }
}

fn require_rows(sample: &QuantileCounts, what: &'static str) -> Result<()> {
    if sample.len() == 0 { Err(Error::Empty { what }) } else { Ok(()) }
}

fn quantile(
    sample: &QuantileCounts,
    what: &'static str,
    level: f64,
    rounding: Rounding,
) -> Result<f64> {
    sample.quantile(Level::new(level)?, rounding).ok_or(Error::Empty { what })
}

fn confidences<T: Real>(first_row: usize, block: Rows<'_, T>) -> Result<Vec<f64>> {
    let mut row = vec![0.0; block.columns()];
    let confidence_of = |(offset, values): (usize, &[T])| {
        let index = first_row.saturating_add(offset);
        widen_scaled(values, row_scale(block.what(), index, values)?, &mut row);
        Ok(confidence(&row))
    };
    block.iter().enumerate().map(confidence_of).collect()
}

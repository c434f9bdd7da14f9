//! `qtc`, quantile thresholded confidence \[YH22\]: split conformal prediction at a rate that the confidences transfer.
//!
//! ```text
//! T       q = alpha quantile of the target confidences               alpha' = share of calibration confidences < q
//! S       q = 1 - alpha quantile of the calibration confidences      alpha' = 1 - share of target confidences < q
//! default alpha' = the smaller of the two, as the authors run it
//! ```

use serde::{Deserialize, Serialize};

use super::fit::{Next, Open, Pass, Scored, Stage};
use super::{About, Concluded, Needs, Rule, Sorted};
use crate::error::{Error, Result, User};
use crate::interval::Interval;
use crate::level::{Level, Miscoverage};
use crate::measure::WeightedEmpirical;
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{Score, row_scale, widen_scaled};
use crate::shift::predictions;
use crate::side_inputs::SideInputs;
use crate::sketch::{QuantileCounts, Rounding};
use crate::threshold::{TestMass, Threshold};

/// The room's entry in the list of methods.
pub(crate) const ABOUT: About = About {
    name: "qtc",
    summary: "Thresholds moved by a quantile of the target confidences (Yilmaz & Heckel 2022)",
    assumption: "confidence moves with scores",
    needs: Needs::NOTHING,
};

/// Largest probability of a row, in `[1/C, 1]` for a row that sums to one; 0 for an empty one.
pub fn confidence(probabilities: &[f64]) -> f64 {
    probabilities.iter().copied().fold(0.0, f64::max)
}

/// Which quantile is transferred, and in which direction. Definitions as in the authors' code; quantiles are this
/// library's (smallest value reaching the level) where theirs interpolate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TransferRule {
    /// QTC-T: `alpha'` = share of calibration confidences below the `alpha` quantile of the target confidences.
    Qtc,
    /// QTC-SC (source coverage): `1 - alpha'` = share of target confidences below the `1 - alpha` quantile of the
    /// calibration confidences.
    SourceCoverage,
    /// QTC-ST (source threshold): `tau'` = share of target confidences below the `tau` quantile of the calibration
    /// confidences, `tau` the split conformal threshold of a score with values in `[0, 1]`.
    SourceThreshold,
    /// The smaller `alpha'` of QTC-T and QTC-SC: the larger sets of the two.
    #[default]
    Min,
}

/// A miscoverage rate in `[0, 1]`, both ends included: what split conformal prediction is to be run at.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct TransferredRate(f64);

impl TransferredRate {
    /// The rate `alpha'`, in `[0, 1]`, both ends included.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Split conformal prediction at this rate. At 0 every label is in the set: no calibration point is as unsure as
    /// the least sure target point. At 1 the threshold is the smallest score, the smallest that is one.
    ///
    /// # Errors
    /// None: the rate was checked when it was transferred.
    pub fn threshold(self, scores: &WeightedEmpirical) -> Result<Threshold> {
        if self.0 <= 0.0 {
            return Ok(Threshold::AllLabels);
        }
        // Not `conformal_threshold`, whose rate lies strictly between 0 and 1: `alpha'` may be 1.
        let share = 1.0 - TestMass::exchangeable(scores.points()).get();
        let threshold = scores.quantile_of_scaled(share, Level::new(1.0 - self.0)?);
        Ok(threshold.map_or(Threshold::AllLabels, Threshold::Finite))
    }
}

/// The confidences of both data sets, from which the rate at any `alpha` follows.
///
/// Up to [`MOST_EXACT_VALUES`](crate::sketch::MOST_EXACT_VALUES) confidences of a side are kept; more are counted in `2^16` cells
/// of `[0, 1]`, and quantiles and shares are then rounded toward larger sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct QuantileTransfer {
    /// Confidences of the calibration data.
    labeled: QuantileCounts,
    /// Confidences of the target data.
    target: QuantileCounts,
}

/// As it is stored; checked when read back. The names are those of version 1 of the file.
#[derive(Clone, Serialize, Deserialize)]
struct Stored {
    #[serde(rename = "yesterday")]
    labeled: QuantileCounts,
    #[serde(rename = "today")]
    target: QuantileCounts,
}

impl From<QuantileTransfer> for Stored {
    fn from(QuantileTransfer { labeled, target }: QuantileTransfer) -> Self {
        Self { labeled, target }
    }
}

impl TryFrom<Stored> for QuantileTransfer {
    type Error = Error;

    /// An error unless both samples count values in `[0, 1]`.
    fn try_from(Stored { labeled, target }: Stored) -> Result<Self> {
        // Merging into an empty one checks the range: counts over another interval would shift every quantile.
        let mut transfer = Self::default();
        transfer.labeled.merge(&labeled).and(transfer.target.merge(&target)).map_err(|_| {
            Error::Damaged {
                what: "this calibration",
                why: "its confidences are not between 0 and 1",
            }
        })?;
        Ok(transfer)
    }
}

impl Default for QuantileTransfer {
    /// No confidence of either side yet.
    fn default() -> Self {
        // Counts of values in [0, 1]: the range is part of the state, and states of others do not
        // merge.
        let none = QuantileCounts::new(Interval::UNIT);
        Self { labeled: none.clone(), target: none }
    }
}

impl QuantileTransfer {
    /// From confidences of both data sets.
    ///
    /// # Errors
    /// If a confidence is not finite or not in `[0, 1]`.
    pub fn new(labeled: &[f64], target: &[f64]) -> Result<Self> {
        let mut transfer = Self::default();
        transfer.labeled.add(RowKeys::From(0), labeled)?;
        transfer.target.add(RowKeys::From(0), target)?;
        Ok(transfer)
    }

    /// Adds a block of calibration probability rows; `first_row` is the index of its first row, for errors.
    ///
    /// # Errors
    /// If a row does not hold probabilities.
    pub fn add_labeled<T: Real>(&mut self, first_row: usize, block: Rows<'_, T>) -> Result<()> {
        let keys = RowKeys::From(first_row as u64);
        self.labeled.add(keys, &confidences(keys, block)?)
    }

    /// Adds a block of target probability rows; keys name rows in errors.
    ///
    /// # Errors
    /// If a row does not hold probabilities, or there are not as many keys as rows.
    pub fn add_target<T: Real>(&mut self, keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<()> {
        self.target.add(keys, &confidences(keys, block)?)
    }

    /// Adds what another one saw; the order does not matter.
    ///
    /// # Errors
    /// If the other counts over another range.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<()> {
        self.labeled.merge(&other.labeled)?;
        self.target.merge(&other.target)
    }

    /// Rows of the calibration data and of the target data seen, in this order.
    pub(crate) fn rows(&self) -> (u64, u64) {
        (self.labeled.len(), self.target.len())
    }

    /// `alpha'` of QTC-T.
    ///
    /// ```text
    /// q = alpha quantile of target confidences,   alpha' = share of calibration confidences < q
    /// ```
    ///
    /// # Errors
    /// If either data set has no row.
    pub fn rate(&self, alpha: Miscoverage) -> Result<TransferredRate> {
        // Both roundings are down: counted confidences may only lower alpha', which makes sets larger.
        let q = quantile(&self.target, "target confidences", alpha.get(), Rounding::Down)?;
        require_rows(&self.labeled, "calibration confidences")?;
        Ok(TransferredRate(self.labeled.share_below(q, Rounding::Down)))
    }

    /// `alpha'` of QTC-SC.
    ///
    /// ```text
    /// q = 1 - alpha quantile of calibration confidences,   alpha' = 1 - share of target confidences < q
    /// ```
    ///
    /// # Errors
    /// If either data set has no row.
    pub fn source_coverage_rate(&self, alpha: Miscoverage) -> Result<TransferredRate> {
        let level = alpha.level().get();
        // Up, for the same reason: a larger share below q is a smaller alpha'.
        let q = quantile(&self.labeled, "calibration confidences", level, Rounding::Up)?;
        require_rows(&self.target, "target confidences")?;
        Ok(TransferredRate(1.0 - self.target.share_below(q, Rounding::Up)))
    }

    /// The smaller `alpha'` of QTC-T and QTC-SC.
    ///
    /// # Errors
    /// If either data set has no row.
    pub fn smaller_rate(&self, alpha: Miscoverage) -> Result<TransferredRate> {
        let (target, source) = (self.rate(alpha)?, self.source_coverage_rate(alpha)?);
        Ok(TransferredRate(target.0.min(source.0)))
    }

    /// `tau'` of QTC-ST, for a score with values in `[0, 1]` (`lac`, `aps`).
    ///
    /// ```text
    /// q = tau quantile of calibration confidences,   tau' = share of target confidences < q
    /// ```
    ///
    /// # Errors
    /// If `split` is not in `[0, 1]`, where it is no level of a quantile, or either data set has no row.
    pub fn source_threshold(&self, split: Threshold) -> Result<Threshold> {
        // Every label is in already; no transferred number could say that.
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
    ///
    /// # Errors
    /// If either data set has no row, or the rule is QTC-ST and the scores are not in `[0, 1]`.
    pub fn threshold(
        &self,
        rule: TransferRule,
        scores: &WeightedEmpirical,
        alpha: Miscoverage,
    ) -> Result<Threshold> {
        match rule {
            TransferRule::Min => self.smaller_rate(alpha)?.threshold(scores),
            TransferRule::Qtc => self.rate(alpha)?.threshold(scores),
            TransferRule::SourceCoverage => self.source_coverage_rate(alpha)?.threshold(scores),
            TransferRule::SourceThreshold => {
                // The split threshold of the same scores, the test point being one of n + 1.
                let split = TransferredRate(alpha.get()).threshold(scores)?;
                self.source_threshold(split)
            }
        }
    }
}

/// An error unless the sample has a value: a share of nothing is 0 / 0.
fn require_rows(sample: &QuantileCounts, what: &'static str) -> Result<()> {
    if sample.len() == 0 { Err(Error::Empty { what }) } else { Ok(()) }
}

/// Smallest value that reaches the level, or the end of its cell in the direction asked for.
///
/// # Errors
/// `Empty` without values, `OutOfRange` for a level outside `[0, 1]`.
fn quantile(
    sample: &QuantileCounts,
    what: &'static str,
    level: f64,
    rounding: Rounding,
) -> Result<f64> {
    sample.quantile(Level::new(level)?, rounding).ok_or(Error::Empty { what })
}

/// Confidence of each row of a block, checked and normalised; shape `(rows,)`.
fn confidences<T: Real>(keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<Vec<f64>> {
    keys.check(block.rows())?;
    let mut row = vec![0.0; block.columns()];
    let confidence_of = |(offset, values): (usize, &[T])| {
        widen_scaled(values, row_scale(block.what(), keys.key(offset), values)?, &mut row);
        Ok(confidence(&row))
    };
    block.iter().enumerate().map(confidence_of).collect()
}

/// Split conformal prediction in the making, with the confidences of the calibration points.
#[derive(Debug)]
pub(crate) struct QuantileTransferFit {
    /// Calibration scores, increasing, with their places in the input.
    sorted: Sorted,
    /// Which quantile is transferred.
    rule: TransferRule,
    /// Confidences of the calibration points; no target row yet.
    calibration: QuantileTransfer,
}

/// Reads the confidences of the calibration points; those of the target rows are still to come.
///
/// # Errors
/// `WrongScore` for QTC-ST with a score that is not in `[0, 1]`.
pub(crate) fn begin<T: Real>(
    calibration: &Scored<'_, T>,
    rule: TransferRule,
) -> Result<Open<QuantileTransferFit>> {
    // Found out here, not at the first threshold: by then all target rows have been read.
    if rule == TransferRule::SourceThreshold
        && !matches!(calibration.context.score, Score::Lac | Score::Aps(_))
    {
        let (method, option) = (ABOUT.name, "qtc-rule");
        let whose = User::MethodWith { method, option, value: "source-threshold" };
        return Err(Error::WrongScore { whose, scores: &["lac", "aps"] });
    }
    let said = predictions(calibration.probabilities);
    let confidences: Vec<f64> = said.iter().map(|prediction| prediction.confidence).collect();
    let stage = QuantileTransferFit {
        sorted: Sorted::new(calibration.scores),
        rule,
        calibration: QuantileTransfer::new(&confidences, &[])?,
    };
    Ok(Open::new(stage, ConfidencePass { classes: calibration.classes() }))
}

impl Stage for QuantileTransferFit {
    type Pass = ConfidencePass;

    /// Both sides' confidences in one rule, and equal weights.
    fn end_pass(self, _: ConfidencePass, target: QuantileTransfer, _: u64) -> Result<Next> {
        let mut confidences = self.calibration;
        confidences.merge(&target)?;
        let rule = Rule::Transferred { rule: self.rule, confidences };
        Next::done(Concluded::split(self.sorted, rule)?)
    }
}

/// Keeps the confidences of the target rows, up to 2^16 of them one by one, counts beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConfidencePass {
    /// Number of classes of the rows it reads.
    classes: usize,
}

impl Pass for ConfidencePass {
    type State = QuantileTransfer;

    /// No confidence of either side; the calibration's stay with the driver.
    fn empty(&self) -> QuantileTransfer {
        QuantileTransfer::default()
    }

    /// Adds the confidence of each row; side inputs are of no use here.
    fn add<T: Real>(
        &self,
        mut state: QuantileTransfer,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        _: &SideInputs<'_>,
    ) -> Result<QuantileTransfer> {
        state.add_target(keys, block)?;
        Ok(state)
    }

    /// Joins the confidences of two states.
    fn merge(
        &self,
        mut state: QuantileTransfer,
        other: QuantileTransfer,
    ) -> Result<QuantileTransfer> {
        state.merge(&other)?;
        Ok(state)
    }

    /// An error if the state holds calibration confidences, which a worker never sees.
    fn check(&self, state: &QuantileTransfer) -> Result<()> {
        // They would be added to the driver's own, and every share would be of the wrong points.
        match state.rows().0 {
            0 => Ok(()),
            _ => Err(Error::Damaged { what: "the state", why: "it holds calibration confidences" }),
        }
    }

    fn classes(&self) -> usize {
        self.classes
    }
}

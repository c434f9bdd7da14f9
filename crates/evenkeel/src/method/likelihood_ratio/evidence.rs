//! What a fitted ratio says about itself.
//!
//! ```text
//! AUC = P(log ratio of a target row > that of a calibration row) + 1/2 P(equal)
//! n_w = 1 / sum_i w_i^2,   w_i = ratio_i / sum_k ratio_k
//! ```

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::measure::Weights;
use crate::numeric::sort_numbers;

/// Whether the ratio tells the calibration data from the target data without a single error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Overlap {
    /// Some calibration row looks more like the target data than some target row does.
    Overlapping,
    /// Every target row has a larger ratio than every calibration row: only the ridge decides how large the ratios are.
    Separated,
}

/// Why a fit ended; the word stands in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RatioStop {
    /// Newton's method found the minimum.
    Converged,
    /// Newton's method used up its steps; the ratio is that of the last one.
    MostSteps,
    /// All steps were taken and the network of the best loss on held-out rows was kept.
    BestHeldOutLoss,
    /// The loss was not a number; the best network before that was kept.
    Diverged,
}

/// Evidence about a fitted ratio, on the rows it was fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RatioEvidence {
    /// Whether calibration and target data overlap; without overlap the ratios mean nothing.
    pub overlap: Overlap,
    /// Probability that a row of the target data has a larger ratio than one of the calibration data, ties counted
    /// half: 1/2 when the ratio sees no shift, 1 when it separates them.
    pub area_under_curve: f64,
    /// `n_w = 1 / sum_i w_i^2` of the calibration rows weighted by their ratios, in `[1, n]`: how
    /// many points are left.
    pub effective_sample_size: f64,
    /// Mean logistic loss: of the fit (logistic), of its worst bridge (telescoping), of the rows held out (network).
    pub loss: f64,
    /// Steps taken (Newton), most of any bridge (telescoping), or up to the network kept.
    pub steps: usize,
    /// Why the fit ended; for telescoping, of the worst bridge.
    pub stopped: RatioStop,
}

impl RatioEvidence {
    /// From log ratios at the rows of the fit: `labeled` `(n,)`, `target` `(m,)`.
    ///
    /// # Errors
    /// If a log ratio is not finite.
    pub(super) fn new(
        labeled: &[f64],
        target: &[f64],
        (loss, steps, stopped): (f64, usize, RatioStop),
    ) -> Result<Self> {
        let largest = labeled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = target.iter().copied().fold(f64::INFINITY, f64::min);
        // Strictly: rows that tie are told apart by nothing.
        let overlap = if smallest > largest { Overlap::Separated } else { Overlap::Overlapping };
        Ok(Self {
            overlap,
            area_under_curve: area_under_curve(labeled, target),
            // Of log ratios: their exponentials may differ by 500 orders of magnitude.
            effective_sample_size: Weights::softmax(labeled.to_vec())?.effective_sample_size(),
            loss,
            steps,
            stopped,
        })
    }

    /// An error when calibration and target data do not overlap: no weighting of the one can then stand for the other.
    ///
    /// # Errors
    /// If every target row has a larger ratio than every calibration row.
    pub fn require_overlap(&self) -> Result<()> {
        match self.overlap {
            Overlap::Overlapping => Ok(()),
            Overlap::Separated => Err(Error::NoOverlap),
        }
    }
}

/// Mann-Whitney: share of pairs in which the target value is larger, ties counted half. By binary
/// search in the sorted calibration values, `O((n + m) log n)` instead of `O(n m)`.
fn area_under_curve(labeled: &[f64], target: &[f64]) -> f64 {
    let mut sorted = labeled.to_vec();
    sort_numbers(&mut sorted);
    let wins = |value: &f64| {
        let below = sorted.partition_point(|other| other < value);
        let not_above = sorted.partition_point(|other| other <= value);
        f64::midpoint(below as f64, not_above as f64)
    };
    let total: f64 = target.iter().map(wins).sum();
    total / (labeled.len() as f64 * target.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_counts_pairs() {
        assert_eq!(area_under_curve(&[0.0, 1.0], &[2.0, 3.0]), 1.0);
        assert_eq!(area_under_curve(&[0.0, 2.0], &[1.0, 2.0]), 0.625);
    }

    #[test]
    fn separation_is_an_error_when_asked_for() {
        let stop = (0.0, 1, RatioStop::Converged);
        let separated = RatioEvidence::new(&[-1.0, 0.0], &[0.5, 1.0], stop).unwrap();
        assert_eq!(separated.require_overlap(), Err(Error::NoOverlap));
        let touching = RatioEvidence::new(&[-1.0, 0.5], &[0.5, 1.0], stop).unwrap();
        assert_eq!(touching.require_overlap(), Ok(()));
    }
}

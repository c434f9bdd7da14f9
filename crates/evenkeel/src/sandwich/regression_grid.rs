//! `S[j][b] = |centre_b - prediction_j|`: regression as classification, with bins of `y` as
//! candidate labels \[GNM24\].
//!
//! ```text
//! edge_b   = low + b width,   width = (high - low) / count
//! centre_b = low + (b + 1/2) width
//! ```

use crate::error::{Error, Result, require_finite, require_some};
use crate::interval::Interval;
use crate::score::{CandidateScores, absolute_residual};

/// Equal bins over the training range of `y`: bin `b` is `[edge_b, edge_(b+1))`, the last one
/// closed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelBins {
    range: Interval,
    count: usize,
}

/// Largest number of bins. More than this is likelier a mistake than a wish, and a table of candidates would not fit in
/// memory.
const MOST_BINS: usize = 1 << 24;

impl LabelBins {
    /// Number of bins in the paper's regression experiment.
    pub const DEFAULT_COUNT: usize = 50;

    /// `count` equal bins over `range`; at least one.
    ///
    /// # Errors
    /// `TooFew` for no bins, `OutOfRange` for more than 2^24.
    pub fn new(range: Interval, count: usize) -> Result<Self> {
        if count == 0 {
            return Err(Error::TooFew { what: "label bins", found: 0, least: 1 });
        }
        if count > MOST_BINS {
            return Err(Error::OutOfRange {
                what: "the number of label bins",
                value: count as f64,
                expected: "at most 16777216",
            });
        }
        Ok(Self { range, count })
    }

    /// `count` equal bins over the range of `y`.
    ///
    /// # Errors
    /// `Empty` for no values, `NotFinite` for one that is NaN or infinite, `EmptyInterval` if all are equal, and the
    /// errors of [`new`](Self::new).
    pub fn over(y: &[f64], count: usize) -> Result<Self> {
        require_some("y", y)?;
        require_finite("y", y)?;
        let low = y.iter().fold(f64::INFINITY, |low, y| low.min(*y));
        let high = y.iter().fold(f64::NEG_INFINITY, |high, y| high.max(*y));
        let range = Interval::new(low, high).map_err(|_| Error::EmptyInterval {
            what: "the range of y",
            low,
            high,
        })?;
        Self::new(range, count)
    }

    /// Number of bins, the candidate labels.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Range of `y` that the bins cover.
    pub fn range(&self) -> Interval {
        self.range
    }

    /// Width of a bin, in the units of `y`.
    pub fn width(&self) -> f64 {
        self.range.width() / self.count as f64
    }

    /// The bin of a finite `y`; what lies outside the range goes to the edge bin.
    pub fn bin_of(&self, y: f64) -> usize {
        // A saturating cast: everything below the range, and NaN, becomes 0.
        let mut bin = (((y - self.range.low()) / self.width()) as usize).min(self.count - 1);
        // The division may round across an edge; the edges themselves decide.
        while bin > 0 && y < self.edge(bin) {
            bin -= 1;
        }
        while bin + 1 < self.count && y >= self.edge(bin + 1) {
            bin += 1;
        }
        bin
    }

    /// Low edge of bin `index`; `edge(count)` is the high end of the range.
    pub fn edge(&self, index: usize) -> f64 {
        if index == self.count {
            return self.range.high();
        }
        self.range.low() + self.width() * index as f64
    }

    /// Middle of bin `index`, the `y` that stands for it.
    pub fn centre(&self, index: usize) -> f64 {
        self.range.low() + self.width() * (index as f64 + 0.5)
    }
}

/// Candidate scores of a plain point regressor; shape `(m, bins)`.
///
/// ```text
/// S[j][b] = |centre_b - prediction_j|        f[j][b] = share of residuals r_i with prediction_j + r_i in bin b
/// ```
/// The signed calibration residuals `r_i = y_i - prediction_i`, placed around each prediction, stand for the model's
/// belief; what falls outside the range of the bins goes to the edge bins.
///
/// # Errors
/// `Empty` for no predictions or residuals, `NotFinite` for one that is NaN or infinite.
pub fn residual_candidates(
    predictions: &[f64],
    calibration_residuals: &[f64],
    bins: &LabelBins,
) -> Result<CandidateScores> {
    require_some("predictions", predictions)?;
    require_finite("predictions", predictions)?;
    require_some("calibration residuals", calibration_residuals)?;
    require_finite("calibration residuals", calibration_residuals)?;
    let mut residuals = calibration_residuals.to_vec();
    // Sorted once: the share of a bin is then a difference of two ranks, for every prediction.
    residuals.sort_unstable_by(f64::total_cmp);
    let n = residuals.len() as f64;

    let mut scores = Vec::with_capacity(predictions.len() * bins.count());
    let mut plausibility = Vec::with_capacity(scores.capacity());
    for prediction in predictions {
        let mut below = 0;
        for bin in 0..bins.count() {
            scores.push(absolute_residual(*prediction, bins.centre(bin)));
            // The first bin starts at minus infinity and the last ends at infinity.
            let through = if bin + 1 == bins.count() {
                residuals.len()
            } else {
                residuals.partition_point(|residual| prediction + residual < bins.edge(bin + 1))
            };
            plausibility.push((through - below) as f64 / n);
            below = through;
        }
    }
    CandidateScores::new(scores, bins.count())?.with_plausibility(plausibility)
}

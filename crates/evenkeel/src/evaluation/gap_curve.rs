//! `(1 - alpha, F_Q(t_alpha))`: nominal against measured coverage, over miscoverage rates.

use crate::level::Miscoverage;
use crate::measure::WeightedEmpirical;
use crate::threshold::{TestMass, Threshold, conformal_threshold};

/// What one miscoverage rate asks for and gets: a point of the curve of coverage over level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GapPoint {
    /// The miscoverage rate; the nominal coverage is `1 - alpha`.
    pub alpha: Miscoverage,
    /// The threshold that the calibration gives for it.
    pub threshold: Threshold,
    /// Coverage at the threshold, `F_Q(threshold)`, in `[0, 1]`.
    pub coverage: f64,
    /// `|1 - alpha - coverage|`, in `[0, 1]`.
    pub gap: f64,
}

/// Nominal and measured coverage for each of `rates`.
///
/// `p` is the weighted calibration law and `q` the law of labeled test scores (uniform over them, or
/// [counted](super::LabelScoreCounts) block by block).
pub fn gap_curve(
    p: &WeightedEmpirical,
    test: TestMass,
    q: &WeightedEmpirical,
    rates: &[Miscoverage],
) -> Vec<GapPoint> {
    let point = |alpha: &Miscoverage| {
        let threshold = conformal_threshold(p, test, *alpha);
        // An infinite threshold is as good as a number here: `F_Q` is 1 there, as every label is in the set.
        let coverage = q.cdf(threshold.get());
        let gap = (alpha.level().get() - coverage).abs();
        GapPoint { alpha: *alpha, threshold, coverage, gap }
    };
    rates.iter().map(point).collect()
}

/// The rates 0.01, 0.02, ..., 0.99.
pub fn percent_rates() -> Vec<Miscoverage> {
    // Divided, not added up: 0.01 added ten times is not 0.1, and a rank could be lost.
    (1..100).filter_map(|percent| Miscoverage::new(f64::from(percent) / 100.0).ok()).collect()
}

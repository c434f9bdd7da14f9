//! How far a calibration's coverage on labeled points is from the nominal one, over all miscoverage rates.

use super::Calibration;
use crate::evaluation::{GapPoint, LabelScoreCounts, percent_rates, total_coverage_gap};
use crate::level::Miscoverage;
use crate::measure::WeightedEmpirical;
use crate::method::CoverageForm;
use crate::threshold::Threshold;

/// Levels at which a threshold that is not a quantile of the weighted scores is looked at: a tenth
/// of a percent apart.
const LEVELS: usize = 1000;

impl Calibration {
    /// Counters of scores at true labels, exact wherever [`total_gap`](Self::total_gap) and
    /// [`gap_curve`](Self::gap_curve) ask.
    pub fn label_score_counts(&self) -> LabelScoreCounts {
        // Counts are exact at these places only, so every place that will be asked for must be
        // among them.
        let mut places = self.law.atoms().to_vec();
        if self.rule.coverage_form() == CoverageForm::Levels {
            let rates = percent_rates().into_iter().chain(middles());
            places.extend(rates.filter_map(|alpha| match self.threshold(Some(alpha)) {
                Some(Threshold::Finite(score)) => Some(score),
                _ => None,
            }));
        }
        LabelScoreCounts::at(places)
    }

    /// Average over all miscoverage rates of how far the coverage is from the nominal one, given the law of the scores
    /// at the true labels; none where every point has a threshold of its own.
    ///
    /// ```text
    /// quantiles of weighted scores   sum_i w_i |F_w(s_i) - F_Q(s_i)|           (Prop A.3; without the test point's share)
    /// other thresholds t(L)          mean of |F_Q(t(L)) - L| over 1000 middles of levels L
    /// ```
    pub fn total_gap(&self, label_law: &WeightedEmpirical) -> Option<f64> {
        match self.rule.coverage_form() {
            CoverageForm::Law => Some(total_coverage_gap(&self.law, label_law)),
            CoverageForm::Levels => {
                let levels: Vec<Miscoverage> = middles().collect();
                let gaps = self.gap_curve(label_law, &levels);
                Some(gaps.iter().map(|point| point.gap).sum::<f64>() / LEVELS as f64)
            }
            CoverageForm::Points => None,
        }
    }

    /// Nominal and measured coverage at each rate, with the test point's share of the mass as in prediction; empty where
    /// points have thresholds of their own.
    pub fn gap_curve(&self, label_law: &WeightedEmpirical, rates: &[Miscoverage]) -> Vec<GapPoint> {
        let point = |alpha: &Miscoverage| {
            let threshold = self.threshold(Some(*alpha))?;
            // An infinite threshold covers everything: the CDF is 1 there.
            let coverage = label_law.cdf(threshold.get());
            let gap = (alpha.level().get() - coverage).abs();
            Some(GapPoint { alpha: *alpha, threshold, coverage, gap })
        };
        rates.iter().filter_map(point).collect()
    }
}

/// The middles of [`LEVELS`] equal parts of the rates: neither 0 nor 1, which are no rates.
fn middles() -> impl Iterator<Item = Miscoverage> {
    (0..LEVELS).filter_map(|index| Miscoverage::new((index as f64 + 0.5) / LEVELS as f64).ok())
}

//! Stage 3: how far the target data is from the calibration data, and so how much of the plan to use.
//!
//! ```text
//! hP, hQ    predicted groups counted, + 0.5 each            w_i = hQ / hP at i's predicted group
//! ks        D = KS distance of max fP, weighted by w, from max fQ
//! tv        1/2 sum_g |hP_g - hQ_g|, both normalised
//! expected  TV0 = 1/2 sqrt(2/pi) sum_g sqrt(h_g (1 - h_g) (1/n + 1/m)),  h = (hP + hQ) / 2
//! start     d = 0.6 sqrt(1/n + 1/m)
//!
//! james_stein  max(0, 1 - 1.5 (TV0 / TV)^2)
//! ramp         clip((D - d) / (0.35 - d), 0, 1)
//! mix          min(james_stein, ramp)
//! inflation    min(2, 1 + max(0, D - d))
//! ```
//! `TV0` is what sampling noise alone makes of `TV`, so `james_stein` shrinks a difference of histograms that noise explains
//! to zero; `ramp` asks in addition that the confidences moved. Both must agree before labels are moved.

use serde::{Deserialize, Serialize};

use super::calibration_outputs::CalibrationOutputs;
use crate::sketch::Confidences;

/// Shrinkage of the difference of histograms: at `TV = sqrt(1.5) TV0` or less nothing of it is
/// left.
const SHRINKAGE: f64 = 1.5;
/// Distance of confidences at which the plan is used in full.
const FULL_DISTANCE: f64 = 0.35;
/// Distance of confidences that noise explains, in units of `sqrt(1/n + 1/m)`.
const START_FACTOR: f64 = 0.6;
/// Largest factor on the temperature: rows are never read at more than `2 T`.
pub(crate) const LARGEST_INFLATION: f64 = 2.0;
/// Added to every count of predicted groups, in both data sets.
const PSEUDO_COUNT: f64 = 0.5;

/// The distances between calibration and target data, and what follows from them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShiftStatistics {
    /// `D`: distance of the confidences, predicted groups held fixed.
    pub ks: f64,
    /// `d`: the distance below which nothing is done.
    pub ks_start: f64,
    /// `TV`, the distance of the histograms of predicted groups, in `[0, 1]`.
    pub tv: f64,
    /// `TV0`, the expectation of `tv` when nothing changed.
    pub tv_expected: f64,
    /// Share of the histograms' difference that noise does not explain, in `[0, 1)`.
    pub james_stein: f64,
    /// How far the confidences moved, from 0 (noise) to 1.
    pub ramp: f64,
    /// Share of the plan in the planned law, in `[0, 1]`; 0 leaves the labels where the model puts
    /// them.
    pub mix: f64,
    /// Factor on the temperature at which target rows are read, in `[1, 2]`.
    pub inflation: f64,
    /// Standard deviation of `tv` when nothing changed, rather too large.
    pub tv_deviation: f64,
    /// `1 / (1/n_w + 1/m)`, `n_w` of the weights of the confidences: how many points the distance `ks` rests on.
    pub ks_points: f64,
    /// Mean confidence of the calibration data, weighted to the predicted groups of the target data.
    // Files of version 1 spell the two means so; without the names they could not be read.
    #[serde(rename = "mean_confidence_yesterday")]
    pub mean_confidence_calibration: f64,
    /// Mean confidence of the target data, in `[0, 1]`.
    #[serde(rename = "mean_confidence_today")]
    pub mean_confidence_target: f64,
}

/// Calibration predictions at the fitted temperature, and their groups; shapes `(n,)`.
pub(crate) struct PredictedCalibration<'a> {
    /// Predicted group of each labeled point, below `G`.
    pub groups: Vec<usize>,
    /// What the groups are of, and how probable each prediction is.
    pub outputs: &'a CalibrationOutputs,
}

impl PredictedCalibration<'_> {
    /// Confidences in increasing order, each with its weight.
    pub(super) fn atoms(&self, weights: &[f64]) -> Vec<(f64, f64)> {
        let CalibrationOutputs { confidences, .. } = self.outputs;
        self.outputs.in_order().map(|row| (confidences[row], weights[row])).collect()
    }
}

/// Compares the predictions on the two data sets; those on the target data come as counts of
/// groups.
///
/// `target_counts` has shape `(G,)` and sums to `m`, the number of confidences in `target`.
pub(crate) fn shift_statistics(
    labeled: &PredictedCalibration<'_>,
    target_counts: &[u64],
    target: &Confidences,
) -> ShiftStatistics {
    let groups = target_counts.len();
    let n = labeled.groups.len() as f64;
    let m = target_counts.iter().sum::<u64>() as f64;
    // Without pseudo-counts a group that the target data never predicts would weigh nothing, and if
    // no calibration point is in a predicted group all weights would be zero, their mean 0 / 0.
    let mut p = vec![PSEUDO_COUNT; groups];
    labeled.groups.iter().for_each(|group| p[*group] += 1.0);
    let q: Vec<f64> = target_counts.iter().map(|count| *count as f64 + PSEUDO_COUNT).collect();
    let weights: Vec<f64> = labeled.groups.iter().map(|group| q[*group] / p[*group]).collect();
    let ks = target.kolmogorov_smirnov(&labeled.atoms(&weights), weights.iter().sum());

    let noise = 1.0 / n + 1.0 / m;
    let GroupDistance { tv, expected: tv_expected, deviation: tv_deviation } =
        GroupDistance::of_counts((&p, n), (&q, m));
    let ks_start = START_FACTOR * noise.sqrt();
    let james_stein =
        if tv > 0.0 { (1.0 - SHRINKAGE * (tv_expected / tv).powi(2)).max(0.0) } else { 0.0 };
    let ramp = ramp(ks, ks_start, FULL_DISTANCE);
    let (sum, squares) =
        weights.iter().fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
    let weighted: f64 = weights.iter().zip(&labeled.outputs.confidences).map(|(w, c)| w * c).sum();
    ShiftStatistics {
        ks,
        ks_start,
        tv,
        tv_expected,
        james_stein,
        ramp,
        mix: james_stein.min(ramp),
        inflation: (1.0 + (ks - ks_start).max(0.0)).min(LARGEST_INFLATION),
        tv_deviation,
        ks_points: 1.0 / (squares / (sum * sum) + 1.0 / m),
        mean_confidence_calibration: weighted / sum,
        mean_confidence_target: target.mean(),
    }
}

/// Total variation of two histograms of groups, and what noise alone makes of it.
pub(crate) struct GroupDistance {
    pub tv: f64,
    /// Its expectation when nothing changed.
    pub expected: f64,
    /// Its standard deviation then, rather too large.
    pub deviation: f64,
}

impl GroupDistance {
    /// Of counts without pseudo-counts, which are added, with the variance of the difference of a group's shares where both are
    /// `h`.
    pub(super) fn smoothed(p: &[f64], q: &[f64], variance_of: impl Fn(usize, f64) -> f64) -> Self {
        let smoothed = |counts: &[f64]| -> Vec<f64> {
            counts.iter().map(|count| count + PSEUDO_COUNT).collect()
        };
        Self::with_variances(&smoothed(p), &smoothed(q), variance_of)
    }

    /// Of counts with their pseudo-counts.
    fn of_counts((p, n): (&[f64], f64), (q, m): (&[f64], f64)) -> Self {
        let noise = 1.0 / n + 1.0 / m;
        Self::with_variances(p, q, |_, h| h * (1.0 - h) * noise)
    }

    /// Of counts, with the variance of the difference of a group's shares where both are `h`.
    fn with_variances(p: &[f64], q: &[f64], variance_of: impl Fn(usize, f64) -> f64) -> Self {
        let (total_p, total_q): (f64, f64) = (p.iter().sum(), q.iter().sum());
        let (mut tv, mut expected, mut variance) = (0.0, 0.0, 0.0);
        for (group, (p, q)) in p.iter().zip(q).enumerate() {
            let (p, q) = (p / total_p, q / total_q);
            let h = 0.5 * (p + q);
            tv += 0.5 * (p - q).abs();
            let variance_of_one = variance_of(group, h).max(0.0);
            expected += variance_of_one.sqrt();
            variance += variance_of_one;
        }
        // |d| of a normal d has variance (1 - 2/pi) sigma^2. Differences of the groups sum to zero: with two groups they are
        // one and the same, which doubles the variance of their sum; with many they are nearly independent.
        let deviation = 0.5 * ((1.0 - std::f64::consts::FRAC_2_PI) * 2.0 * variance).sqrt();
        Self { tv, expected: expected * 0.5 * std::f64::consts::FRAC_2_PI.sqrt(), deviation }
    }
}

/// `clip((ks - start) / (full - start), 0, 1)`. With so few points that noise alone reaches `full` the ramp is a step.
pub(crate) fn ramp(ks: f64, start: f64, full: f64) -> f64 {
    if ks <= start {
        0.0
    } else if start >= full {
        1.0
    } else {
        ((ks - start) / (full - start)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics(labeled: &[(usize, f64)], target: &[(usize, f64)]) -> ShiftStatistics {
        let sketch = Confidences::new(target.iter().map(|(_, confidence)| *confidence).collect());
        let mut counts = vec![0; 3];
        target.iter().for_each(|(group, _)| counts[*group] += 1);
        let (groups, confidences): (Vec<usize>, Vec<f64>) = labeled.iter().copied().unzip();
        let outputs = CalibrationOutputs::of_predictions(groups.clone(), confidences);
        let calibration = PredictedCalibration { groups, outputs: &outputs };
        shift_statistics(&calibration, &counts, &sketch)
    }

    #[test]
    fn nothing_moved_means_nothing_is_mixed() {
        let day: Vec<(usize, f64)> = (0..90).map(|i| (i % 3, (i / 3) as f64 / 30.0)).collect();
        let found = statistics(&day, &day);
        assert!(found.ks < 1e-12);
        assert_eq!((found.tv, found.mix, found.inflation), (0.0, 0.0, 1.0));
        assert!((found.mean_confidence_target - found.mean_confidence_calibration).abs() < 1e-12);
    }

    /// Pure label shift: within a predicted group the confidences are the same, so the weighted distance is small.
    #[test]
    fn a_change_of_groups_alone_does_not_move_the_confidences() {
        let level = |group: usize, i: usize| (group as f64 + i as f64 / 40.0) / 3.0;
        let day = |sizes: [usize; 3]| -> Vec<(usize, f64)> {
            (0..3).flat_map(|g| (0..sizes[g]).map(move |i| (g, level(g, i % 40)))).collect()
        };
        let found = statistics(&day([40, 40, 40]), &day([80, 40, 0]));
        assert!(found.ks < 0.02, "{found:?}");
        assert!(found.tv > 0.3 && found.mix == 0.0 && found.james_stein > 0.0, "{found:?}");
    }

    #[test]
    fn the_ramp_is_a_step_where_noise_reaches_its_end() {
        let ramp = |ks, start| ramp(ks, start, FULL_DISTANCE);
        assert_eq!((ramp(0.3, 0.4), ramp(0.5, 0.4)), (0.0, 1.0));
        assert_eq!((ramp(0.05, 0.05), ramp(0.35, 0.05), ramp(0.9, 0.05)), (0.0, 1.0, 1.0));
    }
}

//! Whether other class frequencies alone explain the outputs on the target data, and what labels are then.
//!
//! ```text
//! Q_g    <- mean_j f_j(g) b_g / sum_k f_j(k) b_k,   b = Q / pi          EM from Q = pi: maximum-likelihood shares
//! h_j(y)  ~ f_j(y) b_group(y)                                            the law of labels under them
//!
//! as they are   confidences of the calibration rows differ from those of the target rows by more than 1.36 sqrt(1/n + 1/m)
//!               (KS), or predicted groups by more than TV0 + 2 sd (total variation)
//! reweighted    by b at their labels, they differ by neither; n is then that of the weights
//! explained     not as they are, but reweighted
//! ```
//! Under label shift `P(x|y)` is kept, so that calibration rows weighted by `Q(y)/P(y)` have the outputs of the target rows: all
//! of them, not only the predicted classes. Corruption moves the confidences of every class, which no weights on classes undo.
//! Five-percent points are those of two samples; shares fitted to one of them make the test a little milder.

use serde::{Deserialize, Serialize};

use super::class_groups::ClassGroups;
use super::shift_statistics::{GroupDistance, PredictedCalibration};
use super::transport_plan::GroupTable;
use crate::sketch::ConfidenceCounts;

/// Histograms of predicted classes this many standard deviations further apart than noise makes them have changed: with two
/// classes, where the distance is half-normal, the five-percent point.
pub(crate) const HISTOGRAMS_MOVED: f64 = 2.0;
/// Five-percent point of the Kolmogorov-Smirnov distance in units of `sqrt(1/n_w + 1/m)`.
pub(crate) const CONFIDENCES_MOVED: f64 = 1.36;
/// Change of a share at which EM ends.
const TOLERANCE: f64 = 1e-7;
/// Iterations at most; the likelihood can be very flat.
const MOST_ITERATIONS: usize = 2000;
/// Shares below this count as this much: a scaling of zero would make labels impossible that one row may have.
const SMALLEST_SHARE: f64 = 1e-9;

/// Class frequencies of the target data under label shift, and how well they explain its outputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelShares {
    /// `Q`, the share of each group; shape `(G,)`.
    pub shares: Vec<f64>,
    /// Distance of the confidences once calibration rows are weighted to these shares.
    pub ks: f64,
    /// What it may be by chance.
    pub ks_noise: f64,
    /// Distance of the predicted groups, likewise.
    pub tv: f64,
    /// What it may be by chance.
    pub tv_noise: f64,
}

impl LabelShares {
    /// Whether what is left is noise.
    pub fn explain(&self) -> bool {
        self.ks <= self.ks_noise && self.tv <= self.tv_noise
    }

    /// `b = Q / pi` of each class; positive.
    pub(crate) fn class_scalings(&self, groups: &ClassGroups) -> Vec<f64> {
        groups.group_of.iter().map(|group| self.shares[*group] / groups.prior[*group]).collect()
    }

    /// The numbers are such as rows give.
    pub(crate) fn is_sound(&self, groups: usize) -> bool {
        let share = |value: &f64| (0.0..=1.0).contains(value);
        self.shares.len() == groups
            && self.shares.iter().all(|value| share(value) && *value > 0.0)
            && share(&self.ks)
            && share(&self.tv)
            && self.ks_noise >= 0.0
            && self.tv_noise >= 0.0
    }
}

/// What both data sets predicted: groups and confidences.
pub(crate) struct Predicted<'a> {
    pub calibration: &'a PredictedCalibration,
    /// Group of each calibration label.
    pub labels: &'a [usize],
    /// Target rows predicted to be of each group.
    pub target_counts: &'a [u64],
    pub target: &'a ConfidenceCounts,
}

impl Predicted<'_> {
    /// `(ks, its noise, tv, its noise)` with these weights on the calibration rows.
    fn distances(&self, weights: &[f64]) -> [f64; 4] {
        let m = self.target_counts.iter().sum::<u64>() as f64;
        let (sum, squares) =
            weights.iter().fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
        let n = sum * sum / squares;
        let ks = self.target.kolmogorov_smirnov(&self.calibration.confidences, weights);
        let mut histogram = vec![0.0; self.target_counts.len()];
        for (group, weight) in self.calibration.groups.iter().zip(weights) {
            // In units of points, as many as the weights are worth.
            histogram[*group] += n * weight / sum;
        }
        let counts: Vec<f64> = self.target_counts.iter().map(|count| *count as f64).collect();
        let GroupDistance { tv, expected, deviation } =
            GroupDistance::of((&histogram, n), (&counts, m));
        let ks_noise = CONFIDENCES_MOVED * (1.0 / n + 1.0 / m).sqrt();
        [ks.min(1.0), ks_noise, tv, expected + HISTOGRAMS_MOVED * deviation]
    }
}

/// Maximum-likelihood shares, where the calibration rows as they are do not explain the outputs; none where they do.
pub(crate) fn label_shares(
    predicted: &Predicted<'_>,
    groups: &ClassGroups,
    table: impl FnOnce() -> GroupTable,
) -> Option<LabelShares> {
    let equal = vec![1.0; predicted.labels.len()];
    let [ks, ks_noise, tv, tv_noise] = predicted.distances(&equal);
    if ks <= ks_noise && tv <= tv_noise {
        return None;
    }
    let table = table();
    let mut shares = groups.prior.clone();
    for _ in 0..MOST_ITERATIONS {
        let scalings: Vec<f64> = shares.iter().zip(&groups.prior).map(|(q, pi)| q / pi).collect();
        let next = table.marginal(&scalings);
        let change =
            next.iter().zip(&shares).map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
        shares = next.into_iter().map(|share| share.clamp(SMALLEST_SHARE, 1.0)).collect();
        if change < TOLERANCE {
            break;
        }
    }
    let weights: Vec<f64> =
        predicted.labels.iter().map(|group| shares[*group] / groups.prior[*group]).collect();
    let [ks, ks_noise, tv, tv_noise] = predicted.distances(&weights);
    Some(LabelShares { shares, ks, ks_noise, tv, tv_noise })
}

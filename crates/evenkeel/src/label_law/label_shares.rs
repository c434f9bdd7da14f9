//! Whether other class frequencies alone explain the outputs on the target data, and what labels are then.
//!
//! ```text
//! Q_g    <- mean_j f_j(g) b_g / sum_k f_j(k) b_k,   b = Q / pi          EM from Q = pi: maximum-likelihood shares
//! h_j(y)  ~ f_j(y) b_group(y)                                            the law of labels under them
//!
//! as they are   confidences of the calibration rows differ from those of the target rows by more than 1.36 * 2 max_t sd(t)
//!               (KS), or predicted groups by more than TV0 + 2 sd (total variation)
//! reweighted    by b at their labels, they differ by neither
//! explained     not as they are, but reweighted: five-percent points
//! possible      not as they are, but reweighted: points that one draw in a thousand passes
//! sd(t)^2       = sum_i w_i^2 (1{c_i <= t} - F(t))^2 + F(t) (1 - F(t)) / m, w of sum one; 1/4 (1/n + 1/m) at most for equal weights
//! ```
//! Weights belong to labels, and so do confidences: where the rows with large weights are those with the widest spread, as with a rare
//! class that became common, the number of points that weights are worth says too little about the noise. Sums of squares say it.
//! Under label shift `P(x|y)` is kept, so that calibration rows weighted by `Q(y)/P(y)` have the outputs of the target rows: all
//! of them, not only the predicted classes. Corruption moves the confidences of every class, which no weights on classes undo.
//! Points are those of two samples; shares fitted to one of them make the test a little milder. What is possible and not explained is
//! a reading among others, and nobody takes it: where it and `class-shares` say very different things, only labels tell.

use serde::{Deserialize, Serialize};

use super::class_groups::ClassGroups;
use super::shift_statistics::{GroupDistance, PredictedCalibration};
use super::transport_plan::GroupTable;
use crate::sketch::Confidences;

/// Histograms of predicted classes this many standard deviations further apart than noise makes them have changed: with two
/// classes, where the distance is half-normal, the five-percent point.
pub(crate) const HISTOGRAMS_MOVED: f64 = 2.0;
/// Five-percent point of the Kolmogorov-Smirnov distance in units of `sqrt(1/n_w + 1/m)`.
pub(crate) const CONFIDENCES_MOVED: f64 = 1.36;
/// The same two numbers for one draw in a thousand: further apart than this no weights on classes explain anything.
const HISTOGRAMS_NEVER_MOVE: f64 = 3.3;
const CONFIDENCES_NEVER_MOVE: f64 = 1.95;
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
    /// What the distance of the confidences is by chance in one draw of a thousand.
    #[serde(default)]
    pub ks_limit: f64,
    /// The same of the predicted groups.
    #[serde(default)]
    pub tv_limit: f64,
}

impl LabelShares {
    /// Whether what is left is noise.
    pub fn explain(&self) -> bool {
        self.ks <= self.ks_noise && self.tv <= self.tv_noise
    }

    /// Whether what is left may be noise, in one draw of a thousand.
    pub fn may_explain(&self) -> bool {
        self.explain() || (self.ks <= self.ks_limit && self.tv <= self.tv_limit)
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
            && [self.ks_noise, self.tv_noise, self.ks_limit, self.tv_limit]
                .iter()
                .all(|it| *it >= 0.0)
    }
}

/// What both data sets predicted: groups and confidences.
pub(crate) struct Predicted<'a> {
    pub calibration: &'a PredictedCalibration<'a>,
    /// Group of each calibration label.
    pub labels: &'a [usize],
    /// Target rows predicted to be of each group.
    pub target_counts: &'a [u64],
    pub target: &'a Confidences,
}

impl Predicted<'_> {
    /// Both distances with these weights on the calibration rows, and what they may be by chance.
    fn distances(&self, weights: &[f64]) -> Distances {
        let m = self.target_counts.iter().sum::<u64>() as f64;
        let (sum, squares) =
            weights.iter().fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
        let n = sum * sum / squares;
        let ks = self.target.kolmogorov_smirnov(&self.calibration.atoms(weights), sum);
        let mut histogram = vec![0.0; self.target_counts.len()];
        for (group, weight) in self.calibration.groups.iter().zip(weights) {
            // In units of points, as many as the weights are worth.
            histogram[*group] += n * weight / sum;
        }
        let counts: Vec<f64> = self.target_counts.iter().map(|count| *count as f64).collect();
        let mut squares_in = vec![0.0; self.target_counts.len()];
        for (group, weight) in self.calibration.groups.iter().zip(weights) {
            squares_in[*group] += weight * weight / (sum * sum);
        }
        let all: f64 = squares_in.iter().sum();
        // sum_i w_i^2 (1{i in g} - h)^2, and the target rows' h (1 - h) / m.
        let variance_of = |group: usize, h: f64| {
            let inside = squares_in[group];
            inside * (1.0 - h) * (1.0 - h) + (all - inside) * h * h + h * (1.0 - h) / m
        };
        let GroupDistance { tv, expected, deviation } =
            GroupDistance::smoothed(&histogram, &counts, variance_of);
        let spread = 2.0 * self.largest_deviation(weights, sum, m);
        Distances {
            ks: ks.min(1.0),
            ks_noise: CONFIDENCES_MOVED * spread,
            ks_limit: CONFIDENCES_NEVER_MOVE * spread,
            tv,
            tv_noise: expected + HISTOGRAMS_MOVED * deviation,
            tv_limit: expected + HISTOGRAMS_NEVER_MOVE * deviation,
        }
    }

    /// `max_t sd(t)` of the difference of both CDFs of confidences, where they are samples of one law.
    fn largest_deviation(&self, weights: &[f64], sum: f64, m: f64) -> f64 {
        let in_order = self.calibration.outputs.in_order().map(|row| weights[row] / sum);
        let all: f64 = in_order.clone().map(|weight| weight * weight).sum();
        let (mut cdf, mut squares, mut largest) = (0.0_f64, 0.0, 0.0_f64);
        for weight in in_order {
            cdf = (cdf + weight).min(1.0);
            squares += weight * weight;
            let of_calibration = squares * (1.0 - cdf) * (1.0 - cdf) + (all - squares) * cdf * cdf;
            largest = largest.max(of_calibration + cdf * (1.0 - cdf) / m);
        }
        largest.sqrt()
    }
}

/// How far the outputs of both data sets are apart, and what that may be by chance: usually, and in one draw of a thousand.
struct Distances {
    ks: f64,
    ks_noise: f64,
    ks_limit: f64,
    tv: f64,
    tv_noise: f64,
    tv_limit: f64,
}

/// Maximum-likelihood shares, where the calibration rows as they are do not explain the outputs; none where they do.
pub(crate) fn label_shares(
    predicted: &Predicted<'_>,
    groups: &ClassGroups,
    table: impl FnOnce() -> GroupTable,
) -> Option<LabelShares> {
    let equal = vec![1.0; predicted.labels.len()];
    let as_they_are = predicted.distances(&equal);
    if as_they_are.ks <= as_they_are.ks_noise && as_they_are.tv <= as_they_are.tv_noise {
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
    let Distances { ks, ks_noise, ks_limit, tv, tv_noise, tv_limit } =
        predicted.distances(&weights);
    Some(LabelShares { shares, ks, ks_noise, tv, tv_noise, ks_limit, tv_limit })
}

//! Ranges, bounds, order, weights and traces: what the answer rests on.

use evenkeel::bound::CoverageInterval;
use evenkeel::learning::optimise::TracePoint;
use evenkeel::sandwich::Order;

/// Where coverage lies at a threshold, and where it was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct CoverageRange {
    /// Which threshold, which pair of laws.
    pub label: String,
    /// The range, with what is known about the order of the laws behind it.
    pub interval: CoverageInterval,
    /// Coverage measured on labeled points of the target data, in `[0, 1]`, if there are any.
    pub measured: Option<f64>,
}

/// Bounds on the total coverage gap from one pair of laws.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundRow {
    /// Which weights, which pair of laws.
    pub label: String,
    /// Eq 7 on the sample.
    pub weighted_cdf: f64,
    /// Eq 7 with its finite-sample correction.
    pub weighted_cdf_dkw: Option<f64>,
    /// Eq 8 on the sample.
    pub wasserstein: f64,
    /// Eq 8 with its finite-sample correction.
    pub wasserstein_dkw: Option<f64>,
}

/// Whether a pair of laws is ordered.
#[derive(Debug, Clone, PartialEq)]
pub struct DominanceRow {
    /// Name of the pair.
    pub pair: String,
    /// Whether the order is guaranteed, holds empirically or is violated.
    pub order: Order,
}

/// The learned weights over the scores they belong to.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightsOverScores {
    /// Which method learned them.
    pub method: String,
    /// Calibration scores, in any order; shape `(n,)`.
    pub scores: Vec<f64>,
    /// Their weights, in the same order, of sum 1.
    pub weights: Vec<f64>,
    /// `n_w = 1 / sum_i w_i^2`.
    pub effective_sample_size: f64,
}

/// How an optimisation went.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceCurve {
    /// Name of the method that was optimised.
    pub method: String,
    /// The recorded points, in order.
    pub points: Vec<TracePoint>,
    /// Why it stopped, in words.
    pub stopped: String,
}

//! Shift test, bounds, order, weights and traces: what the answer rests on.

use evenkeel::learning::optimise::TracePoint;
use evenkeel::sandwich::Order;

/// Whether the model's outputs on the target data differ from those on the calibration data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShiftTest {
    /// What the test says.
    pub outcome: ShiftOutcome,
    /// How likely a difference this large is without a change, in `[0, 1]`.
    pub p_value: f64,
}

/// What the shift test says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShiftOutcome {
    /// The outputs differ.
    Found,
    /// No difference was found.
    NotFound,
}

/// Bounds on the lost coverage from one pair of laws: of the rows at hand, or with a confidence for what is behind them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BoundRow {
    /// Which weights, which pair of laws, and the confidence where there is one.
    pub label: String,
    /// On the total coverage gap, without kernel or grid.
    pub exact: Option<f64>,
    /// On the distance of the target coverage from the level.
    pub level: Option<f64>,
    /// The paper's eq 7.
    pub weighted_cdf: Option<f64>,
    /// The paper's eq 8.
    pub wasserstein: Option<f64>,
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

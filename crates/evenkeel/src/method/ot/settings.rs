//! Every option of the paper's method, with the paper's defaults.

use crate::learning::optimise::{AdamSettings, StoppingRule};
use crate::level::{FailureProbability, MiscoverageRange};
use crate::measure::{BANDWIDTH_FACTOR_CLASSIFICATION, Grid};

/// Which laws are put around the target scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SandwichChoice {
    /// Model and uniform labels in exact expectation: the pair (f, U) of eq 10 without sampling
    /// noise.
    #[default]
    ModelUniform,
    /// Model and uniform labels drawn anew in each step, as printed in Alg 1.
    ModelUniformSampled,
    /// Extremes over the possible labels: eq 9, the pair that holds whatever the labels are.
    MinMax,
}

/// Which bound of \[CL25\] is minimised over the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ObjectiveChoice {
    /// The weighted-CDF bound, eq 7 of \[CL25\], on the learning grid.
    #[default]
    WeightedCdf,
    /// The Wasserstein bound, eq 8 of \[CL25\]; never tighter than eq 7.
    Wasserstein,
}

/// What the log-weights are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum WeightsChoice {
    /// One per calibration point; the threshold is taken from the same points.
    #[default]
    FreeForm,
    /// A network of the score, fitted on one half of the calibration points and used on the other.
    Function,
}

/// Settings of [`Method::OptimalTransport`](super::super::Method::OptimalTransport).
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `sandwich` | f-u, exact | laws around the target scores | |
/// | `objective` | weighted-cdf | bound that is minimised | |
/// | `finite_sample` | none | adds `sqrt(ln(2/d) / (2 n_w))`, so that it can be run to convergence | `0 < d < 1` |
/// | `restriction` | none | miscoverage rates the weighted-CDF objective averages over | |
/// | `weights` | free-form | what the log-weights are made of | |
/// | `adam`, `stopping` | the paper's | step size 1e-3, 1000 steps | |
/// | `learning_grid` | 100 | grid of the objective; the answer depends on it, see docs/paper-map.md | `>= 2` |
/// | `bound_grid` | 1000 | grid of the reported bounds | `>= 2` |
/// | `bandwidth_factor` | 0.1 | factor of Scott's rule (1 in regression) | `>= 0` |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransportSettings {
    /// Laws around the target scores; min-max as an objective lowers coverage.
    pub sandwich: SandwichChoice,
    /// Which bound is minimised over the weights.
    pub objective: ObjectiveChoice,
    /// Failure probability of the finite-sample term, if the objective has one.
    pub finite_sample: Option<FailureProbability>,
    /// Miscoverage rates the weighted-CDF objective averages over, if not all.
    pub restriction: Option<MiscoverageRange>,
    /// What the log-weights are made of.
    pub weights: WeightsChoice,
    /// Step size and memory of the optimiser.
    pub adam: AdamSettings,
    /// Most steps, and what ends the optimisation earlier; the step count decides the answer.
    pub stopping: StoppingRule,
    /// Grid points `K` of the objective, at least 2; the answer depends on it.
    pub learning_grid: usize,
    /// Grid points of the reported bounds, at least 2.
    pub bound_grid: usize,
    /// Factor of the bandwidth rule, zero or positive; the floor applies at zero.
    pub bandwidth_factor: f64,
}

impl Default for TransportSettings {
    /// The paper's choices in classification.
    fn default() -> Self {
        Self {
            sandwich: SandwichChoice::default(),
            objective: ObjectiveChoice::default(),
            finite_sample: None,
            restriction: None,
            weights: WeightsChoice::default(),
            adam: AdamSettings::default(),
            stopping: StoppingRule::default(),
            learning_grid: Grid::LEARNING_POINTS,
            bound_grid: Grid::BOUND_POINTS,
            bandwidth_factor: BANDWIDTH_FACTOR_CLASSIFICATION,
        }
    }
}

//! Every option of the paper's method. The default is its bound in exact form, at its minimiser.

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
    /// The weighted-CDF bound integrated over the calibration atoms themselves: convex, and free of kernel and grid.
    #[default]
    Exact,
    /// The weighted-CDF bound as printed, eq 7 of \[CL25\]: a kernel density on a grid, which the answer depends on.
    PaperGrid,
    /// The Wasserstein bound, eq 8 of \[CL25\]; never tighter than eq 7.
    Wasserstein,
}

/// How the bound is minimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Search {
    /// The minimiser itself, by isotonic regression. The exact objective with free-form weights has one.
    #[default]
    Minimiser,
    /// Adam, for a number of steps that is part of the answer.
    Descent,
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
/// | `objective` | exact | bound that is minimised | |
/// | `search` | minimiser | the minimiser, or steps towards it | |
/// | `finite_sample` | none | adds `sqrt(ln(2/d) / (2 n_w))`, so that it can be run to convergence | `0 < d < 1` |
/// | `restriction` | none | miscoverage rates the weighted-CDF objective averages over | |
/// | `weights` | free-form | what the log-weights are made of | |
/// | `adam`, `stopping` | the paper's | of the descent: step size 1e-3, 1000 steps | |
/// | `learning_grid` | spacing at most half a bandwidth | grid of the paper's forms; their answer depends on it, see docs/paper-map.md | `>= 2` |
/// | `bound_grid` | 1000 | where a sketch of many target rows is exact, beside the calibration scores | `>= 2` |
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
    /// The minimiser, or a descent towards it.
    pub search: Search,
    /// What the log-weights are made of.
    pub weights: WeightsChoice,
    /// Step size and memory of the optimiser.
    pub adam: AdamSettings,
    /// Most steps, and what ends the optimisation earlier; the step count decides the answer.
    pub stopping: StoppingRule,
    /// Grid points `K` of the paper's forms, at least 2; none: as many as kernels need that do not fall between them.
    pub learning_grid: Option<usize>,
    /// Points, at least 2, at which a sketch is exact besides the calibration scores and the learning grid.
    pub bound_grid: usize,
    /// Factor of the bandwidth rule, zero or positive; the floor applies at zero.
    pub bandwidth_factor: f64,
}

impl Default for TransportSettings {
    /// The exact bound at its minimiser.
    fn default() -> Self {
        Self {
            sandwich: SandwichChoice::default(),
            objective: ObjectiveChoice::default(),
            finite_sample: None,
            restriction: None,
            search: Search::default(),
            weights: WeightsChoice::default(),
            adam: AdamSettings::default(),
            stopping: StoppingRule::default(),
            learning_grid: None,
            bound_grid: Grid::BOUND_POINTS,
            bandwidth_factor: BANDWIDTH_FACTOR_CLASSIFICATION,
        }
    }
}

impl TransportSettings {
    /// The method as printed: eq 7 on a grid of 100 points, 1000 steps of Adam from random weights.
    pub fn paper() -> Self {
        Self {
            objective: ObjectiveChoice::PaperGrid,
            search: Search::Descent,
            learning_grid: Some(Grid::LEARNING_POINTS),
            ..Self::default()
        }
    }

    /// Whether these choices have a minimiser in closed form.
    ///
    /// A finite-sample term or a network couples the weights, and drawn labels change the bound in every step.
    pub(crate) fn has_minimiser(&self) -> bool {
        self.objective == ObjectiveChoice::Exact
            && self.weights == WeightsChoice::FreeForm
            && self.finite_sample.is_none()
            && self.restriction.is_none()
            && self.sandwich != SandwichChoice::ModelUniformSampled
    }
}

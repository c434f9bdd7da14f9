//! How weights are found: every option, with the paper's defaults.

use crate::calibration::MethodName;
use crate::learning::optimise::{AdamSettings, StoppingRule};
use crate::level::{FailureProbability, MiscoverageRange};
use crate::measure::{BANDWIDTH_FACTOR_CLASSIFICATION, Grid};
use crate::method::auto::AutoSettings;
use crate::method::conditional::{DEFAULT_GAMMA, DEFAULT_LAMBDA};
use crate::method::entropy_scaling::EntropyPower;
use crate::method::label_plan::LabelPlanSettings;
use crate::method::label_shift::EmSettings;
use crate::method::likelihood_ratio::RatioEstimator;
use crate::method::quantile_transfer::TransferRule;

/// How calibration weights, or thresholds, are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// A shift test, then split conformal prediction or the label plan.
    Auto(AutoSettings),
    /// Weights projected on the scores of a transported label plan.
    LabelPlan(LabelPlanSettings),
    /// The paper's: weights that minimise a bound on the lost coverage.
    OptimalTransport(TransportSettings),
    /// Split conformal prediction: every calibration point counts the same.
    Uncorrected,
    /// Weights `dQ/dP` of the scores, or of features given beside the probabilities (Tibshirani et al. 2019).
    LikelihoodRatio(RatioChoice),
    /// Weights `Q(y)/P(y)` of the labels (Podkopaev & Ramdas 2021).
    LabelShift(LabelShiftChoice),
    /// Thresholds scaled by the entropy of target probabilities (Kasa et al. 2024).
    EntropyScaled(EntropyPower),
    /// Thresholds moved by a quantile of target confidences (Yilmaz & Heckel 2022).
    QuantileTransfer(TransferRule),
    /// Kernel quantile regression at every test point (Gibbs, Cherian & Candes 2025).
    Conditional(ConditionalChoice),
    /// The user's own weights, and 1 for the test point (Barber et al. 2023).
    Fixed,
}

impl Method {
    /// The name used on the command line and in files.
    pub fn name(&self) -> MethodName {
        match self {
            Self::Auto(_) => MethodName::Auto,
            Self::LabelPlan(_) => MethodName::LabelPlan,
            Self::OptimalTransport(_) => MethodName::Ot,
            Self::Uncorrected => MethodName::Uncorrected,
            Self::LikelihoodRatio(_) => MethodName::LikelihoodRatio,
            Self::LabelShift(_) => MethodName::LabelShift,
            Self::EntropyScaled(_) => MethodName::Ecp,
            Self::QuantileTransfer(_) => MethodName::Qtc,
            Self::Conditional(_) => MethodName::Conditional,
            Self::Fixed => MethodName::Fixed,
        }
    }
}

/// Where likelihood ratios come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RatioChoice {
    /// The user gives them with every point.
    Known,
    /// They are estimated from both worlds' points.
    Estimated(RatioEstimator),
}

/// How class shares are estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LabelShiftChoice {
    /// By inverting the confusion matrix (BBSE).
    BlackBox,
    /// By maximum likelihood (EM).
    ExpectationMaximisation(EmSettings),
}

/// How the penalty of `conditional` is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PenaltyChoice {
    /// A given one.
    Fixed(f64),
    /// The one of [`PENALTIES`] with the smallest pinball loss on points left out, in so many parts.
    CrossValidated {
        /// Number of parts.
        folds: usize,
    },
}

/// Penalties that cross-validation chooses from: the authors' 0.005 and its neighbours, three to a decade.
pub const PENALTIES: [f64; 10] = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];

/// Settings of [`Method::Conditional`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConditionalChoice {
    /// Kernel `exp(-gamma distance^2)`.
    pub gamma: f64,
    /// Penalty on the fitted function.
    pub penalty: PenaltyChoice,
}

impl Default for ConditionalChoice {
    fn default() -> Self {
        Self { gamma: DEFAULT_GAMMA, penalty: PenaltyChoice::Fixed(DEFAULT_LAMBDA) }
    }
}

/// Which laws are put around target scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SandwichChoice {
    /// Model and uniform labels in exact expectation.
    #[default]
    ModelUniform,
    /// Model and uniform labels drawn anew in each step, as printed in Alg 1.
    ModelUniformSampled,
    /// Extremes over the possible labels.
    MinMax,
}

/// Which bound is minimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ObjectiveChoice {
    /// Eq 7 on the learning grid.
    #[default]
    WeightedCdf,
    /// Eq 8.
    Wasserstein,
}

/// What the log-weights are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WeightsChoice {
    /// One per calibration point.
    #[default]
    FreeForm,
    /// A network of the score, fitted on one half of the calibration points and used on the other.
    Function,
}

/// Settings of [`Method::OptimalTransport`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `sandwich` | f-u, exact | laws around target scores | |
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
    /// Laws around target scores.
    pub sandwich: SandwichChoice,
    /// Bound that is minimised.
    pub objective: ObjectiveChoice,
    /// Failure probability of the finite-sample term, if the objective has one.
    pub finite_sample: Option<FailureProbability>,
    /// Miscoverage rates the weighted-CDF objective averages over, if not all.
    pub restriction: Option<MiscoverageRange>,
    /// What the log-weights are made of.
    pub weights: WeightsChoice,
    /// Step sizes.
    pub adam: AdamSettings,
    /// When to stop.
    pub stopping: StoppingRule,
    /// Grid points of the objective.
    pub learning_grid: usize,
    /// Grid points of the reported bounds.
    pub bound_grid: usize,
    /// Factor of the bandwidth rule.
    pub bandwidth_factor: f64,
}

impl Default for TransportSettings {
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

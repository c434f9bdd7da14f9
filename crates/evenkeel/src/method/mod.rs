//! Stage 7: a room for every method.

pub mod auto;
pub mod conditional;
pub mod entropy_scaling;
pub mod label_plan;
pub mod label_shift;
pub mod likelihood_ratio;
mod name;
pub mod ot;
pub mod quantile_transfer;

pub use conditional::{ConditionalChoice, PENALTIES, PenaltyChoice};
pub use label_shift::LabelShiftChoice;
pub use likelihood_ratio::RatioChoice;
pub use name::MethodName;
pub use ot::{ObjectiveChoice, SandwichChoice, TransportSettings, WeightsChoice};

use auto::AutoSettings;
use entropy_scaling::EntropyPower;
use label_plan::LabelPlanSettings;
use quantile_transfer::TransferRule;

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

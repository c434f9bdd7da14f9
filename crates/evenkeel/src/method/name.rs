//! The methods by name, and what each assumes.

use serde::{Deserialize, Serialize};

/// The methods, by the names used on the command line and in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodName {
    /// A shift test, then split conformal prediction or the label plan.
    Auto,
    /// Weights projected on the scores of a transported label plan.
    LabelPlan,
    /// The paper's optimal-transport weights.
    Ot,
    /// Split conformal prediction.
    Uncorrected,
    /// Split conformal prediction on target labels.
    Oracle,
    /// Weights `dQ/dP` of the features.
    LikelihoodRatio,
    /// Thresholds scaled by the entropy of target probabilities.
    Ecp,
    /// Thresholds moved by a quantile of target confidences.
    Qtc,
    /// Kernel quantile regression at every test point.
    Conditional,
    /// Weights `Q(y)/P(y)` of the labels.
    LabelShift,
    /// The user's weights.
    Fixed,
}

impl MethodName {
    /// All of them, in the order they are shown.
    pub const ALL: [Self; 11] = [
        Self::Auto,
        Self::LabelPlan,
        Self::Ot,
        Self::Uncorrected,
        Self::Oracle,
        Self::LikelihoodRatio,
        Self::Ecp,
        Self::Qtc,
        Self::Conditional,
        Self::LabelShift,
        Self::Fixed,
    ];

    /// The name itself.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::LabelPlan => "label-plan",
            Self::Ot => "ot",
            Self::Uncorrected => "uncorrected",
            Self::Oracle => "oracle",
            Self::LikelihoodRatio => "likelihood-ratio",
            Self::Ecp => "ecp",
            Self::Qtc => "qtc",
            Self::Conditional => "conditional",
            Self::LabelShift => "label-shift",
            Self::Fixed => "fixed",
        }
    }

    /// What must hold for the method's coverage to be right, in a few words; `docs/guarantees.md` says it in full.
    pub fn assumption(self) -> &'static str {
        match self {
            Self::Auto => "no shift or a label plan that fits",
            Self::LabelPlan => "label marginal nearly kept",
            Self::Ot => "laws enclose target scores",
            Self::Uncorrected => "no shift",
            Self::Oracle => "labels of the target data",
            Self::LikelihoodRatio => "covariate shift",
            Self::Ecp => "none proved",
            Self::Qtc => "confidence moves with scores",
            Self::Conditional => "covariate shift within the kernel's reach",
            Self::LabelShift => "label shift",
            Self::Fixed => "the weights are right",
        }
    }
}

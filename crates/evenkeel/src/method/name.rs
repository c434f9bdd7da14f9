//! The methods by name, and what each assumes.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::options::nearest;
use crate::error::{Error, Result};

/// The methods, by the names used on the command line and in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MethodName {
    /// A shift test, then split conformal prediction or the label plan.
    #[default]
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

    /// What it does, in one line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Auto => "A shift test, then split conformal prediction or the label plan",
            Self::LabelPlan => {
                "Weights from target points transported onto the class frequencies of the calibration data"
            }
            Self::Ot => {
                "Weights that minimise a bound on the lost coverage (Correia & Louizos 2025)"
            }
            Self::Uncorrected => "Split conformal prediction",
            Self::Oracle => {
                "Split conformal prediction on the labels of the test points themselves (compare only)"
            }
            Self::LikelihoodRatio => "Weights dQ/dP of scores or features (Tibshirani et al. 2019)",
            Self::Ecp => {
                "Thresholds scaled by the entropy of the target probabilities (Kasa et al. 2024)"
            }
            Self::Qtc => {
                "Thresholds moved by a quantile of the target confidences (Yilmaz & Heckel 2022)"
            }
            Self::Conditional => {
                "Kernel quantile regression at every test point (Gibbs, Cherian & Candes 2025)"
            }
            Self::LabelShift => "Weights Q(y)/P(y) of the labels (Podkopaev & Ramdas 2021)",
            Self::Fixed => "Weights of your own (Barber et al. 2023)",
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

impl FromStr for MethodName {
    type Err = Error;

    /// The method of this name.
    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|method| method.as_str() == name);
        found.ok_or_else(|| Error::UnknownName {
            what: "method",
            found: name.to_owned(),
            near: nearest(name, Self::ALL.into_iter().map(Self::as_str)),
        })
    }
}

//! Where the likelihood ratios of a calibration come from.

use super::RatioEstimator;
use crate::method::{Need, Needs};

/// Where likelihood ratios come from; the option `ratio` names its forms.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RatioChoice {
    /// The user gives them with every calibration point and every point to predict.
    Known,
    /// They are estimated from both data sets' points.
    Estimated(RatioEstimator),
}

impl RatioChoice {
    /// What it takes of the calibration points: ratios where they are known, features to estimate
    /// them by where not.
    ///
    /// Narrower than the method's own entry, which allows for either.
    pub(crate) fn needs(&self) -> Needs {
        match self {
            Self::Known => Needs { ratios: Need::Required, ..Needs::NOTHING },
            Self::Estimated(_) => Needs { features: Need::Optional, ..Needs::NOTHING },
        }
    }

    /// The word for it among the options, as typed and as stored.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Estimated(RatioEstimator::Logistic) => "logistic",
            Self::Estimated(RatioEstimator::Network(_)) => "network",
            Self::Estimated(RatioEstimator::Telescoping(_)) => "telescoping",
        }
    }
}

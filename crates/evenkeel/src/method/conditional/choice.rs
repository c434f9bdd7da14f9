//! The kernel and penalty of a conditional calibration, as asked for.

use super::{DEFAULT_GAMMA, DEFAULT_LAMBDA};

/// How the penalty of `conditional` is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum PenaltyChoice {
    /// A penalty of the user, from 1e-100 to 1e100; 0.005 by default.
    Fixed(f64),
    /// The one of ten values from 0.0005 to 0.5 with the smallest pinball loss on points left out, in so many parts.
    CrossValidated {
        /// Number of parts that the calibration points are cut into, at least 2.
        folds: usize,
    },
}

/// Parts that cross-validation leaves out in turn unless told otherwise; the usual number.
const FOLDS: usize = 5;

impl PenaltyChoice {
    /// Cross-validation in five parts, over the penalties below.
    pub(crate) fn cross_validated() -> Self {
        Self::CrossValidated { folds: FOLDS }
    }
}

/// Penalties that cross-validation chooses from: the authors' 0.005 and its neighbours, three to a decade.
pub(crate) const PENALTIES: [f64; 10] =
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];

/// Settings of [`Method::Conditional`](super::super::Method::Conditional).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConditionalChoice {
    /// `gamma` of the kernel `exp(-gamma distance^2)`, from 1e-100 to 1e100: larger is more local.
    pub gamma: f64,
    /// Penalty on the fitted function: large makes it constant, as in split conformal prediction.
    pub penalty: PenaltyChoice,
}

impl Default for ConditionalChoice {
    /// The authors' kernel and penalty.
    fn default() -> Self {
        Self { gamma: DEFAULT_GAMMA, penalty: PenaltyChoice::Fixed(DEFAULT_LAMBDA) }
    }
}

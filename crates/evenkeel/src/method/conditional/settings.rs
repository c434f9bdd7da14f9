//! Kernel, penalty, and what to do where they leave a choice.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::level::Miscoverage;
use crate::seed::Seed;

/// The authors' kernel parameter, in units of one over a squared distance of feature rows.
pub(crate) const DEFAULT_GAMMA: f64 = 12.5;
/// The authors' penalty, against the mean loss of `n + 1` points.
pub(crate) const DEFAULT_LAMBDA: f64 = 0.005;

/// How strongly the fitted quantile function is held to a constant.
#[derive(Debug, Clone, PartialEq)]
pub enum LambdaChoice {
    /// A given penalty, from 1e-100 to 1e100.
    Fixed(f64),
    /// The candidate with the smallest pinball loss on points left out; ties go to the largest penalty.
    ///
    /// The guarantee asks that the penalty does not depend on the order of the calibration points. Cross-validation on the
    /// calibration points themselves breaks that slightly; use points set aside where it matters.
    CrossValidated {
        /// Number of parts, each left out once; at least 2 and at most the number of points.
        folds: usize,
        /// Penalties to choose from, at least one.
        candidates: Vec<f64>,
        /// Rate whose quantile the loss is for.
        alpha: Miscoverage,
        /// Which points are left out together follows from it.
        seed: Seed,
    },
}

/// Which intercept is taken where a whole interval of them is optimal.
///
/// That happens only when `(n + 1) alpha` is a whole number and no dual is strictly inside its box: constant features,
/// or a penalty so large that the fit is a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlatIntercept {
    /// The largest: no score that some optimal fit would admit is left out.
    #[default]
    Largest,
    /// The smallest: with constant features this is split conformal prediction exactly. It keeps the guarantee too.
    Smallest,
}

/// Settings of conditional conformal prediction.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `gamma` | 12.5 | kernel `exp(-gamma distance^2)`: larger is more local | positive, finite |
/// | `lambda` | 0.005 | penalty on the fitted function; large gives split conformal prediction | positive, finite |
/// | `flat_intercept` | largest | which end of an interval of optimal intercepts | |
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionalSettings {
    /// `gamma` of the kernel `exp(-gamma distance^2)`, positive.
    pub gamma: f64,
    /// Penalty on the norm of the fit: given, or chosen by cross-validation.
    pub lambda: LambdaChoice,
    /// Which end of an interval of optimal intercepts is taken.
    pub flat_intercept: FlatIntercept,
}

impl Default for ConditionalSettings {
    /// The authors' kernel and penalty, and the larger intercept.
    fn default() -> Self {
        Self {
            gamma: DEFAULT_GAMMA,
            lambda: LambdaChoice::Fixed(DEFAULT_LAMBDA),
            flat_intercept: FlatIntercept::default(),
        }
    }
}

impl ConditionalSettings {
    /// Settings with a fixed penalty, checked.
    ///
    /// # Errors
    /// If `gamma` or `lambda` is not between 1e-100 and 1e100.
    pub fn new(gamma: f64, lambda: f64) -> Result<Self> {
        let settings =
            Self { gamma, lambda: LambdaChoice::Fixed(lambda), ..ConditionalSettings::default() };
        settings.check()?;
        Ok(settings)
    }

    /// An error unless every number is in its range. Fitting checks this, too.
    ///
    /// # Errors
    /// `OutOfRange`, `TooFew` for fewer than two folds, `Empty` for no candidates.
    pub(crate) fn check(&self) -> Result<()> {
        check_gamma(self.gamma)?;
        match &self.lambda {
            LambdaChoice::Fixed(lambda) => check_lambda(*lambda),
            LambdaChoice::CrossValidated { folds, candidates, .. } => {
                // With one fold nothing is left to fit on.
                if *folds < 2 {
                    return Err(Error::TooFew { what: "folds", found: *folds, least: 2 });
                }
                if candidates.is_empty() {
                    return Err(Error::Empty { what: "lambda candidates" });
                }
                candidates.iter().try_for_each(|lambda| check_lambda(*lambda))
            }
        }
    }
}

/// An error unless `gamma` is positive and far from overflow; a NaN is refused too.
pub(super) fn check_gamma(gamma: f64) -> Result<()> {
    in_range("gamma", gamma)
}

/// The same of a penalty.
pub(super) fn check_lambda(lambda: f64) -> Result<()> {
    in_range("lambda", lambda)
}

/// The ends keep `1 / lambda` and products with it far from overflow; no fit near them means anything.
fn in_range(what: &'static str, value: f64) -> Result<()> {
    if (1e-100..=1e100).contains(&value) {
        Ok(())
    } else {
        Err(Error::OutOfRange { what, value, expected: "positive, between 1e-100 and 1e100" })
    }
}

//! The ways to estimate a ratio, and a fit.
//!
//! ```text
//! log dQ/dP = logit of "target or calibration?" + log(n / m)
//! ```
//! A classifier that tells the two data sets apart knows their ratio: its odds are `(m / n) dQ/dP`.

use super::evidence::{RatioEvidence, RatioStop};
use super::logistic::LinearLogit;
use super::model::{Form, RatioModel};
use super::network::HiddenLayer;
use super::newton::Solution;
use super::sampling::rows_to_fit;
use super::standardisation::{Standardisation, require_finite_rows};
use super::telescoping::{TELESCOPING_BRIDGES, Telescope};
use crate::error::{Error, Result, require_same_length};
use crate::learning::optimise::AdamSettings;
use crate::rows::{Real, Rows};
use crate::seed::Seed;

/// Rows of either side that a fit needs: a single row says nothing of a law.
const LEAST_ROWS: usize = 2;

/// How `log dQ/dP` is estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RatioEstimator {
    /// A linear logit: two Gaussians of the same covariance, exponential tilts.
    Logistic,
    /// A network with one hidden layer of 32 units: smooth ratios of few features, many rows.
    Network(NetworkSettings),
    /// A product of easier ratios: laws that hardly overlap.
    Telescoping(TelescopingSettings),
}

/// How the network is trained.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `adam` | learning rate 0.003 | size of a step | see [`AdamSettings`] |
/// | `steps` | 1000 | steps of 128 rows of either side; the best network on held-out rows is kept | any |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkSettings {
    /// Step size and memory of the optimiser.
    pub adam: AdamSettings,
    /// Number of steps; 0 gives the ratio 1 everywhere.
    pub steps: usize,
}

/// A small network on few rows bears larger steps than the paper's 0.001.
const NETWORK_LEARNING_RATE: f64 = 0.003;
/// How long a network is trained; which of the networks on the way is kept, the rows held out say.
const NETWORK_STEPS: usize = 1000;

impl Default for NetworkSettings {
    /// A learning rate of 0.003 and 1000 steps.
    fn default() -> Self {
        let adam = AdamSettings::new(NETWORK_LEARNING_RATE).unwrap_or_default();
        Self { adam, steps: NETWORK_STEPS }
    }
}

/// How many bridges the way from Q to P is cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TelescopingSettings {
    /// Number of bridges, at least one; one bridge is a single quadratic logit.
    pub bridges: usize,
}

impl Default for TelescopingSettings {
    /// Ten bridges, as in the paper's baseline.
    fn default() -> Self {
        Self { bridges: TELESCOPING_BRIDGES }
    }
}

/// A fitted ratio and what it says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioFit {
    /// `log dQ/dP` as a function of the features.
    pub model: RatioModel,
    /// Evidence on the rows of the fit; flattering, as these are the rows it was made for.
    pub evidence: RatioEvidence,
}

impl RatioEstimator {
    /// Fits features of the calibration data, shape `(n, d)`, and of the target data, shape `(m, d)`.
    ///
    /// Tables of more than `2^23` entries are fitted on a sample of their rows. Features that separate the calibration data from
    /// the target data are not an error here: ask [`RatioEvidence::require_overlap`].
    ///
    /// # Errors
    /// If the two tables differ in columns, either has too few rows, or a feature is not finite.
    pub fn fit<T: Real, U: Real>(
        &self,
        labeled: Rows<'_, T>,
        target: Rows<'_, U>,
        seed: Seed,
    ) -> Result<RatioFit> {
        let features = labeled.columns();
        require_same_length("target features", target.columns(), "calibration features", features)?;
        require_rows("calibration rows for a likelihood ratio", labeled.rows())?;
        require_rows("rows of the target data for a likelihood ratio", target.rows())?;
        require_finite_rows(labeled)?;
        require_finite_rows(target)?;
        // One stream for both, the calibration rows first: the order of the draws is part of the
        // result.
        let mut stream = seed.stream("ratio-rows");
        let labeled = rows_to_fit(labeled, &mut stream);
        let target = rows_to_fit(target, &mut stream);
        // Over both data sets: a feature that is constant in one of them alone is a clear sign of a shift, and standardising
        // by that one would drop it.
        let both: Vec<f64> = labeled.iter().chain(&target).copied().collect();
        let standardisation = Standardisation::of(&both, features);
        let (old, new) = (standardisation.applied(&labeled), standardisation.applied(&target));
        let (form, course) = self.fit_standardised(&old, &new, features, seed)?;
        let model = RatioModel::new(standardisation, form)?;
        let log_ratios =
            |values: &[f64]| model.log_ratios(Rows::new("features", values, features)?);
        let evidence = RatioEvidence::new(&log_ratios(&labeled)?, &log_ratios(&target)?, course)?;
        Ok(RatioFit { model, evidence })
    }

    /// The form that this estimator fits to standardised rows, and how the fit went.
    ///
    /// # Errors
    /// `TooFew` for no bridges.
    fn fit_standardised(
        &self,
        labeled: &[f64],
        target: &[f64],
        features: usize,
        seed: Seed,
    ) -> Result<(Form, (f64, usize, RatioStop))> {
        match *self {
            Self::Logistic => {
                let (logit, solution) = LinearLogit::fit(labeled, target, features);
                Ok((Form::Logistic(logit), course(&[solution])))
            }
            Self::Network(settings) => {
                let trained = HiddenLayer::train(labeled, target, features, settings, seed)?;
                let course = (trained.loss, trained.steps, trained.stopped);
                Ok((Form::Network(trained.network), course))
            }
            Self::Telescoping(TelescopingSettings { bridges }) => {
                if bridges == 0 {
                    let what = "telescoping bridges";
                    return Err(Error::TooFew { what, found: 0, least: 1 });
                }
                let mut stream = seed.stream("ratio-pairs");
                let (telescope, solutions) =
                    Telescope::fit(labeled, target, features, bridges, &mut stream);
                Ok((Form::Telescoping(telescope), course(&solutions)))
            }
        }
    }
}

/// The worst loss, the most steps, and whether all converged: a chain of bridges is as good as its
/// weakest.
fn course(solutions: &[Solution]) -> (f64, usize, RatioStop) {
    let loss = solutions.iter().map(|solution| solution.loss).fold(0.0, f64::max);
    let steps = solutions.iter().map(|solution| solution.steps).max().unwrap_or(0);
    let all = solutions.iter().all(|solution| solution.converged);
    (loss, steps, if all { RatioStop::Converged } else { RatioStop::MostSteps })
}

/// An error for fewer than [`LEAST_ROWS`] rows.
fn require_rows(what: &'static str, found: usize) -> Result<()> {
    if found < LEAST_ROWS {
        return Err(Error::TooFew { what, found, least: LEAST_ROWS });
    }
    Ok(())
}

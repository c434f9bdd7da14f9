//! The ways to estimate a ratio, and a fit.

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

/// Rows of either side that a fit needs.
const LEAST_ROWS: usize = 2;

/// How `log dQ/dP` is estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RatioEstimator {
    /// A linear logit: two Gaussians of the same covariance, exponential tilts.
    Logistic,
    /// A network with one hidden layer of [`HIDDEN_UNITS`](super::HIDDEN_UNITS): smooth ratios of few features, many rows.
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
    /// Step sizes.
    pub adam: AdamSettings,
    /// Number of steps.
    pub steps: usize,
}

/// A small network on few rows bears larger steps than the paper's 0.001.
const NETWORK_LEARNING_RATE: f64 = 0.003;
const NETWORK_STEPS: usize = 1000;

impl Default for NetworkSettings {
    fn default() -> Self {
        let adam = AdamSettings::new(NETWORK_LEARNING_RATE).unwrap_or_default();
        Self { adam, steps: NETWORK_STEPS }
    }
}

/// How many bridges there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TelescopingSettings {
    /// Number of bridges, at least one; one bridge is a single quadratic logit.
    pub bridges: usize,
}

impl Default for TelescopingSettings {
    fn default() -> Self {
        Self { bridges: TELESCOPING_BRIDGES }
    }
}

/// A fitted ratio and what it says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioFit {
    /// The function.
    pub model: RatioModel,
    /// Evidence on the rows of the fit.
    pub evidence: RatioEvidence,
}

impl RatioEstimator {
    /// Fits features of the calibration data, shape `(n, d)`, and of the target data, shape `(m, d)`.
    ///
    /// Tables of more than `2^23` entries are fitted on a sample of their rows. Rows that separate the calibration data from the target data
    /// are no error here: ask [`RatioEvidence::require_overlap`].
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
        let mut stream = seed.stream("ratio-rows");
        let labeled = rows_to_fit(labeled, &mut stream);
        let target = rows_to_fit(target, &mut stream);
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

/// The worst loss, the most steps, and whether all converged.
fn course(solutions: &[Solution]) -> (f64, usize, RatioStop) {
    let loss = solutions.iter().map(|solution| solution.loss).fold(0.0, f64::max);
    let steps = solutions.iter().map(|solution| solution.steps).max().unwrap_or(0);
    let all = solutions.iter().all(|solution| solution.converged);
    (loss, steps, if all { RatioStop::Converged } else { RatioStop::MostSteps })
}

fn require_rows(what: &'static str, found: usize) -> Result<()> {
    if found < LEAST_ROWS {
        return Err(Error::TooFew { what, found, least: LEAST_ROWS });
    }
    Ok(())
}

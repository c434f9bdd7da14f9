//! The methods of the regression figures.

use evenkeel::learning::optimise::{AdamSettings, StoppingRule};
use evenkeel::measure::BANDWIDTH_FACTOR_REGRESSION;
use evenkeel::method::likelihood_ratio::{NetworkSettings, RatioEstimator};
use evenkeel::method::{Method, ObjectiveChoice, RatioChoice, SandwichChoice, TransportSettings};
use evenkeel::rows::Rows;
use evenkeel::seed::Seed;

use super::simulation::Sets;
use super::world::FEATURES;
use crate::error::Result;

/// Steps and step size of the paper's regression experiment.
pub(super) const STEPS: usize = 10;
pub(super) const LEARNING_RATE: f64 = 0.1;

/// A method of Figs 3 and 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegressionMethod {
    /// Split conformal prediction on calibration points.
    Uncorrected,
    /// Split conformal prediction on labeled points of the target data.
    Oracle,
    /// Weights from the true ratio of the two worlds.
    TrueRatio,
    /// Weights from a ratio learned on the features: a network with one hidden layer of 32.
    LearnedRatio,
    /// The paper's weights, free-form.
    Transport(ObjectiveChoice, SandwichChoice),
}

use RegressionMethod::{LearnedRatio, Oracle, Transport, TrueRatio, Uncorrected};

impl RegressionMethod {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 8] = [
        Uncorrected,
        Oracle,
        TrueRatio,
        LearnedRatio,
        Transport(ObjectiveChoice::Wasserstein, SandwichChoice::MinMax),
        Transport(ObjectiveChoice::Wasserstein, SandwichChoice::ModelUniform),
        Transport(ObjectiveChoice::PaperGrid, SandwichChoice::MinMax),
        Transport(ObjectiveChoice::PaperGrid, SandwichChoice::ModelUniform),
    ];

    /// Its name in tables, figures and files.
    pub fn name(self) -> &'static str {
        match self {
            Uncorrected => "uncorrected",
            Oracle => "oracle",
            TrueRatio => "true ratios",
            LearnedRatio => "learned ratios",
            Transport(ObjectiveChoice::Wasserstein, SandwichChoice::MinMax) => "OT (min, max), W1",
            Transport(ObjectiveChoice::Wasserstein, _) => "OT (f, U), W1",
            Transport(ObjectiveChoice::PaperGrid, SandwichChoice::MinMax) => {
                "OT (min, max), weighted CDF"
            }
            Transport(ObjectiveChoice::PaperGrid, _) => "OT (f, U), weighted CDF",
            // `ALL` holds no other; the core may learn more objectives than the paper shows.
            Transport(..) => "OT, another objective",
        }
    }

    /// Whether it belongs to Fig 3 and the left of Fig 5 (`W1`), to the right of Fig 5 (weighted CDF), or to both.
    pub fn is_shown_with(self, objective: ObjectiveChoice) -> bool {
        match self {
            Transport(own, _) => own == objective,
            _ => true,
        }
    }

    /// What the core is asked for.
    pub(super) fn in_core(self) -> Result<Method> {
        Ok(match self {
            // The oracle is split conformal prediction on other points.
            Uncorrected | Oracle => Method::Uncorrected,
            // Ratios of features, not of scores, and known for one of the two: the job is given them.
            TrueRatio | LearnedRatio => Method::LikelihoodRatio(RatioChoice::Known),
            Transport(objective, sandwich) => Method::OptimalTransport(TransportSettings {
                objective,
                sandwich,
                adam: AdamSettings::new(LEARNING_RATE)?,
                stopping: StoppingRule::after(STEPS)?,
                bandwidth_factor: BANDWIDTH_FACTOR_REGRESSION,
                ..TransportSettings::paper()
            }),
        })
    }
}

/// The settings of the learned ratios, for configurations.
pub(super) fn learned_ratio_words() -> String {
    let NetworkSettings { adam, steps } = NetworkSettings::default();
    format!("network, {steps} steps at learning rate {}", adam.learning_rate())
}

/// Likelihood ratios of the points of a simulation, which do not depend on the predictor.
pub(super) struct Ratios {
    pub(super) calibration: Vec<f64>,
    pub(super) test: Vec<f64>,
}

impl Ratios {
    /// The true ones.
    pub(super) fn known(sets: &Sets) -> Self {
        Self { calibration: sets.calibration.tilts(), test: sets.test.tilts() }
    }

    /// Learned on the features.
    pub(super) fn fit(sets: &Sets, seed: Seed) -> Result<Self> {
        let calibration = Rows::new("features", &sets.calibration.x, FEATURES)?;
        let unlabeled = Rows::new("features", &sets.unlabeled.x, FEATURES)?;
        let test = Rows::new("features", &sets.test.x, FEATURES)?;
        let estimator = RatioEstimator::Network(NetworkSettings::default());
        let model = estimator.fit(calibration, unlabeled, seed)?.model;
        Ok(Self { calibration: model.ratios(calibration)?, test: model.ratios(test)? })
    }
}

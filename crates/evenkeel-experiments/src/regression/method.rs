//! The methods of the regression figures.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::conformal::Thresholds;
use evenkeel::learning::optimise::{AdamSettings, StoppingRule};
use evenkeel::level::Miscoverage;
use evenkeel::measure::{BANDWIDTH_FACTOR_REGRESSION, WeightedEmpirical, Weights};
use evenkeel::method::likelihood_ratio::{
    KnownRatios, NetworkSettings, RatioEstimator, RatioThresholds,
};
use evenkeel::method::{Method, ObjectiveChoice, SandwichChoice, TransportSettings};
use evenkeel::rows::Rows;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};

use super::simulation::{Sets, Stage};
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
        Transport(ObjectiveChoice::WeightedCdf, SandwichChoice::MinMax),
        Transport(ObjectiveChoice::WeightedCdf, SandwichChoice::ModelUniform),
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
            Transport(ObjectiveChoice::WeightedCdf, SandwichChoice::MinMax) => {
                "OT (min, max), weighted CDF"
            }
            Transport(ObjectiveChoice::WeightedCdf, _) => "OT (f, U), weighted CDF",
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

    /// Calibrates and applies it to the test points of a stage.
    pub(super) fn cut(self, stage: &Stage<'_>, alpha: Miscoverage, seed: Seed) -> Result<Cut> {
        let settings = match self {
            // Split conformal prediction needs no target data, so that it is written out here.
            Uncorrected => return split(&stage.calibration_scores()?, alpha),
            Oracle => return split(&stage.unlabeled_scores()?, alpha),
            TrueRatio => {
                return weighted_by_point(
                    &stage.calibration_scores()?,
                    &stage.sets.calibration.tilts(),
                    &stage.sets.test.tilts(),
                    alpha,
                );
            }
            LearnedRatio => {
                return weighted_by_point(
                    &stage.calibration_scores()?,
                    &stage.learned.calibration,
                    &stage.learned.test,
                    alpha,
                );
            }
            Transport(objective, sandwich) => TransportSettings {
                objective,
                sandwich,
                adam: AdamSettings::new(LEARNING_RATE)?,
                stopping: StoppingRule::after(STEPS)?,
                bandwidth_factor: BANDWIDTH_FACTOR_REGRESSION,
                ..TransportSettings::default()
            },
        };
        let method = Method::OptimalTransport(settings);
        let calibrator = ShiftCalibrator { method, score: Score::Lac, alpha, seed };
        let calibration = calibrator.calibrate(
            &stage.calibration()?,
            &stage.calibration_labels()?,
            &stage.unlabeled()?,
        )?;
        Ok(Cut {
            thresholds: CutAt::Shared(conformal_threshold(
                calibration.law(),
                calibration.test_mass(),
                alpha,
            )),
            effective: Some(calibration.effective_sample_size()),
            law: Some(calibration.law().clone()),
        })
    }
}

/// The settings of the learned ratios, for configurations.
pub(super) fn learned_ratio_words() -> String {
    let NetworkSettings { adam, steps } = NetworkSettings::default();
    format!("network, {steps} steps at learning rate {}", adam.learning_rate())
}

/// Ratios learned on the features, which do not depend on the predictor.
pub(super) struct LearnedRatios {
    calibration: Vec<f64>,
    test: Vec<f64>,
}

impl LearnedRatios {
    pub(super) fn fit(sets: &Sets, seed: Seed) -> Result<Self> {
        let calibration = Rows::new("features", &sets.calibration.x, FEATURES)?;
        let unlabeled = Rows::new("features", &sets.unlabeled.x, FEATURES)?;
        let test = Rows::new("features", &sets.test.x, FEATURES)?;
        let estimator = RatioEstimator::Network(NetworkSettings::default());
        let model = estimator.fit(calibration, unlabeled, seed)?.model;
        Ok(Self { calibration: model.ratios(calibration)?, test: model.ratios(test)? })
    }
}

/// Where a method cuts.
pub(super) struct Cut {
    pub(super) thresholds: CutAt,
    /// Effective sample size, where weights do not depend on the test point.
    pub(super) effective: Option<f64>,
    /// The weighted calibration law.
    pub(super) law: Option<WeightedEmpirical>,
}

/// One threshold, or one for each test point.
pub(super) enum CutAt {
    Shared(Threshold),
    PerRow(Vec<Threshold>),
}

impl CutAt {
    pub(super) fn thresholds(&self) -> Thresholds<'_> {
        match self {
            Self::Shared(threshold) => Thresholds::Shared(*threshold),
            Self::PerRow(each) => Thresholds::PerRow(each),
        }
    }
}

fn split(scores: &[f64], alpha: Miscoverage) -> Result<Cut> {
    let law = WeightedEmpirical::uniform(scores)?;
    let threshold = conformal_threshold(&law, TestMass::exchangeable(scores.len()), alpha);
    let effective = Some(scores.len() as f64);
    Ok(Cut { thresholds: CutAt::Shared(threshold), effective, law: Some(law) })
}

/// Weighted split conformal prediction with a test weight of its own for every test point (Tibshirani et al. 2019).
fn weighted_by_point(
    scores: &[f64],
    ratios: &[f64],
    test_ratios: &[f64],
    alpha: Miscoverage,
) -> Result<Cut> {
    // For n_w only; the thresholds normalise anew with each test point's own weight.
    let weights = Weights::normalised(ratios.to_vec())?;
    let effective = Some(weights.effective_sample_size());
    let weighted = RatioThresholds::new(scores, &KnownRatios::new(ratios.to_vec())?)?;
    let law = weighted.law().clone();
    let thresholds = weighted.thresholds(test_ratios, alpha)?;
    Ok(Cut { thresholds: CutAt::PerRow(thresholds), effective, law: Some(law) })
}

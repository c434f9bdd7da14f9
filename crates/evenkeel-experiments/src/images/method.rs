//! The methods of the image tables. To add one: a variant, its id and name here, and what the core is
//! asked for.

use evenkeel::learning::optimise::StoppingRule;
use evenkeel::level::FailureProbability;
use evenkeel::measure::Grid;
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::entropy_scaling::EntropyPower;
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::method::likelihood_ratio::{RatioEstimator, TelescopingSettings};
use evenkeel::method::quantile_transfer::TransferRule;
use evenkeel::method::{
    ConditionalChoice, Method, ObjectiveChoice, RatioChoice, SandwichChoice, TransportSettings,
    WeightsChoice,
};

use crate::error::{Error, Result};

/// Steps of the paper's optimisation for each unit of severity: 1000, 3000 and 5000 at severity 1, 3 and 5.
pub(super) const STEPS_A_SEVERITY: usize = 1000;
/// Level of the shift test and failure probability of the label plan's certificate.
pub(super) const DELTA: f64 = 0.05;

/// The settings of `likelihood-ratio`, for configurations.
pub(super) fn likelihood_ratio_words() -> String {
    let TelescopingSettings { bridges } = TelescopingSettings::default();
    format!("telescoping, {bridges} bridges")
}

/// How long weights are learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// The paper's: in proportion to the severity, which a user does not know.
    BySeverity,
    /// The same everywhere.
    Fixed(usize),
}

/// A row of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageMethod {
    /// Split conformal prediction on clean points.
    Uncorrected,
    /// Split conformal prediction on labeled points of the target data.
    Oracle,
    /// Likelihood ratios of the vector of scores, by a telescoping estimator.
    LikelihoodRatio,
    /// Entropy-scaled conformal prediction.
    EntropyScaling,
    /// A cutoff for each test point by kernel quantile regression.
    Conditional,
    /// Quantile thresholded confidence.
    QuantileTransfer,
    /// The paper's weights.
    Transport(WeightsChoice, ObjectiveChoice, SandwichChoice, Steps),
    /// The label plan.
    LabelPlan,
    /// Split conformal prediction unless a shift is seen, then the label plan.
    Auto,
}

use ImageMethod::{Oracle, Transport, Uncorrected};
use ObjectiveChoice::{PaperGrid, Wasserstein};
use SandwichChoice::{MinMax, ModelUniform};
use WeightsChoice::{FreeForm, Function};

/// Ids, names in tables, methods: in the order of the tables.
const METHODS: [(&str, &str, ImageMethod); 17] = [
    ("uncorrected", "Uncorrected", Uncorrected),
    ("oracle", "Oracle", Oracle),
    ("likelihood-ratio", "Likelihood ratio", ImageMethod::LikelihoodRatio),
    ("ecp", "ECP (Kasa et al.)", ImageMethod::EntropyScaling),
    ("conditional", "Conditional (Gibbs et al.)", ImageMethod::Conditional),
    ("qtc", "QTC (Yilmaz & Heckel)", ImageMethod::QuantileTransfer),
    ("ff-min-max", "FF (min, max)", Transport(FreeForm, PaperGrid, MinMax, Steps::BySeverity)),
    ("wf-min-max", "WF (min, max)", Transport(Function, PaperGrid, MinMax, Steps::BySeverity)),
    ("ff-f-u", "FF (f, U)", Transport(FreeForm, PaperGrid, ModelUniform, Steps::BySeverity)),
    ("wf-f-u", "WF (f, U)", Transport(Function, PaperGrid, ModelUniform, Steps::BySeverity)),
    (
        "ff-f-u-1000",
        "FF (f, U), 1000 steps",
        Transport(FreeForm, PaperGrid, ModelUniform, Steps::Fixed(1000)),
    ),
    (
        "ff-f-u-3000",
        "FF (f, U), 3000 steps",
        Transport(FreeForm, PaperGrid, ModelUniform, Steps::Fixed(3000)),
    ),
    (
        "ff-f-u-5000",
        "FF (f, U), 5000 steps",
        Transport(FreeForm, PaperGrid, ModelUniform, Steps::Fixed(5000)),
    ),
    (
        "ff-w1-min-max",
        "FF (min, max), W1",
        Transport(FreeForm, Wasserstein, MinMax, Steps::BySeverity),
    ),
    (
        "ff-w1-f-u",
        "FF (f, U), W1",
        Transport(FreeForm, Wasserstein, ModelUniform, Steps::BySeverity),
    ),
    ("label-plan", "label-plan", ImageMethod::LabelPlan),
    ("auto", "auto", ImageMethod::Auto),
];

impl ImageMethod {
    /// All methods in the order of the tables.
    pub fn all() -> Vec<Self> {
        METHODS.iter().map(|(.., method)| *method).collect()
    }

    fn entry(self) -> Option<&'static (&'static str, &'static str, Self)> {
        METHODS.iter().find(|(.., method)| *method == self)
    }

    /// Its id on the command line and in files.
    pub fn id(self) -> &'static str {
        self.entry().map_or("", |entry| entry.0)
    }

    /// Its name in tables.
    pub fn words(self) -> &'static str {
        self.entry().map_or("", |entry| entry.1)
    }

    /// The method with an id.
    pub fn from_id(id: &str) -> Result<Self> {
        let known = METHODS.iter().find(|(known, ..)| *known == id);
        known.map(|(.., method)| *method).ok_or_else(|| {
            let known: Vec<&str> = METHODS.iter().map(|(id, ..)| *id).collect();
            Error::NoSuchMethod { found: id.to_owned(), known: known.join(", ") }
        })
    }

    /// What the core is asked for.
    pub(super) fn in_core(self, severity: u32, learning_grid: usize) -> Result<Method> {
        let level = FailureProbability::new(DELTA)?;
        Ok(match self {
            // The oracle is split conformal prediction on other points.
            Uncorrected | Oracle => Method::Uncorrected,
            Self::LikelihoodRatio => {
                let telescoping = RatioEstimator::Telescoping(TelescopingSettings::default());
                Method::LikelihoodRatio(RatioChoice::Estimated(telescoping))
            }
            Self::EntropyScaling => Method::EntropyScaled(EntropyPower::One),
            Self::QuantileTransfer => Method::QuantileTransfer(TransferRule::Qtc),
            Self::Conditional => Method::Conditional(ConditionalChoice::default()),
            Self::LabelPlan => Method::LabelPlan(LabelPlanSettings::new(level)),
            Self::Auto => Method::Auto(AutoSettings::new(level)),
            Transport(weights, objective, sandwich, steps) => {
                let steps = match steps {
                    // Severity 0 is clean and still takes the steps of severity 1.
                    Steps::BySeverity => STEPS_A_SEVERITY * severity.max(1) as usize,
                    Steps::Fixed(steps) => steps,
                };
                Method::OptimalTransport(TransportSettings {
                    weights,
                    objective,
                    sandwich,
                    stopping: StoppingRule::after(steps)?,
                    learning_grid: Some(learning_grid),
                    ..TransportSettings::paper()
                })
            }
        })
    }

    /// Whether another method gives the same calibration at a severity, so that one fit serves both.
    pub(super) fn agrees_with(self, other: Self, severity: u32) -> Result<bool> {
        // Only the paper's weights come with several numbers of steps; no others coincide.
        let both_transport = matches!((self, other), (Transport(..), Transport(..)));
        let method = |method: Self| method.in_core(severity, Grid::LEARNING_POINTS);
        Ok(both_transport && method(self)? == method(other)?)
    }
}

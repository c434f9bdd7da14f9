//! The methods of the image tables. To add one: a variant, its id and name here, and how it is
//! calibrated in `calibrated.rs`.

use evenkeel::calibrator::{ObjectiveChoice, SandwichChoice, TransportSettings, WeightsChoice};
use evenkeel::measure::Grid;
use evenkeel::reweighting::optimise::StoppingRule;

use crate::error::{Error, Result};

/// Steps of the paper's optimisation for each unit of severity: 1000, 3000 and 5000 at severity 1, 3 and 5.
const STEPS_A_SEVERITY: usize = 1000;

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
    /// Split conformal prediction on labeled points of today.
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
use ObjectiveChoice::{Wasserstein, WeightedCdf};
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
    ("ff-min-max", "FF (min, max)", Transport(FreeForm, WeightedCdf, MinMax, Steps::BySeverity)),
    ("wf-min-max", "WF (min, max)", Transport(Function, WeightedCdf, MinMax, Steps::BySeverity)),
    ("ff-f-u", "FF (f, U)", Transport(FreeForm, WeightedCdf, ModelUniform, Steps::BySeverity)),
    ("wf-f-u", "WF (f, U)", Transport(Function, WeightedCdf, ModelUniform, Steps::BySeverity)),
    (
        "ff-f-u-1000",
        "FF (f, U), 1000 steps",
        Transport(FreeForm, WeightedCdf, ModelUniform, Steps::Fixed(1000)),
    ),
    (
        "ff-f-u-3000",
        "FF (f, U), 3000 steps",
        Transport(FreeForm, WeightedCdf, ModelUniform, Steps::Fixed(3000)),
    ),
    (
        "ff-f-u-5000",
        "FF (f, U), 5000 steps",
        Transport(FreeForm, WeightedCdf, ModelUniform, Steps::Fixed(5000)),
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

    /// All but [`Conditional`](Self::Conditional), which solves a quadratic program for each test point.
    pub fn usual() -> Vec<Self> {
        Self::all().into_iter().filter(|method| *method != Self::Conditional).collect()
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

    /// Settings of the paper's method at a severity; none for the other methods.
    pub(super) fn transport(
        self,
        severity: u32,
        learning_grid: usize,
    ) -> Result<Option<TransportSettings>> {
        let Transport(weights, objective, sandwich, steps) = self else { return Ok(None) };
        let steps = match steps {
            Steps::BySeverity => STEPS_A_SEVERITY * severity.max(1) as usize,
            Steps::Fixed(steps) => steps,
        };
        Ok(Some(TransportSettings {
            weights,
            objective,
            sandwich,
            stopping: StoppingRule::after(steps)?,
            learning_grid,
            ..TransportSettings::default()
        }))
    }

    /// Whether another method gives the same calibration at a severity, so that one fit serves both.
    pub(super) fn agrees_with(self, other: Self, severity: u32) -> Result<bool> {
        let settings = |method: Self| method.transport(severity, Grid::LEARNING_POINTS);
        let (mine, theirs) = (settings(self)?, settings(other)?);
        Ok(mine.is_some() && mine == theirs)
    }
}

//! The methods of the image tables. To add one: a variant, its id and name, and how it is calibrated.

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{
    Method, ObjectiveChoice, SandwichChoice, ShiftCalibrator, TransportSettings, WeightsChoice,
};
use evenkeel::level::Miscoverage;
use evenkeel::reweighting::optimise::StoppingRule;
use evenkeel::score::Score;
use evenkeel::seed::Seed;

use super::softmax::Subset;
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
    /// The paper's weights.
    Transport(WeightsChoice, ObjectiveChoice, SandwichChoice, Steps),
}

use ImageMethod::{Oracle, Transport, Uncorrected};
use ObjectiveChoice::{Wasserstein, WeightedCdf};
use SandwichChoice::{MinMax, ModelUniform};
use WeightsChoice::{FreeForm, Function};

/// Ids, names in tables, methods: in the order of the tables.
const METHODS: [(&str, &str, ImageMethod); 11] = [
    ("uncorrected", "Uncorrected", Uncorrected),
    ("oracle", "Oracle", Oracle),
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
];

impl ImageMethod {
    /// All methods in the order of the tables.
    pub fn all() -> Vec<Self> {
        METHODS.iter().map(|(.., method)| *method).collect()
    }

    /// All that finish in milliseconds a cell: what a run takes when nothing is said.
    pub fn usual() -> Vec<Self> {
        Self::all()
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

    /// What the core is asked for at a severity.
    fn method(self, severity: u32) -> Result<Method> {
        let Transport(weights, objective, sandwich, steps) = self else {
            return Ok(Method::Uncorrected);
        };
        let steps = match steps {
            Steps::BySeverity => STEPS_A_SEVERITY * severity.max(1) as usize,
            Steps::Fixed(steps) => steps,
        };
        Ok(Method::OptimalTransport(TransportSettings {
            weights,
            objective,
            sandwich,
            stopping: StoppingRule::after(steps)?,
            ..TransportSettings::default()
        }))
    }

    /// Calibrates on the points of a cell.
    pub(super) fn calibrate(self, points: &CellPoints, seed: Seed) -> Result<Calibration> {
        let CellPoints { calibration, both_halves, unlabeled, severity, alpha, .. } = points;
        let method = self.method(*severity)?;
        let yesterday = match self {
            Oracle => unlabeled,
            // A function of the score is fitted on one half and calibrated on the other: twice the points, as in the paper.
            Transport(Function, ..) => both_halves,
            _ => calibration,
        };
        let calibrator = ShiftCalibrator { method, score: Score::Lac, alpha: *alpha, seed };
        Ok(calibrator.calibrate(
            &yesterday.probabilities()?,
            &yesterday.labels()?,
            &unlabeled.probabilities()?,
        )?)
    }

    /// Whether another method gives the same calibration at a severity, so that one fit serves both.
    pub(super) fn agrees_with(self, other: Self, severity: u32) -> Result<bool> {
        let both_transport = matches!((self, other), (Transport(..), Transport(..)));
        Ok(both_transport && self.method(severity)? == other.method(severity)?)
    }
}

/// The points of a cell, by role.
#[derive(Debug)]
pub(super) struct CellPoints {
    pub(super) calibration: Subset,
    /// The calibration points and as many again.
    pub(super) both_halves: Subset,
    /// Its labels are the oracle's.
    pub(super) unlabeled: Subset,
    pub(super) test: Subset,
    pub(super) severity: u32,
    pub(super) alpha: Miscoverage,
}

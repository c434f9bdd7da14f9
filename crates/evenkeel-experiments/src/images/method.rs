//! The methods of the image tables. To add one: a variant, its id and name here, and what the core is
//! asked for.

use evenkeel::learning::optimise::StoppingRule;
use evenkeel::level::FailureProbability;
use evenkeel::measure::Grid;
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::entropy_scaling::EntropyPower;
use evenkeel::method::label_plan::{Assumption, KnownAccuracy, LabelPlanSettings, PlanAssumptions};
use evenkeel::method::likelihood_ratio::{RatioEstimator, TelescopingSettings};
use evenkeel::method::quantile_transfer::TransferRule;
use evenkeel::method::{
    ConditionalChoice, Method, ObjectiveChoice, RatioChoice, SandwichChoice, Search,
    TransportSettings, WeightsChoice,
};
use evenkeel::score::Score;

use crate::error::{Error, Result};
use crate::trial::SCORE;

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
    /// None: the minimiser of the exact bound itself.
    Minimiser,
}

impl Steps {
    /// Steps at a severity; one where there are none to take.
    fn at(self, severity: u32) -> usize {
        match self {
            // Severity 0 is clean and still takes the steps of severity 1.
            Self::BySeverity => STEPS_A_SEVERITY * severity.max(1) as usize,
            Self::Fixed(steps) => steps,
            Self::Minimiser => 1,
        }
    }
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
    /// The paper's weights, and those of its bound in exact form.
    Transport(WeightsChoice, ObjectiveChoice, SandwichChoice, Steps),
    /// The label plan, and what it assumes.
    LabelPlan(PlanRow),
    /// Split conformal prediction unless a shift is seen, then the label plan.
    Auto(ScoredBy),
}

/// What a label plan is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanRow {
    /// Nothing but what it is to assume.
    Assume(Assumption),
    /// Nothing, with the label law as the score.
    PlanScore,
    /// The share of right predictions on the test points.
    KnownAccuracy,
    /// What another classifier says of the same images.
    SecondOpinion,
}

/// What labels are scored by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoredBy {
    /// The model's probabilities.
    Model,
    /// The label law of the target data.
    Plan,
}

use ImageMethod::{Auto, LabelPlan, Oracle, Transport, Uncorrected};
use ObjectiveChoice::{Exact, PaperGrid, Wasserstein};
use PlanRow::Assume;
use SandwichChoice::{MinMax, ModelUniform};
use WeightsChoice::{FreeForm, Function};

/// Ids, names in tables, methods: in the order of the tables.
const METHODS: [(&str, &str, ImageMethod); 28] = [
    ("uncorrected", "Uncorrected", Uncorrected),
    ("oracle", "Oracle", Oracle),
    ("likelihood-ratio", "Likelihood ratio", ImageMethod::LikelihoodRatio),
    ("ecp", "ECP (Kasa et al.)", ImageMethod::EntropyScaling),
    ("conditional", "Conditional (Gibbs et al.)", ImageMethod::Conditional),
    ("qtc", "QTC (Yilmaz & Heckel)", ImageMethod::QuantileTransfer),
    (
        "ff-min-max",
        "paper: FF (min, max)",
        Transport(FreeForm, PaperGrid, MinMax, Steps::BySeverity),
    ),
    (
        "wf-min-max",
        "paper: WF (min, max)",
        Transport(Function, PaperGrid, MinMax, Steps::BySeverity),
    ),
    ("ff-f-u", "paper: FF (f, U)", Transport(FreeForm, PaperGrid, ModelUniform, Steps::BySeverity)),
    ("wf-f-u", "paper: WF (f, U)", Transport(Function, PaperGrid, ModelUniform, Steps::BySeverity)),
    (
        "ff-f-u-1000",
        "paper: FF (f, U), 1000 steps",
        Transport(FreeForm, PaperGrid, ModelUniform, Steps::Fixed(1000)),
    ),
    (
        "ff-f-u-3000",
        "paper: FF (f, U), 3000 steps",
        Transport(FreeForm, PaperGrid, ModelUniform, Steps::Fixed(3000)),
    ),
    (
        "ff-f-u-5000",
        "paper: FF (f, U), 5000 steps",
        Transport(FreeForm, PaperGrid, ModelUniform, Steps::Fixed(5000)),
    ),
    (
        "ff-w1-min-max",
        "paper: FF (min, max), W1",
        Transport(FreeForm, Wasserstein, MinMax, Steps::BySeverity),
    ),
    (
        "ff-w1-f-u",
        "paper: FF (f, U), W1",
        Transport(FreeForm, Wasserstein, ModelUniform, Steps::BySeverity),
    ),
    ("exact-f-u", "ot: exact (f, U)", Transport(FreeForm, Exact, ModelUniform, Steps::Minimiser)),
    (
        "exact-f-u-steps",
        "ot: exact (f, U), steps by severity",
        Transport(FreeForm, Exact, ModelUniform, Steps::BySeverity),
    ),
    ("exact-min-max", "ot: exact (min, max)", Transport(FreeForm, Exact, MinMax, Steps::Minimiser)),
    (
        "exact-min-max-steps",
        "ot: exact (min, max), steps by severity",
        Transport(FreeForm, Exact, MinMax, Steps::BySeverity),
    ),
    ("label-plan", "label-plan: class shares", LabelPlan(Assume(Assumption::ClassShares))),
    ("plan-calibrated", "label-plan: calibrated", LabelPlan(Assume(Assumption::Calibrated))),
    ("plan-matched", "label-plan: matched", LabelPlan(Assume(Assumption::Matched))),
    ("plan-blend", "label-plan: blend", LabelPlan(Assume(Assumption::Blend))),
    ("plan-accuracy", "label-plan: accuracy known", LabelPlan(PlanRow::KnownAccuracy)),
    (SECOND_OPINION, "label-plan: second opinion", LabelPlan(PlanRow::SecondOpinion)),
    ("plan-score", "label-plan: --score plan", LabelPlan(PlanRow::PlanScore)),
    ("auto", "auto", Auto(ScoredBy::Model)),
    ("auto-plan-score", "auto: --score plan", Auto(ScoredBy::Plan)),
];

/// The row that takes what another classifier says.
const SECOND_OPINION: &str = "plan-second";

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

    /// What labels are scored by.
    pub(super) fn score(self) -> Score {
        match self {
            LabelPlan(PlanRow::PlanScore) | Auto(ScoredBy::Plan) => Score::Plan,
            _ => SCORE,
        }
    }

    /// Whether it takes what another classifier says of the same images.
    pub fn takes_a_second_opinion(self) -> bool {
        self == LabelPlan(PlanRow::SecondOpinion)
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
    pub(super) fn in_core(
        self,
        severity: u32,
        learning_grid: usize,
        accuracy: f64,
    ) -> Result<Method> {
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
            LabelPlan(row) => {
                let accuracy = match row {
                    // A model that is never right has an accuracy too low to be stated.
                    PlanRow::KnownAccuracy => Some(KnownAccuracy::new(accuracy.max(1e-3))?),
                    Assume(_) | PlanRow::PlanScore | PlanRow::SecondOpinion => None,
                };
                let assume = match row {
                    Assume(assume) => assume,
                    PlanRow::SecondOpinion => Assumption::Matched,
                    PlanRow::PlanScore | PlanRow::KnownAccuracy => Assumption::default(),
                };
                let assumptions = PlanAssumptions { assume: Some(assume), accuracy };
                Method::LabelPlan(LabelPlanSettings {
                    assumptions,
                    ..LabelPlanSettings::new(level)
                })
            }
            Auto(_) => Method::Auto(AutoSettings::new(level)),
            Transport(weights, Exact, sandwich, steps) => {
                let search = match steps {
                    Steps::Minimiser => Search::Minimiser,
                    Steps::BySeverity | Steps::Fixed(_) => Search::Descent,
                };
                let stopping = StoppingRule::after(steps.at(severity))?;
                Method::OptimalTransport(TransportSettings {
                    weights,
                    sandwich,
                    search,
                    stopping,
                    ..TransportSettings::default()
                })
            }
            Transport(weights, objective, sandwich, steps) => {
                let steps = steps.at(severity);
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
        // No accuracy is known of the paper's weights.
        let method = |method: Self| method.in_core(severity, Grid::LEARNING_POINTS, 1.0);
        Ok(both_transport && method(self)? == method(other)?)
    }
}

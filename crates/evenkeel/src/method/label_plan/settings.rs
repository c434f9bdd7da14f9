//! How a plan is made.

use crate::error::{Error, Result};
use crate::level::FailureProbability;
use crate::reading::ReadingName;

/// What unlabeled rows are taken to mean: the reading whose law thresholds are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Assumption {
    /// Classes are about as frequent as in the calibration data.
    #[default]
    ClassShares,
    /// The model's probabilities, at the temperature fitted to the calibration labels, are still right.
    Calibrated,
    /// The model is right as often as its outputs, and those of other models where there are any, suggest.
    Matched,
    /// As likely class-shares as matched: their mean law.
    Blend,
}

impl Assumption {
    /// All of them, the default first.
    pub const ALL: [Self; 4] = [Self::ClassShares, Self::Calibrated, Self::Matched, Self::Blend];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        self.reading().as_str()
    }

    /// The assumption of this name.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|assumption| assumption.as_str() == word)
    }

    /// The reading it stands for where only the model itself is asked.
    fn reading(self) -> ReadingName {
        match self {
            Self::ClassShares => ReadingName::ClassShares,
            Self::Calibrated => ReadingName::Calibrated,
            Self::Matched => ReadingName::Matched,
            Self::Blend => ReadingName::Blend,
        }
    }
}

/// A share of right predictions on the target data that is known: delayed feedback, an audit.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct KnownAccuracy(f64);

impl KnownAccuracy {
    /// A share above 0 and at most 1.
    ///
    /// # Errors
    /// If it is not.
    pub fn new(share: f64) -> Result<Self> {
        if share > 0.0 && share <= 1.0 {
            return Ok(Self(share));
        }
        let (what, expected) = ("the accuracy on the target data", "above 0 and at most 1");
        Err(Error::OutOfRange { what, value: share, expected })
    }

    /// The share.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// What is assumed of the target data, and what is known of them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PlanAssumptions {
    /// The reading whose law thresholds are made of. None leaves it to the method: class-shares for `label-plan`, what the
    /// readings together say for `auto`.
    pub assume: Option<Assumption>,
    /// The accuracy on the target data, where it is known: it decides that law.
    pub accuracy: Option<KnownAccuracy>,
}

impl PlanAssumptions {
    /// The reading whose law thresholds are made of; `opinions` says whether other models were asked.
    pub(crate) fn aim(self, opinions: Opinions) -> ReadingName {
        match (self.accuracy, self.reading(), opinions) {
            (Some(_), ..) => ReadingName::Accuracy,
            (None, Assumption::Matched, Opinions::Several) => ReadingName::SecondOpinion,
            (None, assume, _) => assume.reading(),
        }
    }

    /// The reading in effect where one alone is asked for.
    pub(crate) fn reading(self) -> Assumption {
        self.assume.unwrap_or_default()
    }

    /// Whether the user chose, or left the choice to the method.
    pub(crate) fn are_chosen(self) -> bool {
        self != Self::default()
    }

    /// An error unless the accuracy is one that `classes` classes allow and goes with what is assumed.
    pub(crate) fn check(self, classes: usize) -> Result<()> {
        let Some(KnownAccuracy(accuracy)) = self.accuracy else { return Ok(()) };
        if accuracy < 1.0 / classes as f64 {
            return Err(Error::AccuracyBelowChance { accuracy, classes });
        }
        match self.reading() {
            Assumption::ClassShares | Assumption::Matched => Ok(()),
            // Refused, not ignored: who states both would not know which of them decided.
            other => Err(Error::OptionsExclude {
                option: ("assume", other.as_str()),
                other: "accuracy",
                why: "which decides the law of labels itself",
            }),
        }
    }
}

/// Whose outputs an accuracy rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opinions {
    /// The model's own.
    Own,
    /// Those of other models too.
    Several,
}

/// Options of the label plan. The constants of the method itself are fixed; these say how exactly it is computed.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `tolerance` | 1e-4 | change of the log-scalings at which a fixed point ends | `> 0` |
/// | `most_iterations` | 10 000 | limit of each fixed point | `>= 1` |
/// | `delta` | 0.05 | failure probability of the certificate | `(0, 1)` |
/// | `kept_cells` | 2 097 152 | rows times classes that take part in the fixed points; a sample of the rows beyond | `>= 1` |
/// | `assumptions` | class-shares, no accuracy | what is assumed of the target data, or known | see [`PlanAssumptions`] |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelPlanSettings {
    /// Change of the log-scalings at which a fixed point ends; positive and finite.
    pub tolerance: f64,
    /// Limit of each fixed point, at least 1; reaching it is reported, not an error.
    pub most_iterations: usize,
    /// Failure probability of the certificate's finite-sample term.
    pub delta: FailureProbability,
    /// Rows times classes that take part in the fixed points, at least 1; 16 MB by default.
    pub kept_cells: usize,
    /// What is assumed of the target data, and what is known of them.
    pub assumptions: PlanAssumptions,
}

impl Default for LabelPlanSettings {
    /// At a failure probability of five percent.
    fn default() -> Self {
        Self::new(FailureProbability::FIVE_PERCENT)
    }
}

impl LabelPlanSettings {
    /// The defaults at this failure probability. The tolerance is the method's own; the rest bounds
    /// time and memory.
    pub fn new(delta: FailureProbability) -> Self {
        Self {
            tolerance: 1e-4,
            most_iterations: 10_000,
            delta,
            kept_cells: 1 << 21,
            assumptions: PlanAssumptions::default(),
        }
    }

    /// An error unless every number is in its range for so many classes.
    pub(super) fn check(&self, classes: usize) -> Result<()> {
        self.assumptions.check(classes)?;
        if !(self.tolerance.is_finite() && self.tolerance > 0.0) {
            return Err(Error::OutOfRange {
                what: "the tolerance of the label plan",
                value: self.tolerance,
                expected: "positive and finite",
            });
        }
        for (what, found) in [
            ("iterations of the label plan", self.most_iterations),
            ("kept cells of the label plan", self.kept_cells),
        ] {
            if found == 0 {
                return Err(Error::TooFew { what, found, least: 1 });
            }
        }
        Ok(())
    }
}

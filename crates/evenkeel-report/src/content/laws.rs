//! `F(t)` as steps: laws of scores, as the CDFs that a figure draws.

use evenkeel::measure::WeightedEmpirical;
use evenkeel::sandwich::Sandwich;
use evenkeel::threshold::Threshold;

/// A right-continuous step function from 0 to 1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepCurve {
    /// Where it jumps, increasing.
    pub atoms: Vec<f64>,
    /// Its value from each atom on, increasing.
    pub cumulative: Vec<f64>,
}

impl From<&WeightedEmpirical> for StepCurve {
    fn from(law: &WeightedEmpirical) -> Self {
        Self { atoms: law.atoms().to_vec(), cumulative: law.cumulative().to_vec() }
    }
}

/// Two laws around the law of the target scores.
#[derive(Debug, Clone, PartialEq)]
pub struct SandwichLaws {
    /// Name of the construction: `f-u`, `min-max`, ...
    pub name: String,
    /// The stochastically smaller law: the larger CDF.
    pub lower: StepCurve,
    /// The stochastically larger law: the smaller CDF.
    pub upper: StepCurve,
}

impl From<&Sandwich> for SandwichLaws {
    fn from(sandwich: &Sandwich) -> Self {
        Self {
            name: sandwich.construction().name().to_owned(),
            lower: sandwich.lower().into(),
            upper: sandwich.upper().into(),
        }
    }
}

/// A threshold to mark.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdMark {
    /// Whose threshold it is.
    pub label: String,
    /// Where it lies on the axis of scores.
    pub threshold: Threshold,
}

/// Empirical CDFs of the scores (the paper's Fig 1).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoreLaws {
    /// Name of the score: `lac`, `aps`, ...
    pub score: String,
    /// Calibration scores, every point counting the same.
    pub calibration: StepCurve,
    /// Calibration scores under the learned weights.
    pub reweighted: Option<StepCurve>,
    /// One or two pairs of laws around the target scores.
    pub sandwiches: Vec<SandwichLaws>,
    /// Target scores at their labels, if labels were given.
    pub test: Option<StepCurve>,
    /// Thresholds at the run's alpha.
    pub thresholds: Vec<ThresholdMark>,
}

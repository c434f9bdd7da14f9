//! The answer, with the field names people's scripts rely on.
//!
//! ```text
//! threshold   ceil((n + 1) (1 - alpha))-th smallest calibration score
//! interval    [F_upper(t), F_lower(t)] there, of the points at hand and, by DKW, of their law
//! bounds      eq 7 and eq 8 between the calibration scores and each pair of laws
//! ```

use serde::Serialize;

use crate::method::label_plan::{LabelShares, MatchedEvidence, SecondOpinions};
use crate::reading::{Belief, CoverageEstimate, CoverageLoss, Reading, Verdict};

/// Everything a check found, as data; what people read of it is said in one place, the jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShiftReport {
    /// Labeled points of the calibration data.
    pub n: usize,
    /// Unlabeled points of the target data.
    pub m: u64,
    /// Number of classes `C`.
    pub classes: usize,
    /// Miscoverage rate of the threshold that was checked.
    pub alpha: f64,
    /// Failure probability of each confidence statement, and level of the shift test.
    pub delta: f64,
    /// Distances, p-value and outcome of the shift test.
    pub shift: ShiftOutcome,
    /// The threshold in question, by default that of split conformal prediction; none is infinite.
    pub threshold: Option<f64>,
    /// Coverage of the target data at that threshold, with its range: assumed.
    pub coverage_estimate: CoverageEstimate,
    /// What each reading says of it.
    pub readings: Vec<Reading>,
    /// Coverage under the laws matched to both ends of the band around the accuracy.
    pub band: [f64; 2],
    /// What to make of them.
    pub verdict: Verdict,
    /// Coverage lost against the level, in percentage points.
    pub loss: CoverageLoss,
    /// The accuracy that the matched reading has.
    pub accuracy: Option<MatchedEvidence>,
    /// Class frequencies of the target data, where label shift explains its outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_shares: Option<LabelShares>,
    /// What other models say of the accuracy, where they were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_opinions: Option<SecondOpinions>,
    /// Whether the model believes what the calibration labels show.
    pub belief: Belief,
    /// The model that the assumed interval rests on.
    pub assumed_model: AssumedModel,
    /// Where coverage on the target data lies at that threshold.
    pub coverage_interval: CoverageIntervals,
    /// Bounds on the total coverage gap, for both pairs of laws.
    pub bounds: SandwichReports,
    /// Whether the pairs of laws are ordered, where that is assumed.
    pub dominance: DominanceReports,
    /// Grid points of the bounds.
    pub bound_grid: usize,
}

/// Outcome of the shift test: both distances, and what chance makes of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ShiftOutcome {
    /// The larger of the two distances, in standard deviations above what random relabelings give.
    pub statistic: f64,
    /// Kolmogorov-Smirnov distance of the confidences, in `[0, 1]`.
    pub confidence_distance: f64,
    /// Total variation distance of the predicted classes, in `[0, 1]`.
    pub class_distance: f64,
    /// `(1 + b) / (1 + B)`: `b` of `B` relabelings had a statistic at least as large.
    pub p_value: f64,
    /// Whether the p-value is at most `delta`.
    pub detected: bool,
    /// `B`, the relabelings drawn.
    pub permutations: usize,
}

/// Where target coverage lies at the threshold in question.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CoverageIntervals {
    /// Of the unlabeled points at hand, whatever their labels are.
    pub guaranteed: [f64; 2],
    /// Under the assumption that model and uniform labels enclose the truth; the model is at the fitted temperature where its
    /// own belief contradicts the calibration labels.
    pub assumed: [f64; 2],
    /// Of the law behind the points.
    pub with_confidence: ConfidentInterval,
}

/// Intervals of the coverage on the law behind the points, at a confidence level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ConfidentInterval {
    /// Confidence level `1 - delta` of each interval.
    pub level: f64,
    /// Lowest and highest coverage, whatever the labels are.
    pub guaranteed: [f64; 2],
    /// Lowest and highest coverage if the truth lies between labels drawn from the model and at random.
    pub assumed: [f64; 2],
}

/// One set of bounds per sandwich.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SandwichReports {
    /// Extremes over the labels: hold whatever the labels are.
    pub min_max: SandwichBounds,
    /// Model and uniform labels: hold if these two laws enclose the truth.
    pub f_u: SandwichBounds,
}

/// Bounds on what a shift between two laws costs. Those of min-max hold whatever the labels are; those of f-u are assumed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SandwichBounds {
    /// Bound on the total coverage gap, tied scores and all; in `[0, 1]`.
    pub exact: f64,
    /// Bound on the distance of the target coverage from the level, averaged over all levels; at most 1.
    pub level: f64,
    /// `exact` for the populations behind the rows, whatever their laws are, with `population_confidence`; at most 1.
    pub exact_population: f64,
    /// `level` for the populations behind the rows, whatever their laws are, with `population_confidence`; at most 1.
    pub level_population: f64,
    /// `1 - delta`, of each of the two.
    pub population_confidence: f64,
    /// `exact` with the DKW correction: bounds the gap between the populations at the thresholds of these calibration scores,
    /// with `dkw_confidence`; at most 1.
    pub exact_dkw: f64,
    /// `level` with the DKW correction, of the same thresholds, with `dkw_confidence`; at most 1.
    pub level_dkw: f64,
    /// Mass that the paper's grid form integrates against: its number bounds something only where this is near 1.
    pub mass: f64,
    /// The paper's grid form, eq 7 of \[CL25\]: near `exact` where scores are not tied.
    pub weighted_cdf: f64,
    /// Bound by eq 8 of \[CL25\]: at least that by eq 7, up to the grid.
    pub wasserstein: f64,
    /// Eq 7 with the DKW correction, as in the paper, for scores that have a density; with `dkw_confidence`.
    pub weighted_cdf_dkw: f64,
    /// Eq 8 with the DKW correction, as in the paper, for scores that have a density; with `dkw_confidence`.
    pub wasserstein_dkw: f64,
    /// `1 - 2 delta`, not below zero: of each number with the DKW correction.
    pub dkw_confidence: f64,
}

/// Dominance of the pairs whose order is assumed. That of the extremes holds by construction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DominanceReports {
    /// Labels drawn from the model against labels drawn uniformly.
    pub f_u: DominanceReport,
}

/// Whether the CDFs of a pair are ordered, and where they are furthest from it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DominanceReport {
    /// Whether `F_upper <= F_lower` at every score, up to rounding.
    pub holds: bool,
    /// `max_t F_upper(t) - F_lower(t)`, zero if the order holds.
    pub largest_violation: f64,
    /// The score of the largest violation; none without one.
    pub at: Option<f64>,
}

/// Which model the assumed range rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AssumedModel {
    /// The model as it is: its belief agrees with the calibration labels.
    AsGiven,
    /// The model at the temperature fitted to the calibration labels: its own belief contradicts them.
    AtTemperature,
}

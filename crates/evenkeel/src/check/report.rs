//! The answer, with the field names people's scripts rely on.
//!
//! ```text
//! threshold   ceil((n + 1) (1 - alpha))-th smallest calibration score
//! interval    [F_upper(t), F_lower(t)] there, of the points at hand and, by DKW, of their law
//! bounds      eq 7 and eq 8 between the calibration scores and each pair of laws
//! ```

use serde::Serialize;

use super::target_laws::TargetLaws;
use crate::bound::{
    DkwCorrection, Integrator, coverage_interval, integrated_gap_between, wasserstein_gap_between,
};
use crate::error::{Error, Result};
use crate::interval::Interval;
use crate::level::{FailureProbability, Miscoverage};
use crate::measure::{
    BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FLOOR, Bandwidth, Grid, SmoothedLaw, Support,
    WeightedEmpirical,
};
use crate::sandwich::Sandwich;
use crate::seed::Seed;
use crate::shift::{Prediction, least_permutations, permutations_for, shift_test};
use crate::threshold::{TestMass, Threshold, conformal_threshold};

/// How a check is made.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `alpha` | 0.1 | miscoverage rate of the uncorrected threshold | `(0, 1)` |
/// | `delta` | 0.05 | failure probability of each confidence statement, and level of the shift test | `(0, 1)` |
/// | `permutations` | [`permutations_for`] delta: 999 from 0.0021 on | relabelings of the shift test | `>= 1` |
/// | `bound_grid` | 1000 | grid of the bounds | `>= 2` |
/// | `bandwidth_factor` | 0.1 | factor of Scott's rule | `>= 0` |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckSettings {
    /// Miscoverage rate of the threshold that is checked, in `(0, 1)`.
    pub alpha: Miscoverage,
    /// Failure probability of each confidence statement and level of the test, in `(0, 1)`.
    pub delta: FailureProbability,
    /// Random relabelings that the shift test draws.
    pub permutations: usize,
    /// Grid points of the bounds, at least 2, both ends of the range included.
    pub bound_grid: usize,
    /// Factor of the bandwidth rule, at least 0; 0 leaves the floor.
    pub bandwidth_factor: f64,
    /// Root of all randomness: relabelings, and the sample of more than ten thousand predictions.
    pub seed: Seed,
}

impl CheckSettings {
    /// The defaults at these two rates.
    pub fn new(alpha: Miscoverage, delta: FailureProbability, seed: Seed) -> Self {
        Self {
            alpha,
            delta,
            permutations: permutations_for(delta),
            bound_grid: Grid::BOUND_POINTS,
            bandwidth_factor: BANDWIDTH_FACTOR_CLASSIFICATION,
            seed,
        }
    }
}

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
    /// Uncorrected threshold; none is infinite.
    // JSON has no infinity; a float would be written as null too, and fail when read back as a
    // number.
    pub threshold: Option<f64>,
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

/// Where target coverage lies at the uncorrected threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CoverageIntervals {
    /// Of the unlabeled points at hand, whatever their labels are.
    pub guaranteed: [f64; 2],
    /// Under the assumption that model and uniform labels enclose the truth.
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

/// Bounds on the total coverage gap between two laws.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SandwichBounds {
    /// Bound on the total coverage gap by eq 7 of \[CL25\], in `[0, 1]`.
    pub weighted_cdf: f64,
    /// Bound by eq 8 of \[CL25\]: at least that by eq 7, up to the grid.
    pub wasserstein: f64,
    /// Eq 7 with the DKW correction, confidence `1 - 2 delta`.
    pub weighted_cdf_dkw: f64,
    /// Eq 8 with the DKW correction, confidence `1 - 2 delta`.
    pub wasserstein_dkw: f64,
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

/// Looks at calibration scores and predictions (shapes `(n,)`) and at target laws, and answers.
///
/// # Errors
/// If there are no scores or predictions on either side, a number is not finite, or the permutations are too few for
/// the test to reject at `settings.delta`.
pub fn check(
    scores: &[f64],
    predictions: &[Prediction],
    target: &TargetLaws,
    classes: usize,
    range: Interval,
    settings: &CheckSettings,
) -> Result<ShiftReport> {
    let law = WeightedEmpirical::uniform(scores)?;
    let TargetLaws { min_max, f_u, .. } = target;
    // The smallest p-value is 1 / (1 + B): with fewer permutations the test could never reject, whatever the data.
    let least = least_permutations(settings.delta);
    if settings.permutations < least {
        let (found, delta) = (settings.permutations, settings.delta.get());
        return Err(Error::TooFewPermutations { found, delta, least });
    }
    // The calibration side is sampled as the target side was: the test costs n + m per permutation.
    let tested = crate::shift::sampled(predictions.to_vec(), settings.seed)?;
    let test = shift_test(&tested, &target.predictions, settings.permutations, settings.seed)?;
    // The test point is one of n + 1 exchangeable points, so its share of the mass is 1 / (n + 1).
    let threshold = conformal_threshold(&law, TestMass::exchangeable(scores.len()), settings.alpha);
    let intervals = coverage_intervals(min_max, f_u, threshold, settings)?;
    let shift = ShiftOutcome {
        statistic: test.statistic,
        confidence_distance: test.confidence_distance,
        class_distance: test.class_distance,
        p_value: test.p_value,
        detected: test.rejects(settings.delta),
        permutations: test.permutations,
    };
    let dominance = f_u.dominance();
    let floor = BANDWIDTH_FLOOR * range.width();
    let bandwidth = Bandwidth::scott(scores, settings.bandwidth_factor, floor)?;
    let p = SmoothedLaw::new(law, bandwidth, Support::Bounded(range))?;
    let bounds = |sandwich: &Sandwich| bounds_of(&p, sandwich, range, scores.len(), settings);
    Ok(ShiftReport {
        n: scores.len(),
        m: target.rows,
        classes,
        alpha: settings.alpha.get(),
        delta: settings.delta.get(),
        shift,
        threshold: match threshold {
            Threshold::Finite(score) => Some(score),
            Threshold::AllLabels => None,
        },
        coverage_interval: intervals,
        bounds: SandwichReports { min_max: bounds(min_max)?, f_u: bounds(f_u)? },
        dominance: DominanceReports {
            f_u: DominanceReport {
                holds: dominance.holds(),
                largest_violation: dominance.largest_violation,
                at: dominance.at,
            },
        },
        bound_grid: settings.bound_grid,
    })
}

/// Coverage at the threshold for both pairs of laws, without and with a DKW margin at `delta`.
fn coverage_intervals(
    min_max: &Sandwich,
    f_u: &Sandwich,
    threshold: Threshold,
    settings: &CheckSettings,
) -> Result<CoverageIntervals> {
    let interval = |sandwich: &Sandwich, confidence: Option<FailureProbability>| {
        coverage_interval(sandwich, threshold, confidence).map(|found| [found.low, found.high])
    };
    let delta = Some(settings.delta);
    Ok(CoverageIntervals {
        guaranteed: interval(min_max, None)?,
        assumed: interval(f_u, None)?,
        with_confidence: ConfidentInterval {
            level: 1.0 - settings.delta.get(),
            guaranteed: interval(min_max, delta)?,
            assumed: interval(f_u, delta)?,
        },
    })
}

/// Eq 7 and eq 8 of \[CL25\] between the smoothed calibration law and a pair, each without and with
/// the DKW correction.
fn bounds_of(
    p: &SmoothedLaw,
    sandwich: &Sandwich,
    range: Interval,
    n: usize,
    settings: &CheckSettings,
) -> Result<SandwichBounds> {
    let grid = Grid::new(range, settings.bound_grid)?;
    // `n`, not an effective sample size: a check corrects nothing, so the weights are equal.
    let correction = DkwCorrection::for_sandwich(n as f64, sandwich, settings.delta)?;
    let integrated = integrated_gap_between(p.law(), sandwich, &Integrator::density(p, &grid)?);
    let transport = wasserstein_gap_between(p, sandwich, &grid)?;
    Ok(SandwichBounds {
        weighted_cdf: integrated.value,
        wasserstein: transport.value,
        weighted_cdf_dkw: integrated.with_correction(correction).corrected(),
        wasserstein_dkw: transport.with_correction(correction).corrected(),
    })
}

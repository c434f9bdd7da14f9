//! One cell: a condition, a label marginal and a seed; all methods on the same points.

use evenkeel::measure::WeightedEmpirical;
use evenkeel::seed::Seed;
use serde::{Deserialize, Serialize};

use super::calibrated::{Calibrated, CellPoints};
use super::method::ImageMethod;
use crate::error::Result;
use crate::run::Stopwatch;

/// What a cell leaves behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellOutcome {
    /// Unlabeled points.
    pub unlabeled: usize,
    /// Test points.
    pub test: usize,
    /// Label marginals that were drawn again because they allowed too few points.
    // Absent in cells of earlier runs, which are read back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redraws: usize,
    /// Points of the largest sample, if no label marginal allowed enough of them and the cell was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<usize>,
    /// One for each method; none if the cell was left out.
    pub methods: Vec<MethodOutcome>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl CellOutcome {
    /// Of a cell without points to measure on.
    pub(super) fn left_out(largest: usize) -> Self {
        Self { unlabeled: 0, test: 0, redraws: 0, left_out: Some(largest), methods: Vec::new() }
    }
}

/// How one method did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodOutcome {
    /// Its id.
    pub method: String,
    /// Share of the test points whose label is in their set.
    pub coverage: f64,
    /// Mean number of labels in a set.
    pub size: f64,
    /// Measured total coverage gap, where there is one calibration law.
    pub total_gap: Option<f64>,
    /// The bound that was minimised, at the learned weights.
    pub bound: Option<f64>,
    /// Effective sample size of the weights.
    pub effective: Option<f64>,
}

/// Runs all methods on the points of a cell.
pub(super) fn run_methods(
    methods: &[ImageMethod],
    points: &CellPoints,
    seed: Seed,
    stopwatch: &mut Stopwatch,
) -> Result<CellOutcome> {
    let test_law = points.test.points()?.law()?;
    let mut outcomes: Vec<MethodOutcome> = Vec::new();
    for (index, method) in methods.iter().enumerate() {
        let mut twin = None;
        for (earlier, outcome) in methods[..index].iter().zip(&outcomes) {
            // Fixed steps equal the paper's at one severity: a second fit would give the same numbers.
            if method.agrees_with(*earlier, points.severity)? {
                twin = Some(MethodOutcome { method: method.id().to_owned(), ..outcome.clone() });
            }
        }
        outcomes.push(match twin {
            Some(outcome) => outcome,
            None => {
                let calibration =
                    stopwatch.time(method.id(), || Calibrated::by(*method, points, seed))?;
                stopwatch.time("testing", || evaluate(*method, &calibration, points, &test_law))?
            }
        });
    }
    let (unlabeled, test) = (points.unlabeled.rows(), points.test.rows());
    Ok(CellOutcome { unlabeled, test, redraws: 0, left_out: None, methods: outcomes })
}

/// Coverage, size and gap of a calibration on the test points.
fn evaluate(
    method: ImageMethod,
    calibrated: &Calibrated,
    points: &CellPoints,
    test_law: &WeightedEmpirical,
) -> Result<MethodOutcome> {
    let evaluation = match method.most_test_rows() {
        most if most < points.test.rows() => calibrated.evaluate(&points.test.first(most)?)?,
        _ => calibrated.evaluate(&points.test)?,
    };
    let trial = &calibrated.trial;
    Ok(MethodOutcome {
        method: method.id().to_owned(),
        coverage: evaluation.coverage,
        size: evaluation.mean_size,
        total_gap: trial.total_gap(test_law),
        bound: trial.calibration.learned().bound_after,
        effective: Some(trial.law().effective_sample_size()),
    })
}

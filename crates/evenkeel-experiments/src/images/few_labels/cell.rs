//! One cell: every approach at every number of labels, on the same points.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::seed::Seed;
use evenkeel::side_inputs::TargetLabels;
use serde::{Deserialize, Serialize};

use super::approach::{LabelApproach, Uses};
use crate::error::Result;
use crate::images::softmax::Subset;
use crate::run::Stopwatch;
use crate::trial::Trial;

/// The points of a cell, by role.
pub(super) struct LabelPoints {
    pub(super) calibration: Subset,
    /// In an order drawn at random, so that its first `k` points are a random draw of `k`.
    pub(super) target: Subset,
    pub(super) test: Subset,
    pub(super) alpha: Miscoverage,
    pub(super) seed: Seed,
}

/// What a cell leaves behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelsOutcome {
    /// Points of the target data, the labeled ones among them; 0 if no label marginal allowed enough and the cell was left out.
    pub target: usize,
    /// Test points.
    pub test: usize,
    /// Every approach at every number of labels that it takes and the cell has.
    pub approaches: Vec<ApproachOutcome>,
}

impl LabelsOutcome {
    /// Of a cell without points to measure on.
    pub(super) fn left_out() -> Self {
        Self { target: 0, test: 0, approaches: Vec::new() }
    }
}

/// How an approach did with `k` labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApproachOutcome {
    /// Its id.
    pub approach: String,
    /// Number of labels.
    pub labels: usize,
    /// Share of the test points whose label is in their set.
    pub coverage: f64,
    /// Mean number of labels in a set.
    pub size: f64,
}

/// Runs every approach with every number of labels.
pub(super) fn run_approaches(
    points: &LabelPoints,
    counts: &[usize],
    stopwatch: &mut Stopwatch,
) -> Result<LabelsOutcome> {
    let (target, test) = (points.target.rows(), points.test.rows());
    let mut approaches = Vec::new();
    let mut counts: Vec<usize> = counts.to_vec();
    // Label shift may leave fewer points than are to be labeled.
    counts.retain(|count| *count <= target);
    for approach in LabelApproach::ALL {
        let counts: &[usize] = if approach.uses() == Uses::NoLabels { &[0] } else { &counts };
        for labels in counts {
            let (coverage, size) =
                stopwatch.time(approach.id(), || measured(approach, points, *labels))?;
            let approach = approach.id().to_owned();
            approaches.push(ApproachOutcome { approach, labels: *labels, coverage, size });
        }
    }
    Ok(LabelsOutcome { target, test, approaches })
}

/// Coverage and mean size on the test points, of an approach that knows the labels of the first target points.
fn measured(approach: LabelApproach, points: &LabelPoints, labels: usize) -> Result<(f64, f64)> {
    let LabelPoints { calibration, target, test, alpha, seed } = points;
    let method = approach.in_core()?;
    let score = approach.score();
    let calibrator = ShiftCalibrator { method, score, alpha: *alpha, seed: *seed };
    let trial = match approach.uses() {
        Uses::NoLabels => Trial::calibrate(&calibrator, calibration.points()?, target.points()?)?,
        Uses::Labels => {
            Trial::calibrate(&calibrator, target.first(labels)?.points()?, target.points()?)?
        }
        Uses::LabelsOrAuto => {
            let known = target.labels().as_slice().iter().take(labels).enumerate();
            let known: Vec<(u64, usize)> = known.map(|(row, label)| (row as u64, *label)).collect();
            let known = TargetLabels::new(&known, target.classes())?;
            Trial::calibrate_knowing(&calibrator, calibration.points()?, target.points()?, &known)?
        }
    };
    let evaluation = trial.evaluate(test.points()?)?;
    Ok((evaluation.coverage, evaluation.mean_size))
}

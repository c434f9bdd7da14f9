//! The label plan and `auto`: whatever the input's form and cut, and in worlds whose truth is known.

#![allow(missing_docs, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../../examples/world/mod.rs"]
mod world;

mod auto;
mod crowds;
mod inputs;
mod policy;
mod sizes;
mod streaming;
mod warnings;

use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::label_plan::{
    LabelPlan, LabelPlanSettings, LabelPlanner, LabeledLogits, TargetRows,
};
use evenkeel::rows::Rows;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use world::{CLASSES, Sample};

fn settings() -> LabelPlanSettings {
    LabelPlanSettings::new(FailureProbability::new(0.05).unwrap())
}

fn alpha(value: f64) -> Miscoverage {
    Miscoverage::new(value).unwrap()
}

fn rows(values: &[f64]) -> Rows<'_, f64> {
    Rows::new("probabilities", values, CLASSES).unwrap()
}

fn planner(labeled: &Sample, score: Score, settings: LabelPlanSettings) -> LabelPlanner {
    let labeled =
        LabeledLogits::of_probabilities(&labeled.probabilities(), &labeled.labels(), &score);
    LabelPlanner::new(labeled.unwrap(), score, settings, Seed::new(0)).unwrap()
}

fn plan(labeled: &Sample, target: &Sample) -> LabelPlan {
    let planner = planner(labeled, Score::Lac, settings());
    planner.plan(&TargetRows::Probabilities(rows(&target.probabilities))).unwrap()
}

/// A day on which the model leans toward its first classes, as corrupted images make it do: its logits are shifted by
/// `lean` for the first, nothing for the last, and so on between.
fn collapsed(sample: &Sample, lean: f64) -> Sample {
    let mut probabilities = sample.probabilities.clone();
    for row in probabilities.chunks_exact_mut(CLASSES) {
        for (class, value) in row.iter_mut().enumerate() {
            *value *= (lean * (1.0 - class as f64 / (CLASSES - 1) as f64)).exp();
        }
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|value| *value /= total);
    }
    Sample { probabilities, labels: sample.labels.clone() }
}

/// The rows whose label's turn it is: class `k` keeps a share `shares[k]` of its rows, at most `most` rows in all.
fn with_class_shares(sample: &Sample, shares: &[f64; CLASSES], most: usize) -> Sample {
    let mut kept = Sample { probabilities: Vec::new(), labels: Vec::new() };
    let mut owed = [0.0; CLASSES];
    for (row, label) in sample.probabilities.chunks_exact(CLASSES).zip(&sample.labels) {
        owed[*label] += shares[*label];
        if owed[*label] >= 1.0 && kept.labels.len() < most {
            owed[*label] -= 1.0;
            kept.probabilities.extend_from_slice(row);
            kept.labels.push(*label);
        }
    }
    kept
}

//! The check a person on call reads: exact where it can be, the same however rows are cut, and right about the worlds it is
//! told of.

#![allow(missing_docs, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../../examples/world/mod.rs"]
mod world;

mod answers;
mod parts;
mod passes;
mod readings;
mod simulated;

use evenkeel::check::{CheckSettings, Checked, check};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use world::{CLASSES, Sample};

fn settings() -> CheckSettings {
    let alpha = Miscoverage::new(0.1).unwrap();
    CheckSettings::new(alpha, FailureProbability::new(0.05).unwrap(), Seed::new(0))
}

fn checked_with(
    labeled: &Sample,
    target: &Sample,
    score: Score,
    settings: &CheckSettings,
) -> Checked {
    let (probabilities, labels) = (labeled.probabilities(), labeled.labels());
    check(&probabilities, &labels, &target.probabilities(), &score, settings).unwrap()
}

fn checked(labeled: &Sample, target: &Sample) -> Checked {
    checked_with(labeled, target, Score::Lac, &settings())
}

/// Every row to a power and normalised: a model surer than it should be above 1, less sure below.
fn sharpened(sample: &Sample, power: f64) -> Sample {
    let mut probabilities = sample.probabilities.clone();
    for row in probabilities.chunks_exact_mut(CLASSES) {
        row.iter_mut().for_each(|p| *p = p.powf(power));
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|p| *p /= total);
    }
    Sample { probabilities, labels: sample.labels.clone() }
}

//! Learning as a user meets it: gradients, the paper's pattern, reproducibility, files and warnings.

#![allow(missing_docs, unreachable_pub)]
// The library may not touch files; its tests read golden cases.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod allocation;
mod files;
mod gradients;
mod pattern;
mod reproducibility;
mod stopping;
mod warnings;
#[path = "../../examples/world/mod.rs"]
mod world;

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::method::{Method, TransportSettings};
use evenkeel::score::Score;
use evenkeel::seed::Seed;

fn alpha(rate: f64) -> Miscoverage {
    Miscoverage::new(rate).unwrap()
}

/// The paper's method at 90 %.
fn transport(settings: TransportSettings, seed: u64) -> ShiftCalibrator {
    let method = Method::OptimalTransport(settings);
    ShiftCalibrator { method, score: Score::Lac, alpha: alpha(0.1), seed: Seed::new(seed) }
}

//! The whole job on generated data: how much coverage was lost, can it be regained, what should not be trusted.
//!
//! A Bayes classifier is calibrated on 300 labeled points of a world it knows. Target signal is weaker and there are 300
//! points without labels. Run with `cargo run --release --example check_a_shift`.

#![allow(clippy::disallowed_macros, clippy::expect_used, unreachable_pub)]

use evenkeel::bound::{
    DkwCorrection, GapBound, Integrator, coverage_interval, integrated_gap, integrated_gap_between,
    wasserstein_gap_between,
};
use evenkeel::calibration::Calibration;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::interval::Interval;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::{
    BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FLOOR, Bandwidth, Grid, SmoothedLaw, Support,
    WeightedEmpirical,
};
use evenkeel::method::{Method, TransportSettings};
use evenkeel::rows::Rows;
use evenkeel::sandwich::{Sandwich, min_max, model_uniform};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel::threshold::Threshold;
use world::{CLASSES, Sample, sample};

mod world;

fn main() -> evenkeel::Result<()> {
    let seed = Seed::new(0);
    let alpha = Miscoverage::new(0.1)?;
    let delta = FailureProbability::new(0.05)?;
    let (labeled, target, test) =
        (sample(300, 1.0, 1), sample(300, 0.75, 2), sample(10_000, 0.75, 3));
    let (labels, target) = (labeled.labels(), target.probabilities());
    let labeled = labeled.probabilities();
    let uncorrected =
        ShiftCalibrator { method: Method::Uncorrected, score: Score::Lac, alpha, seed };
    let transport = ShiftCalibrator {
        method: Method::OptimalTransport(TransportSettings::paper()),
        ..uncorrected
    };
    let split = uncorrected.calibrate(&labeled, &labels, &target)?;
    let learned = transport.calibrate(&labeled, &labels, &target)?;

    println!("How much coverage did I lose? Target {:.0} %.", 100.0 * (1.0 - alpha.get()));
    let candidates = Score::Lac.candidate_scores(&target)?;
    let (extremes, model) = (min_max(&candidates)?, model_uniform(&candidates)?);
    for (name, sandwich) in [("guaranteed", &extremes), ("assumed", &model)] {
        let sure = coverage_interval(
            sandwich,
            split.threshold(None).unwrap_or(Threshold::AllLabels),
            Some(delta),
        )?;
        println!(
            "  {name:<10}  between {:.1} % and {:.1} % at {:.0} % confidence ({}, {:?})",
            100.0 * sure.low,
            100.0 * sure.high,
            100.0 * sure.confidence.unwrap_or(0.0),
            sandwich.construction().name(),
            sure.order,
        );
    }
    println!(
        "Bounds on the total coverage gap (average over all alpha), DKW-corrected in brackets:"
    );
    for sandwich in [&extremes, &model] {
        let [cdf, w1] = bounds(&split, sandwich, delta)?;
        println!(
            "  {:<8}  weighted-CDF {:.3} [{:.3}]   Wasserstein {:.3} [{:.3}]",
            sandwich.construction().name(),
            cdf.value,
            cdf.corrected(),
            w1.value,
            w1.corrected(),
        );
    }

    println!(
        "Can I get it back? Measured on 10 000 labeled points of the target data that nothing above has seen:"
    );
    println!("  method       threshold   coverage   mean size   total gap   n_w");
    for calibration in [&split, &learned] {
        report(calibration, &test)?;
    }

    println!("When should I not trust the answer?");
    let warnings = &learned.learned().warnings;
    if warnings.is_empty() {
        println!(
            "  Nothing stood out; {} after {} steps.",
            learned.learned().stopped,
            learned.learned().steps
        );
    }
    for warning in warnings {
        println!("  {warning}.");
    }
    Ok(())
}

/// Eq 7 and eq 8 for the uncorrected calibration, with their finite-sample correction.
fn bounds(
    split: &Calibration,
    sandwich: &Sandwich,
    delta: FailureProbability,
) -> evenkeel::Result<[GapBound; 2]> {
    let grid = Grid::new(Interval::UNIT, Grid::BOUND_POINTS)?;
    let factor = BANDWIDTH_FACTOR_CLASSIFICATION;
    let bandwidth = Bandwidth::scott(split.scores(), factor, BANDWIDTH_FLOOR)?;
    let p = SmoothedLaw::new(split.law().clone(), bandwidth, Support::Bounded(Interval::UNIT))?;
    let correction = DkwCorrection::for_sandwich(split.scores().len() as f64, sandwich, delta)?;
    Ok([
        integrated_gap_between(p.law(), sandwich, &Integrator::density(&p, &grid)?),
        wasserstein_gap_between(&p, sandwich, &grid)?,
    ]
    .map(|bound| bound.with_correction(correction)))
}

fn report(calibration: &Calibration, test: &Sample) -> evenkeel::Result<()> {
    let rows = Rows::new("probabilities", &test.probabilities, CLASSES)?;
    let sets = calibration.predict(0, rows, None)?;
    let labels = test.labels.iter().enumerate();
    let covered = labels.filter(|(row, label)| sets.contains(*row, **label)).count();
    let coverage = covered as f64 / sets.rows() as f64;
    let total: usize = (0..sets.rows()).map(|row| sets.size(row)).sum();
    let scores = test.scores();
    let law = calibration.law();
    let gap = integrated_gap(law, &WeightedEmpirical::uniform(&scores)?, &Integrator::atoms(law));
    println!(
        "  {:<12} {:<11.4} {:<10} {:<11.2} {:<11.3} {:.0}",
        calibration.provenance().method.as_str(),
        calibration.threshold(None).unwrap_or(Threshold::AllLabels).get(),
        format!("{:.1} %", 100.0 * coverage),
        total as f64 / sets.rows() as f64,
        gap.value,
        calibration.effective_sample_size(),
    );
    Ok(())
}

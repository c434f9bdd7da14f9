//! Coverage of `auto` as a shift grows from nothing, beside split conformal prediction and the plan without a test before it.
//!
//! Prints the table of docs/auto.md. Run with `cargo run --release --example auto_across_severity`.

#![allow(clippy::disallowed_macros, clippy::expect_used, unreachable_pub)]

mod world;

use evenkeel::calibration::{Calibration, Evidence};
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::method::label_plan::{LabelPlanner, LabeledLogits, TargetRows};
use evenkeel::rows::Rows;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel::threshold::{TestMass, conformal_threshold};
use world::{CLASSES, Sample, sample};

/// Independent days averaged over.
const DAYS: u64 = 60;

fn main() -> evenkeel::Result<()> {
    println!("mean over {DAYS} days of coverage at 90 %; n = m = 300, 10 classes\n");
    println!(
        "| signal | rejected | uncorrected | label-plan | auto | smallest of auto | largest | mix | inflation |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for step in 0..=12 {
        let strength = 1.0 - 0.05 * f64::from(step);
        let (mut sums, mut ends) = ([0.0; 6], [1.0_f64, 0.0_f64]);
        for day in 0..DAYS {
            let outcome = one_day(strength, day)?;
            sums.iter_mut().zip(outcome).for_each(|(sum, value)| *sum += value / DAYS as f64);
            ends = [ends[0].min(outcome[3]), ends[1].max(outcome[3])];
        }
        let [rejected, uncorrected, planned, chosen, mix, inflation] = sums;
        println!(
            "| {strength:.2} | {:.0} % | {:.1} % | {:.1} % | {:.1} % | {:.1} % | {:.1} % | {mix:.2} | {inflation:.2} |",
            100.0 * rejected,
            100.0 * uncorrected,
            100.0 * planned,
            100.0 * chosen,
            100.0 * ends[0],
            100.0 * ends[1],
        );
    }
    for strength in [1.0, 0.7] {
        let (labeled, target) = (sample(300, 1.0, 1), sample(300, strength, 2));
        let found = calibrate(&labeled, &target, 0)?;
        println!("\nsignal {strength}: {}", found.account().unwrap_or_default());
    }
    Ok(())
}

fn calibrate(labeled: &Sample, target: &Sample, seed: u64) -> evenkeel::Result<Calibration> {
    let calibrator = ShiftCalibrator::new(0.1)?.seed(seed);
    calibrator.calibrate(&labeled.probabilities(), &labeled.labels(), &target.probabilities())
}

/// Whether the test rejected; coverage of split conformal prediction, of the plan and of `auto`; the plan's mix and inflation.
fn one_day(strength: f64, day: u64) -> evenkeel::Result<[f64; 6]> {
    let alpha = Miscoverage::new(0.1)?;
    let (labeled, target) = (sample(300, 1.0, 1000 + day), sample(300, strength, 2000 + day));
    let test = WeightedEmpirical::uniform(&sample(4000, strength, 3000 + day).scores())?;
    let labels = labeled.labels();
    let found = calibrate(&labeled, &target, day)?;
    let rejected = match &found.learned().evidence {
        Some(Evidence::Auto(decision)) => decision.rejected,
        _ => false,
    };
    let law = WeightedEmpirical::uniform(&labeled.scores())?;
    let split = conformal_threshold(&law, TestMass::exchangeable(300), alpha);
    let logits = LabeledLogits::of_probabilities(&labeled.probabilities(), &labels, &Score::Lac)?;
    let settings = LabelPlanSettings::new(FailureProbability::new(0.05)?);
    let planner = LabelPlanner::new(logits, Score::Lac, settings, Seed::new(day))?;
    let rows = Rows::new("probabilities", &target.probabilities, CLASSES)?;
    let plan = planner.plan(&TargetRows::Probabilities(rows))?;
    let statistics = plan.evidence().statistics;
    Ok([
        f64::from(u8::from(rejected)),
        test.cdf(split.get()),
        test.cdf(plan.threshold(alpha).score),
        found.threshold(None).map_or(1.0, |threshold| test.cdf(threshold.get())),
        statistics.mix,
        statistics.inflation,
    ])
}

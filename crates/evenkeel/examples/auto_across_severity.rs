//! Coverage of `auto` as a shift grows from nothing, beside split conformal prediction and the plan without a test before it.
//!
//! Prints the table of docs/auto.md. Run with `cargo run --release --example auto_across_severity`.

#![allow(clippy::disallowed_macros, clippy::expect_used, unreachable_pub)]

mod world;

use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::auto::{AutoSettings, auto};
use evenkeel::method::label_plan::{LabelPlanner, LabeledLogits, TargetRows};
use evenkeel::rows::Rows;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use world::{CLASSES, sample};

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
    let settings = AutoSettings::new(FailureProbability::new(0.05)?, Seed::new(0));
    for strength in [1.0, 0.7] {
        let (labeled, target) = (sample(300, 1.0, 1), sample(300, strength, 2));
        let found = auto(
            &labeled.probabilities(),
            &labeled.labels(),
            &target.probabilities(),
            &Score::Lac,
            Miscoverage::new(0.1)?,
            &settings,
        )?;
        println!("\nsignal {strength}: {}", found.decision);
    }
    Ok(())
}

/// Whether the test rejected; coverage of split conformal prediction, of the plan and of `auto`; the plan's mix and inflation.
fn one_day(strength: f64, day: u64) -> evenkeel::Result<[f64; 6]> {
    let alpha = Miscoverage::new(0.1)?;
    let settings = AutoSettings::new(FailureProbability::new(0.05)?, Seed::new(day));
    let (labeled, target) = (sample(300, 1.0, 1000 + day), sample(300, strength, 2000 + day));
    let test = WeightedEmpirical::uniform(&sample(4000, strength, 3000 + day).scores())?;
    let labels = labeled.labels();
    let found = auto(
        &labeled.probabilities(),
        &labels,
        &target.probabilities(),
        &Score::Lac,
        alpha,
        &settings,
    )?;
    let labeled = LabeledLogits::of_probabilities(&labeled.probabilities(), &labels, &Score::Lac)?;
    let planner = LabelPlanner::new(labeled, Score::Lac, settings.plan, settings.seed)?;
    let rows = Rows::new("probabilities", &target.probabilities, CLASSES)?;
    let plan = planner.plan(&TargetRows::Probabilities(rows))?;
    let statistics = plan.evidence().statistics;
    Ok([
        f64::from(u8::from(found.decision.rejected)),
        test.cdf(found.uncorrected_threshold(alpha).get()),
        test.cdf(plan.threshold(alpha).score),
        test.cdf(found.threshold(alpha).get()),
        statistics.mix,
        statistics.inflation,
    ])
}

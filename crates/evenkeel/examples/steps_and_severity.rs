//! How the outcome of learning depends on the step count, the sandwich and the finite-sample term, by severity of shift.
//!
//! Prints the table of docs/learning.md. Run with `cargo run --release --example steps_and_severity`.

#![allow(clippy::disallowed_macros, clippy::expect_used, unreachable_pub)]

mod world;

use evenkeel::bound::{Integrator, integrated_gap};
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::learning::optimise::{AdamSettings, Improvement, StoppingRule};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::{Method, SandwichChoice, TransportSettings, WeightsChoice};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel::threshold::Threshold;
use world::sample;

/// Independent days averaged over.
const DAYS: u64 = 20;

fn main() -> evenkeel::Result<()> {
    println!(
        "mean over {DAYS} days of coverage at 90 % / total gap / n_w; n = m = 300, 10 classes\n"
    );
    println!("| signal | method | coverage | total gap | n_w | steps |");
    println!("|---|---|---|---|---|---|");
    for strength in [1.0, 0.85, 0.7, 0.5] {
        for (name, method) in methods()? {
            let row = average(strength, method)?;
            println!(
                "| {strength} | {name} | {:.1} % | {:.3} | {:.0} | {:.0} |",
                100.0 * row[0],
                row[1],
                row[2],
                row[3]
            );
        }
    }
    Ok(())
}

fn methods() -> evenkeel::Result<Vec<(&'static str, Method)>> {
    let after = |steps: usize| -> evenkeel::Result<TransportSettings> {
        Ok(TransportSettings {
            stopping: StoppingRule::after(steps)?,
            ..TransportSettings::paper()
        })
    };
    let min_max = |steps: usize| -> evenkeel::Result<TransportSettings> {
        Ok(TransportSettings { sandwich: SandwichChoice::MinMax, ..after(steps)? })
    };
    let function = TransportSettings { weights: WeightsChoice::Function, ..after(1000)? };
    // To convergence: larger steps, and a stop when 500 of them gain less than a thousandth.
    let convergence = TransportSettings {
        adam: AdamSettings::new(0.01)?,
        stopping: StoppingRule::after(20_000)?
            .with_improvement(Improvement { window: 500, relative: 1e-3 })?,
        ..TransportSettings::paper()
    };
    let delta = FailureProbability::new(0.05)?;
    let finite_sample = TransportSettings { finite_sample: Some(delta), ..convergence };
    Ok(vec![
        ("uncorrected", Method::Uncorrected),
        ("f-u, exact", Method::OptimalTransport(TransportSettings::default())),
        ("f-u, 1000 steps", Method::OptimalTransport(after(1000)?)),
        ("f-u, 3000 steps", Method::OptimalTransport(after(3000)?)),
        ("f-u, 5000 steps", Method::OptimalTransport(after(5000)?)),
        ("f-u, to convergence", Method::OptimalTransport(convergence)),
        ("f-u, finite-sample, to convergence", Method::OptimalTransport(finite_sample)),
        ("f-u, weight function, 1000 steps", Method::OptimalTransport(function)),
        ("min-max, 1000 steps", Method::OptimalTransport(min_max(1000)?)),
        ("min-max, 5000 steps", Method::OptimalTransport(min_max(5000)?)),
    ])
}

/// Coverage, total gap, effective sample size and steps.
fn average(strength: f64, method: Method) -> evenkeel::Result<[f64; 4]> {
    let mut sums = [0.0; 4];
    for day in 0..DAYS {
        let seed = Seed::new(day);
        let calibrator =
            ShiftCalibrator { method, score: Score::Lac, alpha: Miscoverage::new(0.1)?, seed };
        let (labeled, target) = (sample(300, 1.0, 1000 + day), sample(300, strength, 2000 + day));
        let test = sample(4000, strength, 3000 + day);
        let calibration = calibrator.calibrate(
            &labeled.probabilities(),
            &labeled.labels(),
            &target.probabilities(),
        )?;
        let q = WeightedEmpirical::uniform(&test.scores())?;
        let law = calibration.law();
        let outcome = [
            q.cdf(calibration.threshold(None).unwrap_or(Threshold::AllLabels).get()),
            integrated_gap(law, &q, &Integrator::atoms(law)).value,
            calibration.effective_sample_size(),
            calibration.learned().steps as f64,
        ];
        sums.iter_mut().zip(outcome).for_each(|(sum, value)| *sum += value / DAYS as f64);
    }
    Ok(sums)
}

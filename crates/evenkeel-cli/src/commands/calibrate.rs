//! `evenkeel calibrate`: learn weights once, store them.

use std::ops::ControlFlow;
use std::time::Instant;

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{Method, ShiftCalibrator, Today};
use evenkeel_io::write_file;
use serde::Serialize;

use crate::args::{CalibrateArgs, Reading};
use crate::exit::Outcome;
use crate::inputs::{Labeled, TodayInput, read_today};
use crate::job::{Failure, Rates, calibrator, on_threads, print, print_json, score, to_json};
use crate::progress::Verbosity;
use crate::table::threshold;

/// What `calibrate` says.
#[derive(Debug, Serialize)]
struct Summary {
    method: &'static str,
    alpha: f64,
    /// None is infinite.
    threshold: Option<f64>,
    effective_sample_size: f64,
    bound_before: Option<f64>,
    bound_after: Option<f64>,
    steps: usize,
    stopped: &'static str,
    seconds: f64,
    n: usize,
    test_mass: f64,
    warnings: Vec<String>,
}

impl Summary {
    fn of(calibration: &Calibration, seconds: f64) -> Self {
        let learned = calibration.learned();
        let value = calibration.threshold(None).get();
        Self {
            method: calibration.provenance().method.as_str(),
            alpha: calibration.provenance().alpha.get(),
            threshold: value.is_finite().then_some(value),
            effective_sample_size: calibration.effective_sample_size(),
            bound_before: learned.bound_before,
            bound_after: learned.bound_after,
            steps: learned.steps,
            stopped: learned.stopped.name(),
            seconds,
            n: calibration.scores().len(),
            test_mass: calibration.test_mass().get(),
            warnings: learned.warnings.iter().map(ToString::to_string).collect(),
        }
    }
}

pub(crate) fn run(args: &CalibrateArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &CalibrateArgs) -> Result<Outcome, Failure> {
    let rates = Rates::of(&args.common)?;
    let score = score(&args.scoring, rates.seed)?;
    let calibrator = calibrator(args.method, &args.transport, score, rates)?;
    let verbosity = Verbosity::of(args.common.quiet);
    let yesterday =
        Labeled::read(&args.yesterday.cal_probs, &args.yesterday.cal_labels, &args.reading)?;
    args.reading.names(yesterday.classes())?;
    let (calibration, seconds) =
        fit(&calibrator, &yesterday, &args.unlabeled, &args.reading, verbosity)?;
    write_file(&args.out, format!("{}\n", to_json(&calibration)?).as_bytes())?;
    let summary = Summary::of(&calibration, seconds);
    if args.common.json {
        print_json(&summary)?;
    } else {
        print(&text_of(&summary, args))?;
    }
    Ok(Outcome::Done)
}

/// Reads today's side and fits, with a bar over the steps; also the seconds of the fit.
pub(crate) fn fit(
    calibrator: &ShiftCalibrator,
    yesterday: &Labeled,
    unlabeled: &str,
    reading: &Reading,
    verbosity: Verbosity,
) -> Result<(Calibration, f64), Failure> {
    let classes = yesterday.classes();
    let scores = yesterday.scores(&calibrator.score.with_draws_for("calibration"))?;
    let today = read_today(unlabeled, reading, calibrator, &scores, classes, verbosity)?;
    let started = Instant::now();
    let steps = match calibrator.method {
        Method::Uncorrected => 0,
        Method::OptimalTransport(settings) => settings.stopping.max_steps() as u64,
    };
    let bar = verbosity.steps(steps);
    let calibration = match &today {
        TodayInput::Sketch(sketch) => calibrator.calibrate_sketched(&scores, sketch, classes)?,
        TodayInput::Candidates(candidates) => calibrator.calibrate_observed(
            &scores,
            Today::Candidates(candidates),
            classes,
            calibrator.score.range(classes),
            &mut |point| {
                bar.set_position(point.step as u64);
                ControlFlow::Continue(())
            },
        )?,
    };
    bar.finish_and_clear();
    Ok((calibration, started.elapsed().as_secs_f64()))
}

fn text_of(summary: &Summary, args: &CalibrateArgs) -> String {
    let mut text = format!(
        "Threshold {} at alpha = {} by {} ({:.1} of {} points effective).\n",
        threshold(summary.threshold),
        summary.alpha,
        summary.method,
        summary.effective_sample_size,
        summary.n,
    );
    if let (Some(before), Some(after)) = (summary.bound_before, summary.bound_after) {
        text += &format!(
            "Bound on the total coverage gap: {before:.3} before, {after:.3} after {} steps ({}) in {:.3} s.\n",
            summary.steps, summary.stopped, summary.seconds
        );
    }
    text += &format!(
        "Stored in {0}. Next: evenkeel predict --calibration {0} --probs FILE --out FILE\n",
        args.out.display()
    );
    for warning in &summary.warnings {
        text += &format!("Warning: {warning}.\n");
    }
    text
}

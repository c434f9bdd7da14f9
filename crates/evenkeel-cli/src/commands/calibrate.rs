//! `evenkeel calibrate`: learn weights once, store them.

use std::ops::ControlFlow;
use std::time::Instant;

use evenkeel::calibration::{Calibration, Evidence, ThresholdsDifferBy};
use evenkeel::calibrator::{NextPass, ShiftCalibrator};
use evenkeel::method::{KnownRatios, Method, require_and_refuse};
use evenkeel::side_inputs::{Labeled, PointSet};
use evenkeel::threshold::Threshold;
use evenkeel_io::{AtomicFile, BlockRows};
use serde::Serialize;

use crate::args::{CalibrateArgs, Reading};
use crate::exit::Outcome;
use crate::inputs::{LabeledFiles, in_file};
use crate::job::{Failure, Rates, calibrator, on_threads, print, print_json, score, to_json};
use crate::progress::Verbosity;
use crate::streams::{PointFiles, each_block};
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
    /// What must hold for the coverage to be right.
    assumption: &'static str,
    /// What was done and why, for methods that decide something themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    /// What the method measured on its way.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Evidence>,
    warnings: Vec<String>,
}

impl Summary {
    fn of(calibration: &Calibration, seconds: f64) -> Self {
        let learned = calibration.learned();
        let value = calibration.threshold(None).map_or(f64::INFINITY, Threshold::get);
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
            assumption: calibration.provenance().method.assumption(),
            account: calibration.account(),
            evidence: learned.evidence.clone(),
            warnings: calibration.warnings(),
        }
    }
}

pub(crate) fn run(args: &CalibrateArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &CalibrateArgs) -> Result<Outcome, Failure> {
    let rates = Rates::of(&args.common)?;
    let score = score(&args.scoring, rates.seed)?;
    let ratios = KnownRatios::of(args.beside.cal_ratios.as_ref());
    let calibrator = calibrator(args.method, args.settings.values()?, ratios, score, rates)?;
    require_and_refuse(&calibrator.method, PointSet::Calibration, &args.beside.given())?;
    let verbosity = Verbosity::of(args.common.quiet);
    let labeled =
        LabeledFiles::read(&args.labeled.cal_probs, &args.labeled.cal_labels, &args.reading)?
            .with(&args.beside)?;
    args.reading.names(labeled.classes())?;
    let target = PointFiles {
        features: args.beside.unlabeled_features.as_deref(),
        ..PointFiles::probs(&args.unlabeled)
    };
    // Started before the fit: a place that cannot be written to should not cost one.
    let out = AtomicFile::create(&args.out)?;
    let (calibration, seconds) = fit(&calibrator, &labeled, target, &args.reading, verbosity)?;
    out.write_whole(format!("{}\n", to_json(&calibration)?))?;
    let summary = Summary::of(&calibration, seconds);
    if args.common.json {
        print_json(&summary)?;
    } else {
        print(&text_of(&summary, calibration.thresholds_differ_by(), args))?;
    }
    Ok(Outcome::Done)
}

/// Reads target side and fits, with a bar over the steps; also the seconds of the fit.
pub(crate) fn fit(
    calibrator: &ShiftCalibrator,
    labeled: &LabeledFiles,
    target: PointFiles<'_>,
    reading: &Reading,
    verbosity: Verbosity,
) -> Result<(Calibration, f64), Failure> {
    let classes = labeled.classes();
    let (probabilities, labels) = (labeled.probabilities()?, labeled.checked_labels()?);
    let beside = labeled.beside()?;
    let labeled = Labeled { probabilities: &probabilities, labels: &labels, beside };
    let mut seconds = 0.0;
    let mut timed = Instant::now();
    let mut fit = calibrator.begin(&labeled)?;
    seconds += timed.elapsed().as_secs_f64();
    loop {
        each_block(target, reading, classes, "reading", verbosity, |points| {
            timed = Instant::now();
            match points.block {
                BlockRows::F32(rows) => fit.add(*rows, points.beside)?,
                BlockRows::F64(rows) => fit.add(*rows, points.beside)?,
            }
            seconds += timed.elapsed().as_secs_f64();
            Ok(())
        })?;
        timed = Instant::now();
        let next = fit.end_pass().map_err(|error| in_target(target.probs, error))?;
        seconds += timed.elapsed().as_secs_f64();
        if next == NextPass::Enough {
            break;
        }
    }
    let steps = match calibrator.method {
        Method::OptimalTransport(settings) => settings.stopping.max_steps() as u64,
        _ => 0,
    };
    let bar = verbosity.steps(steps);
    timed = Instant::now();
    let calibration = fit
        .finish(&mut |point| {
            bar.set_position(point.step as u64);
            ControlFlow::Continue(())
        })
        .map_err(|error| in_target(target.probs, error))?;
    bar.finish_and_clear();
    Ok((calibration, seconds + timed.elapsed().as_secs_f64()))
}

/// Rows of the target data that are not valid probabilities are found when they are used.
fn in_target(matrix: &str, error: evenkeel::Error) -> Failure {
    if error.to_string().contains("robabilities") {
        in_file(matrix, error)
    } else {
        Failure::Core(error)
    }
}

fn text_of(summary: &Summary, differ: ThresholdsDifferBy, args: &CalibrateArgs) -> String {
    let cut = match differ.words() {
        None => format!("Threshold {}", threshold(summary.threshold)),
        Some(words) => words.to_owned(),
    };
    let mut text = format!(
        "{cut} at alpha = {} by {} ({:.1} of {} points effective).\n",
        summary.alpha, summary.method, summary.effective_sample_size, summary.n,
    );
    if let (Some(before), Some(after)) = (summary.bound_before, summary.bound_after) {
        text += &format!(
            "Bound on the total coverage gap: {before:.3} before, {after:.3} after {} steps ({}) in {:.3} s.\n",
            summary.steps, summary.stopped, summary.seconds
        );
    }
    if let Some(account) = &summary.account {
        text += &format!("{account}\n");
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

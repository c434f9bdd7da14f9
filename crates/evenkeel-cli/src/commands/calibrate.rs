//! `evenkeel calibrate`: learn weights once, store them.

use std::path::Path;

use evenkeel_io::{AtomicFile, FileSource, PointFiles, read_target_labels};
use evenkeel_jobs::{Calibrated, JobError, Observer, TargetLabels, calibrate, sentences, update};

use evenkeel::method::{KnownRatios, require_and_refuse};
use evenkeel::side_inputs::PointSet;

use crate::args::{CalibrateArgs, Labeled};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::files::load_calibration;
use crate::output::{print, print_json, to_json};
use crate::progress::Verbosity;
use crate::settings::{Rates, calibrator, on_threads, score};

pub(crate) fn run(args: &CalibrateArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &CalibrateArgs) -> Result<Outcome, Failure> {
    match (args.made_of.labeled(), &args.made_of.update) {
        (Some(labeled), _) => of_data(args, &labeled),
        (None, Some(path)) => of_calibration(args, path),
        (None, None) => Err(Failure::Argument(
            "give --cal-probs and --cal-labels, or --update with a file written by calibrate"
                .into(),
        )),
    }
}

/// From calibration and target data.
fn of_data(args: &CalibrateArgs, labeled: &Labeled) -> Result<Outcome, Failure> {
    let rates = Rates::of(&args.common)?;
    let score = score(&args.scoring, rates.seed)?;
    let ratios = KnownRatios::of(args.beside.cal_ratios.as_ref());
    let calibrator = calibrator(args.method, args.settings.values()?, ratios, score, rates)?;
    // Before any file is read: a missing flag should not cost the reading of gigabytes.
    require_and_refuse(
        &calibrator.method,
        PointSet::Calibration,
        &args.beside.given_for(args.method),
    )?;
    let files = args.reading.read(labeled, &args.beside)?;
    let labeled = files.data()?;
    let names = args.reading.names(labeled.classes())?;
    let target_labels = args.beside.labels(labeled.classes(), names.as_deref())?;
    let labeled = match &target_labels {
        Some(labels) => labeled.with_target_labels(labels),
        None => labeled,
    };
    store(args, names.as_deref(), |target, progress| {
        calibrate(&calibrator, &labeled, target, progress)
    })
}

/// From a calibration, target data and more labels of them.
fn of_calibration(args: &CalibrateArgs, path: &Path) -> Result<Outcome, Failure> {
    let given = args.settings.values()?.iter().chain(args.scoring.values()?.iter());
    if let Some((name, _)) = given.into_iter().next() {
        return Err(Failure::Argument(format!(
            "--{name} has no use with --update: the calibration's own is kept; leave it out, or calibrate anew"
        )));
    }
    let calibration = load_calibration(path)?;
    let classes = calibration.provenance().classes;
    let names = args.reading.names(classes)?;
    let new = args.beside.target_labels.as_deref().unwrap_or_default();
    let pairs = read_target_labels(new, names.as_deref())?;
    let new = TargetLabels::new(new, pairs, classes)?;
    let name = path.display().to_string();
    store(args, names.as_deref(), |target, progress| {
        update((&name, &calibration), &new, target, progress)
    })
}

/// Runs the job, stores what it gives and says what that is.
fn store(
    args: &CalibrateArgs,
    names: Option<&[String]>,
    job: impl FnOnce(&mut FileSource, &mut dyn Observer) -> Result<Calibrated, JobError>,
) -> Result<Outcome, Failure> {
    // Started before the fit: a place that cannot be written to should not cost one.
    let out = AtomicFile::create(&args.out)?;
    let mut target = args.reading.open(PointFiles {
        features: args.beside.unlabeled_features.as_deref(),
        ..PointFiles::probs(&args.unlabeled)
    })?;
    let mut progress = Verbosity::of(args.common.quiet).progress();
    let calibrated = job(&mut target, &mut progress)?;
    // Stored before anything is printed: a reader of stdout that goes away must not cost the
    // result.
    out.write_whole(format!("{}\n", to_json(&calibrated.calibration)?))?;
    if args.common.json {
        print_json(&calibrated.document(names))?;
    } else {
        print(&text(&calibrated, args))?;
    }
    Ok(Outcome::Done)
}

/// What a person reads, and what to type next.
fn text(calibrated: &Calibrated, args: &CalibrateArgs) -> String {
    let Calibrated { calibration, seconds, .. } = calibrated;
    let mut said = sentences::calibrated(calibration, Some(*seconds));
    said.push(format!(
        "Stored in {0}. Next: evenkeel predict --calibration {0} --probs FILE --out FILE",
        args.out.display()
    ));
    said.extend(calibration.warnings().iter().map(|warning| format!("Warning: {warning}.")));
    said.join("\n") + "\n"
}

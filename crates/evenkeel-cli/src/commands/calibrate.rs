//! `evenkeel calibrate`: learn weights once, store them.

use std::path::Path;

use evenkeel_io::{AtomicFile, FileSource, PointFiles, read_labels_of_rows};
use evenkeel_jobs::documents::CalibratedLevel;
use evenkeel_jobs::{
    Calibrated, JobError, LabeledData, Observer, TargetLabels, calibrate, sentences, update,
};

use evenkeel::calibration::ClassNames;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::method::{KnownRatios, MethodName, require_and_refuse};
use evenkeel::score::Score;
use evenkeel::side_inputs::PointSet;

use crate::args::CalibrateArgs;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::files::{load_calibration, named_by};
use crate::output::{print, print_json, to_json};
use crate::progress::Verbosity;
use crate::settings::{Rates, calibrator, on_threads, score};
use crate::table_args::LabeledPaths;

pub(crate) fn run(args: &CalibrateArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &CalibrateArgs) -> Result<Outcome, Failure> {
    require_json(&args.out)?;
    // Before any file is read: a missing flag should not cost the reading of gigabytes.
    unlabeled(args)?;
    let paths = args.made_of.paths(&args.reading.columns)?;
    match (paths, &args.made_of.calibration, &args.made_of.update) {
        (Some(labeled), ..) => of_files(args, &labeled),
        (None, Some(path), _) => of_kept_data(args, path),
        (None, None, Some(path)) => of_calibration(args, path),
        (None, None, None) => Err(Failure::Argument(
            "give --cal-probs and --cal-labels, or --cal, or --calibration or --update with a file written by calibrate".into(),
        )),
    }
}

/// An error unless a calibration is to be stored under a name of its kind: `--out cal.npy` is nearly always a slip that
/// would replace data. A pipe or device has no such name, and nothing in it is replaced.
fn require_json(out: &Path) -> Result<(), Failure> {
    let named = out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    // A folder is refused in better words where the file is started.
    let other = std::fs::metadata(out).is_ok_and(|found| !found.is_file());
    if named || other {
        return Ok(());
    }
    Err(Failure::Argument(format!(
        "--out {}: a calibration is a .json file; choose such a name",
        out.display()
    )))
}

/// From files of calibration and target data.
fn of_files(args: &CalibrateArgs, labeled: &LabeledPaths) -> Result<Outcome, Failure> {
    let (rates, _) = Rates::several(&args.common)?;
    let calibrator = planned(args, score(&args.scoring, rates.seed)?, rates)?;
    let files = args.reading.read(labeled, &args.beside)?;
    of_data(args, &calibrator, files.data()?, files.class_names())
}

/// From the calibration data that a calibration keeps.
fn of_kept_data(args: &CalibrateArgs, path: &Path) -> Result<Outcome, Failure> {
    if let Some((name, _)) = args.scoring.values()?.iter().next() {
        return Err(Failure::Argument(format!(
            "--{name} has no use with --calibration: the score is that of the calibration; leave it out"
        )));
    }
    let calibration = load_calibration(path)?;
    let provenance = calibration.provenance();
    let calibrator = planned(args, provenance.score, Rates::several(&args.common)?.0)?;
    let name = path.display().to_string();
    let kept = calibration.reference().filter(|kept| kept.labels().len() == kept.of_rows());
    let Some(kept) = kept else {
        return Err(Failure::from(JobError::NotCheckable {
            input: name,
            why: "it does not keep all of its calibration data; give --cal-probs and --cal-labels",
        }));
    };
    let labeled = LabeledData::of_reference(&name, kept, provenance.classes)?;
    of_data(args, &calibrator, labeled, named_by(&calibration))
}

/// The fit to be made, with all that its method needs.
fn planned(args: &CalibrateArgs, score: Score, rates: Rates) -> Result<ShiftCalibrator, Failure> {
    let ratios = KnownRatios::of(args.beside.cal_ratios.as_ref());
    let calibrator = calibrator(args.method, args.settings.values()?, ratios, score, rates)?;
    // Before any file is read: a missing flag should not cost the reading of gigabytes.
    require_and_refuse(
        &calibrator.method,
        PointSet::Calibration,
        &args.beside.given_for(args.method),
    )?;
    Ok(calibrator)
}

/// From calibration data, however they were given.
fn of_data(
    args: &CalibrateArgs,
    calibrator: &ShiftCalibrator,
    labeled: LabeledData<'_>,
    known: ClassNames,
) -> Result<Outcome, Failure> {
    let names = args.reading.names(labeled.classes(), &known)?;
    let known = ClassNames { classes: names.clone(), ..known };
    let target_labels = args.beside.labels(labeled.classes(), names.as_deref())?;
    let labeled = match &target_labels {
        Some((labels, entries)) => {
            let input = args.beside.target_labels.as_deref().unwrap_or_default();
            labeled.with_target_labels(labels).with_target_entries(input, *entries)
        }
        None => labeled,
    };
    store(args, &known, |target, progress| calibrate(calibrator, &labeled, target, progress))
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
    let known = named_by(&calibration);
    let names = args.reading.names(classes, &known)?;
    let known = ClassNames { classes: names.clone(), ..known };
    let new = args.beside.target_labels.as_deref().unwrap_or_default();
    let found = read_labels_of_rows(new, names.as_deref())?;
    let new = TargetLabels::new(new, found.pairs, classes)?.or_refuse()?.for_rows(found.entries);
    let name = path.display().to_string();
    store(args, &known, |target, progress| update((&name, &calibration), &new, target, progress))
}

/// The target data, or the calibration data where nothing is learned from the target.
fn unlabeled(args: &CalibrateArgs) -> Result<String, Failure> {
    let paths = args.made_of.paths(&args.reading.columns)?;
    match (&args.unlabeled, args.method, paths) {
        (Some(unlabeled), ..) => Ok(unlabeled.clone()),
        (None, MethodName::Uncorrected, Some(paths)) => Ok(paths.probs),
        (None, method, _) => Err(Failure::Argument(format!(
            "--unlabeled is missing: {} learns from the target data; give them, or use --method uncorrected on files",
            method.as_str()
        ))),
    }
}

/// Runs the job, stores what it gives and says what that is.
fn store(
    args: &CalibrateArgs,
    known: &ClassNames,
    job: impl FnOnce(&mut FileSource, &mut dyn Observer) -> Result<Calibrated, JobError>,
) -> Result<Outcome, Failure> {
    // Started before the fit: a place that cannot be written to should not cost one.
    let out = AtomicFile::create(&args.out)?;
    let (_, rates) = Rates::several(&args.common)?;
    let unlabeled = unlabeled(args)?;
    let mut target = args.reading.open(
        PointFiles {
            features: args.beside.unlabeled_features.as_deref(),
            ..PointFiles::probs(&unlabeled)
        },
        known,
    )?;
    let mut progress = Verbosity::of(args.common.quiet).progress();
    let mut calibrated = job(&mut target, &mut progress)?;
    calibrated.calibration = calibrated.calibration.with_class_names(known.clone())?;
    // Stored before anything is printed: a reader of stdout that goes away must not cost the
    // result.
    out.write_whole(format!("{}\n", to_json(&calibrated.calibration)?))?;
    if args.common.json {
        let mut document = calibrated.document(known.classes.as_deref());
        if rates.len() > 1 {
            let level = |alpha| CalibratedLevel::new(&calibrated.calibration, alpha);
            document.levels = rates.iter().copied().map(level).collect();
        }
        print_json(&document)?;
    } else {
        print(&text(&calibrated, &rates, args))?;
    }
    Ok(Outcome::Done)
}

/// What a person reads, and what to type next.
fn text(calibrated: &Calibrated, rates: &[Miscoverage], args: &CalibrateArgs) -> String {
    let Calibrated { calibration, seconds, .. } = calibrated;
    let mut said = sentences::calibrated(calibration, Some(*seconds));
    for alpha in rates.iter().skip(1) {
        let cut = sentences::threshold_of(calibration, Some(*alpha));
        said.push(format!("At alpha = {}: {cut}.", alpha.get()));
    }
    said.push(format!(
        "Stored in {0}. Next: evenkeel predict --calibration {0} --probs FILE --out FILE",
        args.out.display()
    ));
    let warnings = sentences::warnings_of(calibration);
    said.extend(warnings.iter().map(|warning| format!("Warning: {warning}.")));
    said.join("\n") + "\n"
}

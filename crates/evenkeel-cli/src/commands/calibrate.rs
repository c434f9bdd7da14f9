//! `evenkeel calibrate`: learn weights once, store them.

use std::path::Path;

use evenkeel_io::{AtomicFile, FileSource, PointFiles, read_labels_of_rows};
use evenkeel_jobs::documents::CalibratedLevel;
use evenkeel_jobs::grouped::{
    CalibratedPerClass, CalibratedPerGroup, calibrate_per_class, calibrate_per_group,
    calibrated_per_class, calibrated_per_group, group_warnings, merged_classes,
};
use evenkeel_jobs::{
    Calibrated, JobError, LabeledData, Observer, TargetLabels, calibrate, sentences, update,
};

use evenkeel::calibration::ClassNames;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::method::{FewLabelsSettings, KnownRatios, Method, MethodName, require_and_refuse};
use evenkeel::score::Score;
use evenkeel::side_inputs::PointSet;

use crate::args::CalibrateArgs;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::files::{load_calibration, named_by};
use crate::output::{print, print_json, warning_line, write_json};
use crate::page::quoted;
use crate::per_args::Per;
use crate::progress::Verbosity;
use crate::settings::{Rates, calibrator, low_levels, on_threads, score};
use crate::table_args::LabeledPaths;

pub(crate) fn run(args: &CalibrateArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.show.threads, || run_on_pool(args))
}

fn run_on_pool(args: &CalibrateArgs) -> Result<Outcome, Failure> {
    require_json(&args.out)?;
    args.per.check(args.made_of.files.cal.as_ref())?;
    args.small.check(&args.per)?;
    args.per.require_one(&Rates::several(&args.common)?.1)?;
    // Before any file is read: a missing flag should not cost the reading of gigabytes.
    unlabeled(args)?;
    let paths = args.made_of.files.paths(&args.reading.columns)?;
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
    let files = args.reading.read(labeled, &args.beside, &args.per.columns())?;
    of_data(args, &calibrator, (files.data()?, &files.doubts()), files.class_names())
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
    let known = named_by(&calibration);
    let reading = args.reading.table(&known, &[])?;
    let second = args.beside.second.read(&labeled, args.reading.kind(), &reading)?;
    of_data(args, &calibrator, (labeled.with_second(&second)?, &[]), known)
}

/// The fit to be made, with all that its method needs.
fn planned(args: &CalibrateArgs, score: Score, rates: Rates) -> Result<ShiftCalibrator, Failure> {
    args.beside.second.paired()?;
    let ratios = KnownRatios::of(args.beside.cal_ratios.as_ref());
    let calibrator = calibrator(args.method, args.settings.values()?, ratios, score, rates)?;
    // Before any file is read: a missing flag should not cost the reading of gigabytes.
    require_and_refuse(
        &calibrator.method,
        PointSet::Calibration,
        &args.beside.given_for(args.method),
    )?;
    if args.beside.target_labels.is_some() && args.method == MethodName::Auto {
        // With labels `auto` is few-labels, which asks no other models.
        let few = Method::FewLabels(FewLabelsSettings::default());
        require_and_refuse(&few, PointSet::Calibration, &args.beside.given())?;
    }
    Ok(calibrator)
}

/// From calibration data, however they were given.
fn of_data(
    args: &CalibrateArgs,
    calibrator: &ShiftCalibrator,
    (labeled, doubts): (LabeledData<'_>, &[String]),
    known: ClassNames,
) -> Result<Outcome, Failure> {
    let names = args.reading.names(labeled.classes(), &known)?;
    let known = ClassNames { classes: names.clone(), ..known };
    let label_names = args.reading.table(&known, &[])?.names;
    let target_labels = args.beside.labels(labeled.classes(), &label_names)?;
    let labeled = match &target_labels {
        Some((labels, entries)) => {
            let input = args.beside.target_labels.as_deref().unwrap_or_default();
            labeled.with_target_labels(labels).with_target_entries(input, *entries)
        }
        None => labeled,
    };
    let per = match &args.made_of.files.cal {
        Some(table) => args.per.resolve(Some((table, &unlabeled(args)?[..])))?,
        None => args.per.resolve(None)?,
    };
    let small = args.small.small()?;
    store(args, (&known, doubts), |target, progress| match per {
        Per::All => Ok(Made::One(Box::new(calibrate(calibrator, &labeled, target, progress)?))),
        Per::Class => {
            let made = calibrate_per_class(calibrator, &labeled, target, small, progress)?;
            Ok(Made::PerClass(Box::new(made)))
        }
        Per::Group { by, mut cal, mut unlabeled } => {
            let job = args.small.job(by)?;
            let (cal, unlabeled) =
                ((&labeled, &mut *cal as _), (target as _, &mut *unlabeled as _));
            let made = calibrate_per_group(calibrator, &job, cal, unlabeled, progress)?;
            Ok(Made::PerGroup(Box::new(made)))
        }
    })
}

/// What a job gives: one threshold for all, one for each class, or one for each group.
enum Made {
    One(Box<Calibrated>),
    PerClass(Box<CalibratedPerClass>),
    PerGroup(Box<CalibratedPerGroup>),
}

impl Made {
    /// With what the user calls the classes.
    fn named(self, known: &ClassNames) -> Result<Self, Failure> {
        let names = known.clone();
        Ok(match self {
            Self::One(made) => {
                let mut made = *made;
                made.calibration = made.calibration.with_class_names(names)?;
                Self::One(Box::new(made))
            }
            Self::PerClass(made) => {
                let mut made = *made;
                made.calibration = made.calibration.with_class_names(names)?;
                Self::PerClass(Box::new(made))
            }
            Self::PerGroup(made) => {
                let mut made = *made;
                made.calibration = made.calibration.with_class_names(names)?;
                Self::PerGroup(Box::new(made))
            }
        })
    }
}

/// From a calibration, target data and more labels of them.
fn of_calibration(args: &CalibrateArgs, path: &Path) -> Result<Outcome, Failure> {
    let given = args.settings.values()?.iter().chain(args.scoring.values()?.iter());
    if let Some((name, _)) = given.into_iter().next() {
        return Err(Failure::Argument(format!(
            "--{name} has no use with --update: the calibration's own is kept; leave it out, or calibrate anew"
        )));
    }
    if args.per.is_given() {
        return Err(Failure::Argument(
            "--per has no use with --update, which keeps the thresholds of the calibration; calibrate anew with all labels".into(),
        ));
    }
    let calibration = load_calibration(path)?;
    let classes = calibration.provenance().classes;
    let known = named_by(&calibration);
    let names = args.reading.names(classes, &known)?;
    let known = ClassNames { classes: names.clone(), ..known };
    let new = args.beside.target_labels.as_deref().unwrap_or_default();
    let found = read_labels_of_rows(new, &args.reading.table(&known, &[])?.names)?;
    let new = TargetLabels::new(new, found.pairs, classes)?.or_refuse()?.for_rows(found.entries);
    let name = path.display().to_string();
    store(args, (&known, &[]), |target, progress| {
        Ok(Made::One(Box::new(update((&name, &calibration), &new, target, progress)?)))
    })
}

/// The target data, or the calibration data where nothing is learned from the target.
fn unlabeled(args: &CalibrateArgs) -> Result<Vec<String>, Failure> {
    let paths = args.made_of.files.paths(&args.reading.columns)?;
    match (&args.unlabeled[..], args.method, paths) {
        ([], MethodName::Uncorrected, Some(paths)) => Ok(vec![paths.probs]),
        (files @ [_, ..], ..) => Ok(files.to_vec()),
        ([], method, _) => Err(Failure::Argument(format!(
            "--unlabeled is missing: {} learns from the target data; give them, or use --method uncorrected on files",
            method.as_str()
        ))),
    }
}

/// Runs the job, stores what it gives and says what that is.
fn store(
    args: &CalibrateArgs,
    (known, doubts): (&ClassNames, &[String]),
    job: impl FnOnce(&mut FileSource, &mut dyn Observer) -> Result<Made, Failure>,
) -> Result<Outcome, Failure> {
    // Started before the fit: a place that cannot be written to should not cost one.
    let out = AtomicFile::create(&args.out)?;
    let (_, rates) = Rates::several(&args.common)?;
    let told: Vec<String> = low_levels(&rates).into_iter().chain(doubts.iter().cloned()).collect();
    let unlabeled = unlabeled(args)?;
    let mut target = args.reading.open_beside(
        PointFiles {
            features: args.beside.unlabeled_features.as_deref(),
            second: &args.beside.second.second_probs,
            ..PointFiles::several(&unlabeled)
        },
        known,
        &args.per.columns(),
    )?;
    let mut progress = Verbosity::of(args.common.show.quiet).progress();
    let made = job(&mut target, &mut progress)?.named(known)?;
    // Stored before anything is printed: a reader of stdout that goes away must not cost the
    // result.
    match &made {
        Made::One(made) => write_json(out, &made.calibration)?,
        Made::PerClass(made) => write_json(out, &made.calibration)?,
        Made::PerGroup(made) => write_json(out, &made.calibration)?,
    }
    let names = known.classes.as_deref();
    match (&made, args.common.show.json) {
        (Made::One(made), true) => {
            let mut document = made.document(names);
            if rates.len() > 1 {
                let level = |alpha| CalibratedLevel::new(&made.calibration, alpha);
                document.levels = rates.iter().copied().map(level).collect();
            }
            document.warnings.extend_from_slice(&told);
            print_json(&document)?;
        }
        (Made::PerClass(made), true) => {
            let mut document = made.document(names);
            document.pooled.warnings.extend_from_slice(&told);
            print_json(&document)?;
        }
        (Made::PerGroup(made), true) => {
            let mut document = made.document();
            document.warnings.extend_from_slice(&told);
            print_json(&document)?;
        }
        (made, false) => {
            let mut said = text(made, &rates, args, names);
            said.extend(told.iter().map(|doubt| warning_line(doubt)));
            print(&said)?;
        }
    }
    Ok(Outcome::Done)
}

/// What a person reads, and what to type next.
fn text(
    made: &Made,
    rates: &[Miscoverage],
    args: &CalibrateArgs,
    names: Option<&[String]>,
) -> String {
    let (mut said, warnings) = match made {
        Made::One(made) => {
            let calibration = &made.calibration;
            let mut said = sentences::calibrated(calibration, Some(made.seconds));
            for alpha in rates.iter().skip(1) {
                let cut = sentences::threshold_of(calibration, Some(*alpha));
                said.push(format!("At alpha = {}: {cut}.", alpha.get()));
            }
            let mut warnings = sentences::warnings_of(calibration);
            warnings.extend(made.class_warning(names));
            (said, warnings)
        }
        Made::PerClass(made) => {
            let mut warnings = sentences::warnings_of(made.calibration.pooled());
            warnings.extend(merged_classes(&made.calibration, names));
            (calibrated_per_class(&made.calibration, names), warnings)
        }
        Made::PerGroup(made) => {
            (calibrated_per_group(&made.calibration), group_warnings(&made.calibration))
        }
    };
    // Of groups that stand in the table, the table is enough.
    let of_file = matches!(made, Made::PerGroup(_)) && args.per.cal_groups.is_some();
    let groups = if of_file { " --groups FILE" } else { "" };
    let out = args.out.display();
    said.push(format!(
        "Stored in {out}. Next: evenkeel predict --calibration {} --probs FILE{groups} --out FILE",
        quoted(&out.to_string())
    ));
    let warnings: String = warnings.iter().map(|warning| warning_line(warning)).collect();
    said.join("\n") + "\n" + &warnings
}

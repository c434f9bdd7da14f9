//! `evenkeel calibrate`: learn weights once, store them.

use evenkeel_io::{AtomicFile, PointFiles};
use evenkeel_jobs::{Calibrated, calibrate, sentences};

use evenkeel::method::{KnownRatios, require_and_refuse};
use evenkeel::side_inputs::PointSet;

use crate::args::CalibrateArgs;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::output::{print, print_json, to_json};
use crate::progress::Verbosity;
use crate::settings::{Rates, calibrator, on_threads, score};

pub(crate) fn run(args: &CalibrateArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &CalibrateArgs) -> Result<Outcome, Failure> {
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
    let files = args.reading.read(&args.labeled, &args.beside)?;
    let labeled = files.data()?;
    let target_labels = args.beside.labels(labeled.classes())?;
    let labeled = match &target_labels {
        Some(labels) => labeled.with_target_labels(labels),
        None => labeled,
    };
    let names = args.reading.names(labeled.classes())?;
    // Started before the fit: a place that cannot be written to should not cost one.
    let out = AtomicFile::create(&args.out)?;
    let mut target = args.reading.open(PointFiles {
        features: args.beside.unlabeled_features.as_deref(),
        ..PointFiles::probs(&args.unlabeled)
    })?;
    let mut progress = Verbosity::of(args.common.quiet).progress();
    let calibrated = calibrate(&calibrator, &labeled, &mut target, &mut progress)?;
    // Stored before anything is printed: a reader of stdout that goes away must not cost the
    // result.
    out.write_whole(format!("{}\n", to_json(&calibrated.calibration)?))?;
    if args.common.json {
        print_json(&calibrated.document(names.as_deref()))?;
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

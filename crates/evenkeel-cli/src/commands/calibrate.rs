//! `evenkeel calibrate`: learn weights once, store them.

use evenkeel_io::{AtomicFile, PointFiles};
use evenkeel_jobs::{Calibrated, calibrate, sentences};

use crate::args::{CalibrateArgs, MethodArg, RatioArg};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::job::{Rates, calibrator, on_threads, score};
use crate::output::{print, print_json, to_json};
use crate::progress::Verbosity;

pub(crate) fn run(args: &CalibrateArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &CalibrateArgs) -> Result<Outcome, Failure> {
    let rates = Rates::of(&args.common)?;
    let score = score(&args.scoring, rates.seed)?;
    refuse_what_is_not_used(args)?;
    let known_ratios = args.beside.cal_ratios.is_some();
    let calibrator = calibrator(args.method, &args.settings, known_ratios, score, rates)?;
    let files = args.reading.read(&args.labeled, &args.beside)?;
    let labeled = files.data()?;
    let names = args.reading.names(labeled.classes())?;
    // Started before the fit: a place that cannot be written to should not cost one.
    let out = AtomicFile::create(&args.out)?;
    let mut target = args.reading.open(PointFiles {
        features: args.beside.unlabeled_features.as_deref(),
        ..PointFiles::probs(&args.unlabeled)
    })?;
    let mut progress = Verbosity::of(args.common.quiet).progress();
    let calibrated = calibrate(&calibrator, &labeled, &mut target, &mut progress)?;
    out.write_whole(format!("{}\n", to_json(&calibrated.calibration)?))?;
    if args.common.json {
        print_json(&calibrated.document(names.as_deref()))?;
    } else {
        print(&text(&calibrated, args))?;
    }
    Ok(Outcome::Done)
}

/// An option that the method has no use for is a mistake: the result would not be what was meant.
fn refuse_what_is_not_used(args: &CalibrateArgs) -> Result<(), Failure> {
    let (method, beside) = (args.method, &args.beside);
    let known = matches!(args.settings.other.ratio, None | Some(RatioArg::Known));
    let described = matches!(method, MethodArg::LikelihoodRatio | MethodArg::Conditional);
    let given = [
        ("--cal-ratios", &beside.cal_ratios, method == MethodArg::LikelihoodRatio && known),
        ("--weights-file", &beside.weights_file, method == MethodArg::Fixed),
        ("--cal-features", &beside.cal_features, described),
    ];
    match given.into_iter().find(|(_, file, used)| file.is_some() && !used) {
        None => Ok(()),
        Some((option, ..)) => Err(Failure::Argument(format!(
            "{option} has no use here; leave it out, or choose the method it is for (likelihood-ratio with --ratio known, fixed, \
             likelihood-ratio or conditional)"
        ))),
    }
}

/// What a person reads, and what to type next.
fn text(calibrated: &Calibrated, args: &CalibrateArgs) -> String {
    let document = calibrated.document(None);
    let mut said = sentences::calibrated(&calibrated.calibration, &document);
    said.push(format!(
        "Stored in {0}. Next: evenkeel predict --calibration {0} --probs FILE --out FILE",
        args.out.display()
    ));
    said.extend(document.warnings.iter().map(|warning| format!("Warning: {warning}.")));
    said.join("\n") + "\n"
}

//! `evenkeel predict`: prediction sets from a stored calibration, in one streaming pass.

use evenkeel::level::Miscoverage;
use evenkeel_io::{PointFiles, SetWriter};
use evenkeel_jobs::grouped::{AnyCalibration, GroupColumn, predict_any};
use evenkeel_jobs::{JobError, sentences};

use crate::args::PredictArgs;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::files::load_any_calibration;
use crate::output::{print, print_json};
use crate::progress::Verbosity;
use crate::settings::on_threads;

pub(crate) fn run(args: &PredictArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &PredictArgs) -> Result<Outcome, Failure> {
    let alpha = args.common.alpha.map(Miscoverage::new).transpose()?;
    let calibration = load_any_calibration(&args.calibration)?;
    calibration.refuse_unused(args.features.is_some(), args.ratios.is_some())?;
    let mut groups = args.groups.open(group_name(&calibration))?;
    let classes = calibration.provenance().classes;
    let names = args.reading.names(classes)?;
    // Started before the rows are read; it appears under its name only when it is whole.
    let mut writer = SetWriter::create(&args.out, classes, names.as_deref())?;
    let mut rows = args.reading.open(PointFiles {
        features: args.features.as_deref(),
        ratios: args.ratios.as_deref(),
        second: &[],
        ..PointFiles::probs(&args.probs)
    })?;
    let mut write = |sets: &_| writer.write(sets).map_err(JobError::from);
    let mut progress = Verbosity::of(args.common.quiet).progress();
    let groups = groups.as_mut().map(|groups| groups as &mut dyn GroupColumn);
    let predicted = predict_any(&calibration, alpha, &mut rows, groups, &mut write, &mut progress)?;
    // Before the summary: what is said to be written must be there.
    writer.finish()?;
    if args.common.json {
        print_json(&predicted.document())?;
    } else {
        let said = sentences::predicted(&predicted);
        print(&format!("{said}\nWritten to {}.\n", args.out.display()))?;
    }
    Ok(Outcome::Done)
}

/// What a calibration calls its groups: the column of a file that holds them may have that name.
pub(super) fn group_name(calibration: &AnyCalibration) -> Option<&str> {
    match calibration {
        AnyCalibration::PerGroup(made) => made.by(),
        AnyCalibration::One(_) | AnyCalibration::PerClass(_) => None,
    }
}

//! `evenkeel predict`: prediction sets from a stored calibration, in one streaming pass.

use evenkeel_io::{MatrixSource, PointFiles, STDOUT, SetWriter, TextRows};
use evenkeel_jobs::grouped::{AnyCalibration, GroupColumn, predict_any};
use evenkeel_jobs::{JobError, sentences};

use crate::args::PredictArgs;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::files::load_any_calibration;
use crate::output::{print, print_json};
use crate::progress::Verbosity;
use crate::settings::{on_threads, one_level};
use crate::table_args::listed;

pub(crate) fn run(args: &PredictArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &PredictArgs) -> Result<Outcome, Failure> {
    let alpha = one_level(&args.common.alpha)?;
    let to_stdout = args.out.as_os_str() == STDOUT;
    if to_stdout && args.common.json {
        return Err(Failure::Argument(
            "--out - and --json both write to stdout; name a file, or leave --json out".into(),
        ));
    }
    let calibration = load_any_calibration(&args.calibration)?;
    calibration.refuse_unused(args.features.is_some(), args.ratios.is_some())?;
    let by = group_name(&calibration);
    let mut groups = args.groups.open(by, &args.probs)?;
    let classes = calibration.provenance().classes;
    let known = calibration.class_names().cloned().unwrap_or_default();
    let names = args.reading.names(classes, &known)?;
    let ids = args.id_cols.as_deref().map(listed).unwrap_or_default();
    // Started before the rows are read; it appears under its name only when it is whole.
    let mut writer = SetWriter::create_beside(&args.out, classes, names.as_deref(), &ids)?;
    let no_classes: Vec<String> = ids.iter().cloned().chain(by.map(str::to_owned)).collect();
    let mut rows = args.reading.open_beside(
        PointFiles {
            features: args.features.as_deref(),
            ratios: args.ratios.as_deref(),
            ..PointFiles::probs(&args.probs)
        },
        &known,
        &no_classes,
    )?;
    let mut passed = match ids.is_empty() {
        true => None,
        false => Some(TextRows::open(&MatrixSource::parse(&args.probs)?, Some(&ids))?),
    };
    let mut write = |sets: &evenkeel::conformal::LabelSets| {
        let beside = match &mut passed {
            Some(passed) => passed.next_rows(sets.rows())?,
            None => Vec::new(),
        };
        writer.write_beside(sets, &beside).map_err(JobError::from)
    };
    let mut progress = Verbosity::of(args.common.quiet).progress();
    let groups = groups.as_mut().map(|groups| groups as &mut dyn GroupColumn);
    let predicted = predict_any(&calibration, alpha, &mut rows, groups, &mut write, &mut progress)?;
    // Before the summary: what is said to be written must be there.
    writer.finish()?;
    if to_stdout {
        // The sets are there; a summary among them would be read as one.
        Verbosity::of(args.common.quiet).note(&sentences::predicted(&predicted));
    } else if args.common.json {
        print_json(&predicted.document())?;
    } else {
        let said = sentences::predicted(&predicted);
        let warnings: String = predicted
            .document()
            .warnings
            .iter()
            .map(|said| format!("Warning: {said}.\n"))
            .collect();
        print(&format!("{said}\nWritten to {}.\n{warnings}", args.out.display()))?;
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

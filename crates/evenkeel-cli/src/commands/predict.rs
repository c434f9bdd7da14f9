//! `evenkeel predict`: prediction sets from a stored calibration, in one streaming pass.

use evenkeel_io::{MatrixSource, PointFiles, STDOUT, SetWriter, TextRows};
use evenkeel_jobs::{JobError, predict, refuse_unused, sentences};

use crate::args::PredictArgs;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::files::{load_calibration, named_by};
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
    let calibration = load_calibration(&args.calibration)?;
    refuse_unused(&calibration, args.features.is_some(), args.ratios.is_some())?;
    let classes = calibration.provenance().classes;
    let known = named_by(&calibration);
    let names = args.reading.names(classes, &known)?;
    let ids = args.id_cols.as_deref().map(listed).unwrap_or_default();
    // Started before the rows are read; it appears under its name only when it is whole.
    let mut writer = SetWriter::create_beside(&args.out, classes, names.as_deref(), &ids)?;
    let mut rows = args.reading.open_beside(
        PointFiles {
            features: args.features.as_deref(),
            ratios: args.ratios.as_deref(),
            ..PointFiles::probs(&args.probs)
        },
        &known,
        &ids,
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
    let predicted = predict(&calibration, alpha, &mut rows, &mut write, &mut progress)?;
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

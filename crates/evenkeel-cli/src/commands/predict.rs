//! `evenkeel predict`: prediction sets from a stored calibration, in one streaming pass.

use std::path::PathBuf;

use evenkeel::level::Miscoverage;
use evenkeel_io::{MatrixSource, PointFiles, STDOUT, SetFormat, SetWriter, TextRows};
use evenkeel_jobs::documents::PredictedLevel;
use evenkeel_jobs::grouped::{AnyCalibration, GroupColumn, predict_any};
use evenkeel_jobs::{JobError, Predicted, sentences};

use crate::args::PredictArgs;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::files::load_any_calibration;
use crate::output::{print, print_json, warning_line};
use crate::progress::Verbosity;
use crate::settings::{levels, on_threads};
use crate::table_args::listed;

pub(crate) fn run(args: &PredictArgs) -> Result<Outcome, Failure> {
    let done = on_threads(args.common.show.threads, || run_on_pool(args));
    match done {
        // As for all that is printed: see `output::print`.
        Err(failure) if args.out.as_os_str() == STDOUT && failure.is_of_a_reader_gone() => {
            Ok(Outcome::Done)
        }
        other => other,
    }
}

fn run_on_pool(args: &PredictArgs) -> Result<Outcome, Failure> {
    let rates = levels(&args.common.alpha)?;
    let to_stdout = args.out.as_os_str() == STDOUT;
    if to_stdout && args.common.show.json {
        return Err(Failure::Argument(
            "--out - and --json both write to stdout; name a file, or leave --json out".into(),
        ));
    }
    require_a_name_each(args, &rates)?;
    let format = format(args)?;
    let calibration = load_any_calibration(&args.calibration)?;
    calibration.refuse_unused(args.beside.features.is_some(), args.beside.ratios.is_some())?;
    let by = group_name(&calibration);
    let mut groups = args.groups.open(by, &args.probs)?;
    let classes = calibration.provenance().classes;
    let known = calibration.class_names().cloned().unwrap_or_default();
    let names = args.reading.names(classes, &known)?;
    let ids = args.id_cols.as_deref().map(listed).unwrap_or_default();
    // Started before the rows are read; each appears under its name only when it is whole.
    let mut writers = Vec::new();
    for out in outs(args) {
        let format = format.map_or_else(|| SetFormat::of(&out), Ok)?;
        writers.push((SetWriter::create_as(format, &out, classes, names.as_deref(), &ids)?, out));
    }
    let no_classes: Vec<String> = ids.iter().cloned().chain(by.map(str::to_owned)).collect();
    let mut rows = args.reading.open_beside(
        PointFiles {
            features: args.beside.features.as_deref(),
            ratios: args.beside.ratios.as_deref(),
            ..PointFiles::probs(&args.probs)
        },
        &known,
        &no_classes,
    )?;
    let asked: Vec<Option<Miscoverage>> = match rates.is_empty() {
        true => vec![None],
        false => rates.into_iter().map(Some).collect(),
    };
    let mut made = Vec::new();
    for (alpha, (mut writer, out)) in asked.into_iter().zip(writers) {
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
        let mut progress = Verbosity::of(args.common.show.quiet).progress();
        let groups = groups.as_mut().map(|groups| groups as &mut dyn GroupColumn);
        let predicted =
            predict_any(&calibration, alpha, &mut rows, groups, &mut write, &mut progress)?;
        // Before the summary: what is said to be written must be there.
        writer.finish()?;
        made.push((predicted, out));
    }
    say(args, &made)
}

/// The file of each rate: the name as it was typed, or with the rate in the place of `{alpha}`.
pub(crate) fn outs(args: &PredictArgs) -> Vec<PathBuf> {
    let name = args.out.to_string_lossy();
    if !name.contains(RATE) {
        return vec![args.out.clone()];
    }
    let rates = &args.common.alpha;
    rates.iter().map(|rate| PathBuf::from(name.replace(RATE, &rate.to_string()))).collect()
}

/// Stands for the rate in the name of an output.
const RATE: &str = "{alpha}";

/// An error unless every rate has a file of its own.
fn require_a_name_each(args: &PredictArgs, rates: &[Miscoverage]) -> Result<(), Failure> {
    let is_named = args.out.to_string_lossy().contains(RATE);
    match (rates.len(), is_named) {
        (0, true) => Err(Failure::Argument(format!(
            "--out {}: {RATE} stands for a rate that was typed; give --alpha, or another name",
            args.out.display()
        ))),
        (2.., false) => Err(Failure::Argument(format!(
            "--alpha names {} rates, and a file holds the sets of one; put {RATE} into the name of --out, as in sets-{RATE}.csv",
            rates.len()
        ))),
        _ => Ok(()),
    }
}

/// The format that was named; only stdout has no name to say it.
fn format(args: &PredictArgs) -> Result<Option<SetFormat>, Failure> {
    match (args.format.as_deref(), args.out.as_os_str() == STDOUT) {
        (Some(name), false) => Err(Failure::Argument(format!(
            "--format {name} has no use with --out {}, whose name says the format; leave it out, or write to -",
            args.out.display()
        ))),
        (Some("jsonl"), true) => Ok(Some(SetFormat::Jsonl)),
        (Some("parquet"), true) => Ok(Some(SetFormat::Parquet)),
        (Some(_), true) => Ok(Some(SetFormat::Csv)),
        (None, _) => Ok(None),
    }
}

/// What was written, for people or programs.
fn say(args: &PredictArgs, made: &[(Predicted, PathBuf)]) -> Result<Outcome, Failure> {
    let Some((first, _)) = made.first() else { return Ok(Outcome::Done) };
    if args.out.as_os_str() == STDOUT {
        // The sets are there; a summary among them would be read as one.
        Verbosity::of(args.common.show.quiet).note(&sentences::predicted(first));
        return Ok(Outcome::Done);
    }
    if args.common.show.json {
        let mut document = first.document();
        if made.len() > 1 {
            let level = |(one, out): &(Predicted, PathBuf)| {
                PredictedLevel::new(&one.document(), out.display().to_string())
            };
            document.levels = made.iter().map(level).collect();
            let further = made.iter().skip(1).flat_map(|(one, _)| one.document().warnings);
            document.warnings.extend(further);
        }
        print_json(&document)?;
        return Ok(Outcome::Done);
    }
    let mut text = String::new();
    for (predicted, out) in made {
        let said = sentences::predicted(predicted);
        let warnings: String =
            predicted.document().warnings.iter().map(|said| warning_line(said)).collect();
        text += &format!("{said}\nWritten to {}.\n{warnings}", out.display());
    }
    print(&text)?;
    Ok(Outcome::Done)
}

/// What a calibration calls its groups: the column of a file that holds them may have that name.
pub(super) fn group_name(calibration: &AnyCalibration) -> Option<&str> {
    match calibration {
        AnyCalibration::PerGroup(made) => made.by(),
        AnyCalibration::One(_) | AnyCalibration::PerClass(_) => None,
    }
}

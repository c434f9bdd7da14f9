//! `evenkeel label`: which rows to label, and what their labels will be worth.

use std::collections::BTreeSet;
use std::path::Path;

use evenkeel::calibration::{Calibration, ClassNames};
use evenkeel::certify::HalfWidth;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::seed::Seed;
use evenkeel_io::{
    AtomicFile, IdColumns, LABEL, LabelSheet, PointFiles, ROW, STDOUT, SetFormat, read_id_columns,
};
use evenkeel_jobs::documents::{LabelDocument, LabelLevel};
use evenkeel_jobs::{
    CheckJob, Drawn, LabelJob, LabelsFor, LabelsWorth, RowToLabel, Shown, label, sentences,
};

use super::check::DEFAULT_ALPHA;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::files::{load_calibration, named_by};
use crate::label_args::LabelArgs;
use crate::output::{print, print_json};
use crate::page::quoted;
use crate::progress::Verbosity;
use crate::settings::{levels, on_threads};
use crate::table_args::{named_together, option_words};

/// Column of the most probable class.
const PREDICTED: &str = "predicted";
/// Column of the set, its labels separated as `predict` separates them.
const SET: &str = "set";

pub(crate) fn run(args: &LabelArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.show.threads, || run_on_pool(args))
}

fn run_on_pool(args: &LabelArgs) -> Result<Outcome, Failure> {
    if to_stdout(args) && args.common.show.json {
        return Err(Failure::Argument(
            "--out - and --json both write to stdout; name a file, or leave --json out".into(),
        ));
    }
    let failure = FailureProbability::new(args.delta)?;
    let calibration = args.calibration.as_deref().map(load_calibration).transpose()?;
    let rates = levels(&args.common.alpha)?;
    let given = rates.first().copied();
    let alpha = match (given, &calibration) {
        (Some(alpha), _) => alpha,
        (None, Some(calibration)) => calibration.provenance().alpha,
        (None, None) => Miscoverage::new(DEFAULT_ALPHA)?,
    };
    let width = args.half_width.map(half_width).transpose()?;
    let wanted = width.map(|width| LabelsFor::new(width, alpha, failure));
    let stored = calibration.as_ref().map(|calibration| calibration.provenance().seed);
    let seed = args.common.seed.map(Seed::new).or(stored).unwrap_or_default();
    let sheet = match (&args.unlabeled[..], args.budget, &args.out) {
        (unlabeled @ [_, ..], Some(budget), Some(out)) => {
            let shown = match (&calibration, args.blind) {
                (_, true) => Shown::Nothing,
                (None, false) => Shown::Class,
                (Some(calibration), false) => {
                    require_sets(calibration, args)?;
                    Shown::Sets(calibration, given)
                }
            };
            let known = calibration.as_ref().map(named_by).unwrap_or_default();
            Some(write_sheet(args, (unlabeled, budget, out), &known, shown, seed)?)
        }
        _ => None,
    };
    let worth = sheet.as_ref().map(|written| LabelsWorth::new(written.rows, alpha, failure));
    let worth = worth.transpose()?;
    let mut by_level = Vec::new();
    for alpha in rates.iter().filter(|_| rates.len() > 1) {
        let worth = sheet.as_ref().map(|written| LabelsWorth::new(written.rows, *alpha, failure));
        let (worth, wanted) =
            (worth.transpose()?, width.map(|width| LabelsFor::new(width, *alpha, failure)));
        by_level.push(LabelLevel { alpha: alpha.get(), worth, wanted });
    }
    if args.common.show.json {
        let document = LabelDocument {
            m: sheet.as_ref().map(|written| written.drawn.m),
            drawn: sheet.as_ref().map_or(&[], |written| &written.drawn.rows),
            rows: sheet.as_ref().map_or(0, |written| written.rows),
            filled: sheet.as_ref().map_or(0, |written| written.filled),
            worth,
            wanted,
            seed: seed.get(),
            levels: by_level,
        };
        print_json(&document)?;
    } else {
        let next = next_command(args, calibration.as_ref());
        let mut said = text(args, sheet.as_ref(), worth.as_ref(), wanted.as_ref(), next);
        for level in by_level.iter().skip(1) {
            let worth = level.worth.iter().map(|worth| sentences::label::worth(worth)[0].clone());
            let wanted = level.wanted.iter().map(sentences::label::wanted);
            said.extend(worth.chain(wanted).map(|line| line + "\n"));
        }
        match to_stdout(args) {
            // The sheet is there; a sentence among its lines would be read as a row.
            true => Verbosity::of(args.common.show.quiet).note(&said),
            false => print(&said)?,
        }
    }
    Ok(Outcome::Done)
}

/// Whether the sheet goes to stdout.
fn to_stdout(args: &LabelArgs) -> bool {
    args.out.as_deref().is_some_and(|out| out.as_os_str() == STDOUT)
}

/// A half-width typed in points.
fn half_width(points: f64) -> Result<HalfWidth, Failure> {
    HalfWidth::new(points / 100.0).map_err(|_| {
        Failure::Argument(format!(
            "--for is {points}; it is a number of percentage points from 0.01 to below 100 (5 asks for plus or minus 5 points)"
        ))
    })
}

/// An error if sets cannot be made of probabilities alone.
fn require_sets(calibration: &Calibration, args: &LabelArgs) -> Result<(), Failure> {
    if !(calibration.needs_features() || calibration.needs_ratios()) {
        return Ok(());
    }
    let path = args.calibration.as_deref().unwrap_or(Path::new(""));
    Err(Failure::Calibration {
        path: path.to_owned(),
        reason: "its sets take features or ratios of the points, and a sheet is made of probabilities; leave --calibration out"
            .into(),
    })
}

/// What was written.
struct Written {
    drawn: Drawn,
    /// Lines of the sheet.
    rows: u64,
    /// Lines that have a label.
    filled: u64,
}

fn write_sheet(
    args: &LabelArgs,
    (unlabeled, budget, out): (&[String], u64, &Path),
    known: &ClassNames,
    shown: Shown<'_>,
    seed: Seed,
) -> Result<Written, Failure> {
    if !matches!(SetFormat::of(out), Ok(SetFormat::Csv)) {
        return Err(Failure::Argument(format!(
            "--out {}: a sheet of rows to label is a .csv file; choose such a name",
            out.display()
        )));
    }
    if !to_stdout(args) {
        refuse_filled(args, out)?;
    }
    let old = args.resume.as_deref().map(LabelSheet::read).transpose()?;
    let sheet_name = args.resume.as_ref().map(|path| path.display().to_string());
    let mut target = args.reading.open(PointFiles::several(unlabeled), known)?;
    let unlabeled = &named_together(unlabeled);
    let names = args.reading.names(evenkeel_jobs::RowSource::columns(&target), known)?;
    // Started before the rows are read: a place that cannot be written to should not cost a pass.
    let file = match to_stdout(args) {
        true => None,
        false => Some(AtomicFile::create(out)?),
    };
    let taken = old.as_ref().map_or(&[][..], LabelSheet::rows);
    let taken = (sheet_name.as_deref().unwrap_or_default(), taken);
    let mut progress = Verbosity::of(args.common.show.quiet).progress();
    let drawn = label(&LabelJob { budget, taken, shown, seed }, &mut target, &mut progress)?;
    let ids = read_ids(args, unlabeled, &drawn)?;
    let id_names = ids.as_ref().map_or(&[][..], |ids| &ids.names);
    let columns = columns(id_names, shown)?;
    let mut sheet = match old {
        Some(old) => {
            require_same_rows(args, unlabeled, &old, &drawn, names.as_deref())?;
            // A sheet that is to say nothing of the model's answers says nothing of the earlier ones either.
            let shown_before: &[&str] = if args.blind { &[PREDICTED, SET] } else { &[] };
            old.without_columns(shown_before).with_columns(&columns)
        }
        None => LabelSheet::new(columns),
    };
    for row in &drawn.rows {
        let mut cells = shown_cells(row, names.as_deref());
        let own = ids.as_ref().and_then(|ids| ids.cells.get(&row.row));
        cells.extend(id_names.iter().map(String::as_str).zip(own.into_iter().flatten().cloned()));
        sheet.push(row.row, &cells);
    }
    match file {
        Some(file) => file.write_whole(sheet.to_csv())?,
        None => print(&sheet.to_csv())?,
    }
    Ok(Written { drawn, rows: sheet.rows().len() as u64, filled: sheet.filled() as u64 })
}

/// An error if a sheet of that name holds labels already: somebody's work would be gone.
fn refuse_filled(args: &LabelArgs, out: &Path) -> Result<(), Failure> {
    // What is no sheet holds no labels; whether it may be replaced is asked elsewhere.
    let filled = match LabelSheet::read(out) {
        Ok(sheet) if args.resume.is_none() => sheet.filled(),
        _ => 0,
    };
    if filled == 0 {
        return Ok(());
    }
    Err(Failure::Argument(format!(
        "--out {0}: this sheet holds {filled} labels, which would be lost; add rows to it with --resume {0} and another --out, or choose \
         another name",
        out.display()
    )))
}

/// An error if the model predicts another class for a row of the sheet than when the sheet was made: labels of one table would be
/// given to the rows of another.
fn require_same_rows(
    args: &LabelArgs,
    unlabeled: &str,
    sheet: &LabelSheet,
    drawn: &Drawn,
    names: Option<&[String]>,
) -> Result<(), Failure> {
    let class_of = |cell: &str| {
        let named = names.and_then(|names| names.iter().position(|name| name == cell));
        named.or_else(|| cell.parse().ok())
    };
    for (row, cell) in drawn.before.iter().zip(sheet.cells(PREDICTED)) {
        let (Some(before), Some(now)) = (class_of(cell), row.predicted) else { continue };
        if before != now {
            let path = args.resume.as_deref().unwrap_or(Path::new(""));
            let now = names.and_then(|names| names.get(now).cloned()).unwrap_or(now.to_string());
            return Err(Failure::Argument(format!(
                "--resume {}: row {} was predicted {cell} when the sheet was made, and in {unlabeled} it is predicted {now}; give the \
                 same rows in the same order, or start a new sheet",
                path.display(),
                row.row
            )));
        }
    }
    Ok(())
}

/// Columns of a new sheet: row, ids, label, and what the model says.
fn columns(ids: &[String], shown: Shown<'_>) -> Result<Vec<String>, Failure> {
    let own: &[&str] = match shown {
        Shown::Nothing => &[],
        Shown::Class => &[PREDICTED],
        Shown::Sets(..) => &[PREDICTED, SET],
    };
    let taken = |name: &&String| {
        let own = [ROW, LABEL, PREDICTED, SET];
        own.iter().any(|own| own.eq_ignore_ascii_case(name.trim()))
    };
    if let Some(name) = ids.iter().find(taken) {
        return Err(Failure::Argument(format!(
            "--ids has a column '{name}', which the sheet has itself; choose others with --id-cols"
        )));
    }
    let owned = |name: &str| name.to_owned();
    let mut columns = vec![owned(ROW)];
    columns.extend(ids.iter().cloned());
    columns.push(owned(LABEL));
    columns.extend(own.iter().copied().map(owned));
    Ok(columns)
}

/// The columns that are passed through, of the rows that were drawn.
fn read_ids(
    args: &LabelArgs,
    unlabeled: &str,
    drawn: &Drawn,
) -> Result<Option<IdColumns>, Failure> {
    let Some(path) = &args.ids else { return Ok(None) };
    let names: Option<Vec<String>> = args
        .id_cols
        .as_ref()
        .map(|names| names.split(',').map(|name| name.trim().to_owned()).collect());
    let rows: BTreeSet<u64> = drawn.rows.iter().map(|row| row.row).collect();
    let found = read_id_columns(path, names.as_deref(), &rows)?;
    if found.rows != drawn.m {
        return Err(Failure::Argument(format!(
            "--ids {} has {} lines below its header but {unlabeled} has {} rows; give one line for each",
            path.display(),
            found.rows,
            drawn.m
        )));
    }
    Ok(Some(found))
}

/// What the model says of a row, by names where classes have them.
fn shown_cells<'a>(row: &RowToLabel, names: Option<&[String]>) -> Vec<(&'a str, String)> {
    let name = |label: &usize| match names.and_then(|names| names.get(*label)) {
        Some(name) => name.clone(),
        None => label.to_string(),
    };
    let set = row.set.as_ref().map(|set| set.iter().map(name).collect::<Vec<_>>().join(";"));
    let predicted = row.predicted.as_ref().map(|class| (PREDICTED, name(class)));
    predicted.into_iter().chain(set.map(|set| (SET, set))).collect()
}

fn text(
    args: &LabelArgs,
    sheet: Option<&Written>,
    worth: Option<&LabelsWorth>,
    wanted: Option<&LabelsFor>,
    next: Option<String>,
) -> String {
    let mut said = Vec::new();
    if let Some((written, out)) = sheet.zip(args.out.as_ref()) {
        let drawn = written.drawn.rows.len();
        let kept = written.rows as usize - drawn;
        let kept = match kept {
            0 => String::new(),
            kept => format!(" below the {kept} of before, {} of them labeled", written.filled),
        };
        said.push(format!(
            "{drawn} of {} rows, drawn at random, are written to {}{kept}. Fill in the column label, as far as you get.",
            written.drawn.m,
            if to_stdout(args) { "stdout".to_owned() } else { out.display().to_string() },
        ));
    }
    said.extend(worth.iter().flat_map(|worth| sentences::label::worth(worth)));
    said.extend(wanted.map(sentences::label::wanted));
    said.extend(next);
    said.join("\n") + "\n"
}

/// What to do once labels are filled in.
fn next_command(args: &LabelArgs, calibration: Option<&Calibration>) -> Option<String> {
    let out = args.out.as_ref().filter(|_| !args.unlabeled.is_empty())?;
    let file = |path: &Path| quoted(&path.display().to_string());
    let unlabeled = option_words("--unlabeled", &args.unlabeled).join(" ");
    let delta = FailureProbability::FIVE_PERCENT;
    // What a check refuses is checked by its calibration data.
    let checkable = |found: &&Calibration| CheckJob::of_calibration(found, "", None, delta).is_ok();
    let reference = match (calibration.filter(checkable), &args.calibration) {
        (Some(_), Some(path)) => format!("--calibration {}", file(path)),
        _ => "--cal-probs FILE --cal-labels FILE".to_owned(),
    };
    let names = args
        .reading
        .class_names
        .as_ref()
        .map_or_else(String::new, |names| format!(" --class-names {}", file(names)));
    let sheet = if to_stdout(args) { "SHEET.csv".to_owned() } else { file(out) };
    Some(format!("Next: evenkeel check {reference} {unlabeled} --target-labels {sheet}{names}"))
}

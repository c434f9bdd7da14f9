//! `evenkeel monitor`: batches over time, without a server.

mod batch_files;
mod decide;
mod run;
mod show;
mod status;

use std::path::Path;

use evenkeel_monitor::{Instant, Keep, Model, ModelName, Monitor, MonitorError, NewModel};

use crate::args::{Deferred, Reading};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::files::{calibration_text, named_by};
use crate::monitor_args::{AddArgs, KeepWord, MonitorCommand, StoreArgs, WatchArgs};
use crate::output::{print, print_json};
use evenkeel_io::PointFiles;
use evenkeel_jobs::{RowSource, parse_calibration};

/// Runs a command on a store.
pub(crate) fn run(command: &MonitorCommand) -> Result<Outcome, Failure> {
    match command {
        MonitorCommand::Add(Deferred(args)) => add(args),
        MonitorCommand::Run(Deferred(args)) => run::run(args),
        MonitorCommand::Status(Deferred(args)) => status::run(args),
        MonitorCommand::Export(Deferred(args)) => status::export(args),
        MonitorCommand::Labels(Deferred(args)) => decide::labels(args),
        MonitorCommand::Propose(Deferred(args)) => decide::propose(args),
        MonitorCommand::Approve(Deferred(args)) => decide::approve(args),
        MonitorCommand::Reject(Deferred(args)) => decide::reject(args),
        MonitorCommand::Calibration(Deferred(args)) => decide::calibration(args),
        MonitorCommand::Backup(Deferred(args)) => status::backup(args),
    }
}

/// The moment of the run, or of `SOURCE_DATE_EPOCH` where results must come out the same on any day.
fn now() -> Instant {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    given.map_or_else(Instant::now, Instant::from_seconds)
}

/// The model that was named, or the only one.
fn the_model(monitor: &Monitor, store: &StoreArgs) -> Result<Model, Failure> {
    if let Some(name) = &store.model {
        return Ok(monitor.model(&ModelName::new(name)?)?);
    }
    let mut models = monitor.models()?;
    match models.len() {
        1 => Ok(models.remove(0)),
        0 => Err(MonitorError::NoSuchModel { name: String::new(), known: Vec::new() }.into()),
        _ => {
            let names: Vec<String> = models.iter().map(|model| model.name.to_string()).collect();
            Err(Failure::Argument(format!(
                "the store has {} models, {}; choose one with --model",
                names.len(),
                names.join(", ")
            )))
        }
    }
}

fn keep(word: KeepWord) -> Keep {
    match word {
        KeepWord::Nothing => Keep::Nothing,
        KeepWord::Sets => Keep::Sets,
        KeepWord::Rows => Keep::Rows,
    }
}

/// Adds a model with the calibration of a file.
fn add_model(
    monitor: &Monitor,
    (name, who): (&ModelName, &str),
    reference: &Path,
    watch: &WatchArgs,
    reading: &Reading,
) -> Result<Model, Failure> {
    let text = calibration_text(reference)?;
    let failed = |reason: String| Failure::Calibration { path: reference.to_owned(), reason };
    let calibration = parse_calibration(&text).map_err(|error| failed(error.to_string()))?;
    let baseline: Vec<String> = watch.baseline.iter().cloned().collect();
    let mut rows = match baseline.is_empty() {
        true => None,
        false => Some(reading.open(PointFiles::several(&baseline), &named_by(&calibration))?),
    };
    let new = NewModel {
        name: name.clone(),
        calibration: &text,
        delta: watch.delta,
        keep: keep(watch.keep),
        who,
        at: now(),
    };
    let rows = rows.as_mut().map(|rows| rows as &mut dyn RowSource);
    monitor.add_model(&new, rows).map_err(|error| match error {
        // A calibration that cannot be watched is told with its file, not with the name of the model.
        MonitorError::NotWatchable { why, .. } => failed(why.to_owned()),
        other => other.into(),
    })
}

/// Name of a model where none was typed.
const UNNAMED: &str = "model";

fn add(args: &AddArgs) -> Result<Outcome, Failure> {
    let name = ModelName::new(args.store.model.as_deref().unwrap_or(UNNAMED))?;
    // Before a store is made: a calibration that cannot be read must not leave an empty one.
    calibration_text(&args.reference)?;
    let monitor = Monitor::open_or_create(&args.store.file.store)?;
    let model =
        add_model(&monitor, (&name, &args.who.who), &args.reference, &args.watch, &args.reading)?;
    if args.show.json {
        print_json(&model)?;
    } else {
        print(&format!(
            "{} is watched: level {:.0} %, chance of any false alarm at most {} %.\n",
            model.name,
            100.0 * (1.0 - model.alpha),
            100.0 * model.delta
        ))?;
    }
    Ok(Outcome::Done)
}

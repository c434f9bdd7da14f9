//! `evenkeel monitor run`: checks what is new.

use evenkeel_io::{MatrixSource, PointFiles, TextRows};
use evenkeel_monitor::{BatchRecord, Model, ModelName, Monitor, NewBatch};
use serde::Serialize;

use super::batch_files::{BatchFile, batch_files};
use super::show::{batch_line, status_lines, tell_alarm, write_files};
use super::{UNNAMED, add_model, now, the_model};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::files::named_by;
use crate::monitor_args::{FailOn, RunArgs};
use crate::output::{print, print_json};
use crate::settings::on_threads;

/// What `monitor run` says.
#[derive(Debug, Serialize)]
struct RunDocument {
    /// The model.
    model: Model,
    /// Answers to the batches that were new: the fields of `check`, and those of `monitor-batch`.
    batches: Vec<serde_json::Value>,
    /// Files whose contents were known.
    known: u64,
    /// Where the model stands now.
    status: evenkeel_monitor::ModelStatus,
    /// Reasons to exit with 1.
    failed: Vec<String>,
}

pub(super) fn run(args: &RunArgs) -> Result<Outcome, Failure> {
    on_threads(args.show.threads, || run_on_pool(args))
}

fn run_on_pool(args: &RunArgs) -> Result<Outcome, Failure> {
    let files = batch_files(&args.batches)?;
    let (monitor, model) = opened(args)?;
    let reference = monitor.reference(&model)?;
    let columns = named_by(reference.calibration());
    let (mut answers, mut new, mut known) = (Vec::new(), Vec::new(), 0_u64);
    for file in &files {
        let key = file.key();
        if monitor.received_before(&model.name, &key, &file.content)?.is_some() {
            known += 1;
            continue;
        }
        let ids = args.id_col.as_deref().map(|column| ids_of(file, column)).transpose()?;
        let argument = [file.argument.clone()];
        let files = PointFiles::several(&argument);
        let mut rows = args.reading.open_beside(files, &columns, args.id_col.as_slice())?;
        let batch = NewBatch { ids: ids.as_deref(), ..batch_of(file, &key, &mut rows) };
        let received = monitor.receive(&model.name, batch)?;
        // As each is stored: a run that is interrupted has said what it has done.
        if !args.show.json {
            print(&batch_line(&received.record))?;
        }
        received.record.alarms.iter().for_each(|alarm| tell_alarm(alarm, received.record.batch));
        if args.show.json {
            answers.push(received.json());
        }
        new.push(received.record);
    }
    finish(args, &monitor, &model.name, (answers, &new, known))
}

fn batch_of<'a>(
    file: &'a BatchFile,
    key: &'a str,
    rows: &'a mut evenkeel_io::FileSource,
) -> NewBatch<'a> {
    let (content, name, time) = (file.content, file.name.as_str(), file.time);
    NewBatch { key, content, name, time, received: now(), ids: None, rows }
}

/// What the rows of a file are called.
fn ids_of(file: &BatchFile, column: &str) -> Result<Vec<String>, Failure> {
    let source = MatrixSource::parse(&file.argument)?;
    let mut cells = TextRows::open(&source, Some(&[column.to_owned()]))?;
    let rows = cells.next_rows(usize::MAX)?;
    Ok(rows.into_iter().filter_map(|mut row| row.pop()).collect())
}

/// The store and the model, added where it is new.
fn opened(args: &RunArgs) -> Result<(Monitor, Model), Failure> {
    let Some(path) = &args.reference else {
        let monitor = Monitor::open(&args.store.file.store)?;
        let model = the_model(&monitor, &args.store)?;
        return Ok((monitor, model));
    };
    // Before a store is made: a calibration that cannot be read must not leave an empty one.
    crate::files::calibration_text(path)?;
    let monitor = Monitor::open_or_create(&args.store.file.store)?;
    let name = match (&args.store.model, &monitor.models()?[..]) {
        (Some(name), _) => ModelName::new(name)?,
        (None, [only]) => only.name.clone(),
        (None, _) => ModelName::new(UNNAMED)?,
    };
    let model = add_model(&monitor, (&name, "command line"), path, &args.watch, &args.reading)?;
    Ok((monitor, model))
}

fn finish(
    args: &RunArgs,
    monitor: &Monitor,
    name: &ModelName,
    (batches, new, known): (Vec<serde_json::Value>, &[BatchRecord], u64),
) -> Result<Outcome, Failure> {
    let model = monitor.model(name)?;
    let status = monitor.status(name)?;
    write_files(
        monitor,
        &model,
        &args.store,
        (args.written.prometheus.as_deref(), args.written.html.as_deref()),
    )?;
    let alarms: Vec<_> = match args.fail_on {
        FailOn::New => new.iter().flat_map(|batch| &batch.alarms).collect(),
        FailOn::Standing => status.alarms.iter().collect(),
    };
    let failed: Vec<String> = alarms.iter().map(|alarm| alarm.reason.clone()).collect();
    let outcome = if failed.is_empty() { Outcome::Done } else { Outcome::ConditionHolds };
    if args.show.json {
        print_json(&RunDocument { model, batches, known, status, failed })?;
    } else {
        let counted = format!("{} new batches, {known} known\n", new.len());
        print(&format!("{counted}{}", status_lines(&status, &args.store)))?;
    }
    Ok(outcome)
}

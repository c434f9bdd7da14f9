//! `evenkeel monitor status`, `export` and `backup`.

use std::path::PathBuf;

use evenkeel_io::write::{csv, write_table};
use evenkeel_monitor::{
    AuditEntry, AuditQuery, BatchQuery, Instant, Model, ModelStatus, Monitor, export,
};
use serde::Serialize;

use super::show::{status_lines, write_files};
use super::the_model;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::monitor_args::{BackupArgs, ExportArgs, StatusArgs};
use crate::output::{print, print_json};
use crate::progress::Verbosity;

/// Where the models stand.
#[derive(Debug, Serialize)]
struct StatusDocument<'a> {
    /// Each of them, by name.
    models: &'a [ModelStatus],
}

/// As many lines as a store can number.
const ALL_LINES: u64 = i64::MAX.unsigned_abs();

/// What `monitor export` wrote.
#[derive(Debug, Serialize)]
struct ExportDocument<'a> {
    /// Number of batches; null where it is the audit log.
    batches: Option<u64>,
    /// Number of lines of the audit log; null where it is not.
    audit_lines: Option<u64>,
    /// The file.
    out: &'a PathBuf,
}

/// What `monitor backup` wrote.
#[derive(Debug, Serialize)]
struct BackupDocument<'a> {
    /// The copy.
    out: &'a PathBuf,
}

pub(super) fn run(args: &StatusArgs) -> Result<Outcome, Failure> {
    let monitor = Monitor::open(&args.store.file.store)?;
    if args.verify {
        monitor.store().verify()?;
    }
    let models = match args.store.model {
        Some(_) => vec![the_model(&monitor, &args.store)?],
        None => monitor.models()?,
    };
    let mut all = Vec::new();
    for model in &models {
        all.push(monitor.status(&model.name)?);
    }
    if args.written.html.is_some() || args.written.prometheus.is_some() {
        let files = (args.written.prometheus.as_deref(), args.written.html.as_deref());
        match (&models[..], args.written.html.is_some()) {
            ([model], _) | ([model, ..], false) => {
                write_files(&monitor, model, &args.store, files)?;
            }
            _ => {
                return Err(Failure::Argument(
                    "--html is the page of one model; choose it with --model".into(),
                ));
            }
        }
    }
    if args.show.json {
        print_json(&StatusDocument { models: &all })?;
    } else if all.is_empty() {
        print("The store has no models yet; add one with `evenkeel monitor add`.\n")?;
    } else {
        print(
            &all.iter()
                .map(|status| status_lines(status, &args.store))
                .collect::<Vec<_>>()
                .join("\n"),
        )?;
    }
    let standing = all.iter().any(|status| !status.alarms.is_empty());
    Ok(if args.fail_on_alarm && standing { Outcome::ConditionHolds } else { Outcome::Done })
}

pub(super) fn export(args: &ExportArgs) -> Result<Outcome, Failure> {
    if args.out.as_os_str() == "-" && args.show.json {
        return Err(Failure::Argument(
            "--out - puts the table on stdout, where --json has a document; leave one of them out"
                .into(),
        ));
    }
    let monitor = Monitor::open(&args.store.file.store)?;
    let moment = |text: &Option<String>| text.as_deref().map(Instant::parse).transpose();
    let query =
        BatchQuery { from: moment(&args.from)?, to: moment(&args.to)?, ..BatchQuery::default() };
    let models = match args.store.model {
        Some(_) => vec![the_model(&monitor, &args.store)?],
        None => monitor.models()?,
    };
    let (table, count) = match args.audit {
        true => {
            let lines = audit_lines(&monitor, &models, args, &query)?;
            (export::audit_table(&lines), lines.len() as u64)
        }
        false => {
            let mut batches = Vec::new();
            for model in &models {
                batches.extend(monitor.history(&model.name, &query)?);
            }
            (export::table(&batches), batches.len() as u64)
        }
    };
    if args.out.as_os_str() == "-" {
        print(&csv(&table))?;
        return Ok(Outcome::Done);
    }
    write_table(&args.out, &table)?;
    let out = &args.out;
    let (batches, audit_lines) = if args.audit { (None, Some(count)) } else { (Some(count), None) };
    let what = if args.audit { "lines of the audit log" } else { "batches" };
    match args.show.json {
        true => print_json(&ExportDocument { batches, audit_lines, out })?,
        false => Verbosity::of(args.show.quiet)
            .note(&format!("wrote {count} {what} to {}", out.display())),
    }
    Ok(Outcome::Done)
}

/// The audit log in the order in which things were done: of the model that was chosen, or all of it.
fn audit_lines(
    monitor: &Monitor,
    models: &[Model],
    args: &ExportArgs,
    query: &BatchQuery,
) -> Result<Vec<AuditEntry>, Failure> {
    let model = models.first().map(|model| &model.name).filter(|_| args.store.model.is_some());
    let mut lines = monitor.audit(&AuditQuery { model, before: None, limit: ALL_LINES })?;
    let is_within =
        |at: Instant| query.from.is_none_or(|from| at >= from) && query.to.is_none_or(|to| at < to);
    lines.retain(|line| is_within(line.at));
    lines.reverse();
    Ok(lines)
}

pub(super) fn backup(args: &BackupArgs) -> Result<Outcome, Failure> {
    let monitor = Monitor::open(&args.store.store)?;
    monitor.backup(&args.out)?;
    let out = &args.out;
    match args.show.json {
        true => print_json(&BackupDocument { out })?,
        false => Verbosity::of(args.show.quiet).note(&format!("wrote {}", out.display())),
    }
    Ok(Outcome::Done)
}

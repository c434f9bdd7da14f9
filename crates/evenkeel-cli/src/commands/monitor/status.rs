//! `evenkeel monitor status`, `export` and `backup`.

use evenkeel_io::write::{csv, write_table};
use evenkeel_monitor::{BatchQuery, Instant, Monitor, export};

use super::show::{status_lines, write_files};
use super::the_model;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::monitor_args::{BackupArgs, ExportArgs, StatusArgs};
use crate::output::{print, print_json};

pub(super) fn run(args: &StatusArgs) -> Result<Outcome, Failure> {
    let monitor = Monitor::open(&args.store.store)?;
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
    if args.html.is_some() || args.prometheus.is_some() {
        let files = (args.prometheus.as_deref(), args.html.as_deref());
        match (&models[..], args.html.is_some()) {
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
        print_json(&serde_json::json!({ "models": all }))?;
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
    let monitor = Monitor::open(&args.store.store)?;
    let moment = |text: &Option<String>| text.as_deref().map(Instant::parse).transpose();
    let query =
        BatchQuery { from: moment(&args.from)?, to: moment(&args.to)?, ..BatchQuery::default() };
    let models = match args.store.model {
        Some(_) => vec![the_model(&monitor, &args.store)?],
        None => monitor.models()?,
    };
    let mut batches = Vec::new();
    for model in &models {
        batches.extend(monitor.history(&model.name, &query)?);
    }
    let table = export::table(&batches);
    if args.out.as_os_str() == "-" {
        print(&csv(&table))?;
        return Ok(Outcome::Done);
    }
    write_table(&args.out, &table)?;
    if args.show.json {
        print_json(&serde_json::json!({ "batches": batches.len(), "out": args.out }))?;
    } else if !args.show.quiet {
        eprintln!("wrote {} batches to {}", batches.len(), args.out.display());
    }
    Ok(Outcome::Done)
}

pub(super) fn backup(args: &BackupArgs) -> Result<Outcome, Failure> {
    let monitor = Monitor::open(&args.store)?;
    monitor.backup(&args.out)?;
    if args.show.json {
        print_json(&serde_json::json!({ "out": args.out }))?;
    } else if !args.show.quiet {
        eprintln!("wrote {}", args.out.display());
    }
    Ok(Outcome::Done)
}

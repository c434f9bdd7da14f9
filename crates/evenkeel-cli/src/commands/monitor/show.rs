//! What people see of batches and models.

use std::io::Write as _;
use std::path::Path;

use evenkeel_io::AtomicFile;
use evenkeel_monitor::{
    AlarmRecord, BatchRecord, Model, ModelStatus, Monitor, Proposal, advice, prometheus, trend,
};

use super::now;
use crate::failure::Failure;
use crate::monitor_args::StoreArgs;
use crate::output::in_one_line;
use crate::page::quoted;

/// One line for a batch.
pub(super) fn batch_line(record: &BatchRecord) -> String {
    let summary = &record.summary;
    let measured = record.measured.map_or_else(String::new, |found| {
        format!(", {:.0} % of {} labels", 100.0 * found.value, found.k)
    });
    let alarms: String = record
        .alarms
        .iter()
        .map(|alarm| format!("  ALARM ({})", alarm.severity.as_str()))
        .collect();
    format!(
        "{:>4}  {}  {:<24} {:>7} rows  coverage about {:>3.0} % ({:.0}-{:.0}){measured}  {:<7} evidence {:>3.0} %{alarms}\n",
        record.batch,
        record.time.date(),
        record.name,
        record.rows,
        100.0 * summary.estimate,
        100.0 * summary.low,
        100.0 * summary.high,
        summary.verdict.as_str(),
        100.0 * record.stream.evidence().min(9.99),
    )
}

/// Tells of an alarm on stderr: whoever is woken by an exit code should know why.
pub(super) fn tell_alarm(alarm: &AlarmRecord, batch: u64) {
    let (model, severity, reason) = (&alarm.model, alarm.severity.as_str(), &alarm.reason);
    // Not `eprintln!`, which panics when stderr is gone; the code still tells.
    let _ = writeln!(std::io::stderr(), "alarm: {model} batch {batch}, {severity}: {reason}");
}

/// A model in a few lines.
pub(super) fn status_lines(status: &ModelStatus, store: &StoreArgs) -> String {
    let Model { name, version, batches, .. } = &status.model;
    let Some(last) = &status.last else {
        return format!("{name}: version {version}, no batch has arrived yet.\n");
    };
    let summary = &last.summary;
    let known = match status.light {
        Some(light) => format!("{}. Coverage now", light.as_str()),
        // What is known of coverage is known of another threshold.
        None => format!("version {version} has had no batch yet. Coverage before it"),
    };
    let mut said = format!(
        "{name}: {known} about {:.0} % ({:.0}-{:.0}), level {:.0} %; batch {} of {}.\n",
        100.0 * summary.estimate,
        100.0 * summary.low,
        100.0 * summary.high,
        100.0 * summary.level,
        last.batch,
        last.time.date(),
    );
    said += &format!(
        "  calibration version {version}, watched since {} over {} of {batches} batches\n",
        status.since.date(),
        status.batches_since
    );
    for alarm in status.alarms.iter().rev() {
        let batch = alarm.batch.map_or_else(String::new, |batch| format!(" batch {batch},"));
        said += &format!("  alarm{batch} {}: {}\n", alarm.severity.as_str(), alarm.reason);
    }
    if let Some(found) = &status.labels {
        said += &format!(
            "  labels since then: {}, e-value {:.2}\n",
            found.words(),
            found.alarm.e_value(),
        );
    }
    let advice = advice(status);
    if !advice.is_empty() {
        said += &format!("  {advice}\n");
    }
    if let Some(proposal) = &status.proposal {
        said.extend(
            proposal
                .warnings
                .iter()
                .map(|warning| format!("  warning: {}\n", in_one_line(warning))),
        );
        for command in commands(proposal, store) {
            said += &format!("\n    {command}");
        }
        said += "\n";
    }
    said
}

/// What to type for a decision.
pub(super) fn commands(proposal: &Proposal, store: &StoreArgs) -> Vec<String> {
    let path = quoted(&store.file.store.to_string_lossy());
    ["approve", "reject"]
        .map(|word| {
            format!(
                "evenkeel monitor {word} --store {path} --model {} --proposal {} --who NAME --why REASON",
                proposal.model, proposal.proposal
            )
        })
        .to_vec()
}

/// Writes the files that were asked for; each appears whole or not at all.
pub(super) fn write_files(
    monitor: &Monitor,
    model: &Model,
    store: &StoreArgs,
    (text, html): (Option<&Path>, Option<&Path>),
) -> Result<(), Failure> {
    if let Some(path) = text {
        AtomicFile::create(path)?.write_whole(prometheus::prometheus(monitor)?)?;
    }
    if let Some(path) = html {
        let found = trend(monitor, &model.name, now(), &|proposal| commands(proposal, store))?;
        AtomicFile::create(path)?.write_whole(evenkeel_report::trend::render_trend(&found))?;
    }
    Ok(())
}

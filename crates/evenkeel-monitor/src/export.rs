//! The history as a table, one row a batch, and the audit log, one row a line.

use evenkeel_io::write::Cells;

use crate::batch::BatchRecord;
use crate::store::AuditEntry;

/// Named columns of lines of the audit log, in the order given.
pub fn audit_table(lines: &[AuditEntry]) -> Vec<(&'static str, Cells)> {
    let text = |of: &dyn Fn(&AuditEntry) -> String| Cells::Text(lines.iter().map(of).collect());
    let numbers = lines.iter().map(|line| i64::try_from(line.id).unwrap_or(i64::MAX));
    vec![
        ("line", Cells::Whole(numbers.collect())),
        ("time", text(&|line| line.at.to_string())),
        ("who", text(&|line| line.who.clone())),
        ("what", text(&|line| line.what.clone())),
        ("model", text(&|line| line.model.clone().unwrap_or_default())),
        ("details", text(&|line| line.details.clone())),
    ]
}

/// Named columns of the batches, in the order of their arrival.
pub fn table(batches: &[BatchRecord]) -> Vec<(&'static str, Cells)> {
    let text = |of: &dyn Fn(&BatchRecord) -> String| Cells::Text(batches.iter().map(of).collect());
    let whole = |of: &dyn Fn(&BatchRecord) -> u64| {
        Cells::Whole(
            batches.iter().map(|batch| i64::try_from(of(batch)).unwrap_or(i64::MAX)).collect(),
        )
    };
    let number =
        |of: &dyn Fn(&BatchRecord) -> Option<f64>| Cells::Number(batches.iter().map(of).collect());
    vec![
        ("model", text(&|batch| batch.model.clone())),
        ("batch", whole(&|batch| batch.batch)),
        ("name", text(&|batch| batch.name.clone())),
        ("time", text(&|batch| batch.time.to_string())),
        ("received", text(&|batch| batch.received.to_string())),
        ("rows", whole(&|batch| batch.rows)),
        ("version", whole(&|batch| batch.version)),
        ("watch", whole(&|batch| batch.watch)),
        ("level", number(&|batch| Some(batch.summary.level))),
        ("threshold", number(&|batch| batch.summary.threshold)),
        ("coverage_estimate", number(&|batch| Some(batch.summary.estimate))),
        ("coverage_low", number(&|batch| Some(batch.summary.low))),
        ("coverage_high", number(&|batch| Some(batch.summary.high))),
        ("verdict", text(&|batch| batch.summary.verdict.as_str().to_owned())),
        ("loss_points", number(&|batch| Some(batch.summary.loss))),
        ("light", text(&|batch| batch.summary.light().as_str().to_owned())),
        ("p_value_of_batch", number(&|batch| Some(batch.summary.p_value))),
        ("confidence_distance", number(&|batch| Some(batch.summary.confidence_distance))),
        ("class_distance", number(&|batch| Some(batch.summary.class_distance))),
        ("mean_size", number(&|batch| Some(batch.summary.mean_size))),
        ("alarm_evidence", number(&|batch| Some(batch.stream.evidence()))),
        ("labels", whole(&|batch| batch.measured.map_or(0, |found| found.k))),
        ("coverage_measured", number(&|batch| batch.measured.map(|found| found.value))),
        ("coverage_measured_low", number(&|batch| batch.measured.map(|found| found.low))),
        ("coverage_measured_high", number(&|batch| batch.measured.map(|found| found.high))),
        (
            "alarms",
            text(&|batch| {
                let rules: Vec<&str> =
                    batch.alarms.iter().map(|alarm| alarm.rule.as_str()).collect();
                rules.join(" ")
            }),
        ),
        ("key", text(&|batch| batch.key.clone())),
    ]
}

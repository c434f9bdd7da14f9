//! The state as text for a collector: version 0.0.4 of the exposition format.

use std::fmt::Write;

use crate::alarm::AlarmRule;
use crate::batch::BatchRecord;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::status::ModelStatus;

/// A family of numbers: name, kind, help, and for each model labels and value.
struct Family {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    samples: Vec<(String, f64)>,
}

/// All models of a store.
///
/// # Errors
/// If the store cannot be read.
pub fn prometheus(monitor: &Monitor) -> Result<String> {
    let mut all = Vec::new();
    for model in monitor.models()? {
        all.push(monitor.status(&model.name)?);
    }
    Ok(text(&all))
}

/// These models.
pub fn text(all: &[ModelStatus]) -> String {
    let mut out = String::new();
    for family in families(all) {
        if family.samples.is_empty() {
            continue;
        }
        // Writing to a String cannot fail.
        let _ = writeln!(out, "# HELP {} {}", family.name, family.help);
        let _ = writeln!(out, "# TYPE {} {}", family.name, family.kind);
        for (labels, value) in family.samples {
            let _ = writeln!(out, "{}{{{labels}}} {}", family.name, number(value));
        }
    }
    out
}

/// A number as the format has it.
fn number(value: f64) -> String {
    match value {
        value if value.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        value => value.to_string(),
    }
}

fn families(all: &[ModelStatus]) -> Vec<Family> {
    let of = |name: &'static str,
              kind: &'static str,
              help: &'static str,
              value: &dyn Fn(&ModelStatus) -> Option<f64>| {
        let sample = |status: &ModelStatus| Some((model(status), value(status)?));
        Family { name, kind, help, samples: all.iter().filter_map(sample).collect() }
    };
    let labels = |status: &ModelStatus| status.labels;
    vec![
        of("evenkeel_batches_total", "counter", "Batches received.", &|status| {
            Some(status.model.batches as f64)
        }),
        of("evenkeel_rows_total", "counter", "Rows received.", &|status| {
            Some(status.model.rows as f64)
        }),
        of(
            "evenkeel_calibration_version",
            "gauge",
            "Version of the calibration in use.",
            &|status| Some(status.model.version as f64),
        ),
        of("evenkeel_coverage_level", "gauge", "Coverage asked for.", &|status| {
            Some(1.0 - status.model.alpha)
        }),
        of(
            "evenkeel_coverage_estimate",
            "gauge",
            "Coverage of the last batch, estimated without labels.",
            &last(|batch| batch.summary.estimate),
        ),
        ends(all, "evenkeel_coverage_lower", "Lowest coverage of the range.", Side::Low),
        ends(all, "evenkeel_coverage_upper", "Highest coverage of the range.", Side::High),
        of(
            "evenkeel_coverage_loss_points",
            "gauge",
            "Coverage lost by the last batch, in percentage points.",
            &last(|batch| batch.summary.loss),
        ),
        of(
            "evenkeel_light",
            "gauge",
            "0 green, 1 amber, 2 red, by the estimated loss; absent until the calibration in use has had a batch.",
            &|status| status.light.map(|light| f64::from(light as u8)),
        ),
        of(
            "evenkeel_shift_p_value",
            "gauge",
            "p-value of the last batch alone; it does not add up over batches.",
            &last(|batch| batch.summary.p_value),
        ),
        of(
            "evenkeel_alarm_evidence",
            "gauge",
            "Evidence of a change as a share of what sets off the alarm.",
            &last(|batch| batch.stream.evidence()),
        ),
        of(
            "evenkeel_set_size_mean",
            "gauge",
            "Mean number of labels in the sets of the last batch.",
            &last(|batch| batch.summary.mean_size),
        ),
        of(
            "evenkeel_coverage_measured",
            "gauge",
            "Coverage counted on labels since the last decision.",
            &|status| labels(status).map(|found| found.mean.value),
        ),
        of(
            "evenkeel_labels_total",
            "counter",
            "Labels counted since the last decision.",
            &|status| Some(labels(status).map_or(0.0, |found| found.alarm.labels as f64)),
        ),
        of(
            "evenkeel_e_value",
            "gauge",
            "Evidence by labels against coverage at the level.",
            &|status| labels(status).map(|found| found.alarm.e_value()),
        ),
        alarms(all),
        of("evenkeel_proposals_open", "gauge", "Proposals that wait for a decision.", &|status| {
            Some(f64::from(u8::from(status.proposal.is_some())))
        }),
        of(
            "evenkeel_last_batch_timestamp_seconds",
            "gauge",
            "When the last batch was received.",
            &last(|batch| batch.received.seconds() as f64),
        ),
    ]
}

/// A number of the last batch.
fn last(value: fn(&BatchRecord) -> f64) -> impl Fn(&ModelStatus) -> Option<f64> {
    move |status| status.last.as_ref().map(value)
}

#[derive(Clone, Copy)]
enum Side {
    Low,
    High,
}

/// One end of the range of the estimate, and of what labels show.
fn ends(all: &[ModelStatus], name: &'static str, help: &'static str, side: Side) -> Family {
    let mut samples = Vec::new();
    for status in all {
        let model = model(status);
        if let Some(last) = &status.last {
            let value = match side {
                Side::Low => last.summary.low,
                Side::High => last.summary.high,
            };
            samples.push((format!("{model},kind=\"estimate\""), value));
        }
        if let Some(found) = &status.labels {
            let value = match side {
                Side::Low => found.mean.low,
                Side::High => found.mean.high,
            };
            samples.push((format!("{model},kind=\"measured\""), value));
        }
    }
    Family { name, kind: "gauge", help, samples }
}

/// 1 for every rule whose alarm waits for a decision.
fn alarms(all: &[ModelStatus]) -> Family {
    let one = |status: &ModelStatus| {
        let (model, standing) = (model(status), status.alarms.clone());
        AlarmRule::ALL.map(|rule| {
            let on = standing.iter().any(|alarm| alarm.rule == rule);
            (format!("{model},rule=\"{}\"", rule.as_str()), f64::from(u8::from(on)))
        })
    };
    Family {
        name: "evenkeel_alarm",
        kind: "gauge",
        help: "1 while an alarm waits for a decision.",
        samples: all.iter().flat_map(one).collect(),
    }
}

/// Names of models need no escapes: they are letters, digits, dots, dashes and underscores.
fn model(status: &ModelStatus) -> String {
    format!("model=\"{}\"", status.model.name)
}

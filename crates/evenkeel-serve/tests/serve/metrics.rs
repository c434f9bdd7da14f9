//! `/metrics` keeps to the grammar of the text format.

use std::collections::{BTreeMap, BTreeSet};

use crate::proposals::alarmed;

/// The rules of the text format, version 0.0.4: names, labels, values, HELP and TYPE once and before their samples,
/// samples of a family together, histograms with rising buckets that end at `+Inf`.
fn check(text: &str) -> BTreeMap<String, f64> {
    let is_name = |name: &str| {
        let first = name
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_' || byte == b':');
        first
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':')
    };
    assert!(text.ends_with('\n'), "the last line does not end");
    let (mut families, mut kind, mut current) = (BTreeSet::new(), String::new(), String::new());
    let mut samples = BTreeMap::new();
    let mut bucket: Option<f64> = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect(line);
            assert!(
                is_name(name) && !help.is_empty() && families.insert(name.to_owned()),
                "{line}"
            );
            current = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, found) = rest.split_once(' ').expect(line);
            assert!(
                name == current && ["counter", "gauge", "histogram"].contains(&found),
                "{line}"
            );
            assert!(found != "counter" || name.ends_with("_total"), "{line}");
            kind = found.to_owned();
            bucket = None;
        } else {
            let (series, value) = line.rsplit_once(' ').expect(line);
            let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
            let (name, labels) = match series.split_once('{') {
                Some((name, labels)) => (name, labels.strip_suffix('}').expect(line)),
                None => (series, ""),
            };
            for label in labels.split(',').filter(|label| !label.is_empty()) {
                let (label, quoted) = label.split_once('=').expect(line);
                assert!(
                    is_name(label)
                        && quoted.len() >= 2
                        && quoted.starts_with('"')
                        && quoted.ends_with('"'),
                    "{line}"
                );
            }
            let family = match kind.as_str() {
                "histogram" => ["_bucket", "_sum", "_count"]
                    .iter()
                    .find_map(|end| name.strip_suffix(end))
                    .expect(line),
                _ => name,
            };
            assert!(is_name(name) && family == current, "{line} is outside its family {current}");
            if kind == "histogram" && name.ends_with("_bucket") {
                assert!(bucket.is_none_or(|before| before <= value), "{line} falls");
                bucket = Some(value);
            }
            assert!(samples.insert(series.to_owned(), value).is_none(), "{series} stands twice");
        }
    }
    samples
}

#[test]
fn metrics_keep_to_the_grammar_and_say_what_is() {
    let (world, _) = alarmed();
    world.caller.put_model("shoes").expect(201);
    let answer = world.caller.get("/metrics").expect(200);
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let samples = check(&answer.text());
    let value = |series: &str| {
        *samples.get(series).unwrap_or_else(|| panic!("{series}: {}", answer.text()))
    };
    assert_eq!(value("evenkeel_batches_total{model=\"garments\"}"), 3.0);
    assert_eq!(value("evenkeel_rows_total{model=\"garments\"}"), 3000.0);
    assert_eq!(value("evenkeel_batches_total{model=\"shoes\"}"), 0.0);
    assert!(value("evenkeel_last_batch_timestamp_seconds{model=\"garments\"}") > 1_700_000_000.0);
    assert_eq!(value("evenkeel_proposals_open{model=\"garments\"}"), 1.0);
    assert_eq!(value("evenkeel_check_seconds_count"), 3.0);
    let alarms: f64 = samples
        .iter()
        .filter(|(series, _)| series.starts_with("evenkeel_alarm{model=\"garments\""))
        .map(|(_, value)| value)
        .sum();
    assert!(alarms >= 1.0);
    let (low, high) = ("evenkeel_coverage_lower", "evenkeel_coverage_upper");
    let range = "{model=\"garments\",kind=\"estimate\"}";
    assert!(value(&format!("{low}{range}")) <= value(&format!("{high}{range}")));
    for series in ["evenkeel_queue_depth", "evenkeel_webhook_failures_total"] {
        assert_eq!(value(series), 0.0);
    }
}

/// The metric says what the page says: nothing, until the approved calibration has had a batch.
#[test]
fn the_light_goes_out_with_an_approval() {
    let (world, proposal) = alarmed();
    let light = "evenkeel_light{model=\"garments\"}";
    let samples = || check(&world.caller.get("/metrics").expect(200).text());
    assert_eq!(samples().get(light), Some(&2.0));
    let path = format!("/v1/models/garments/proposals/{}/approve", proposal["proposal"]);
    world.caller.post_json(&path, &serde_json::json!({"who": "Ada", "why": "fog"})).expect(200);
    assert_eq!(samples().get(light), None);
    assert!(world.caller.get("/").expect(200).text().contains("no batch since the approval"));
    let batch = crate::world::npy("motion_blur_5_unlabeled.npy", 0..300);
    world.caller.post_batch("garments", "after", &batch).expect(200);
    assert!(samples().contains_key(light));
}

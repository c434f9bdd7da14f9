//! What labels certify, against `few_labels.json`.

use evenkeel::certify::{
    CoverageAlarm, CoverageSequence, Covered, CoveredLabels, clopper_pearson, same_labels_level,
    tolerance_rank,
};
use evenkeel::level::{FailureProbability, Miscoverage};
use serde_json::Value;

use crate::case::{number, numbers, read};

const TOLERANCE: f64 = 1e-9;

fn certificates() -> Value {
    read("few_labels")["certificates"].clone()
}

fn failure(d: f64) -> FailureProbability {
    FailureProbability::new(d).unwrap()
}

#[test]
fn clopper_pearson_intervals() {
    let json = certificates();
    let rows = json["clopper_pearson"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    for row in rows {
        let row = numbers(row);
        let counted = CoveredLabels::new(row[0] as u64, row[1] as u64).unwrap();
        let found = clopper_pearson(counted, failure(row[2]));
        assert!((found.low - row[3]).abs() < TOLERANCE, "{row:?}: {found:?}");
        assert!((found.high - row[4]).abs() < TOLERANCE, "{row:?}: {found:?}");
    }
}

#[test]
fn tolerance_ranks() {
    let json = certificates();
    for row in json["tolerance_rank"].as_array().unwrap() {
        let labels = row[0].as_u64().unwrap();
        let alpha = Miscoverage::new(number(&row[1])).unwrap();
        let found = tolerance_rank(labels, alpha, failure(number(&row[2])));
        assert_eq!(found, row[3].as_u64(), "{row}");
    }
}

#[test]
fn the_alarm_after_every_label() {
    let json = certificates();
    let mut alarm = CoverageAlarm::new(Miscoverage::new(0.1).unwrap(), failure(0.05));
    let expected = numbers(&json["alarm_log_e"]);
    let misses = numbers(&json["misses"]);
    assert_eq!(misses.len(), 120);
    for (missed, expected) in misses.iter().zip(&expected) {
        let found = alarm.update(Covered::from(*missed == 0.0));
        assert!((found.ln_e_value - expected).abs() < TOLERANCE, "{found:?} {expected}");
    }
    assert_eq!(alarm.state().fired_at, json["alarm_at"].as_u64());
}

#[test]
fn the_coverage_sequence() {
    let json = certificates();
    let expected = json["coverage_sequence"].as_array().unwrap();
    let mut sequence = CoverageSequence::new(failure(0.05));
    let mut compared = 0;
    for missed in numbers(&json["misses"]) {
        let found = sequence.update(Covered::from(missed == 0.0));
        for row in expected.iter().map(numbers).filter(|row| row[0] as u64 == found.labels) {
            assert!((found.low - row[1]).abs() < TOLERANCE, "{row:?}: {found:?}");
            assert!((found.high - row[2]).abs() < TOLERANCE, "{row:?}: {found:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, expected.len());
}

#[test]
fn same_labels_levels() {
    let json = certificates();
    let tolerance = number(&json["same_labels_level_tolerance"]);
    for row in json["same_labels_level"].as_array().unwrap() {
        let row = numbers(row);
        let found = same_labels_level(row[0] as u64, failure(row[1]));
        assert!((found - row[2]).abs() < tolerance, "{row:?}: {found}");
    }
}

//! Warnings come when their rule says, and carry what to do.

use crate::world::sample;
use crate::{alpha, collapsed, plan, with_class_shares};
use evenkeel::method::label_plan::PlanEvidence;
use evenkeel::warning::Warning;

fn names(found: &[Warning]) -> Vec<&'static str> {
    found.iter().map(Warning::name).collect()
}

#[test]
fn classes_of_other_frequencies_are_suspected() {
    let labeled = sample(300, 1.0, 1);
    let shares = [1.0, 1.0, 1.0, 0.5, 0.5, 0.3, 0.2, 0.1, 0.05, 0.05];
    let target = with_class_shares(&sample(1200, 1.0, 2), &shares, 300);
    assert!(target.labels.len() == 300);
    let found = plan(&labeled, &target).warnings(alpha(0.1));
    assert_eq!(names(&found), ["label-shift-suspected"], "{found:?}");
    assert!(found[0].to_string().contains("label-shift method"));
}

#[test]
fn a_quiet_day_rarely_warns() {
    let warned = (0..100)
        .filter(|day| {
            let (labeled, target) = (sample(300, 1.0, 100 + day), sample(300, 1.0, 900 + day));
            !plan(&labeled, &target).warnings(alpha(0.1)).is_empty()
        })
        .count();
    assert!(warned <= 10, "{warned} of 100");
}

/// Sharper than the calibration data: confidence that rose is no evidence of being right.
#[test]
fn a_model_that_grew_more_confident_is_warned_about() {
    let labeled = sample(300, 1.0, 1);
    let mut target = sample(300, 1.0, 2);
    for row in target.probabilities.chunks_exact_mut(crate::CLASSES) {
        row.iter_mut().for_each(|p| *p = p.powf(2.5));
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|p| *p /= total);
    }
    let found = plan(&labeled, &target).warnings(alpha(0.1));
    assert!(names(&found).contains(&"confident-but-shifted"), "{found:?}");
}

#[test]
fn evidence_and_warnings_round_trip() {
    let (labeled, target) = (sample(200, 1.0, 1), collapsed(&sample(60, 0.6, 2), 2.0));
    let plan = plan(&labeled, &target);
    let json = serde_json::to_string(plan.evidence()).unwrap();
    let back: PlanEvidence = serde_json::from_str(&json).unwrap();
    assert_eq!(&back, plan.evidence());
    assert!(json.contains("\"mix\"") && json.contains("\"standing\":\"assumed\""));
    let found = plan.warnings(alpha(0.1));
    assert!(names(&found).contains(&"few-unlabeled"));
    let json = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Warning>>(&json).unwrap(), found);
}

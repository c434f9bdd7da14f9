//! Inputs at the edge of what can be drawn.

use evenkeel::bound::CoverageInterval;
use evenkeel::sandwich::Order;
use evenkeel::threshold::Threshold;
use evenkeel_report::{
    CoverageRange, GapCurve, Report, ScoreLaws, StepCurve, ThresholdMark, TraceCurve,
    WeightsOverScores, render,
};
use roxmltree::Document;

use crate::fixture::{bare, drawings, full, trace_point};

/// Renders, and checks that no drawing holds anything but numbers.
fn page_of(report: &Report) -> String {
    let page = render(report);
    for drawing in drawings(&page) {
        Document::parse(drawing).unwrap();
        for word in ["NaN", "inf", "e+", "e308"] {
            let data = drawing.split(" d=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
            assert!(!data.into_iter().any(|data| data.contains(word)), "{word}");
        }
    }
    page
}

fn weights(scores: Vec<f64>) -> Option<WeightsOverScores> {
    let weights = vec![1.0 / scores.len().max(1) as f64; scores.len()];
    let effective_sample_size = scores.len() as f64;
    Some(WeightsOverScores { method: "ot".into(), scores, weights, effective_sample_size })
}

#[test]
fn one_point_is_drawn() {
    let mut report = bare();
    let one = StepCurve { atoms: vec![0.5], cumulative: vec![1.0] };
    report.score_laws = Some(ScoreLaws { calibration: one, ..ScoreLaws::default() });
    report.gap_curves = vec![GapCurve { method: "ot".into(), points: vec![(0.1, 0.2)] }];
    report.weights = weights(vec![0.3]);
    report.traces = vec![TraceCurve {
        method: "ot".into(),
        points: vec![trace_point(0)],
        stopped: String::new(),
    }];
    assert_eq!(drawings(&page_of(&report)).len(), 4);
}

#[test]
fn empty_data_draws_nothing() {
    let mut report = bare();
    report.score_laws = Some(ScoreLaws::default());
    report.gap_curves = vec![GapCurve { method: "ot".into(), points: Vec::new() }];
    report.weights = weights(Vec::new());
    report.traces =
        vec![TraceCurve { method: "ot".into(), points: Vec::new(), stopped: String::new() }];
    assert!(drawings(&page_of(&report)).is_empty());
}

#[test]
fn values_that_are_no_numbers_are_left_out() {
    let mut report = full("ot");
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.5];
    report.gap_curves[0].points.extend(odd.map(|gap| (0.99, gap)));
    report.methods[0].coverage = Some(f64::NAN);
    report.methods[1].mean_size = Some(f64::INFINITY);
    report.weights = weights(odd.to_vec());
    report.traces[0].points[3].objective = f64::NAN;
    report.coverage_ranges[0].interval.low = f64::NAN;
    report.bounds[0].weighted_cdf = f64::INFINITY;
    if let Some(laws) = &mut report.score_laws {
        laws.calibration.atoms[3] = f64::NAN;
    }
    let page = page_of(&report);
    assert!(!page.contains("NaN"));
}

#[test]
fn huge_and_tiny_scores_are_drawn() {
    for scale in [1e-300, 1e-12, 1e9, 1e308] {
        let mut report = bare();
        let atoms: Vec<f64> = [-0.9, -0.1, 0.2, 0.8].map(|atom| atom * scale).to_vec();
        let law = StepCurve { atoms: atoms.clone(), cumulative: vec![0.2, 0.5, 0.7, 1.0] };
        report.score_laws = Some(ScoreLaws { calibration: law, ..ScoreLaws::default() });
        report.weights = weights(atoms);
        assert_eq!(drawings(&page_of(&report)).len(), 2);
    }
}

#[test]
fn an_infinite_threshold_is_marked_at_the_end() {
    let mut report = bare();
    let law = StepCurve { atoms: vec![0.2, 0.6], cumulative: vec![0.5, 1.0] };
    report.score_laws = Some(ScoreLaws {
        calibration: law,
        thresholds: vec![ThresholdMark { label: "ot".into(), threshold: Threshold::AllLabels }],
        ..ScoreLaws::default()
    });
    let page = page_of(&report);
    assert!(page.contains("ot ∞ →") && page.contains("An infinite threshold admits every label."));
}

#[test]
fn a_range_of_one_point_is_seen() {
    let mut report = bare();
    let interval =
        CoverageInterval { low: 1.0, high: 1.0, order: Order::Guaranteed, confidence: None };
    report.coverage_ranges =
        vec![CoverageRange { label: "all labels".into(), interval, measured: None }];
    let page = page_of(&report);
    assert!(page.contains("width=\"2\""));
    assert!(page.contains("100.0–100.0\u{202f}%"));
}

#[test]
fn many_methods_at_one_place_are_named_in_the_legend() {
    let mut report = full("ot");
    let row = report.methods[0].clone();
    report.methods = (0..30)
        .map(|index| {
            let mut row = row.clone();
            row.method = format!("method number {index}");
            row
        })
        .collect();
    let page = page_of(&report);
    let drawing = drawings(&page)[1];
    for index in 0..30 {
        assert!(drawing.contains(&format!(">method number {index}<")), "{index}");
    }
}

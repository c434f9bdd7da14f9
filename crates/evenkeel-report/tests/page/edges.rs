//! Inputs at the edge of what can be drawn.

use evenkeel::threshold::Threshold;
use evenkeel_report::{
    Estimate, ExampleRow, GapCurve, Reading, ReadingRange, Report, ScoreLaws, Standing, StepCurve,
    ThresholdMark, TraceCurve, WeightsOverScores, render,
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
    report.readings[0].coverage.value = Some(f64::NAN);
    report.readings[1].coverage.range = Some([f64::NEG_INFINITY, f64::NAN]);
    report.bounds[0].weighted_cdf = Some(f64::INFINITY);
    report.answer.now = Some(Estimate::assumed(f64::NAN, [f64::INFINITY, 0.5]));
    report.conditions.rows[0].estimated = Some(Estimate::assumed(f64::NAN, odd_range()));
    report.conditions.rows[0].size.after = Some(f64::NAN);
    if let Some(laws) = &mut report.score_laws {
        laws.calibration.atoms[3] = f64::NAN;
    }
    let page = page_of(&report);
    assert!(!page.contains("NaN"));
    assert!(page.contains("not known"));
}

fn odd_range() -> [f64; 2] {
    [f64::NAN, 1.0]
}

#[test]
fn a_meter_stays_inside_its_tile() {
    let mut report = bare();
    report.answer.now = Some(Estimate::assumed(7.0, [-3.0, 9.0]));
    let page = page_of(&report);
    assert!(page.contains("style=\"left:0.0%;width:100.0%\""));
    assert!(page.contains("class=\"dot\" style=\"left:100.0%\""));
}

#[test]
fn empty_and_long_sets_are_said() {
    let mut report = bare();
    let names: Vec<String> = (0..40).map(|class| format!("class {class}")).collect();
    let row = |before, after| ExampleRow { row: 3, top: None, before, after, truth: None };
    report.examples = vec![row(Vec::new(), Some(names.clone())), row(names, None)];
    let page = page_of(&report);
    assert!(page.contains("no label") && page.contains("and 28 more"));
    assert!(page.contains("class 11") && !page.contains("class 12"));
    assert!(page.contains("Two rows, for example"));
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
    let range = ReadingRange::range(Reading::Guaranteed, [1.0, 1.0], Standing::Guaranteed);
    report.readings = vec![range];
    let page = page_of(&report);
    assert!(page.contains("width=\"2\""));
    assert!(page.contains(">100\u{202f}%<"));
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
    let drawing = drawings(&page)
        .into_iter()
        .find(|drawing| drawing.contains("coverage-and-size-title"))
        .unwrap();
    for index in 0..30 {
        assert!(drawing.contains(&format!(">method number {index}<")), "{index}");
    }
}

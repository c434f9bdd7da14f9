//! A report with every section, and ways to look into a page.

use evenkeel::learning::optimise::TracePoint;
use evenkeel::level::Miscoverage;
use evenkeel::sandwich::Order;
use evenkeel::threshold::Threshold;
use evenkeel_report::{
    Advice, Answer, BoundRow, ClassRow, ConditionRow, Conditions, DataSet, DominanceRow, Estimate,
    ExampleRow, GapCurve, Grounds, Input, MeanSize, MethodRow, MethodThreshold, Provenance,
    Reading, ReadingRange, Repair, Report, SandwichLaws, ScoreLaws, ShiftOutcome, ShiftTest,
    Standing, StepCurve, ThresholdMark, TraceCurve, Verdict, WeightsOverScores,
};

/// A report that says nothing but its answer.
pub(crate) fn bare() -> Report {
    let answer = Answer::new(Verdict::Ok, "Coverage is about 90 %, as asked for.");
    Report::new(Miscoverage::new(0.1).unwrap(), answer)
}

/// A report with every section filled; `name` is the text of every name in it.
pub(crate) fn full(name: &str) -> Report {
    let mut report = bare();
    report.title = name.into();
    report.run = Some(name.into());
    report.date = Some(name.into());
    report.data = vec![DataSet::new(1000, name, name)];
    report.class_count = Some(10);
    report.answer = answer(name);
    report.warnings = vec![name.into()];
    report.examples = vec![ExampleRow {
        row: 17,
        top: Some((name.into(), 0.4)),
        before: vec![name.into(), "gone".into()],
        after: Some(vec![name.into(), format!("{name} 2")]),
        truth: Some(name.into()),
    }];
    report.conditions = conditions(name);
    report.account = vec![name.into()];
    report.shift = Some(ShiftTest { outcome: ShiftOutcome::Found, p_value: 0.0004 });
    report.readings = readings(name);
    report.bounds = vec![BoundRow {
        label: name.into(),
        exact: Some(0.15),
        level: Some(0.2),
        weighted_cdf: Some(1.0),
        wasserstein: Some(1.4),
    }];
    let order = Order::Violated { largest: 0.1, at: 0.4 };
    report.dominance = vec![DominanceRow { pair: name.into(), order }];
    report.methods = methods(name);
    report.gap_curves = vec![GapCurve {
        method: name.into(),
        points: (1..50_u32).map(|i| (f64::from(i) / 50.0, f64::from(i % 7) / 70.0)).collect(),
    }];
    report.score_laws = Some(laws(name, 40));
    report.weights = Some(WeightsOverScores {
        method: name.into(),
        scores: (0..40_u32).map(|i| f64::from(i) / 40.0).collect(),
        weights: vec![1.0 / 40.0; 40],
        effective_sample_size: 40.0,
    });
    report.traces = vec![TraceCurve {
        method: name.into(),
        points: (0..=10).map(|step| trace_point(step * 100)).collect(),
        stopped: name.into(),
    }];
    report.classes = vec![ClassRow {
        name: name.into(),
        points: 12,
        coverage: Some(0.75),
        ..ClassRow::default()
    }];
    report.classes_under = Some(name.into());
    report.provenance = Provenance {
        command: Some(name.into()),
        inputs: vec![Input {
            role: name.into(),
            path: name.into(),
            shape: vec![3, 4],
            checksum: Some(name.into()),
        }],
        options: vec![(name.into(), name.into())],
        version: Some(name.into()),
        seed: Some(7),
    };
    report
}

fn answer(name: &str) -> Answer {
    Answer {
        verdict: Some(Verdict::Loss),
        headline: name.into(),
        now: Some(Estimate::assumed(0.53, [0.46, 0.61])),
        repair: Some(Repair {
            method: name.into(),
            coverage: Some(Estimate::measured(0.91, [0.87, 0.94], 200)),
            size: MeanSize { before: Some(1.27), after: Some(4.1) },
        }),
        advice: Some(Advice { sentence: name.into(), commands: vec![name.into(); 2] }),
        grounds: Some(Grounds {
            standing: Standing::Assumed,
            rests_on: Some(name.into()),
            since: Some(name.into()),
        }),
    }
}

fn conditions(name: &str) -> Conditions {
    Conditions {
        title: Some(name.into()),
        note: Some(name.into()),
        labels: Some(50),
        rows: vec![ConditionRow {
            estimated: Some(Estimate::assumed(0.53, [0.46, 0.61])),
            measured: Some(0.534),
            after_repair: Some(0.9995),
            with_labels: Some(0.92),
            size: MeanSize { before: Some(1.27), after: Some(6.4) },
            verdict: Some(Verdict::Loss),
            ..ConditionRow::new(name)
        }],
    }
}

fn readings(name: &str) -> Vec<ReadingRange> {
    let other = Reading::Other { name: name.into(), explanation: name.into() };
    vec![
        ReadingRange::assumed(Reading::Calibrated, 0.58, [0.55, 0.61]),
        ReadingRange::assumed(Reading::ClassShares, 0.53, [0.5, 0.56]),
        ReadingRange::range(Reading::Band, [0.47, 0.52], Standing::Assumed),
        ReadingRange::range(Reading::Guaranteed, [0.06, 0.99], Standing::Guaranteed),
        ReadingRange::measured(0.534, [0.5, 0.57], 1000),
        ReadingRange::assumed(other, 0.5, [0.4, 0.6]),
    ]
}

fn methods(name: &str) -> Vec<MethodRow> {
    let row = |method: String, threshold, coverage| MethodRow {
        method,
        assumption: name.into(),
        threshold,
        coverage,
        mean_size: Some(1.5),
        total_coverage_gap: Some(0.05),
        effective_sample_size: Some(40.0),
        seconds: Some(0.01),
    };
    vec![
        row(name.into(), Threshold::Finite(0.7).into(), Some(0.8)),
        row(format!("{name} 2"), Threshold::AllLabels.into(), Some(1.0)),
        row(format!("{name} 3"), MethodThreshold::PerPoint, None),
    ]
}

/// Laws of `n` atoms each.
pub(crate) fn laws(name: &str, n: usize) -> ScoreLaws {
    let law = |power: f64| StepCurve {
        atoms: (1..=n).map(|i| (i as f64 / n as f64).powf(power)).collect(),
        cumulative: (1..=n).map(|i| i as f64 / n as f64).collect(),
    };
    let pair =
        |low: f64, high: f64| SandwichLaws { name: name.into(), lower: law(low), upper: law(high) };
    ScoreLaws {
        score: name.into(),
        calibration: law(1.0),
        reweighted: Some(law(0.9)),
        sandwiches: vec![pair(3.0, 0.2), pair(2.0, 0.5)],
        test: Some(law(0.8)),
        thresholds: [Threshold::Finite(0.8), Threshold::Finite(0.82), Threshold::AllLabels]
            .map(|threshold| ThresholdMark { label: name.into(), threshold })
            .to_vec(),
    }
}

/// A point of a run that improves.
pub(crate) fn trace_point(step: usize) -> TracePoint {
    TracePoint {
        step,
        objective: 1.0 / (1.0 + step as f64),
        effective_sample_size: 40.0 - step as f64 / 100.0,
        threshold: Threshold::Finite(0.5),
    }
}

/// Everything from `<svg` to `</svg>`, for each figure of a page.
pub(crate) fn drawings(page: &str) -> Vec<&str> {
    page.match_indices("<svg")
        .map(|(start, _)| {
            let length = page[start..].find("</svg>").expect("a drawing ends") + "</svg>".len();
            &page[start..start + length]
        })
        .collect()
}

//! A full page from generated data: `cargo run --release -p evenkeel-report --example demo_page -- report.html`.
//!
//! The world of the core's examples: a classifier calibrated on 600 labeled points, and a weaker signal the target data.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    missing_docs,
    unreachable_pub
)]

use std::time::Instant;

use evenkeel::bound::{
    CoverageInterval, DkwCorrection, Integrator, coverage_interval, integrated_gap,
    integrated_gap_between, wasserstein_gap_between,
};
use evenkeel::calibration::Calibration;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::interval::Interval;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::{
    BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FLOOR, Bandwidth, Grid, SmoothedLaw, Support,
    WeightedEmpirical,
};
use evenkeel::method::{Method, SandwichChoice, TransportSettings};
use evenkeel::rows::Rows;
use evenkeel::sandwich::{Sandwich, min_max, model_uniform};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel::threshold::Threshold;
use evenkeel_report::{
    Answer, BoundRow, ClassRow, CoverageRange, DominanceRow, GapCurve, Input, MethodRow,
    Provenance, Report, ScoreLaws, ThresholdMark, TraceCurve, Verdict, WeightsOverScores, render,
};
use world::{CLASSES, Sample, sample};

#[path = "../../evenkeel/examples/world/mod.rs"]
mod world;

const GARMENTS: [&str; CLASSES] = [
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
];

fn main() -> evenkeel::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "report.html".to_owned());
    let page = render(&report()?);
    std::fs::write(&path, &page).expect("the page can be written");
    println!("{path}: {} bytes", page.len());
    Ok(())
}

/// A method's name, what it assumes, and its calibration with the time it took.
struct Run {
    name: &'static str,
    assumption: &'static str,
    calibration: Calibration,
    seconds: f64,
}

fn report() -> evenkeel::Result<Report> {
    let alpha = Miscoverage::new(0.1)?;
    let delta = FailureProbability::new(0.05)?;
    let (labeled, target, test) =
        (sample(600, 1.0, 1), sample(2000, 0.75, 2), sample(5000, 0.75, 3));
    let candidates = Score::Lac.candidate_scores(&target.probabilities())?;
    let pairs = [min_max(&candidates)?, model_uniform(&candidates)?];
    let runs = runs(alpha, &labeled, &target)?;
    let (split, learned) = (&runs[0].calibration, &runs[1].calibration);
    let truth = WeightedEmpirical::uniform(&test.scores())?;

    let measured = |calibration: &Calibration| {
        truth.cdf(calibration.threshold(None).unwrap_or(Threshold::AllLabels).get())
    };
    let range = coverage_interval(
        &pairs[1],
        split.threshold(None).unwrap_or(Threshold::AllLabels),
        Some(delta),
    )?;
    let answer = answer(range, measured(split), measured(learned), alpha);
    let mut report = Report::new("Demo: a weaker signal than the calibration data", alpha, answer);
    report.subtitle = Some("600 labeled points, 2000 unlabeled points, 10 classes".into());
    report.warnings = learned.learned().warnings.iter().map(ToString::to_string).collect();
    report
        .warnings
        .push("the f-u range rests on an assumption that unlabeled data cannot verify".into());
    for (pair, words) in pairs.iter().zip(["guaranteed (min-max)", "assumed (f-u)"]) {
        for run in &runs[..2] {
            let threshold = run.calibration.threshold(None).unwrap_or(Threshold::AllLabels);
            report.coverage_ranges.push(CoverageRange {
                label: format!("{}, {words}", run.name),
                interval: coverage_interval(pair, threshold, Some(delta))?,
                measured: Some(truth.cdf(threshold.get())),
            });
        }
        report.bounds.push(bounds(split, pair, delta)?);
        let pair_name = pair.construction().name().to_owned();
        report.dominance.push(DominanceRow { pair: pair_name, order: pair.order() });
    }
    for run in &runs {
        report.methods.push(method_row(run, &test, &truth)?);
        report.gap_curves.push(gap_curve(run, &truth)?);
    }
    report.score_laws = Some(ScoreLaws {
        score: "lac".into(),
        calibration: split.law().into(),
        reweighted: Some(learned.law().into()),
        sandwiches: pairs.iter().map(Into::into).collect(),
        test: Some((&truth).into()),
        thresholds: runs[..2]
            .iter()
            .map(|run| ThresholdMark {
                label: run.name.into(),
                threshold: run.calibration.threshold(None).unwrap_or(Threshold::AllLabels),
            })
            .collect(),
    });
    report.weights = Some(WeightsOverScores {
        method: runs[1].name.into(),
        scores: learned.scores().to_vec(),
        weights: learned.weights().as_slice().to_vec(),
        effective_sample_size: learned.effective_sample_size(),
    });
    report.traces = runs[1..].iter().map(trace).collect();
    report.classes = classes(learned, &test)?;
    report.provenance = provenance();
    Ok(report)
}

/// What the numbers say; the test labels are those of the generated world.
fn answer(range: CoverageInterval, uncorrected: f64, learned: f64, alpha: Miscoverage) -> Answer {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    Answer {
        verdict: Verdict::Caution,
        headline: "The signal is weaker the target data and coverage is at risk".into(),
        sentences: vec![
            format!(
                "At calibration threshold coverage lies between {} and {} (assumed, 95 % confidence).",
                percent(range.low),
                percent(range.high)
            ),
            format!(
                "Measured on labeled points of the target data it is {}, below the level of {}.",
                percent(uncorrected),
                percent(1.0 - alpha.get())
            ),
            format!("Use the reweighted threshold (method ot): it covers {}.", percent(learned)),
        ],
    }
}

fn runs(alpha: Miscoverage, labeled: &Sample, target: &Sample) -> evenkeel::Result<Vec<Run>> {
    let transport = TransportSettings::default();
    let methods = [
        ("uncorrected", "the target data is like the calibration data", Method::Uncorrected),
        ("ot", "scores lie between model and uniform labels", Method::OptimalTransport(transport)),
        (
            "ot min-max",
            "none; weights lean on the worst and best case",
            Method::OptimalTransport(TransportSettings {
                sandwich: SandwichChoice::MinMax,
                ..transport
            }),
        ),
    ];
    let run = |(name, assumption, method)| {
        let calibrator = ShiftCalibrator { method, score: Score::Lac, alpha, seed: Seed::new(0) };
        let start = Instant::now();
        let calibration = calibrator.calibrate(
            &labeled.probabilities(),
            &labeled.labels(),
            &target.probabilities(),
        )?;
        Ok(Run { name, assumption, calibration, seconds: start.elapsed().as_secs_f64() })
    };
    methods.into_iter().map(run).collect()
}

/// Eq 7 and eq 8 for the uncorrected calibration, with their finite-sample correction.
fn bounds(
    split: &Calibration,
    sandwich: &Sandwich,
    delta: FailureProbability,
) -> evenkeel::Result<BoundRow> {
    let grid = Grid::new(Interval::UNIT, Grid::BOUND_POINTS)?;
    let factor = BANDWIDTH_FACTOR_CLASSIFICATION;
    let bandwidth = Bandwidth::scott(split.scores(), factor, BANDWIDTH_FLOOR)?;
    let p = SmoothedLaw::new(split.law().clone(), bandwidth, Support::Bounded(Interval::UNIT))?;
    let correction = DkwCorrection::for_sandwich(split.scores().len() as f64, sandwich, delta)?;
    let cdf = integrated_gap_between(p.law(), sandwich, &Integrator::density(&p, &grid)?);
    let wasserstein = wasserstein_gap_between(&p, sandwich, &grid)?;
    Ok(BoundRow {
        label: sandwich.construction().name().into(),
        weighted_cdf: cdf.value,
        weighted_cdf_dkw: Some(cdf.with_correction(correction).corrected()),
        wasserstein: wasserstein.value,
        wasserstein_dkw: Some(wasserstein.with_correction(correction).corrected()),
    })
}

fn method_row(run: &Run, test: &Sample, truth: &WeightedEmpirical) -> evenkeel::Result<MethodRow> {
    let calibration = &run.calibration;
    let rows = Rows::new("probabilities", &test.probabilities, CLASSES)?;
    let sets = calibration.predict(0, rows, None)?;
    let total: usize = (0..sets.rows()).map(|row| sets.size(row)).sum();
    let threshold = calibration.threshold(None).unwrap_or(Threshold::AllLabels);
    let law = calibration.law();
    Ok(MethodRow {
        method: run.name.into(),
        assumption: run.assumption.into(),
        threshold: threshold.into(),
        coverage: Some(truth.cdf(threshold.get())),
        mean_size: Some(total as f64 / sets.rows() as f64),
        total_coverage_gap: Some(integrated_gap(law, truth, &Integrator::atoms(law)).value),
        effective_sample_size: Some(calibration.effective_sample_size()),
        seconds: Some(run.seconds),
    })
}

fn gap_curve(run: &Run, truth: &WeightedEmpirical) -> evenkeel::Result<GapCurve> {
    let point = |step: u32| {
        let alpha = f64::from(step) / 400.0;
        let threshold = run.calibration.threshold(Some(Miscoverage::new(alpha)?));
        let threshold = threshold.unwrap_or(Threshold::AllLabels);
        Ok((alpha, (truth.cdf(threshold.get()) - (1.0 - alpha)).abs()))
    };
    let points: evenkeel::Result<Vec<(f64, f64)>> = (1..400).map(point).collect();
    Ok(GapCurve { method: run.name.into(), points: points? })
}

fn trace(run: &Run) -> TraceCurve {
    let learned = run.calibration.learned();
    TraceCurve {
        method: run.name.into(),
        points: learned.trace.points().to_vec(),
        stopped: learned.stopped.to_string(),
    }
}

fn classes(calibration: &Calibration, test: &Sample) -> evenkeel::Result<Vec<ClassRow>> {
    let rows = Rows::new("probabilities", &test.probabilities, CLASSES)?;
    let sets = calibration.predict(0, rows, None)?;
    let class = |(class, name): (usize, &&str)| {
        let members: Vec<usize> =
            (0..sets.rows()).filter(|row| test.labels[*row] == class).collect();
        let covered = members.iter().filter(|row| sets.contains(**row, class)).count();
        let labels: usize = members.iter().map(|row| sets.size(*row)).sum();
        let points = members.len();
        let share = |count: usize| (points > 0).then(|| count as f64 / points as f64);
        ClassRow {
            name: (*name).into(),
            points,
            coverage: share(covered),
            mean_size: share(labels),
        }
    };
    Ok(GARMENTS.iter().enumerate().map(class).collect())
}

fn provenance() -> Provenance {
    let input = |role: &str, seed: u64, shape: &[usize]| Input {
        role: role.into(),
        path: format!("generated, seed {seed}"),
        shape: shape.to_vec(),
        checksum: None,
    };
    let options =
        [("score", "lac"), ("sandwich", "f-u"), ("objective", "weighted-cdf"), ("steps", "1000")];
    Provenance {
        command: Some(
            "cargo run --release -p evenkeel-report --example demo_page -- report.html".into(),
        ),
        inputs: vec![
            input("calibration probabilities and labels", 1, &[600, CLASSES]),
            input("unlabeled probabilities", 2, &[2000, CLASSES]),
            input("test probabilities and labels", 3, &[5000, CLASSES]),
        ],
        options: options.map(|(name, value)| (name.into(), value.into())).to_vec(),
        version: Some(format!("evenkeel {}", env!("CARGO_PKG_VERSION"))),
        seed: Some(0),
    }
}

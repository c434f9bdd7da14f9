//! One free-form step beside a dot product with as many terms as the step has multiply-adds; whole fits; growth in n.
//!
//! `cargo bench --bench learning`. A row of `steps` is STEPS steps; the row of `multiply_adds` with the same arguments is
//! STEPS dot products of the terms one step multiplies and adds, so the ratio of the two rows is the ratio of one step.

#![allow(missing_docs, clippy::unwrap_used)]

use std::ops::ControlFlow;

use divan::{Bencher, black_box};
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::interval::Interval;
use evenkeel::learning::objective::{Objective, ObjectiveInputs, WeightedCdfObjective};
use evenkeel::learning::optimise::StoppingRule;
use evenkeel::learning::{FreeFormSettings, fit_free_form, initial_log_weights};
use evenkeel::level::Miscoverage;
use evenkeel::measure::{
    BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FLOOR, Bandwidth, Grid, Support,
};
use evenkeel::method::{Method, TransportSettings};
use evenkeel::sandwich::{Sandwich, model_uniform};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::Seed;

const STEPS: usize = 2000;
const CLASSES: usize = 10;
/// `(n, K)`.
const SIZES: [(usize, usize); 5] =
    [(300, 100), (300, 1000), (3_000, 1000), (30_000, 100), (30_000, 1000)];

fn main() {
    divan::main();
}

/// Softmax rows of a classifier that is mostly right: scores crowd at both ends.
fn probabilities(rows: usize, sharpness: f64, purpose: &str) -> (Vec<f64>, Vec<usize>) {
    let mut stream = Seed::new(3).stream(purpose);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let label = stream.below(CLASSES);
        let logits: Vec<f64> = (0..CLASSES)
            .map(|class| {
                sharpness * stream.uniform() + if class == label { sharpness } else { 0.0 }
            })
            .collect();
        let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
        values.extend(logits.iter().map(|logit| logit.exp() / total));
        labels.push(label);
    }
    (values, labels)
}

struct Problem {
    scores: Vec<f64>,
    sandwich: Sandwich,
    grid: Grid,
    bandwidth: Bandwidth,
}

impl Problem {
    fn new(n: usize, points: usize) -> Self {
        let (calibration, labels) = probabilities(n, 6.0, "calibration");
        let (target, _) = probabilities(n.min(3_000), 3.0, "today");
        let calibration = Probabilities::new(&calibration, CLASSES).unwrap();
        let labels = Labels::new(labels, CLASSES).unwrap();
        let mut scores = Score::Lac.label_scores(&calibration, &labels).unwrap();
        scores.sort_by(f64::total_cmp);
        let target = Probabilities::new(&target, CLASSES).unwrap();
        let sandwich = model_uniform(&Score::Lac.candidate_scores(&target).unwrap()).unwrap();
        let factor = BANDWIDTH_FACTOR_CLASSIFICATION;
        let bandwidth = Bandwidth::scott(&scores, factor, BANDWIDTH_FLOOR).unwrap();
        let grid = Grid::new(Interval::UNIT, points).unwrap();
        Self { scores, sandwich, grid, bandwidth }
    }

    fn objective(&self) -> WeightedCdfObjective {
        WeightedCdfObjective::new(ObjectiveInputs {
            sorted_scores: &self.scores,
            sandwich: &self.sandwich,
            grid: &self.grid,
            bandwidth: self.bandwidth,
            support: Support::Bounded(Interval::UNIT),
        })
        .unwrap()
    }

    fn fit(&self, objective: WeightedCdfObjective, steps: usize) -> f64 {
        let initial = initial_log_weights(self.scores.len(), Seed::new(0));
        let stopping = StoppingRule::after(steps).unwrap();
        let settings = FreeFormSettings { stopping, ..FreeFormSettings::default() };
        let fit = fit_free_form(
            &self.scores,
            objective,
            &initial,
            settings,
            Miscoverage::new(0.1).unwrap(),
            &mut |_, _| Ok(()),
            &mut |_| ControlFlow::Continue(()),
        );
        fit.unwrap().log_weights[0]
    }
}

/// STEPS steps of a fit (one in twenty recorded), the objective built beforehand.
#[divan::bench(args = SIZES, sample_count = 10)]
fn steps(bencher: Bencher, (n, points): (usize, usize)) {
    let problem = Problem::new(n, points);
    bencher
        .with_inputs(|| problem.objective())
        .bench_local_values(|objective| problem.fit(objective, STEPS));
}

/// Value and gradient alone: the step without softmax, Adam and bookkeeping.
#[divan::bench(args = SIZES, sample_count = 10)]
fn value_and_gradient(bencher: Bencher, (n, points): (usize, usize)) {
    let problem = Problem::new(n, points);
    let mut objective = problem.objective();
    let weights = vec![1.0 / n as f64; n];
    let mut gradient = vec![0.0; n];
    bencher.bench_local(|| {
        for _ in 0..STEPS {
            black_box(objective.value_and_gradient(black_box(&weights), &mut gradient));
        }
    });
}

/// A plain slice dot product in eight lanes, over memory of its own, in the registers every build may use.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum()
}

/// The multiply-adds of a step, as dot products: each kernel entry that is not zero once forward, once transposed.
#[divan::bench(args = SIZES, sample_count = 10)]
fn multiply_adds(bencher: Bencher, (n, points): (usize, usize)) {
    let terms = Problem::new(n, points).objective().kernel_entries();
    let (a, b) = (vec![1.0; terms], vec![0.5; terms]);
    bencher.bench_local(|| {
        for _ in 0..STEPS {
            black_box(dot(black_box(&a), black_box(&b)));
            black_box(dot(black_box(&a), black_box(&b)));
        }
    });
}

/// What our users run: 5000 steps at n = m = 300, everything from sorted scores on.
#[divan::bench(args = [100, 1000], sample_count = 10)]
fn whole_fit_of_5000_steps(bencher: Bencher, points: usize) {
    let problem = Problem::new(300, points);
    bencher.bench_local(|| problem.fit(problem.objective(), 5000));
}

/// The exact minimiser from probabilities to the threshold: scores, both laws, isotonic regression, bounds. One thread.
#[divan::bench(args = [300, 3000])]
fn exact_fit(bencher: Bencher, n: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let data = ExactFit::new(n);
    bencher.bench_local(|| pool.install(|| data.fit()));
}

/// A million labeled and a million unlabeled rows, as many threads as the machine has.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn exact_fit_of_a_million(bencher: Bencher) {
    let data = ExactFit::new(1_000_000);
    bencher.bench_local(|| data.fit());
}

struct ExactFit {
    calibration: Vec<f64>,
    labels: Labels,
    target: Vec<f64>,
}

impl ExactFit {
    fn new(n: usize) -> Self {
        let (calibration, labels) = probabilities(n, 6.0, "calibration");
        let (target, _) = probabilities(n, 3.0, "today");
        Self { calibration, labels: Labels::new(labels, CLASSES).unwrap(), target }
    }

    fn fit(&self) -> f64 {
        let method = Method::OptimalTransport(TransportSettings::default());
        let calibrator = ShiftCalibrator::new(0.1).unwrap().method(method);
        let labeled = Probabilities::new(black_box(&self.calibration), CLASSES).unwrap();
        let target = Probabilities::new(black_box(&self.target), CLASSES).unwrap();
        let found = calibrator.calibrate(&labeled, &self.labels, &target).unwrap();
        found.threshold(None).unwrap().get()
    }
}

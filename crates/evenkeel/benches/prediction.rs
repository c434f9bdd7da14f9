//! Prediction sets from a table that does not fit the caches near the core, next to a plain sum of the same memory.
//!
//! `cargo bench --bench prediction`; the target is that `lac_sets` takes at most twice the time of `plain_sum`.

#![allow(clippy::expect_used)]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use evenkeel::calibration::Calibration;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::conformal::predict_rows;
use evenkeel::level::Miscoverage;
use evenkeel::method::Method;
use evenkeel::method::few_labels::FewLabelsSettings;
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::rows::{Real, Rows};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::{Labeled, SideInputs, TargetLabels};
use evenkeel::threshold::Threshold;

const BYTES: usize = 32 << 20;
const CLASSES: [usize; 3] = [10, 100, 1000];

fn main() {
    divan::main();
}

/// Rows of single-precision probabilities, a few of them large in every row, as a softmax gives them.
fn probabilities(classes: usize) -> Vec<f32> {
    let mut stream = Seed::new(7).stream("bench");
    let rows = BYTES / size_of::<f32>() / classes;
    let mut table = Vec::with_capacity(rows * classes);
    for _ in 0..rows {
        let raw: Vec<f64> = (0..classes).map(|_| (6.0 * stream.uniform()).exp()).collect();
        let total: f64 = raw.iter().sum();
        table.extend(raw.iter().map(|value| (value / total) as f32));
    }
    table
}

/// A threshold that about a tenth of the labels pass.
fn threshold(classes: usize) -> Threshold {
    Threshold::Finite(1.0 - 3.0 / classes as f64)
}

#[divan::bench(args = CLASSES)]
fn lac_sets(bencher: Bencher, classes: usize) {
    let table = probabilities(classes);
    let rows = Rows::new("probabilities", &table, classes).expect("a table");
    bencher
        .counter(BytesCount::of_slice(&table))
        .bench_local(|| predict_rows(0, black_box(rows), &Score::Lac, threshold(classes)));
}

/// The same in double precision, twice the memory.
#[divan::bench(args = CLASSES)]
fn lac_sets_of_doubles(bencher: Bencher, classes: usize) {
    let table: Vec<f64> = probabilities(classes).iter().map(|p| f64::from(*p)).collect();
    let rows = Rows::new("probabilities", &table, classes).expect("a table");
    bencher
        .counter(BytesCount::of_slice(&table))
        .bench_local(|| predict_rows(0, black_box(rows), &Score::Lac, threshold(classes)));
}

/// Sets as arrays of zeros and ones, as Python hands them out.
#[divan::bench(args = CLASSES)]
fn lac_bytes(bencher: Bencher, classes: usize) {
    let table = probabilities(classes);
    let rows = Rows::new("probabilities", &table, classes).expect("a table");
    let mut members = vec![0; table.len()];
    bencher.counter(BytesCount::of_slice(&table)).bench_local(|| {
        let sets = predict_rows(0, black_box(rows), &Score::Lac, threshold(classes));
        sets.expect("rows of probabilities").write_bytes(0, &mut members);
    });
}

/// Sets of a table that lies column after column, by pieces of 512 rows.
#[divan::bench(args = CLASSES, types = [f32, f64])]
fn lac_sets_of_columns<T: Real + Number>(bencher: Bencher, classes: usize) {
    let table = probabilities(classes);
    let rows = table.len() / classes;
    let columns: Vec<Vec<T>> = (0..classes)
        .map(|label| table.iter().skip(label).step_by(classes).map(|p| T::of(*p)).collect())
        .collect();
    let head = Probabilities::new(&table[..1000 * classes], classes).expect("probabilities");
    let labels = Labels::new(vec![0; 1000], classes).expect("labels");
    let calibrator = ShiftCalibrator {
        method: Method::Uncorrected,
        score: Score::Lac,
        alpha: Miscoverage::new(0.1).expect("a rate"),
        seed: Seed::new(0),
    };
    let calibration = calibrator.calibrate(&head, &labels, &head).expect("a calibration");
    bencher.counter(BytesCount::new(table.len() * size_of::<T>())).bench_local(|| {
        for first in (0..rows).step_by(2048) {
            let last = rows.min(first + 2048);
            let piece: Vec<&[T]> = columns.iter().map(|column| &column[first..last]).collect();
            black_box(calibration.predict_columns(black_box(&piece), None));
        }
    });
}

/// A number from one of single precision.
trait Number {
    fn of(value: f32) -> Self;
}

impl Number for f32 {
    fn of(value: f32) -> Self {
        value
    }
}

impl Number for f64 {
    fn of(value: f32) -> Self {
        value.into()
    }
}

/// The label law of a plan as score, by the calibration that keeps it.
#[divan::bench(args = CLASSES)]
fn plan_sets(bencher: Bencher, classes: usize) {
    let table = probabilities(classes);
    let rows = Rows::new("probabilities", &table, classes).expect("a table");
    let calibration = planned(&table, classes, Score::Plan);
    bencher
        .counter(BytesCount::of_slice(&table))
        .bench_local(|| calibration.predict(0, black_box(rows), None));
}

/// The same by the posterior of fifty labels, whose law has up to nine temperatures with two plans each.
#[divan::bench(args = CLASSES)]
fn few_labels_plan_sets(bencher: Bencher, classes: usize) {
    let table = probabilities(classes);
    let rows = Rows::new("probabilities", &table, classes).expect("a table");
    let pairs: Vec<(u64, usize)> = (0..50).map(|row| (row, row as usize % classes)).collect();
    let labels = TargetLabels::new(&pairs, classes).expect("labels");
    let calibration = fitted(
        &table,
        classes,
        (Method::FewLabels(FewLabelsSettings::default()), Score::Plan),
        SideInputs::labels(&labels),
    );
    bencher
        .counter(BytesCount::of_slice(&table))
        .bench_local(|| calibration.predict(0, black_box(rows), None));
}

/// A label plan from the first thousand rows of a table to the next, which it finds a little less sure of themselves.
fn planned(table: &[f32], classes: usize, score: Score) -> Calibration {
    let method = Method::LabelPlan(LabelPlanSettings::default());
    fitted(table, classes, (method, score), SideInputs::default())
}

fn fitted(
    table: &[f32],
    classes: usize,
    (method, score): (Method, Score),
    beside: SideInputs<'_>,
) -> Calibration {
    let rows = 1000 * classes;
    let known = Probabilities::new(&table[..rows], classes).expect("probabilities");
    let labels = table[..rows].chunks(classes).map(|row| {
        let best = (0..classes).max_by(|a, b| row[*a].total_cmp(&row[*b]));
        best.expect("a class")
    });
    let labels = Labels::new(labels.collect(), classes).expect("labels");
    let softened: Vec<f32> = table[rows..2 * rows]
        .chunks(classes)
        .flat_map(|row| {
            let total: f32 = row.iter().map(|p| p.sqrt()).sum();
            row.iter().map(move |p| p.sqrt() / total)
        })
        .collect();
    let target = Probabilities::new(&softened, classes).expect("probabilities");
    let calibrator = ShiftCalibrator {
        method,
        score,
        alpha: Miscoverage::new(0.1).expect("a rate"),
        seed: Seed::new(0),
    };
    let labeled = Labeled { probabilities: &known, labels: &labels, beside };
    let none = SideInputs::default();
    calibrator.calibrate_beside(&labeled, &target, none).expect("a calibration")
}

/// The same with a threshold for each row.
#[divan::bench(args = CLASSES)]
fn lac_sets_threshold_per_row(bencher: Bencher, classes: usize) {
    let table = probabilities(classes);
    let rows = Rows::new("probabilities", &table, classes).expect("a table");
    let thresholds = vec![threshold(classes); rows.rows()];
    bencher
        .counter(BytesCount::of_slice(&table))
        .bench_local(|| predict_rows(0, black_box(rows), &Score::Lac, &thresholds));
}

/// The same rows in double precision, twice the memory, which take the way that every processor has.
#[divan::bench(args = CLASSES)]
fn lac_sets_double(bencher: Bencher, classes: usize) {
    let table: Vec<f64> = probabilities(classes).into_iter().map(f64::from).collect();
    let rows = Rows::new("probabilities", &table, classes).expect("a table");
    bencher
        .counter(BytesCount::of_slice(&table))
        .bench_local(|| predict_rows(0, black_box(rows), &Score::Lac, threshold(classes)));
}

/// Rows that sum to one only up to 5e-4, as after rounding to half precision.
#[divan::bench(args = CLASSES)]
fn lac_sets_rounded_rows(bencher: Bencher, classes: usize) {
    let mut table = probabilities(classes);
    for (index, row) in table.chunks_exact_mut(classes).enumerate() {
        let off = 1.0 + 1e-4 * ((index % 11) as f32 - 5.5);
        row.iter_mut().for_each(|value| *value *= off);
    }
    let rows = Rows::new("probabilities", &table, classes).expect("a table");
    bencher
        .counter(BytesCount::of_slice(&table))
        .bench_local(|| predict_rows(0, black_box(rows), &Score::Lac, threshold(classes)));
}

/// The yardstick: independent lanes, so that nothing but reading the memory is measured.
#[divan::bench(args = CLASSES)]
fn plain_sum(bencher: Bencher, classes: usize) {
    let table = probabilities(classes);
    bencher.counter(BytesCount::of_slice(&table)).bench_local(|| {
        let mut lanes = [0.0_f32; 64];
        for chunk in black_box(&table).as_chunks::<64>().0 {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                *lane += value;
            }
        }
        lanes.iter().sum::<f32>()
    });
}

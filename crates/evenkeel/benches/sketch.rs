//! One pass over an m x C table of f32 probabilities, beside a plain sum over the same memory.
//!
//! `cargo bench --bench sketch`; the ratio of two rows of the same column count is the figure in docs/performance.md.

#![allow(missing_docs, clippy::unwrap_used)]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use evenkeel::interval::Interval;
use evenkeel::measure::Grid;
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::Score;
use evenkeel::seed::{Seed, Stream};
use evenkeel::sketch::Abscissae;
use evenkeel::sketch::{SandwichSketch, SketchedLaws};

const BYTES: usize = 64 << 20;
const COLUMNS: [usize; 3] = [10, 100, 1000];

fn main() {
    divan::main();
}

/// Softmax-like rows: a few large entries, many small ones.
fn table(columns: usize) -> Vec<f32> {
    table_of(BYTES / 4 / columns, columns, &mut Seed::new(1).stream("bench-table"))
}

fn table_of(rows: usize, columns: usize, stream: &mut Stream) -> Vec<f32> {
    let mut values = Vec::with_capacity(rows * columns);
    for _ in 0..rows {
        let raw: Vec<f64> = (0..columns).map(|_| stream.uniform().powi(6)).collect();
        let total: f64 = raw.iter().sum();
        values.extend(raw.iter().map(|value| (value / total) as f32));
    }
    values
}

/// The yardstick: every byte read once, in as many independent lanes as the sketch uses.
fn plain_sum(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<16>();
    let mut lanes = [0.0f32; 16];
    for chunk in chunks {
        for lane in 0..16 {
            lanes[lane] += chunk[lane];
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().sum::<f32>()
}

/// As `check` has them: the grid of the bounds, and the scores of a thousand labeled rows.
fn abscissae(columns: usize) -> Abscissae {
    let grid = Grid::new(Interval::UNIT, Grid::BOUND_POINTS).unwrap();
    let mut stream = Seed::new(2).stream("bench-scores");
    let rows = table_of(1000, columns, &mut stream);
    // The label of a row is drawn by its own probabilities.
    let score = |row: &[f32]| {
        let (mut left, mut label) = (stream.uniform(), 0);
        while label + 1 < row.len() && left > f64::from(row[label]) {
            left -= f64::from(row[label]);
            label += 1;
        }
        1.0 - f64::from(row[label])
    };
    let scores: Vec<f64> = rows.chunks_exact(columns).map(score).collect();
    Abscissae::of_grid_and_points(&grid, &scores).unwrap()
}

fn sketch(
    values: &[f32],
    columns: usize,
    points: &Abscissae,
    laws: SketchedLaws,
) -> SandwichSketch {
    let rows = Rows::new("probabilities", values, columns).unwrap();
    SandwichSketch::new(points.clone(), laws)
        .add_probabilities(RowKeys::From(0), rows, &Score::Lac)
        .unwrap()
}

#[divan::bench(args = COLUMNS)]
fn a_plain_sum(bencher: Bencher, columns: usize) {
    let values = table(columns);
    bencher.counter(BytesCount::new(BYTES)).bench_local(|| plain_sum(black_box(&values)));
}

#[divan::bench(args = COLUMNS)]
fn b_min_max(bencher: Bencher, columns: usize) {
    let (values, points) = (table(columns), abscissae(columns));
    bencher
        .counter(BytesCount::new(BYTES))
        .bench_local(|| sketch(black_box(&values), columns, &points, SketchedLaws::Extremes));
}

#[divan::bench(args = COLUMNS, sample_count = 10)]
fn c_model_uniform(bencher: Bencher, columns: usize) {
    let (values, points) = (table(columns), abscissae(columns));
    bencher
        .counter(BytesCount::new(BYTES))
        .bench_local(|| sketch(black_box(&values), columns, &points, SketchedLaws::ModelUniform));
}

/// Both pairs, as `check` keeps them.
#[divan::bench(args = COLUMNS, sample_count = 10)]
fn d_both(bencher: Bencher, columns: usize) {
    let (values, points) = (table(columns), abscissae(columns));
    bencher
        .counter(BytesCount::new(BYTES))
        .bench_local(|| sketch(black_box(&values), columns, &points, SketchedLaws::Both));
}

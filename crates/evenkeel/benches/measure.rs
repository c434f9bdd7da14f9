//! W1 by one merge, and the kernel density on a grid.

#![allow(missing_docs, clippy::unwrap_used)]

use divan::{Bencher, black_box};
use evenkeel::interval::Interval;
use evenkeel::measure::{
    BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FLOOR, Bandwidth, GaussianKde, Grid, Support,
    TransportToFixed, WeightedEmpirical, wasserstein_1,
};
use evenkeel::seed::Seed;

const SIZES: [usize; 3] = [300, 3_000, 30_000];

fn main() {
    divan::main();
}

fn scores(n: usize, purpose: &str) -> Vec<f64> {
    let mut stream = Seed::new(2).stream(purpose);
    (0..n).map(|_| stream.uniform().powi(2)).collect()
}

#[divan::bench(args = SIZES)]
fn wasserstein_1_merge(bencher: Bencher, n: usize) {
    let mu = WeightedEmpirical::uniform(&scores(n, "mu")).unwrap();
    let nu = WeightedEmpirical::uniform(&scores(n, "nu")).unwrap();
    bencher.bench_local(|| wasserstein_1(black_box(&mu), black_box(&nu)));
}

#[divan::bench(args = SIZES)]
fn wasserstein_1_value_and_gradient(bencher: Bencher, n: usize) {
    let nu = WeightedEmpirical::uniform(&scores(10 * n, "nu")).unwrap();
    let prepared = TransportToFixed::new(&scores(n, "mu"), &nu).unwrap();
    let weights = vec![1.0 / n as f64; n];
    let mut gradient = vec![0.0; n];
    bencher.bench_local(|| prepared.value_and_gradient(black_box(&weights), &mut gradient));
}

fn kde(n: usize) -> GaussianKde {
    let scores = scores(n, "mu");
    let h = Bandwidth::scott(&scores, BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FLOOR).unwrap();
    let law = WeightedEmpirical::uniform(&scores).unwrap();
    GaussianKde::new(&law, h, Support::Bounded(Interval::UNIT)).unwrap()
}

#[divan::bench(args = SIZES)]
fn density_on_grid_windowed(bencher: Bencher, n: usize) {
    let kde = kde(n);
    let grid = Grid::new(Interval::UNIT, Grid::BOUND_POINTS).unwrap();
    bencher.bench_local(|| black_box(&kde).density_on_grid(&grid));
}

/// What the window saves: three kernel values for every atom and grid point.
#[divan::bench(args = SIZES, sample_count = 10)]
fn density_on_grid_full_sum(bencher: Bencher, n: usize) {
    let law = WeightedEmpirical::uniform(&scores(n, "mu")).unwrap();
    let h = kde(n).bandwidth().get();
    let grid = Grid::new(Interval::UNIT, Grid::BOUND_POINTS).unwrap();
    let kernel = |u: f64| (-0.5 * u * u).exp();
    bencher.bench_local(|| {
        let density = |t: &f64| -> f64 {
            let at = |s: f64| kernel((t - s) / h) + kernel((t + s) / h) + kernel((t - 2.0 + s) / h);
            law.atoms().iter().zip(law.masses()).map(|(s, w)| w * at(*s)).sum()
        };
        grid.points().iter().map(density).collect::<Vec<f64>>()
    });
}

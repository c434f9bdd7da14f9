//! Normal numbers, tables of them, and bands of simulated coverage.

use evenkeel::rows::Rows;
use evenkeel::seed::Stream;

/// A standard normal number (Box-Muller).
pub fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * (1.0 - stream.uniform()).ln()).sqrt();
    radius * (std::f64::consts::TAU * stream.uniform()).cos()
}

/// `rows` independent rows of `N(mean, deviation^2)` in every column.
pub fn normal_rows(stream: &mut Stream, rows: usize, mean: &[f64], deviation: f64) -> Vec<f64> {
    let mut table = Vec::with_capacity(rows * mean.len());
    for _ in 0..rows {
        table.extend(mean.iter().map(|mean| mean + deviation * normal(stream)));
    }
    table
}

pub fn table(values: &[f64], columns: usize) -> Rows<'_, f64> {
    Rows::new("features", values, columns).unwrap()
}

/// Mean of repetitions with its standard error.
pub struct Mean {
    pub value: f64,
    pub error: f64,
}

impl Mean {
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let value = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - value).powi(2)).sum::<f64>() / (n - 1.0);
        Self { value, error: (variance / n).sqrt() }
    }
}

//! Splits, the shift, and the coverage of every method.

use evenkeel::level::Miscoverage;
use evenkeel::method::likelihood_ratio::{KnownRatios, RatioEstimator, RatioThresholds};
use evenkeel::rows::Rows;
use evenkeel::seed::{Seed, Stream};
use rayon::prelude::*;

use super::data::{Airfoil, FEATURES};
use super::forest::{Forest, ForestSettings};
use super::least_squares::Line;
use crate::draws::permutation;
use crate::error::{Error, Result};

/// The tilt: test points are drawn with probability proportional to `exp(x'beta)`.
const BETA: [f64; FEATURES] = [-1.0, 0.0, 0.0, 0.0, 1.0];
/// Test points drawn under the shift, as a share of the test half.
const DRAWN: usize = 4;

/// How the threshold is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Split conformal on test points that did not shift.
    NoShift,
    /// Split conformal on shifted test points.
    Unweighted,
    /// True likelihood ratios.
    Oracle,
    /// Ratios by logistic regression.
    Logistic,
    /// Ratios by a random forest.
    Forest,
}

impl Method {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 5] =
        [Self::NoShift, Self::Unweighted, Self::Oracle, Self::Logistic, Self::Forest];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoShift => "no shift",
            Self::Unweighted => "shift, unweighted",
            Self::Oracle => "shift, true ratios",
            Self::Logistic => "shift, logistic ratios",
            Self::Forest => "shift, random-forest ratios",
        }
    }
}

/// Average coverages the paper reports, in the order of [`Method::ALL`] (nominal 90 %, 5000 repetitions).
pub const PUBLISHED: [f64; 5] = [0.902, 0.822, 0.909, 0.910, 0.910];

/// A method's coverage over the repetitions.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodCoverage {
    /// The method.
    pub method: Method,
    /// Coverage of every repetition.
    pub coverages: Vec<f64>,
}

impl MethodCoverage {
    /// Mean over the repetitions.
    pub fn mean(&self) -> f64 {
        self.coverages.iter().sum::<f64>() / self.coverages.len() as f64
    }

    /// Standard error of the mean, 0 for a single repetition.
    pub fn standard_error(&self) -> f64 {
        let n = self.coverages.len() as f64;
        let squares: f64 = self.coverages.iter().map(|c| (c - self.mean()).powi(2)).sum();
        if n < 2.0 { 0.0 } else { (squares / (n - 1.0) / n).sqrt() }
    }

    /// The 5 % and 95 % points of single repetitions.
    pub fn spread(&self) -> (f64, f64) {
        let mut sorted = self.coverages.clone();
        sorted.sort_by(f64::total_cmp);
        // Rounded to a repetition that happened: nothing is interpolated over a few of them.
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        (at(0.05), at(0.95))
    }
}

/// Repeats the experiment: a quarter of the rows fits the line, a quarter calibrates, half is the test set.
///
/// Ratios are estimated between the features of the calibration rows and of the shifted test points, as many as a quarter
/// of the test half, drawn with replacement. Scores are absolute residuals.
pub fn repeat(
    data: &Airfoil,
    repetitions: usize,
    alpha: Miscoverage,
    seed: Seed,
) -> Result<Vec<MethodCoverage>> {
    if repetitions == 0 {
        let (what, expected) = ("the number of repetitions", "at least 1");
        return Err(Error::BadSetting { what, found: 0.0, expected });
    }
    let runs: Vec<[f64; 5]> = (0..repetitions)
        .into_par_iter()
        // A seed for each repetition, by its number: threads do not change a result.
        .map(|index| run(data, alpha, seed.child("airfoil", index as u64)))
        .collect::<Result<_>>()?;
    let each = Method::ALL.iter().enumerate().map(|(place, method)| MethodCoverage {
        method: *method,
        coverages: runs.iter().map(|run| run[place]).collect(),
    });
    Ok(each.collect())
}

fn run(data: &Airfoil, alpha: Miscoverage, seed: Seed) -> Result<[f64; 5]> {
    let order = permutation(&mut seed.stream("split"), data.rows());
    let (train, rest) = order.split_at(data.rows() / 4);
    let (calibrate, test) = rest.split_at(data.rows() / 4);
    let line = Line::fit(data, train);
    let score = |row: usize| (data.levels[row] - line.predict(data.row(row))).abs();
    let scores: Vec<f64> = calibrate.iter().map(|row| score(*row)).collect();
    let shifted = tilted(data, test, &mut seed.stream("shift"));

    // Tilts are relative to the test set's largest: exp(x'beta) itself is of the order 1e-7.
    let largest = test.iter().map(|row| tilt(data, *row)).fold(f64::NEG_INFINITY, f64::max);
    let true_ratio = |row: usize| (tilt(data, row) - largest).exp();
    let (old, new) = (data.features_of(calibrate), data.features_of(&shifted));
    let logistic =
        RatioEstimator::Logistic.fit(feature_rows(&old)?, feature_rows(&new)?, seed)?.model;
    let logistic_of = |wanted: &[usize]| -> Result<Vec<f64>> {
        Ok(logistic.ratios(feature_rows(&data.features_of(wanted))?)?)
    };
    let forest = Forest::grow(&old, &new, FEATURES, ForestSettings::default(), seed);

    let mut coverages = [0.0; 5];
    for (slot, method) in coverages.iter_mut().zip(Method::ALL) {
        let tested = if method == Method::NoShift { test } else { &shifted };
        let ratios_of = |wanted: &[usize]| -> Result<Vec<f64>> {
            Ok(match method {
                Method::NoShift | Method::Unweighted => vec![1.0; wanted.len()],
                Method::Oracle => wanted.iter().map(|row| true_ratio(*row)).collect(),
                Method::Logistic => logistic_of(wanted)?,
                Method::Forest => wanted.iter().map(|row| forest.ratio(data.row(*row))).collect(),
            })
        };
        // Ratios may be off by a common factor, which cancels between calibration and test points.
        let prepared = RatioThresholds::new(&scores, &KnownRatios::new(ratios_of(calibrate)?)?)?;
        let thresholds = prepared.thresholds(&ratios_of(tested)?, alpha)?;
        let pairs = tested.iter().zip(thresholds);
        let covered = pairs.filter(|(row, threshold)| threshold.admits(score(**row))).count();
        *slot = covered as f64 / tested.len() as f64;
    }
    Ok(coverages)
}

fn feature_rows(values: &[f64]) -> evenkeel::Result<Rows<'_, f64>> {
    Rows::new("airfoil features", values, FEATURES)
}

/// `x'beta`.
fn tilt(data: &Airfoil, row: usize) -> f64 {
    data.row(row).iter().zip(BETA).map(|(x, b)| x * b).sum()
}

/// Rows drawn with replacement, with probability proportional to `exp(x'beta)`.
fn tilted(data: &Airfoil, rows: &[usize], stream: &mut Stream) -> Vec<usize> {
    // Relative to the largest, so that the sum neither overflows nor vanishes.
    let largest = rows.iter().map(|row| tilt(data, *row)).fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    let cumulative: Vec<f64> = rows
        .iter()
        .map(|row| {
            total += (tilt(data, *row) - largest).exp();
            total
        })
        .collect();
    let draw = |stream: &mut Stream| {
        let point = stream.uniform() * total;
        // The minimum keeps a product that rounds up to the total from pointing past the end.
        rows[cumulative.partition_point(|sum| *sum <= point).min(rows.len() - 1)]
    };
    (0..rows.len().div_ceil(DRAWN)).map(|_| draw(stream)).collect()
}

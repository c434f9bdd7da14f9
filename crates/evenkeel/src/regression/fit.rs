//! The gate: is there a shift, do the scores feel it, and how far should the readings be followed?
//!
//! ```text
//! test does not reject        split conformal: w_i = 1/n, test mass 1/(n + 1)
//! rejects, strength = 0       split conformal: the change of the scores' law is no more than noise
//! else                        w = u + strength (mean of the readings - u), test mass 1/(n_w + 1)
//! ```
//! `n_w` is kept at 30 points or more by lowering the strength: quantiles of fewer say nothing of a level such as 90 %. The test
//! point's share `1/(n_w + 1)` is its expected share under known ratios, and `1/(n + 1)` for equal weights.

use serde::Serialize;

use super::neighbours::neighbour_weights;
use super::shrinkage::{Shrinkage, shrinkage};
use crate::error::{Error, Result, require_finite, require_same_length, require_some};
use crate::level::FailureProbability;
use crate::measure::Weights;
use crate::method::likelihood_ratio::shrunk_log_ratios;
use crate::numeric::places_in_order;
use crate::rows::Rows;
use crate::seed::Seed;
use crate::shift::{CovariateTest, covariate_test, permutations_for};
use crate::threshold::TestMass;

/// Precision of the normal prior on the coefficients of the ratio, in standardised features: a standard deviation of 0.32.
///
/// A coefficient of 0.32 is a shift by a third of a standard deviation. The prior weighs as much as ten rows, so that hundreds of them
/// find larger shifts all the same.
const RATIO_PRECISION: f64 = 10.0;
/// Fewest effective points that corrected weights may have.
const LEAST_EFFECTIVE: f64 = 30.0;

/// What a reading takes the target data to mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RegressionReading {
    /// The law of a score is kept at what the model says: its prediction, its width.
    Calibrated,
    /// The law of a score is kept at `x`; target points are weighted by the ratio of outputs and features.
    LikelihoodRatio,
}

impl RegressionReading {
    /// The word in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Calibrated => "calibrated",
            Self::LikelihoodRatio => "likelihood-ratio",
        }
    }
}

/// Labeled points of the calibration data by their scores, and what is known of both sides without labels.
#[derive(Debug, Clone, Copy)]
pub struct ScoredPoints<'a> {
    scores: &'a [f64],
    calibration: Rows<'a, f64>,
    target: Rows<'a, f64>,
    outputs: usize,
}

impl<'a> ScoredPoints<'a> {
    /// Scores `(n,)`, and covariates `(n, d)` and `(m, d)`: outputs of the model in the first `outputs` columns (prediction, width),
    /// features in the others.
    ///
    /// # Errors
    /// If there are no scores or one is not finite, the tables do not belong to them or to each other, or there is no output.
    pub fn new(
        scores: &'a [f64],
        calibration: Rows<'a, f64>,
        target: Rows<'a, f64>,
        outputs: usize,
    ) -> Result<Self> {
        require_some("calibration scores", scores)?;
        require_finite("calibration scores", scores)?;
        let n = scores.len();
        require_same_length("calibration covariates", calibration.rows(), "calibration scores", n)?;
        let columns = calibration.columns();
        require_same_length(
            "target covariates",
            target.columns(),
            "calibration covariates",
            columns,
        )?;
        if outputs == 0 || outputs > columns {
            return Err(Error::OutOfRange {
                what: "the number of outputs",
                value: outputs as f64,
                expected: "at least 1 and at most the number of columns",
            });
        }
        Ok(Self { scores, calibration, target, outputs })
    }

    /// Number of calibration points `n`.
    pub fn rows(&self) -> usize {
        self.scores.len()
    }

    /// Number of target points `m`.
    pub fn target_rows(&self) -> usize {
        self.target.rows()
    }

    /// Scores of the calibration points.
    pub(super) fn scores(&self) -> &'a [f64] {
        self.scores
    }

    /// The weights of a reading.
    ///
    /// # Errors
    /// If a covariate is not finite.
    pub fn weights(&self, reading: RegressionReading, seed: Seed) -> Result<Weights> {
        let n = self.rows();
        match reading {
            RegressionReading::Calibrated => {
                let outputs = |table: Rows<'_, f64>| -> Vec<f64> {
                    table.iter().flat_map(|row| row[..self.outputs].to_vec()).collect()
                };
                let (old, new) = (outputs(self.calibration), outputs(self.target));
                let rows = |values| Rows::new("outputs", values, self.outputs);
                neighbour_weights(rows(&old)?, rows(&new)?, seed.child("neighbours", 0))
            }
            // One point has nobody to be weighed against.
            RegressionReading::LikelihoodRatio if n < 2 => Weights::uniform(n),
            RegressionReading::LikelihoodRatio => {
                let seed = seed.child("regression-ratio", 0);
                let log_ratios =
                    shrunk_log_ratios(self.calibration, self.target, RATIO_PRECISION, seed);
                Weights::softmax(log_ratios)
            }
        }
    }
}

/// How the gate decides.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `level` | 0.05 | a shift is found where there is none this often | `(0, 1)` |
/// | `permutations` | 999 | relabelings of the test | at least 1 |
/// | `seed` | 0 | root of all randomness | |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateSettings {
    /// Level of the shift test.
    pub level: FailureProbability,
    /// Relabelings that the test draws.
    pub permutations: usize,
    /// Root of all randomness.
    pub seed: Seed,
}

impl GateSettings {
    /// The defaults at a level of the test.
    pub fn new(level: FailureProbability, seed: Seed) -> Self {
        Self { level, permutations: permutations_for(level), seed }
    }
}

/// What the gate decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Decision {
    /// The test found no shift: split conformal.
    NoShift,
    /// There is a shift, and the scores show no more of it than noise would: split conformal.
    NoChangeOfScores,
    /// There is a shift, and the scores feel it: weights.
    Corrected,
}

impl Decision {
    /// The word in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoShift => "no-shift",
            Self::NoChangeOfScores => "no-change-of-scores",
            Self::Corrected => "corrected",
        }
    }
}

/// A reading and its weights, in the order of the scores given.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadWeights {
    /// What is assumed.
    pub reading: RegressionReading,
    /// One for each calibration point.
    pub weights: Weights,
}

/// Weights on the scores of a regressor, and what they rest on.
#[derive(Debug, Clone, PartialEq)]
pub struct RegressionFit {
    /// The shift test.
    pub test: CovariateTest,
    /// Each reading alone.
    pub readings: Vec<ReadWeights>,
    /// How far their mean is followed.
    pub shrinkage: Shrinkage,
    /// What was decided.
    pub decision: Decision,
    /// The strength applied: 0 for split conformal, and no more than the shrinkage allows.
    pub strength: f64,
    /// The weights to use, in the order of the scores given.
    pub weights: Weights,
    /// The test point's share of the mass.
    pub test_mass: TestMass,
}

impl RegressionFit {
    /// Passes the points through the gate.
    ///
    /// # Errors
    /// If a covariate is not finite, or no permutation is asked for.
    pub fn new(points: &ScoredPoints<'_>, settings: GateSettings) -> Result<Self> {
        let GateSettings { level, permutations, seed } = settings;
        let n = points.rows();
        let test = covariate_test(points.calibration, points.target, permutations, seed)?;
        let readings = [RegressionReading::Calibrated, RegressionReading::LikelihoodRatio]
            .into_iter()
            .map(|reading| Ok(ReadWeights { reading, weights: points.weights(reading, seed)? }))
            .collect::<Result<Vec<_>>>()?;
        let each = 1.0 / n as f64;
        let mean: Vec<f64> = (0..n)
            .map(|i| {
                let sum: f64 = readings.iter().map(|read| read.weights.as_slice()[i]).sum();
                sum / readings.len() as f64
            })
            .collect();
        let order = places_in_order(points.scores);
        let sorted: Vec<f64> = order.iter().map(|index| points.scores[*index]).collect();
        let arranged = Weights::normalised(order.iter().map(|index| mean[*index]).collect())?;
        let found = shrinkage(&sorted, &arranged)?;
        // Summed in the order given: n_w = 1 / (1/n + strength^2 sum d^2).
        let squares: f64 = mean.iter().map(|weight| (weight - each).powi(2)).sum();
        let room = 1.0 / LEAST_EFFECTIVE.min(n as f64) - each;
        let most = if squares > 0.0 { (room.max(0.0) / squares).sqrt() } else { 0.0 };
        let strength = if test.rejects(level) { found.strength.min(most) } else { 0.0 };
        let decision = match (test.rejects(level), strength > 0.0) {
            (false, _) => Decision::NoShift,
            (true, false) => Decision::NoChangeOfScores,
            (true, true) => Decision::Corrected,
        };
        let (weights, test_mass) = if decision == Decision::Corrected {
            let moved = mean.iter().map(|weight| (each + strength * (weight - each)).max(0.0));
            let weights = Weights::normalised(moved.collect())?;
            let effective = weights.effective_sample_size();
            (weights, TestMass::from_unnormalised(1.0, effective)?)
        } else {
            (Weights::uniform(n)?, TestMass::exchangeable(n))
        };
        Ok(Self { test, readings, shrinkage: found, decision, strength, weights, test_mass })
    }
}

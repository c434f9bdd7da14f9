//! The fitted value: calibration points with their kernel, ready for test points at any rate.

use super::at_rate::{ConditionalAtRate, ConditionalSolution};
use super::cross_validation::choose_lambda;
use super::kernel::{KernelMatrix, finite_features, require_size};
use super::settings::{ConditionalSettings, FlatIntercept, LambdaChoice};
use crate::error::{Error, Result, require_finite, require_same_length};
use crate::level::Miscoverage;
use crate::rows::{Real, Rows};
use crate::threshold::Threshold;

/// Calibration features and scores with the kernel among them: good for every rate.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionalModel {
    /// Kernel among the calibration points, with their features.
    kernel: KernelMatrix,
    /// Calibration scores in the order of the features; shape `(n,)`.
    scores: Vec<f64>,
    /// Penalty on the norm of the fit, positive; given or chosen.
    lambda: f64,
    /// Which end of an interval of optimal intercepts is taken.
    flat_intercept: FlatIntercept,
}

impl ConditionalModel {
    /// Calibration features, shape `(n, d)`, with the score of each point.
    ///
    /// Distances are taken in the features as they are: scale them to comparable ranges, of which `gamma` is in units.
    ///
    /// # Errors
    /// If a setting is out of range, a feature or score is not finite, or the points are none or more than
    /// [`LARGEST_CALIBRATION`](super::LARGEST_CALIBRATION).
    pub fn fit<T: Real>(
        features: Rows<'_, T>,
        scores: &[f64],
        settings: &ConditionalSettings,
    ) -> Result<Self> {
        settings.check()?;
        let columns = features.columns();
        let features = finite_features(&features)?;
        check_scores(scores, features.len() / columns)?;
        // Before cross-validation, which would work through the folds of too many points first.
        require_size(scores.len())?;
        let lambda = match &settings.lambda {
            LambdaChoice::Fixed(lambda) => *lambda,
            LambdaChoice::CrossValidated { folds, candidates, alpha, seed } => {
                let split = (*folds, *seed);
                choose_lambda(
                    &features,
                    columns,
                    scores,
                    settings.gamma,
                    candidates,
                    *alpha,
                    split,
                )?
            }
        };
        let kernel = KernelMatrix::new(&features, columns, settings.gamma)?;
        Ok(Self {
            kernel,
            scores: scores.to_vec(),
            lambda,
            flat_intercept: settings.flat_intercept,
        })
    }

    /// Number of calibration points, at least one.
    pub(crate) fn n(&self) -> usize {
        self.scores.len()
    }

    /// Number of features of a point, at least one.
    pub(crate) fn columns(&self) -> usize {
        self.kernel.columns()
    }

    /// Calibration features, row after row; a copy, as they are kept column by column.
    pub(crate) fn features(&self) -> Vec<f64> {
        self.kernel.features()
    }

    /// Calibration scores in the order of the features; shape `(n,)`.
    pub(crate) fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// `gamma` of the kernel `exp(-gamma distance^2)`, positive.
    pub(crate) fn gamma(&self) -> f64 {
        self.kernel.gamma()
    }

    /// Penalty: the given one, or the one cross-validation chose.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// Which end of an interval of optimal intercepts is taken.
    pub(crate) fn flat_intercept(&self) -> FlatIntercept {
        self.flat_intercept
    }

    /// The solution without a test point at one rate, from which the cutoffs of all test points start.
    ///
    /// # Errors
    /// If the program of the calibration points does not end.
    pub fn at(&self, alpha: Miscoverage) -> Result<ConditionalAtRate<'_>> {
        ConditionalAtRate::new(self, alpha)
    }

    /// The cutoffs of test points with these features, shape `(m, d)`.
    ///
    /// Every call starts with the solution without a test point; to read test points in blocks, keep it with
    /// [`at`](Self::at).
    ///
    /// # Errors
    /// As [`at`](Self::at), or if the features of a test point are not finite or not as many as those of the calibration
    /// points.
    pub fn cutoffs<T: Real>(
        &self,
        test: Rows<'_, T>,
        alpha: Miscoverage,
    ) -> Result<Vec<Threshold>> {
        // Before the work: what is wrong with the rows is known at once.
        self.test_features(&test)?;
        self.at(alpha)?.cutoffs(test)
    }

    /// The cutoff of one test point with the evidence for it; see `ConditionalAtRate::solution`.
    ///
    /// # Errors
    /// As [`cutoffs`](Self::cutoffs).
    pub fn solution(
        &self,
        point: &[f64],
        alpha: Miscoverage,
    ) -> Result<Option<ConditionalSolution>> {
        self.at(alpha)?.solution(point)
    }

    /// The kernel, for the programs at a rate.
    pub(super) fn kernel(&self) -> &KernelMatrix {
        &self.kernel
    }

    /// Test features as `f64`: as many as the calibration points have, all finite.
    pub(super) fn test_features<T: Real>(&self, test: &Rows<'_, T>) -> Result<Vec<f64>> {
        require_same_length(
            "a test feature row",
            test.columns(),
            "a calibration feature row",
            self.columns(),
        )?;
        finite_features(test)
    }

    /// From parts that were checked; computes the kernel again, which is no part of a file.
    ///
    /// # Errors
    /// `TooMany` beyond the largest calibration.
    pub(super) fn from_parts(
        features: &[f64],
        columns: usize,
        scores: Vec<f64>,
        (gamma, lambda): (f64, f64),
        flat_intercept: FlatIntercept,
    ) -> Result<Self> {
        let kernel = KernelMatrix::new(features, columns, gamma)?;
        Ok(Self { kernel, scores, lambda, flat_intercept })
    }
}

/// Scores, one for each row, whose differences are finite.
///
/// # Errors
/// `LengthMismatch`, `NotFinite`, or `OutOfRange` for a score beyond [`LARGEST_SCORE`].
pub(super) fn check_scores(scores: &[f64], rows: usize) -> Result<()> {
    require_same_length("scores", scores.len(), "features", rows)?;
    require_finite("scores", scores)?;
    match scores.iter().find(|score| score.abs() > LARGEST_SCORE) {
        None => Ok(()),
        Some(score) => Err(Error::OutOfRange {
            what: "a score",
            value: *score,
            expected: "between -1e150 and 1e150, so that differences stay finite",
        }),
    }
}

/// Far from overflow: gradients are differences of scores, and tolerances products with them.
const LARGEST_SCORE: f64 = 1e150;

//! A method of the tables on the points of a cell.

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::conformal::{LabelSets, predict_rows};
use evenkeel::evaluation::total_coverage_gap;
use evenkeel::level::Miscoverage;
use evenkeel::measure::{WeightedEmpirical, Weights};
use evenkeel::method::likelihood_ratio::{
    KnownRatios, RatioEstimator, RatioModel, RatioThresholds,
};
use evenkeel::method::{Method, RatioChoice, WeightsChoice};
use evenkeel::rows::Rows;
use evenkeel::score::Score;
use evenkeel::seed::Seed;

use super::method::ImageMethod;
use super::softmax::Subset;
use crate::error::Result;

/// Test points of the conditional method: a quadratic program each.
const MOST_CONDITIONAL_ROWS: usize = 2000;

/// The points of a cell, by role.
#[derive(Debug)]
pub(super) struct CellPoints {
    pub(super) calibration: Subset,
    /// The calibration points and as many again.
    pub(super) both_halves: Subset,
    /// Its labels are the oracle's.
    pub(super) unlabeled: Subset,
    pub(super) test: Subset,
    pub(super) severity: u32,
    /// Grid points of the paper's objective.
    pub(super) grid: usize,
    pub(super) alpha: Miscoverage,
}

/// What a method came to.
#[derive(Debug)]
pub(super) enum Calibrated {
    /// As a user gets it.
    ByCore(Box<Calibration>),
    /// Likelihood ratios without the core's refusal where calibration and target data can be told apart: the paper's tables hold
    /// such cells too.
    ByRatios { model: RatioModel, thresholds: RatioThresholds, effective: f64 },
}

impl Calibrated {
    /// Calibrates a method on the points of a cell.
    pub(super) fn by(method: ImageMethod, points: &CellPoints, seed: Seed) -> Result<Self> {
        let asked = method.in_core(points.severity, points.grid)?;
        let labeled = match (method, asked) {
            // With their labels, as many as every other method has without.
            (ImageMethod::Oracle, _) => &points.unlabeled,
            // Fitted on one half and calibrated on the other: twice the points, as in the paper.
            (_, Method::OptimalTransport(settings))
                if settings.weights == WeightsChoice::Function =>
            {
                &points.both_halves
            }
            (_, Method::LikelihoodRatio(RatioChoice::Estimated(estimator))) => {
                return by_ratios(estimator, points, seed);
            }
            _ => &points.calibration,
        };
        let calibrator =
            ShiftCalibrator { method: asked, score: Score::Lac, alpha: points.alpha, seed };
        let calibration = calibrator.calibrate(
            &labeled.probabilities()?,
            &labeled.labels()?,
            &points.unlabeled.probabilities()?,
        )?;
        Ok(Self::ByCore(Box::new(calibration)))
    }

    /// The sets of a block of test rows; `first_row` is the index of its first row.
    pub(super) fn predict(
        &self,
        first_row: usize,
        rows: Rows<'_, f32>,
        alpha: Miscoverage,
    ) -> Result<LabelSets> {
        Ok(match self {
            Self::ByCore(calibration) => calibration.predict(first_row, rows, None)?,
            Self::ByRatios { model, thresholds, .. } => {
                let each = thresholds.thresholds(&model.ratios(rows)?, alpha)?;
                predict_rows(first_row, rows, &Score::Lac, &each)?
            }
        })
    }

    /// Measured total coverage gap, where points have no thresholds of their own.
    pub(super) fn total_gap(&self, test_law: &WeightedEmpirical) -> Option<f64> {
        match self {
            Self::ByCore(calibration) => calibration.total_gap(test_law),
            Self::ByRatios { thresholds, .. } => {
                Some(total_coverage_gap(thresholds.law(), test_law))
            }
        }
    }

    /// The bound that was minimised, at the learned weights.
    pub(super) fn bound(&self) -> Option<f64> {
        match self {
            Self::ByCore(calibration) => calibration.learned().bound_after,
            Self::ByRatios { .. } => None,
        }
    }

    /// Effective sample size of the weights.
    pub(super) fn effective(&self) -> f64 {
        match self {
            Self::ByCore(calibration) => calibration.effective_sample_size(),
            Self::ByRatios { effective, .. } => *effective,
        }
    }
}

impl ImageMethod {
    /// Test points that are tried at most.
    pub(super) fn most_test_rows(self) -> usize {
        if self == Self::Conditional { MOST_CONDITIONAL_ROWS } else { usize::MAX }
    }
}

/// On the vector of scores, as in the paper; probabilities are the same up to a sign, which no estimator here sees.
fn by_ratios(estimator: RatioEstimator, points: &CellPoints, seed: Seed) -> Result<Calibrated> {
    let calibration = points.calibration.table()?;
    let model = estimator.fit(calibration, points.unlabeled.table()?, seed)?.model;
    let ratios = model.ratios(calibration)?;
    // Of the calibration points alone: the test point's own weight changes from point to point.
    let effective = Weights::normalised(ratios.clone())?.effective_sample_size();
    let scores = Score::Lac
        .label_scores(&points.calibration.probabilities()?, &points.calibration.labels()?)?;
    let thresholds = RatioThresholds::new(&scores, &KnownRatios::new(ratios)?)?;
    Ok(Calibrated::ByRatios { model, thresholds, effective })
}

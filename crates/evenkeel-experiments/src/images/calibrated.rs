//! A method of the tables on the points of a cell.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::evaluation::Evaluation;
use evenkeel::level::Miscoverage;
use evenkeel::method::likelihood_ratio::RatioModel;
use evenkeel::method::{Method, RatioChoice, WeightsChoice};
use evenkeel::seed::Seed;

use super::method::ImageMethod;
use super::softmax::Subset;
use crate::error::Result;
use crate::trial::{Points, Trial};

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
    /// What another classifier says of the calibration and of the unlabeled images.
    pub(super) second: Option<[Subset; 2]>,
    /// Share of right predictions on the test points.
    pub(super) accuracy: f64,
    pub(super) severity: u32,
    /// Grid points of the paper's objective.
    pub(super) grid: usize,
    pub(super) alpha: Miscoverage,
}

/// What a method came to.
#[derive(Debug)]
pub(super) struct Calibrated {
    pub(super) trial: Trial,
    /// What gives the test points their ratios, where the method is given ratios.
    ratios: Option<RatioModel>,
}

impl Calibrated {
    /// Calibrates a method on the points of a cell.
    pub(super) fn by(method: ImageMethod, points: &CellPoints, seed: Seed) -> Result<Self> {
        let asked = method.in_core(points.severity, points.grid, points.accuracy)?;
        let (score, alpha) = (method.score(), points.alpha);
        let calibrator = ShiftCalibrator { method: asked, score, alpha, seed };
        let labeled = match (method, asked) {
            // With their labels, as many as every other method has without.
            (ImageMethod::Oracle, _) => &points.unlabeled,
            // Fitted on one half and calibrated on the other: twice the points, as in the paper.
            (_, Method::OptimalTransport(settings))
                if settings.weights == WeightsChoice::Function =>
            {
                &points.both_halves
            }
            _ => &points.calibration,
        };
        let (mut labeled, mut target) = (labeled.points()?, points.unlabeled.points()?);
        let wide = match (&points.second, method.takes_a_second_opinion()) {
            (Some(second), true) => Some(second.each_ref().map(Subset::widened)),
            _ => None,
        };
        if let Some([calibration, unlabeled]) = &wide {
            labeled.second = Some(calibration);
            target.second = Some(unlabeled);
        }
        let Method::LikelihoodRatio(RatioChoice::Estimated(estimator)) = asked else {
            return Ok(Self {
                trial: Trial::calibrate(&calibrator, labeled, target)?,
                ratios: None,
            });
        };
        // Estimated here and given to the job, as users give theirs: where calibration and target data can be told apart the
        // job estimates none, and the paper's tables hold such cells too. On the vector of scores, as in the paper;
        // probabilities are the same up to a sign, which no estimator here sees.
        let table = points.calibration.table()?;
        let model = estimator.fit(table, points.unlabeled.table()?, seed)?.model;
        let ratios = model.ratios(table)?;
        let calibrator = calibrator.method(Method::LikelihoodRatio(RatioChoice::Known));
        let labeled = Points { ratios: Some(&ratios), ..labeled };
        let trial = Trial::calibrate(&calibrator, labeled, target)?;
        Ok(Self { trial, ratios: Some(model) })
    }

    /// Coverage and sizes on test points.
    pub(super) fn evaluate(&self, test: &Subset) -> Result<Evaluation> {
        let ratios = match &self.ratios {
            Some(model) => Some(model.ratios(test.table()?)?),
            None => None,
        };
        self.trial.evaluate(Points { ratios: ratios.as_deref(), ..test.points()? })
    }
}

impl ImageMethod {
    /// Test points that are tried at most.
    pub(super) fn most_test_rows(self) -> usize {
        if self == Self::Conditional { MOST_CONDITIONAL_ROWS } else { usize::MAX }
    }
}

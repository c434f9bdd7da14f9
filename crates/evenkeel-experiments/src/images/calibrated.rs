//! How each method of the tables is calibrated on the points of a cell.

use evenkeel::calibration::Cutoffs;
use evenkeel::calibrator::{Method, ShiftCalibrator, TransportSettings, WeightsChoice};
use evenkeel::check::{DEFAULT_PERMUTATIONS, predictions, shift_test};
use evenkeel::conformal::conditional::{ConditionalModel, ConditionalSettings};
use evenkeel::conformal::{
    EntropyPower, EntropyScaling, QuantileTransfer, TestMass, Threshold, TransferRule,
    conformal_threshold,
};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::{WeightedEmpirical, Weights};
use evenkeel::reweighting::label_plan::{LabelPlanSettings, LabelPlanner, TodayRows, Yesterday};
use evenkeel::reweighting::likelihood_ratio::{
    KnownRatios, RatioEstimator, RatioModel, RatioThresholds, TelescopingSettings,
};
use evenkeel::rows::Rows;
use evenkeel::score::Score;
use evenkeel::seed::Seed;

use super::method::ImageMethod;
use super::softmax::Subset;
use crate::error::Result;

/// Test points of the conditional method: a quadratic program each.
const MOST_CONDITIONAL_ROWS: usize = 500;
/// Level of the shift test and of the label plan's certificate.
const DELTA: f64 = 0.05;

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
pub(super) struct Calibrated {
    rule: CutRule,
    /// The weighted law of calibration scores, where there is one for all test points.
    pub(super) law: Option<WeightedEmpirical>,
    /// The bound that was minimised, at the learned weights.
    pub(super) bound: Option<f64>,
    /// Effective sample size of the weights.
    pub(super) effective: Option<f64>,
}

/// Where it cuts.
#[derive(Debug)]
enum CutRule {
    Shared(Threshold),
    Ratios(RatioModel, RatioThresholds),
    Conditional(Box<ConditionalModel>),
}

impl Calibrated {
    /// Calibrates a method on the points of a cell.
    pub(super) fn by(method: ImageMethod, points: &CellPoints, seed: Seed) -> Result<Self> {
        let CellPoints { calibration, unlabeled, .. } = points;
        match method {
            ImageMethod::Uncorrected => split(calibration, points.alpha),
            ImageMethod::Oracle => split(unlabeled, points.alpha),
            ImageMethod::LikelihoodRatio => likelihood_ratio(points, seed),
            ImageMethod::EntropyScaling => entropy_scaling(points),
            ImageMethod::QuantileTransfer => quantile_transfer(points),
            ImageMethod::Conditional => conditional(points),
            ImageMethod::LabelPlan => label_plan(points, seed),
            ImageMethod::Auto => auto(points, seed),
            ImageMethod::Transport(..) => match method.transport(points.severity, points.grid)? {
                Some(settings) => transport(settings, points, seed),
                None => split(calibration, points.alpha),
            },
        }
    }

    fn shared(threshold: Threshold) -> Self {
        Self { rule: CutRule::Shared(threshold), law: None, bound: None, effective: None }
    }

    /// Test points that are tried at most.
    pub(super) fn most_test_rows(&self) -> usize {
        match self.rule {
            CutRule::Conditional(_) => MOST_CONDITIONAL_ROWS,
            _ => usize::MAX,
        }
    }

    /// The thresholds of a block of test rows.
    pub(super) fn cutoffs(&self, rows: Rows<'_, f32>, alpha: Miscoverage) -> Result<Cutoffs> {
        Ok(match &self.rule {
            CutRule::Shared(threshold) => Cutoffs::Shared(*threshold),
            CutRule::Ratios(model, thresholds) => {
                Cutoffs::PerRow(thresholds.thresholds(&model.ratios(rows)?, alpha)?)
            }
            CutRule::Conditional(model) => Cutoffs::PerRow(model.cutoffs(rows, alpha)?),
        })
    }
}

fn scores_of(points: &Subset) -> Result<Vec<f64>> {
    Ok(Score::Lac.label_scores(&points.probabilities()?, &points.labels()?)?)
}

fn split(points: &Subset, alpha: Miscoverage) -> Result<Calibrated> {
    let scores = scores_of(points)?;
    let law = WeightedEmpirical::uniform(&scores)?;
    let threshold = conformal_threshold(&law, TestMass::exchangeable(scores.len()), alpha);
    let effective = Some(scores.len() as f64);
    Ok(Calibrated { law: Some(law), effective, ..Calibrated::shared(threshold) })
}

/// On the vector of scores, as in the paper; probabilities are the same up to a sign, which no estimator here sees.
fn likelihood_ratio(points: &CellPoints, seed: Seed) -> Result<Calibrated> {
    let calibration = points.calibration.table()?;
    let estimator = RatioEstimator::Telescoping(TelescopingSettings::default());
    let model = estimator.fit(calibration, points.unlabeled.table()?, seed)?.model;
    let ratios = model.ratios(calibration)?;
    let effective = Weights::normalised(ratios.clone())?.effective_sample_size();
    let ratios = KnownRatios::new(ratios)?;
    let thresholds = RatioThresholds::new(&scores_of(&points.calibration)?, &ratios)?;
    let law = Some(thresholds.law().clone());
    let rule = CutRule::Ratios(model, thresholds);
    Ok(Calibrated { rule, law, bound: None, effective: Some(effective) })
}

fn entropy_scaling(points: &CellPoints) -> Result<Calibrated> {
    let scores = scores_of(&points.calibration)?;
    let law = WeightedEmpirical::uniform(&scores)?;
    let split = conformal_threshold(&law, TestMass::exchangeable(scores.len()), points.alpha);
    let today = points.unlabeled.table()?;
    let mut scaling = EntropyScaling::new(today.columns(), EntropyPower::One)?;
    scaling.add(0, today)?;
    Ok(Calibrated::shared(scaling.cut(split, points.alpha)?.lac_threshold()))
}

fn quantile_transfer(points: &CellPoints) -> Result<Calibrated> {
    let law = WeightedEmpirical::uniform(&scores_of(&points.calibration)?)?;
    let mut transfer = QuantileTransfer::default();
    transfer.add_yesterday(0, points.calibration.table()?)?;
    transfer.add_today(0, points.unlabeled.table()?)?;
    Ok(Calibrated::shared(transfer.threshold(TransferRule::Qtc, &law, points.alpha)?))
}

/// On the vector of scores, whose distances are those of the probabilities.
fn conditional(points: &CellPoints) -> Result<Calibrated> {
    let scores = scores_of(&points.calibration)?;
    let features = points.calibration.table()?;
    let model = ConditionalModel::fit(features, &scores, &ConditionalSettings::default())?;
    let rule = CutRule::Conditional(Box::new(model));
    Ok(Calibrated { rule, law: None, bound: None, effective: None })
}

fn label_plan(points: &CellPoints, seed: Seed) -> Result<Calibrated> {
    let (table, labels) = (points.calibration.probabilities()?, points.calibration.labels()?);
    let yesterday = Yesterday::of_probabilities(&table, &labels, &Score::Lac)?;
    let settings = LabelPlanSettings::new(FailureProbability::new(DELTA)?);
    let planner = LabelPlanner::new(yesterday, Score::Lac, settings, seed)?;
    let plan = planner.plan(&TodayRows::Probabilities(points.unlabeled.table()?))?;
    let law = WeightedEmpirical::new(plan.thresholds().scores(), plan.weights())?;
    let threshold = Threshold::Finite(plan.threshold(points.alpha).score);
    let effective = Some(plan.weights().effective_sample_size());
    Ok(Calibrated { law: Some(law), effective, ..Calibrated::shared(threshold) })
}

fn auto(points: &CellPoints, seed: Seed) -> Result<Calibrated> {
    let yesterday = predictions(&points.calibration.probabilities()?);
    let today = predictions(&points.unlabeled.probabilities()?);
    let test = shift_test(&yesterday, &today, DEFAULT_PERMUTATIONS, seed)?;
    if test.rejects(FailureProbability::new(DELTA)?) {
        label_plan(points, seed)
    } else {
        split(&points.calibration, points.alpha)
    }
}

fn transport(settings: TransportSettings, points: &CellPoints, seed: Seed) -> Result<Calibrated> {
    let yesterday = match settings.weights {
        // Fitted on one half and calibrated on the other: twice the points, as in the paper.
        WeightsChoice::Function => &points.both_halves,
        WeightsChoice::FreeForm => &points.calibration,
    };
    let method = Method::OptimalTransport(settings);
    let calibrator = ShiftCalibrator { method, score: Score::Lac, alpha: points.alpha, seed };
    let calibration = calibrator.calibrate(
        &yesterday.probabilities()?,
        &yesterday.labels()?,
        &points.unlabeled.probabilities()?,
    )?;
    let law = calibration.law();
    let threshold = conformal_threshold(law, calibration.test_mass(), points.alpha);
    Ok(Calibrated {
        law: Some(law.clone()),
        bound: calibration.learned().bound_after,
        effective: Some(calibration.effective_sample_size()),
        ..Calibrated::shared(threshold)
    })
}

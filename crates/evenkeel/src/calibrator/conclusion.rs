//! From what was gathered to a calibration, one method after the other.

use std::ops::ControlFlow;

use super::fit::Known;
use super::gathered::Gathered;
use super::transport::Weighted;
use super::{
    ConditionalChoice, LabelShiftChoice, Method, PENALTIES, PenaltyChoice, RatioChoice,
    ShiftCalibrator, Today,
};
use crate::auto::Decision;
use crate::calibration::{Calibration, ConditionalRule, Evidence, RatioRule, RatioSource, Rule};
use crate::check::ShiftTest;
use crate::conformal::conditional::{
    ConditionalModel, ConditionalSettings, FlatIntercept, LambdaChoice,
};
use crate::conformal::{QuantileTransfer, TestMass};
use crate::error::{Error, Result};
use crate::measure::Weights;
use crate::reweighting::label_plan::{LabelPlan, LabelPlanner, SecondPass};
use crate::reweighting::label_shift::{LabelWeights, black_box_shift, expectation_maximisation};
use crate::reweighting::likelihood_ratio::RatioFit;
use crate::reweighting::optimise::TracePoint;
use crate::rows::Rows;
use crate::score::Probabilities;

impl ShiftCalibrator {
    /// The calibration of all that was gathered.
    pub(super) fn conclude(
        &self,
        known: &Known,
        gathered: Gathered,
        rows: usize,
        test: Option<ShiftTest>,
        observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
    ) -> Result<Calibration> {
        match gathered {
            Gathered::Sketch(sketched) => {
                let sandwich = self.sketched_sandwich(&sketched.0)?;
                self.with_laws(known, Today::Sandwich(&sandwich), observer)
            }
            Gathered::Kept(kept) => {
                let today = Probabilities::new(&kept, known.classes)?;
                let candidates = self.score.with_draws_for("today").candidate_scores(&today)?;
                self.with_laws(known, Today::Candidates(&candidates), observer)
            }
            Gathered::Entropies(scaling) => {
                self.split(known, Rule::EntropyScaled { scaling }, None)
            }
            Gathered::Confidences(today) => {
                let Method::QuantileTransfer(rule) = self.method else { return Err(OTHER_METHOD) };
                let mut confidences = QuantileTransfer::new(&known.confidences, &[])?;
                confidences.merge(&today)?;
                self.split(known, Rule::Transferred { rule, confidences }, None)
            }
            Gathered::Nothing => match self.method {
                Method::Conditional(choice) => self.conditional(known, choice),
                _ => {
                    let ratios = known.ratios.clone().ok_or(OTHER_METHOD)?;
                    self.by_ratio(known, &ratios, RatioSource::Known, None)
                }
            },
            Gathered::Predicted(predicted) => {
                let predicted = predicted.into_values();
                let classes = known.classes;
                let weights =
                    black_box_shift(&known.predicted, &known.labels, &predicted, classes)?;
                self.by_label(known, weights)
            }
            Gathered::Rows(kept, width) => {
                let rows: Vec<f64> = kept.into_values().into_iter().flatten().collect();
                self.with_rows(known, &rows, width)
            }
            // The shift test of `auto` found nothing.
            Gathered::FirstPass(_) => self.decided(known, rows, test, None),
            Gathered::SecondPass(pass) => {
                let (planner, second): (LabelPlanner, SecondPass) = *pass;
                self.decided(known, rows, test, Some(&planner.finish(second)?))
            }
        }
    }

    /// Weights that are given, equal, or learned from laws around today's scores.
    fn with_laws(
        &self,
        known: &Known,
        today: Today<'_>,
        observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
    ) -> Result<Calibration> {
        match &known.weights {
            Some(weights) if self.method == Method::Fixed => {
                self.fixed(&known.scores, weights, today, known.classes)
            }
            _ => {
                let range = self.score.range(known.classes);
                self.calibrate_observed(&known.scores, today, known.classes, range, observer)
            }
        }
    }

    /// A ratio or class shares estimated from today's rows.
    fn with_rows(&self, known: &Known, rows: &[f64], width: usize) -> Result<Calibration> {
        match self.method {
            Method::LikelihoodRatio(RatioChoice::Estimated(estimator)) => {
                let (yesterday, columns) = &known.described;
                let yesterday = Rows::new("yesterday's features", yesterday, *columns)?;
                let today = Rows::new("today's features", rows, width)?;
                let RatioFit { model, evidence } = estimator.fit(yesterday, today, self.seed)?;
                evidence.require_overlap()?;
                let ratios = model.ratios(yesterday)?;
                let source = RatioSource::Model { basis: known.basis, model };
                self.by_ratio(known, &ratios, source, Some(Evidence::LikelihoodRatio(evidence)))
            }
            Method::LabelShift(LabelShiftChoice::ExpectationMaximisation(settings)) => {
                let today = Probabilities::new(rows, width)?;
                let weights = expectation_maximisation(&known.labels, &today, settings)?;
                self.by_label(known, weights)
            }
            _ => Err(OTHER_METHOD),
        }
    }

    fn by_label(&self, known: &Known, weights: LabelWeights) -> Result<Calibration> {
        let of_label = weights.ratios();
        let ratios: Vec<f64> =
            known.labels.as_slice().iter().map(|label| of_label[*label]).collect();
        let evidence = Evidence::LabelShift(weights.evidence().clone());
        self.by_ratio(known, &ratios, RatioSource::Labels { weights }, Some(evidence))
    }

    /// Weights proportional to ratios, which are in the caller's order.
    fn by_ratio(
        &self,
        known: &Known,
        ratios: &[f64],
        source: RatioSource,
        evidence: Option<Evidence>,
    ) -> Result<Calibration> {
        let (order, scores) = known.sorted();
        let ratios: Vec<f64> = order.iter().map(|index| ratios[*index]).collect();
        let rule = RatioRule::new(scores.clone(), ratios.clone(), source)?;
        // What a test point as heavy as the average calibration point takes: its own share is known only at prediction.
        let test_mass = TestMass::exchangeable(scores.len());
        let weights = (Weights::normalised(ratios)?, test_mass);
        let weighted = Weighted { evidence, ..Weighted::given(scores, weights, None) };
        self.finish(self.method.name(), weighted, Rule::ByRatio(rule), known.classes)
    }

    fn conditional(&self, known: &Known, choice: ConditionalChoice) -> Result<Calibration> {
        let lambda = match choice.penalty {
            PenaltyChoice::Fixed(lambda) => LambdaChoice::Fixed(lambda),
            PenaltyChoice::CrossValidated { folds } => LambdaChoice::CrossValidated {
                folds,
                candidates: PENALTIES.to_vec(),
                alpha: self.alpha,
                seed: self.seed,
            },
        };
        let settings = ConditionalSettings {
            gamma: choice.gamma,
            lambda,
            flat_intercept: FlatIntercept::default(),
        };
        let (features, columns) = &known.described;
        let features = Rows::new("features", features, *columns)?;
        let model = ConditionalModel::fit(features, &known.scores, &settings)?;
        self.split(known, Rule::Conditional(ConditionalRule::new(known.basis, model)), None)
    }

    /// Equal weights, and a rule that makes more of them.
    fn split(&self, known: &Known, rule: Rule, evidence: Option<Evidence>) -> Result<Calibration> {
        let (_, scores) = known.sorted();
        let n = scores.len();
        let weights = (Weights::uniform(n)?, TestMass::exchangeable(n));
        let weighted = Weighted { evidence, ..Weighted::given(scores, weights, None) };
        self.finish(self.method.name(), weighted, rule, known.classes)
    }

    /// The label plan, or `auto` with or without one.
    fn decided(
        &self,
        known: &Known,
        rows: usize,
        test: Option<ShiftTest>,
        plan: Option<&LabelPlan>,
    ) -> Result<Calibration> {
        let evidence = match (self.method, test, plan) {
            (Method::Auto(settings), Some(test), _) => {
                let sizes = (known.scores.len(), rows as u64);
                let decision = Decision::new(test, settings.level, sizes, self.alpha, plan);
                Evidence::Auto(Box::new(decision))
            }
            (_, _, Some(plan)) => Evidence::LabelPlan {
                plan: Box::new(plan.evidence().clone()),
                warnings: plan.warnings(self.alpha),
            },
            _ => return Err(OTHER_METHOD),
        };
        let Some(plan) = plan else {
            return self.split(known, Rule::Quantile, Some(evidence));
        };
        let thresholds = plan.thresholds().clone();
        let scores = thresholds.scores().to_vec();
        let bound = plan.evidence().certificate.value;
        let weighted = Weighted {
            evidence: Some(evidence),
            bound_after: Some(bound),
            ..Weighted::given(scores, (plan.weights().clone(), TestMass::NONE), None)
        };
        self.finish(self.method.name(), weighted, Rule::Planned { thresholds }, known.classes)
    }
}

/// Rows are gathered for the method that asks for them, so this cannot be reached.
const OTHER_METHOD: Error = Error::Unsupported {
    what: "finishing a fit with another method than it was begun with",
    instead: "begin again",
};

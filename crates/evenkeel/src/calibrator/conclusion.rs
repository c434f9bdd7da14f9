//! From what was gathered to a calibration, one method after the other.

use std::ops::ControlFlow;

use super::fit::Known;
use super::gathered::Gathered;
use super::{ShiftCalibrator, TargetScores};
use crate::calibration::{Calibration, ConditionalRule, Evidence, RatioRule, RatioSource, Rule};
use crate::error::{Error, Result};
use crate::learning::optimise::TracePoint;
use crate::measure::Weights;
use crate::method::auto::Decision;
use crate::method::conditional::{
    ConditionalModel, ConditionalSettings, FlatIntercept, LambdaChoice,
};
use crate::method::label_plan::{LabelPlan, LabelPlanner, SecondPass};
use crate::method::label_shift::{LabelWeights, black_box_shift, expectation_maximisation};
use crate::method::likelihood_ratio::RatioFit;
use crate::method::ot::Weighted;
use crate::method::quantile_transfer::QuantileTransfer;
use crate::method::{
    ConditionalChoice, LabelShiftChoice, Method, PENALTIES, PenaltyChoice, RatioChoice,
};
use crate::rows::Rows;
use crate::score::Probabilities;
use crate::shift::ShiftTest;
use crate::threshold::TestMass;

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
                self.with_laws(known, TargetScores::Sandwich(&sandwich), observer)
            }
            Gathered::Kept(kept) => {
                let target = Probabilities::new(&kept, known.classes)?;
                let candidates = self.score.with_draws_for("today").candidate_scores(&target)?;
                self.with_laws(known, TargetScores::Candidates(&candidates), observer)
            }
            Gathered::Entropies(scaling) => {
                self.split(known, Rule::EntropyScaled { scaling }, None)
            }
            Gathered::Confidences(target) => {
                let Method::QuantileTransfer(rule) = self.method else { return Err(OTHER_METHOD) };
                let mut confidences = QuantileTransfer::new(&known.confidences, &[])?;
                confidences.merge(&target)?;
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

    /// Weights that are given, equal, or learned from laws around target scores.
    fn with_laws(
        &self,
        known: &Known,
        target: TargetScores<'_>,
        observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
    ) -> Result<Calibration> {
        match &known.weights {
            Some(weights) if self.method == Method::Fixed => {
                self.fixed(&known.scores, weights, target, known.classes)
            }
            _ => {
                let range = self.score.range(known.classes);
                self.calibrate_observed(&known.scores, target, known.classes, range, observer)
            }
        }
    }

    /// A ratio or class shares estimated from target rows.
    fn with_rows(&self, known: &Known, rows: &[f64], width: usize) -> Result<Calibration> {
        match self.method {
            Method::LikelihoodRatio(RatioChoice::Estimated(estimator)) => {
                let (labeled, columns) = &known.described;
                let labeled = Rows::new("calibration features", labeled, *columns)?;
                let target = Rows::new("target features", rows, width)?;
                let RatioFit { model, evidence } = estimator.fit(labeled, target, self.seed)?;
                evidence.require_overlap()?;
                let ratios = model.ratios(labeled)?;
                let source = RatioSource::Model { basis: known.basis, model };
                self.by_ratio(known, &ratios, source, Some(Evidence::LikelihoodRatio(evidence)))
            }
            Method::LabelShift(LabelShiftChoice::ExpectationMaximisation(settings)) => {
                let target = Probabilities::new(rows, width)?;
                let weights = expectation_maximisation(&known.labels, &target, settings)?;
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

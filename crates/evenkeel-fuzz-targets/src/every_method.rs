//! Every method in every form, with so few steps that thousands of fits a second are possible.

use evenkeel::learning::optimise::StoppingRule;
use evenkeel::level::FailureProbability;
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::entropy_scaling::EntropyPower;
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::method::label_shift::EmSettings;
use evenkeel::method::likelihood_ratio::{NetworkSettings, RatioEstimator, TelescopingSettings};
use evenkeel::method::quantile_transfer::TransferRule;
use evenkeel::method::{
    ConditionalChoice, FewLabelsSettings, Guarantee, LabelShiftChoice, Method, PenaltyChoice,
    RatioChoice, TransportSettings,
};

/// Optimiser steps: enough to leave the beginning.
const STEPS: usize = 3;

/// All of them; stored inputs name a method by its place, so new ones stand last.
pub(crate) fn every_method() -> Vec<Method> {
    let delta = FailureProbability::FIVE_PERCENT;
    let estimated = |estimator| Method::LikelihoodRatio(RatioChoice::Estimated(estimator));
    let transport = TransportSettings {
        stopping: StoppingRule::after(STEPS).unwrap_or_default(),
        ..TransportSettings::default()
    };
    let network = NetworkSettings { steps: STEPS, ..NetworkSettings::default() };
    vec![
        Method::Uncorrected,
        Method::Auto(AutoSettings::new(delta)),
        Method::LabelPlan(LabelPlanSettings::new(delta)),
        Method::FewLabels(FewLabelsSettings::new(delta)),
        Method::FewLabels(FewLabelsSettings {
            // So few rows are kept that the law takes a second pass.
            plan: LabelPlanSettings { kept_cells: 10, ..LabelPlanSettings::new(delta) },
            guarantee: Guarantee::Average,
            ..FewLabelsSettings::new(delta)
        }),
        Method::OptimalTransport(transport),
        Method::LikelihoodRatio(RatioChoice::Known),
        estimated(RatioEstimator::Logistic),
        estimated(RatioEstimator::Network(network)),
        estimated(RatioEstimator::Telescoping(TelescopingSettings::default())),
        Method::LabelShift(LabelShiftChoice::BlackBox),
        Method::LabelShift(LabelShiftChoice::ExpectationMaximisation(EmSettings::default())),
        Method::EntropyScaled(EntropyPower::One),
        Method::EntropyScaled(EntropyPower::Two),
        Method::QuantileTransfer(TransferRule::Qtc),
        Method::QuantileTransfer(TransferRule::SourceCoverage),
        Method::QuantileTransfer(TransferRule::SourceThreshold),
        Method::Conditional(ConditionalChoice::default()),
        Method::Conditional(ConditionalChoice {
            penalty: PenaltyChoice::CrossValidated { folds: 3 },
            ..ConditionalChoice::default()
        }),
        Method::Fixed,
    ]
}

//! A classifier of three classes in the plane, whose points move.

use std::sync::OnceLock;

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::learning::optimise::StoppingRule;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::entropy_scaling::EntropyPower;
use evenkeel::method::label_plan::{Assumption, KnownAccuracy, LabelPlanSettings, PlanAssumptions};
use evenkeel::method::label_shift::EmSettings;
use evenkeel::method::likelihood_ratio::{NetworkSettings, RatioEstimator, TelescopingSettings};
use evenkeel::method::quantile_transfer::TransferRule;
use evenkeel::method::{
    ConditionalChoice, FewLabelsSettings, Guarantee, LabelShiftChoice, Method, PenaltyChoice,
    RatioChoice, TransportSettings,
};
use evenkeel::rows::Rows;
use evenkeel::score::{Labels, Score, softmax_rows};
use evenkeel::seed::{Seed, Stream};
use evenkeel::side_inputs::{SideInputs, TargetLabels};

pub const CLASSES: usize = 3;

/// Points with what a classifier says of them.
pub struct Points {
    pub features: Vec<f64>,
    pub probabilities: Vec<f64>,
    pub labels: Labels,
    /// `dQ/dP` of the shift that was asked for.
    pub ratios: Vec<f64>,
    /// What two other models say of them.
    pub second: Vec<f64>,
}

/// `X ~ N((shift, 0), I)`. Labels follow the classifier's softmax on the right; on the left it is more confident than it
/// should be. The law of labels given `x` never changes: the shift is one of covariates.
pub fn points(rows: usize, shift: f64, true_shift: f64, seed: u64) -> Points {
    let mut stream = Seed::new(seed).stream("points");
    let (mut features, mut logits, mut honest) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let (x, y) = (normal(&mut stream) + shift, normal(&mut stream));
        features.extend([x, y]);
        let said = [2.0 * x, -x + 1.5 * y, -x - 1.5 * y];
        logits.extend(said);
        honest.extend(said.map(|logit| if x < 0.0 { 0.3 * logit } else { logit }));
    }
    let softmax =
        |logits: &[f64]| softmax_rows(Rows::new("logits", logits, CLASSES).unwrap(), 1.0).unwrap();
    let probabilities = softmax(&logits);
    let draw = |row: &[f64]| {
        let u = stream.uniform();
        if u < row[0] {
            0
        } else if u < row[0] + row[1] {
            1
        } else {
            2
        }
    };
    let labels = softmax(&honest).chunks(CLASSES).map(draw).collect();
    let ratios = features
        .chunks(2)
        .map(|x| (true_shift * x[0] - true_shift * true_shift / 2.0).exp())
        .collect();
    let second = second_models(&probabilities);
    let labels = Labels::new(labels, CLASSES).unwrap();
    Points { features, probabilities, labels, ratios, second }
}

fn normal(stream: &mut Stream) -> f64 {
    let (u, v) = (1.0 - stream.uniform(), stream.uniform());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

impl Points {
    pub fn rows(&self) -> Rows<'_, f64> {
        Rows::new("probabilities", &self.probabilities, CLASSES).unwrap()
    }

    pub fn beside(&self) -> SideInputs<'_> {
        SideInputs {
            features: Some(Rows::new("features", &self.features, 2).unwrap()),
            ratios: Some(&self.ratios),
            weights: Some(&self.ratios),
            second: Some(Rows::new("second models", &self.second, 2 * CLASSES).unwrap()),
            ..SideInputs::default()
        }
    }
}

/// What two other models say of rows: one is less sure, the other takes some classes for their neighbours.
pub fn second_models(probabilities: &[f64]) -> Vec<f64> {
    let of_row = |row: &[f64]| {
        let raw: Vec<f64> = row.iter().map(|p| p.powf(0.6)).collect();
        let total: f64 = raw.iter().sum();
        let neighbour = |class: usize| 0.7 * row[class] + 0.3 * row[(class + 1) % row.len()];
        let confused: Vec<f64> = (0..row.len()).map(neighbour).collect();
        raw.into_iter().map(move |p| p / total).chain(confused).collect::<Vec<f64>>()
    };
    probabilities.chunks_exact(CLASSES).flat_map(of_row).collect()
}

/// What stands beside the calibration points, with labels of target rows for the method that needs them.
pub fn with_labels<'a>(method: &Method, beside: SideInputs<'a>) -> SideInputs<'a> {
    static LABELS: OnceLock<TargetLabels> = OnceLock::new();
    let labels = LABELS.get_or_init(|| {
        let pairs: Vec<(u64, usize)> =
            (9..27).map(|key| (key, key as usize * 7 % CLASSES)).collect();
        TargetLabels::new(&pairs, CLASSES).unwrap()
    });
    match method {
        Method::FewLabels(_) => SideInputs { labels: Some(labels), ..beside },
        _ => beside,
    }
}

pub fn alpha(value: f64) -> Miscoverage {
    Miscoverage::new(value).unwrap()
}

pub fn calibrator(method: Method) -> ShiftCalibrator {
    ShiftCalibrator { method, score: Score::Lac, alpha: alpha(0.1), seed: Seed::new(5) }
}

/// The label plan of a reading, or of an accuracy.
pub fn assuming(assume: Assumption, accuracy: Option<f64>) -> LabelPlanSettings {
    let accuracy = accuracy.map(|share| KnownAccuracy::new(share).unwrap());
    let assumptions = PlanAssumptions { assume: Some(assume), accuracy };
    LabelPlanSettings { assumptions, ..LabelPlanSettings::default() }
}

/// Every method in every form.
pub fn methods() -> Vec<Method> {
    let delta = FailureProbability::new(0.05).unwrap();
    let estimated = |estimator| Method::LikelihoodRatio(RatioChoice::Estimated(estimator));
    vec![
        Method::Auto(AutoSettings::new(delta)),
        Method::LabelPlan(LabelPlanSettings::new(delta)),
        Method::LabelPlan(assuming(Assumption::Calibrated, None)),
        Method::LabelPlan(assuming(Assumption::Matched, None)),
        Method::LabelPlan(assuming(Assumption::Blend, None)),
        Method::LabelPlan(assuming(Assumption::ClassShares, Some(0.55))),
        Method::Auto(AutoSettings {
            plan: assuming(Assumption::Matched, None),
            ..AutoSettings::new(delta)
        }),
        Method::Auto(AutoSettings {
            plan: assuming(Assumption::ClassShares, Some(0.7)),
            ..AutoSettings::new(delta)
        }),
        Method::FewLabels(FewLabelsSettings::new(delta)),
        Method::FewLabels(FewLabelsSettings {
            // So few rows are kept that the law takes a second pass.
            plan: LabelPlanSettings { kept_cells: 75, ..LabelPlanSettings::new(delta) },
            guarantee: Guarantee::Average,
            ..FewLabelsSettings::new(delta)
        }),
        Method::OptimalTransport(TransportSettings::default()),
        Method::OptimalTransport(TransportSettings {
            stopping: StoppingRule::after(20).unwrap(),
            ..TransportSettings::paper()
        }),
        Method::Uncorrected,
        Method::LikelihoodRatio(RatioChoice::Known),
        estimated(RatioEstimator::Logistic),
        estimated(RatioEstimator::Network(NetworkSettings {
            steps: 50,
            ..NetworkSettings::default()
        })),
        estimated(RatioEstimator::Telescoping(TelescopingSettings::default())),
        Method::LabelShift(LabelShiftChoice::BlackBox),
        Method::LabelShift(LabelShiftChoice::ExpectationMaximisation(EmSettings::default())),
        Method::EntropyScaled(EntropyPower::One),
        Method::EntropyScaled(EntropyPower::Two),
        Method::QuantileTransfer(TransferRule::Min),
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

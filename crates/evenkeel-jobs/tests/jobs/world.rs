//! A small world: three classes, target data that are harder than the calibration data.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::entropy_scaling::EntropyPower;
use evenkeel::method::likelihood_ratio::RatioEstimator;
use evenkeel::method::quantile_transfer::TransferRule;
use evenkeel::method::{LabelShiftChoice, Method, RatioChoice, TransportSettings};
use evenkeel::score::{Labels, Score};
use evenkeel::seed::Seed;
use evenkeel_jobs::{AnyRows, LabeledData, MemorySource};

pub(crate) const CLASSES: usize = 3;

pub(crate) fn seed() -> Seed {
    Seed::new(3)
}

/// Numbers in `[0, 1)` that are the same everywhere.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Rows of probabilities and labels.
pub(crate) struct Points {
    pub(crate) values: Vec<f64>,
    pub(crate) labels: Vec<usize>,
}

impl Points {
    /// `sharpness` says how sure the model is.
    pub(crate) fn new(rows: usize, sharpness: f64, seed: u64) -> Self {
        let mut draws = Draws(seed);
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let logits: Vec<f64> = (0..CLASSES).map(|_| sharpness * draws.next()).collect();
            let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
            let row: Vec<f64> = logits.iter().map(|logit| logit.exp() / total).collect();
            let (mut left, mut label) = (draws.next(), 0);
            while label + 1 < CLASSES && left > row[label] {
                left -= row[label];
                label += 1;
            }
            values.extend(row);
            labels.push(label);
        }
        Self { values, labels }
    }

    pub(crate) fn calibration() -> Self {
        Self::new(400, 6.0, 1)
    }

    pub(crate) fn target() -> Self {
        Self::new(500, 2.0, 2)
    }

    pub(crate) fn test() -> Self {
        Self::new(300, 2.0, 3)
    }

    pub(crate) fn labeled(&self) -> LabeledData<'_> {
        LabeledData::new("cal", &self.values, CLASSES, "cal labels", self.labels.clone()).unwrap()
    }

    pub(crate) fn checked_labels(&self) -> Labels {
        Labels::new(self.labels.clone(), CLASSES).unwrap()
    }

    /// The rows as a source, in blocks of 64.
    pub(crate) fn source<'a>(&'a self, name: &'a str) -> MemorySource<'a> {
        MemorySource::new(name, AnyRows::f64(&self.values, CLASSES).unwrap()).in_blocks_of(64)
    }
}

pub(crate) fn alpha() -> Miscoverage {
    Miscoverage::new(0.1).unwrap()
}

pub(crate) fn level() -> FailureProbability {
    FailureProbability::new(0.05).unwrap()
}

pub(crate) fn calibrator(method: Method) -> ShiftCalibrator {
    ShiftCalibrator { method, score: Score::Lac, alpha: alpha(), seed: seed() }
}

/// A form of every method that needs no more than probabilities.
pub(crate) fn methods() -> Vec<Method> {
    vec![
        Method::Auto(AutoSettings::new(level())),
        Method::OptimalTransport(TransportSettings::default()),
        Method::Uncorrected,
        Method::LikelihoodRatio(RatioChoice::Estimated(RatioEstimator::Logistic)),
        Method::LabelShift(LabelShiftChoice::BlackBox),
        Method::EntropyScaled(EntropyPower::One),
        Method::QuantileTransfer(TransferRule::Qtc),
    ]
}

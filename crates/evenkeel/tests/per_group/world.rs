//! Rows whose scores are independent and uniform within each class, so that coverage is known exactly.

use std::ops::ControlFlow;

use evenkeel::calibrator::{Ended, Fitted, ShiftCalibrator};
use evenkeel::level::FailureProbability;
use evenkeel::method::Method;
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Labels, Probabilities};
use evenkeel::side_inputs::{Labeled, SideInputs};

/// Numbers in `[0, 1)` that are the same everywhere.
pub struct Draws(pub u64);

impl Draws {
    pub fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Binary rows: a point of class `y` has score `1 - p_y` uniform in `[0, spread_y)`.
pub struct Points {
    pub values: Vec<f64>,
    pub labels: Vec<usize>,
}

impl Points {
    /// So many points of each class, one class after the other.
    pub fn binary(counts: [usize; 2], spread: [f64; 2], draws: &mut Draws) -> Self {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for class in 0..2 {
            for _ in 0..counts[class] {
                let score = spread[class] * draws.next();
                let mut row = [score, score];
                row[class] = 1.0 - score;
                values.extend(row);
                labels.push(class);
            }
        }
        Self { values, labels }
    }

    /// Softmax rows of several classes; the model is right as often as it says at sharpness 4.
    pub fn several(rows: usize, classes: usize, sharpness: f64, draws: &mut Draws) -> Self {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let raw: Vec<f64> = (0..classes).map(|_| draws.next()).collect();
            let law = |sharpness: f64| -> Vec<f64> {
                let powers: Vec<f64> = raw.iter().map(|raw| (sharpness * raw).exp()).collect();
                let total: f64 = powers.iter().sum();
                powers.iter().map(|power| power / total).collect()
            };
            let (mut left, mut label) = (draws.next(), 0);
            let truth = law(4.0);
            while label + 1 < classes && left > truth[label] {
                left -= truth[label];
                label += 1;
            }
            values.extend(law(sharpness));
            labels.push(label);
        }
        Self { values, labels }
    }

    pub fn checked(&self, classes: usize) -> (Probabilities<'_, f64>, Labels) {
        let labels = Labels::new(self.labels.clone(), classes).unwrap();
        (Probabilities::new(&self.values, classes).unwrap(), labels)
    }

    pub fn rows(&self, classes: usize) -> Rows<'_, f64> {
        Rows::new("probabilities", &self.values, classes).unwrap()
    }
}

/// A calibrator at 90 %.
pub fn calibrator(method: Method) -> ShiftCalibrator {
    ShiftCalibrator::new(0.1).unwrap().method(method)
}

/// The label plan with its defaults.
pub fn label_plan() -> Method {
    Method::LabelPlan(LabelPlanSettings::new(FailureProbability::FIVE_PERCENT))
}

/// A fit of both data sets.
pub fn fitted(
    calibrator: &ShiftCalibrator,
    calibration: &Points,
    target: &Points,
    (classes, beside): (usize, SideInputs<'_>),
) -> Fitted {
    let (probabilities, labels) = calibration.checked(classes);
    let labeled = Labeled { probabilities: &probabilities, labels: &labels, beside };
    let mut fit = calibrator.begin(&labeled).unwrap();
    loop {
        let rows = target.rows(classes);
        match fit.add(RowKeys::From(0), rows, SideInputs::default()).unwrap().end_pass().unwrap() {
            Ended::Again(again) => fit = again,
            Ended::Done(ready) => {
                return ready.finish(&mut |_| ControlFlow::Continue(())).unwrap();
            }
        }
    }
}

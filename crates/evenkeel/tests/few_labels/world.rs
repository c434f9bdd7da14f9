//! A classifier that knows less about the target rows than it says.

use std::ops::ControlFlow;

use evenkeel::Result;
use evenkeel::calibration::{Calibration, Evidence};
use evenkeel::calibrator::{Ended, ShiftCalibrator};
use evenkeel::level::Miscoverage;
use evenkeel::method::Method;
use evenkeel::method::few_labels::{FewLabelsEvidence, FewLabelsSettings};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Labels, Probabilities, Score, softmax_rows};
use evenkeel::seed::{Seed, Stream};
use evenkeel::side_inputs::{Labeled, SideInputs, TargetLabels};

/// Rows with their labels.
#[derive(Clone)]
pub struct Points {
    pub probabilities: Vec<f64>,
    pub labels: Vec<usize>,
    pub classes: usize,
}

/// The true class stands out by `signal`; a share `wrong` of the labels is drawn anew, whatever the model says.
pub fn points(rows: usize, classes: usize, signal: f64, wrong: f64, stream: &mut Stream) -> Points {
    let (mut logits, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let shown = stream.below(classes);
        logits.extend((0..classes).map(|class| {
            let lift = if class == shown { signal } else { 0.0 };
            lift + 3.0 * (stream.uniform() + stream.uniform() - 1.0)
        }));
        labels.push(if stream.uniform() < wrong { stream.below(classes) } else { shown });
    }
    let probabilities = softmax_rows(Rows::new("logits", &logits, classes).unwrap(), 1.0).unwrap();
    Points { probabilities, labels, classes }
}

pub fn stream(purpose: &str) -> Stream {
    Seed::new(17).stream(purpose)
}

impl Points {
    /// Labels of the first `k` rows.
    pub fn first_labels(&self, k: usize) -> TargetLabels {
        let pairs: Vec<(u64, usize)> = (0..k).map(|row| (row as u64, self.labels[row])).collect();
        TargetLabels::new(&pairs, self.classes).unwrap()
    }
}

pub fn calibrator(method: Method) -> ShiftCalibrator {
    let alpha = Miscoverage::new(0.1).unwrap();
    ShiftCalibrator { method, score: Score::Lac, alpha, seed: Seed::new(0) }
}

/// Passes that were needed, and the calibration.
pub fn fit_method(
    method: Method,
    calibration: &Points,
    target: &Points,
    labels: &TargetLabels,
) -> Result<(usize, Calibration)> {
    fit_calibrator(calibrator(method), calibration, target, labels)
}

pub fn fit_by(
    score: Score,
    settings: FewLabelsSettings,
    calibration: &Points,
    target: &Points,
    labels: &TargetLabels,
) -> Result<Calibration> {
    let calibrator = ShiftCalibrator { score, ..calibrator(Method::FewLabels(settings)) };
    fit_calibrator(calibrator, calibration, target, labels).map(|(_, found)| found)
}

fn fit_calibrator(
    calibrator: ShiftCalibrator,
    calibration: &Points,
    target: &Points,
    labels: &TargetLabels,
) -> Result<(usize, Calibration)> {
    let probabilities = Probabilities::new(&calibration.probabilities, calibration.classes)?;
    let known = Labels::new(calibration.labels.clone(), calibration.classes)?;
    let beside = SideInputs::labels(labels);
    let mut fit =
        calibrator.begin(&Labeled { probabilities: &probabilities, labels: &known, beside })?;
    let block = Rows::new("probabilities", &target.probabilities, target.classes)?;
    let mut passes = 1;
    loop {
        match fit.add(RowKeys::From(0), block, SideInputs::default())?.end_pass()? {
            Ended::Again(again) => fit = again,
            Ended::Done(ready) => {
                let fitted = ready.finish(&mut |_| ControlFlow::Continue(()))?;
                return Ok((passes, fitted.calibration));
            }
        }
        passes += 1;
    }
}

pub fn fit(
    settings: FewLabelsSettings,
    calibration: &Points,
    target: &Points,
    labels: &TargetLabels,
) -> Result<Calibration> {
    fit_method(Method::FewLabels(settings), calibration, target, labels).map(|(_, found)| found)
}

pub fn evidence(calibration: &Calibration) -> &FewLabelsEvidence {
    match &calibration.learned().evidence {
        Some(Evidence::FewLabels(evidence)) => evidence,
        other => panic!("{other:?}"),
    }
}

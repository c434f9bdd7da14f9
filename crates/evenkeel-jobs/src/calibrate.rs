//! Weights or thresholds for the target data, found once.

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{Fitted, ShiftCalibrator};

use crate::documents::CalibrateDocument;
use crate::error::Result;
use crate::fit::fit;
use crate::labeled::LabeledData;
use crate::observer::Observer;
use crate::source::RowSource;

/// What a calibration job gives.
#[derive(Debug, Clone)]
pub struct Calibrated {
    /// The calibration, to predict with and to store.
    pub calibration: Calibration,
    /// `order[k]` is the input position of the calibration point with the `k`-th smallest score.
    pub order: Vec<usize>,
    /// Seconds of the fit, without reading.
    pub seconds: f64,
}

impl Calibrated {
    /// What people see of it.
    pub fn document<'a>(&'a self, class_names: Option<&'a [String]>) -> CalibrateDocument<'a> {
        CalibrateDocument::new(&self.calibration, self.seconds, class_names)
    }
}

/// Calibrates on labeled data and the unlabeled rows of the target data, which are read once or twice.
///
/// # Errors
/// If the method lacks something it needs, rows are not probabilities, or the observer stops it.
pub fn calibrate(
    calibrator: &ShiftCalibrator,
    labeled: &LabeledData<'_>,
    target: &mut dyn RowSource,
    observer: &mut dyn Observer,
) -> Result<Calibrated> {
    let (Fitted { calibration, order }, seconds) = fit(calibrator, labeled, target, observer)?;
    let calibration = calibration.with_reference(labeled.reference(calibrator.seed)?)?;
    Ok(Calibrated { calibration, order, seconds })
}

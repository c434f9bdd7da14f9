//! Weights or thresholds for the target data, found once.

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{Fitted, ShiftCalibrator};
use evenkeel::evaluation::ClassCoverage;
use evenkeel::threshold::Threshold;

use crate::check::split_coverage_by_class;
use crate::documents::CalibrateDocument;
use crate::error::Result;
use crate::fit::fit;
use crate::grouped::undercovered_classes;
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
    /// Coverage of the calibration points at one threshold of split conformal prediction, class by class.
    pub per_class: Vec<ClassCoverage>,
}

impl Calibrated {
    /// What people see of it.
    pub fn document<'a>(&'a self, class_names: Option<&'a [String]>) -> CalibrateDocument<'a> {
        let mut document = CalibrateDocument::new(&self.calibration, self.seconds, class_names);
        document.warnings.extend(self.class_warning(class_names));
        document
    }

    /// What to know about classes that one threshold covers far below the level; it is not stored with the calibration.
    pub fn class_warning(&self, class_names: Option<&[String]>) -> Option<String> {
        // Where every label or point has a threshold of its own, one for all says nothing of coverage; and an infinite one covers all.
        let Threshold::Finite(_) = self.calibration.threshold(None)? else { return None };
        let alpha = self.calibration.provenance().alpha;
        undercovered_classes(&self.per_class, alpha, class_names)
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
    let (Fitted { calibration, order, .. }, seconds) = fit(calibrator, labeled, target, observer)?;
    let calibration = calibration.with_reference(labeled.reference(calibrator.seed)?)?;
    let per_class = split_coverage_by_class(labeled, &calibrator.score, calibrator.alpha)?;
    Ok(Calibrated { calibration, order, seconds, per_class })
}

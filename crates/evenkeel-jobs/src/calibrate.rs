//! Weights or thresholds for the target data, found once.

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{Fitted, ShiftCalibrator};
use evenkeel::evaluation::ClassCoverage;
use evenkeel::method::MethodName;
use evenkeel::threshold::Threshold;

use crate::check::split_coverage_by_class;
use crate::documents::CalibrateDocument;
use crate::error::Result;
use crate::fit::fit;
use crate::grouped::undercovered_classes;
use crate::labeled::LabeledData;
use crate::observer::Observer;
use crate::source::RowSource;

/// How a warning begins that no set leaves a label out.
const EVERY_LABEL: &str = "every set holds every label";

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
        document.warnings.extend(self.boundless_warning());
        document.warnings.extend(self.class_warning(class_names));
        document
    }

    /// That every set holds every label, where the method's own warnings do not say so.
    pub fn boundless_warning(&self) -> Option<String> {
        let boundless = self.calibration.threshold(None)? == Threshold::AllLabels;
        let said = self.calibration.warnings().iter().any(|found| found.starts_with(EVERY_LABEL));
        (boundless && !said).then(|| {
            format!(
                "{EVERY_LABEL}: {} asks for a level that no calibration score reaches, so the threshold is infinite; use another method, \
                 more calibration points or a larger alpha",
                self.calibration.provenance().method.as_str(),
            )
        })
    }

    /// What to know about classes that one threshold covers far below the level; it is not stored with the calibration.
    pub fn class_warning(&self, class_names: Option<&[String]>) -> Option<String> {
        // Where every label or point has a threshold of its own, one for all says nothing of coverage; and an infinite one covers all.
        let Threshold::Finite(_) = self.calibration.threshold(None)? else { return None };
        let provenance = self.calibration.provenance();
        let said = undercovered_classes(&self.per_class, provenance.alpha, class_names)?;
        Some(match provenance.method {
            MethodName::Uncorrected => said,
            // The threshold of a correction covers the calibration data as it should cover others.
            _ => format!("on the calibration data, without a correction, {said}"),
        })
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

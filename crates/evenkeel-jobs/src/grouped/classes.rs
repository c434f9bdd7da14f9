//! A threshold for each class.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::per_group::{
    ClassFit, ClassFitOf, ClassRows, ClassRowsEnded, PerClassCalibration, SmallGroups, per_class,
};
use evenkeel::rows::RowKeys;

use super::documents::CalibratePerClassDocument;
use crate::any_rows::with_rows;
use crate::blocks::each_block;
use crate::error::{JobError, Result};
use crate::fit::{Clock, fit};
use crate::labeled::LabeledData;
use crate::observer::{Observer, Stage};
use crate::source::RowSource;

/// What a calibration with a threshold for each class gives.
#[derive(Debug, Clone)]
pub struct CalibratedPerClass {
    /// The calibration, to predict with and to store.
    pub calibration: PerClassCalibration,
    /// Seconds of the fit, without reading.
    pub seconds: f64,
}

impl CalibratedPerClass {
    /// What people see of it.
    pub fn document<'a>(
        &'a self,
        class_names: Option<&'a [String]>,
    ) -> CalibratePerClassDocument<'a> {
        CalibratePerClassDocument::new(&self.calibration, self.seconds, class_names)
    }
}

/// Calibrates by a method, then finds a threshold for each class: the target rows are read once or twice more where the method
/// fits a label law to them.
///
/// # Errors
/// As [`calibrate`](crate::calibrate()), if the method has no thresholds for each class, or if classes have too few points and that
/// is refused.
pub fn calibrate_per_class(
    calibrator: &ShiftCalibrator,
    labeled: &LabeledData<'_>,
    target: &mut dyn RowSource,
    small: SmallGroups,
    observer: &mut dyn Observer,
) -> Result<CalibratedPerClass> {
    let (fitted, seconds) = fit(calibrator, labeled, target, observer)?;
    let mut clock = Clock { seconds };
    let side = labeled.side_inputs();
    let of = ClassFitOf {
        labels: labeled.labels(),
        weights: side.weights,
        target_labels: side.labels,
        small,
    };
    let made = match clock.time(|| per_class(fitted, &of))? {
        ClassFit::Done(made) => *made,
        ClassFit::Rows(rows) => read(*rows, labeled.classes(), target, &mut clock, observer)?,
    };
    let calibration = made.with_reference(labeled.reference(calibrator.seed)?)?;
    Ok(CalibratedPerClass { calibration, seconds: clock.seconds })
}

/// Reads the target rows until the laws of all classes are known.
fn read(
    mut rows: ClassRows,
    classes: usize,
    target: &mut dyn RowSource,
    clock: &mut Clock,
    observer: &mut dyn Observer,
) -> Result<PerClassCalibration> {
    loop {
        let mut open = Some(rows);
        each_block(target, classes, (Stage::Reading, observer), |block| {
            let keys = RowKeys::From(block.first_row as u64);
            let add = |open: ClassRows| with_rows!(block.rows, |rows| open.add(keys, rows));
            open = clock.time(|| open.take().map(add).transpose())?;
            Ok(())
        })?;
        let read = open.ok_or_else(|| JobError::NoRows { input: target.name().to_owned() })?;
        match clock.time(|| read.end_pass())? {
            ClassRowsEnded::Again(again) => rows = *again,
            ClassRowsEnded::Done(made) => return Ok(*made),
        }
    }
}

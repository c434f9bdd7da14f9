//! More labels for a calibration: the same bytes as with all of them at once.

use std::collections::BTreeMap;

use evenkeel::calibration::{Calibration, Evidence, Rule};
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::FailureProbability;
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::{Guarantee, Method};

use crate::calibrate::{Calibrated, calibrate};
use crate::error::{JobError, Result};
use crate::labeled::LabeledData;
use crate::observer::Observer;
use crate::source::RowSource;
use crate::target_labels::TargetLabels;

/// Calibrates anew with the labels that a calibration was made with and `new` ones. Calibration data, score, level, guarantee and
/// seed are the calibration's; the target rows, which it does not keep, are read again. `name` is the caller's for it.
///
/// # Errors
/// If it was made by a method that does not use labels, does not keep all of its calibration data or labels, or a row has another
/// label than before; and as [`calibrate`].
pub fn update(
    (name, calibration): (&str, &Calibration),
    new: &TargetLabels,
    target: &mut dyn RowSource,
    observer: &mut dyn Observer,
) -> Result<Calibrated> {
    let cannot = |why: &'static str| JobError::NotCheckable { input: name.to_owned(), why };
    let provenance = *calibration.provenance();
    let (method, before) = made_by(calibration).ok_or_else(|| {
        cannot(
            "only calibrations by auto and few-labels take more labels, and only if they keep those they were made with; calibrate \
             anew with all labels",
        )
    })?;
    let reference = calibration.reference().filter(|kept| kept.labels().len() == kept.of_rows());
    let reference = reference.ok_or_else(|| {
        cannot("it does not keep all of its calibration data; calibrate anew with all labels")
    })?;
    let labels = merged(name, before, new, provenance.classes)?.of_rows(provenance.classes)?;
    let labeled = LabeledData::of_reference(name, reference, provenance.classes)?
        .with_target_entries(new.name(), new.entries());
    let (score, alpha, seed) = (provenance.score, provenance.alpha, provenance.seed);
    let calibrator = ShiftCalibrator { method: method?, score, alpha, seed };
    let mut made = calibrate(&calibrator, &labeled.with_target_labels(&labels), target, observer)?;
    if let Some(names) = calibration.class_names() {
        made.calibration = made.calibration.with_class_names(names.clone())?;
    }
    match other_row(calibration, &made.calibration) {
        None => Ok(made),
        Some(row) => Err(JobError::OtherRow {
            input: target.name().to_owned(),
            calibration: name.to_owned(),
            row,
        }),
    }
}

/// A labeled row of `before` that is another row in `after`: labels of one table would have been given to another.
fn other_row(before: &Calibration, after: &Calibration) -> Option<u64> {
    let marks = |calibration: &Calibration| -> BTreeMap<u64, u32> {
        let Some(Evidence::FewLabels(found)) = &calibration.learned().evidence else {
            return BTreeMap::new();
        };
        let rows = found.labeled_rows.iter().map(|(row, _)| *row);
        rows.zip(found.labeled_marks.iter().copied()).collect()
    };
    let after = marks(after);
    let differs = |(row, mark): &(u64, u32)| after.get(row).is_some_and(|found| found != mark);
    marks(before).into_iter().find(differs).map(|(row, _)| row)
}

/// The method with its settings, and the labels so far; none where it takes no labels.
#[allow(clippy::type_complexity)]
fn made_by(calibration: &Calibration) -> Option<(Result<Method>, &[(u64, usize)])> {
    match (&calibration.learned().evidence, calibration.rule()) {
        (Some(Evidence::FewLabels(found)), rule) if found.labeled_rows.len() == found.labels => {
            let guarantee = match rule {
                Rule::FewLabels { thresholds } => thresholds.guarantee(),
                _ => Guarantee::None,
            };
            let settings = found.settings(guarantee).map(Method::FewLabels);
            Some((settings.map_err(JobError::from), &found.labeled_rows))
        }
        (Some(Evidence::Auto(decision)), _) => {
            let settings = FailureProbability::new(decision.level).map(AutoSettings::new);
            Some((settings.map(Method::Auto).map_err(JobError::from), &[]))
        }
        _ => None,
    }
}

/// Both sets of labels; a row may stand in both with the same label.
fn merged(
    name: &str,
    before: &[(u64, usize)],
    new: &TargetLabels,
    classes: usize,
) -> Result<TargetLabels> {
    let mut all: Vec<(usize, usize)> = Vec::with_capacity(before.len() + new.len());
    for (key, label) in before {
        let row = usize::try_from(*key).map_err(|_| JobError::NotCheckable {
            input: name.to_owned(),
            why: "its labels belong to rows with ids, not to rows of a table; calibrate anew",
        })?;
        match new.label_of(row) {
            Some(other) if other != *label => {
                let (input, before, label) = (new.name().to_owned(), *label, other);
                return Err(JobError::LabeledOtherwise { input, row, label, before });
            }
            // It comes with the new ones.
            Some(_) => {}
            None => all.push((row, *label)),
        }
    }
    all.extend(new.pairs());
    TargetLabels::new(new.name(), all, classes)
}

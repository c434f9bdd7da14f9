//! What differs between calibrations with one threshold and those with one for each class or group.

use evenkeel::calibration::{Calibration, ClassNames};
use evenkeel::level::Miscoverage;
use evenkeel::threshold::Threshold;
use evenkeel_jobs::JobError;
use evenkeel_jobs::documents::CalibrateDocument;
use evenkeel_jobs::grouped::documents::{CalibratePerClassDocument, CalibratePerGroupDocument};
use evenkeel_jobs::grouped::{
    AnyCalibration, calibrated_per_class, calibrated_per_group, group_warnings, merged_classes,
};
use evenkeel_jobs::sentences;
use pyo3::PyResult;

use crate::errors::Failure;
use crate::json;

/// The calibration with one threshold for all; an error for any other.
pub(crate) fn one(calibration: &AnyCalibration) -> Result<&Calibration, Failure> {
    match calibration {
        AnyCalibration::One(one) => Ok(one),
        AnyCalibration::PerClass(_) | AnyCalibration::PerGroup(_) => {
            Err(Failure::from(JobError::NotCheckable {
                input: "calibration".to_owned(),
                why: "it has a threshold for each class or group, and this asks about one; predict_set and evaluate take it, \
                      and check and calibrate take the calibration data",
            }))
        }
    }
}

/// `one`, `class` or `group`.
pub(crate) fn per(calibration: &AnyCalibration) -> &'static str {
    match calibration {
        AnyCalibration::One(_) => "one",
        AnyCalibration::PerClass(_) => "class",
        AnyCalibration::PerGroup(_) => "group",
    }
}

/// The same with names of the columns and the classes.
pub(crate) fn named(
    calibration: AnyCalibration,
    names: ClassNames,
) -> Result<AnyCalibration, Failure> {
    Ok(match calibration {
        AnyCalibration::One(made) => AnyCalibration::One(made.with_class_names(names)?),
        AnyCalibration::PerClass(made) => AnyCalibration::PerClass(made.with_class_names(names)?),
        AnyCalibration::PerGroup(made) => AnyCalibration::PerGroup(made.with_class_names(names)?),
    })
}

/// What the classes are called.
pub(crate) fn class_names(calibration: &AnyCalibration) -> Option<&[String]> {
    calibration.class_names()?.classes.as_deref()
}

/// The document of `evenkeel calibrate`, with a line for each class or group; without the seconds.
pub(crate) fn document(calibration: &AnyCalibration) -> PyResult<String> {
    let names = class_names(calibration);
    match calibration {
        AnyCalibration::One(one) => json(&CalibrateDocument::new(one, 0.0, names)),
        AnyCalibration::PerClass(made) => json(&CalibratePerClassDocument::new(made, 0.0, names)),
        AnyCalibration::PerGroup(made) => json(&CalibratePerGroupDocument::new(made, 0.0)),
    }
}

/// What it came to, for people.
pub(crate) fn said(calibration: &AnyCalibration) -> Vec<String> {
    match calibration {
        AnyCalibration::One(one) => sentences::calibrated(one, None),
        AnyCalibration::PerClass(made) => calibrated_per_class(made, class_names(calibration)),
        AnyCalibration::PerGroup(made) => calibrated_per_group(made),
    }
}

/// What to know before trusting it.
pub(crate) fn warnings(calibration: &AnyCalibration) -> Vec<String> {
    match calibration {
        AnyCalibration::One(one) => sentences::warnings_of(one),
        AnyCalibration::PerClass(made) => {
            let mut said = sentences::warnings_of(made.pooled());
            said.extend(merged_classes(made, class_names(calibration)));
            said
        }
        AnyCalibration::PerGroup(made) => group_warnings(made),
    }
}

/// Names of the groups, or numbers of the classes, with the threshold of each: infinite where every label is taken, none
/// where points or labels have their own.
pub(crate) fn thresholds(
    calibration: &AnyCalibration,
    alpha: Option<Miscoverage>,
) -> Vec<(String, Option<f64>)> {
    match calibration {
        AnyCalibration::One(one) => {
            vec![("all".to_owned(), one.threshold(alpha).map(Threshold::get))]
        }
        AnyCalibration::PerClass(made) => {
            let found = made.thresholds(alpha);
            let named = found.iter().enumerate();
            named.map(|(class, found)| (class.to_string(), Some(found.get()))).collect()
        }
        AnyCalibration::PerGroup(made) => {
            let mut found = Vec::new();
            for part in made.parts() {
                let threshold = match &part.calibration {
                    None => Some(f64::INFINITY),
                    Some(one) => one.threshold(alpha).map(Threshold::get),
                };
                found.extend(part.groups.iter().map(|group| (group.clone(), threshold)));
            }
            found.sort_by(|a, b| a.0.cmp(&b.0));
            found
        }
    }
}

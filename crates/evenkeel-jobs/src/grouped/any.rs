//! A stored calibration: one threshold for all, one for each class, or one for each group.

use evenkeel::calibration::{Calibration, CalibrationHeader, ClassNames, Provenance};
use evenkeel::error::{Error, Input, PointSet, SideInput, User};
use evenkeel::per_group::{PerClassCalibration, PerGroupCalibration};
use serde::Serialize;

use crate::error::{JobError, Result};
use crate::predict::refuse_unused;
use crate::stored::parse_calibration;

/// A calibration of any kind, as `calibrate` stores it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant)]
pub enum AnyCalibration {
    /// One threshold for all classes and groups, or one for each point.
    One(Calibration),
    /// A threshold for each class.
    PerClass(PerClassCalibration),
    /// A calibration for each group.
    PerGroup(PerGroupCalibration),
}

impl AnyCalibration {
    /// Method, score, classes, level and seed.
    pub fn provenance(&self) -> &Provenance {
        match self {
            Self::One(calibration) => calibration.provenance(),
            Self::PerClass(calibration) => calibration.pooled().provenance(),
            Self::PerGroup(calibration) => calibration.provenance(),
        }
    }

    /// What the user calls the classes; none in files that do not say.
    pub fn class_names(&self) -> Option<&ClassNames> {
        match self {
            Self::One(calibration) => calibration.class_names(),
            Self::PerClass(calibration) => calibration.pooled().class_names(),
            Self::PerGroup(calibration) => calibration.class_names(),
        }
    }

    /// Whether the rows to predict must have groups.
    pub fn needs_groups(&self) -> bool {
        matches!(self, Self::PerGroup(_))
    }

    /// Number of calibration points.
    pub fn points(&self) -> u64 {
        match self {
            Self::One(calibration) => calibration.scores().len() as u64,
            Self::PerClass(calibration) => calibration.pooled().scores().len() as u64,
            Self::PerGroup(calibration) => calibration.parts().iter().map(|part| part.points).sum(),
        }
    }

    /// The plain calibration, an error for any other; `why` says what cannot be done with those.
    ///
    /// # Errors
    /// If it has thresholds for each class or group; `name` is the caller's for it.
    pub fn into_one(self, name: &str) -> Result<Calibration> {
        match self {
            Self::One(calibration) => Ok(calibration),
            Self::PerClass(_) | Self::PerGroup(_) => Err(JobError::NotCheckable {
                input: name.to_owned(),
                why: "it has a threshold for each class or group, and this asks about one; predict and evaluate take it, and \
                      check and calibrate take the calibration data",
            }),
        }
    }

    /// An error if features or ratios are given that it has no use for.
    ///
    /// # Errors
    /// If they are.
    pub fn refuse_unused(&self, features: bool, ratios: bool) -> Result<()> {
        let (uses_features, uses_ratios) = match self {
            Self::One(calibration) => return refuse_unused(calibration, features, ratios),
            Self::PerClass(_) => (false, false),
            Self::PerGroup(made) => (made.needs_features(), made.needs_ratios()),
        };
        let unused = [
            (SideInput::Features, features && !uses_features),
            (SideInput::Ratios, ratios && !uses_ratios),
        ];
        match unused.into_iter().find(|(_, unused)| *unused) {
            None => Ok(()),
            Some((side, _)) => Err(JobError::Core(Error::NotUsed {
                what: Input::Side(side, PointSet::Predicted),
                by: User::Calibration(self.provenance().method.as_str()),
                owners: Vec::new(),
            })),
        }
    }
}

/// Reads and checks the text of a calibration file of any kind.
///
/// # Errors
/// If it is something else, of a later version, or damaged.
pub fn parse_any_calibration(text: &str) -> Result<AnyCalibration> {
    let damaged = |error: serde_json::Error| {
        let words = error.to_string();
        let found = words.strip_prefix("this calibration is damaged: ").unwrap_or(&words);
        let found = found.replace("; make it again", "");
        JobError::Calibration(format!(
            "this calibration is damaged: {found}; give a file written by `evenkeel calibrate`"
        ))
    };
    match serde_json::from_str::<CalibrationHeader>(text) {
        Ok(header) if header.is_per_class() => {
            serde_json::from_str(text).map(AnyCalibration::PerClass).map_err(damaged)
        }
        Ok(header) if header.is_per_group() => {
            serde_json::from_str(text).map(AnyCalibration::PerGroup).map_err(damaged)
        }
        _ => parse_calibration(text).map(AnyCalibration::One),
    }
}

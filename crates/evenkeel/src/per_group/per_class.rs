//! A threshold for each class: sets, and the stored form.
//!
//! ```text
//! C(x) = {y : s(x, y) <= t_y}
//! ```

use serde::{Deserialize, Serialize};

use super::group_law::GroupLaw;
use super::parts::Standing;
use crate::calibration::{Calibration, CalibrationHeader, ClassNames};
use crate::conformal::{LabelSets, Thresholds};
use crate::error::{Error, Result};
use crate::level::Miscoverage;
use crate::rows::{Real, RowKeys, Rows};
use crate::threshold::Threshold;

/// What a file of thresholds for each class says it is.
pub(crate) const FORMAT: &str = "evenkeel/calibration-per-class";
const VERSION: u32 = 1;

/// Classes that share a threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassPart {
    /// The classes, increasing.
    pub classes: Vec<usize>,
    /// What their threshold rests on.
    pub standing: Standing,
    /// Calibration points of each of them.
    pub points: Vec<u64>,
    /// What their size was judged by: the same number, its weight, or the target rows expected of them.
    pub size: f64,
    /// What thresholds follow from; none where every set holds the label.
    pub law: Option<GroupLaw>,
}

impl ClassPart {
    /// The threshold at a rate.
    pub fn threshold(&self, alpha: Miscoverage) -> Threshold {
        self.law.as_ref().map_or(Threshold::AllLabels, |law| law.threshold(alpha))
    }
}

/// A calibration with a threshold for each class. One fit serves every alpha; classes were merged for its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct PerClassCalibration {
    pooled: Calibration,
    parts: Vec<ClassPart>,
    /// Index of the part of each class.
    part_of: Vec<usize>,
}

impl PerClassCalibration {
    pub(super) fn new(pooled: Calibration, parts: Vec<ClassPart>) -> Result<Self> {
        let damaged = |why| Err(Error::Damaged { what: "this calibration", why });
        let classes = pooled.provenance().classes;
        let mut part_of = vec![usize::MAX; classes];
        for (index, part) in parts.iter().enumerate() {
            for class in &part.classes {
                match part_of.get_mut(*class) {
                    Some(place) if *place == usize::MAX => *place = index,
                    _ => return damaged("a class has two thresholds, or is none of its classes"),
                }
            }
            if part.points.len() != part.classes.len() {
                return damaged("its classes and their numbers of points do not fit each other");
            }
            part.law.as_ref().map_or(Ok(()), GroupLaw::check)?;
        }
        if part_of.contains(&usize::MAX) {
            return damaged("a class has no threshold");
        }
        Ok(Self { pooled, parts, part_of })
    }

    /// The calibration with one threshold for all classes, by the same method: method, score, level, evidence and warnings.
    pub fn pooled(&self) -> &Calibration {
        &self.pooled
    }

    /// With other calibration data kept in it.
    ///
    /// # Errors
    /// If they are not rows of as many classes.
    pub fn with_reference(self, reference: crate::calibration::Reference) -> Result<Self> {
        Ok(Self { pooled: self.pooled.with_reference(reference)?, ..self })
    }

    /// With what the user calls the classes.
    ///
    /// # Errors
    /// If there is not one name for each class, or two classes have the same one.
    pub fn with_class_names(self, names: ClassNames) -> Result<Self> {
        Ok(Self { pooled: self.pooled.with_class_names(names)?, ..self })
    }

    /// The classes that share a threshold, in the order of their first.
    pub fn parts(&self) -> &[ClassPart] {
        &self.parts
    }

    /// The part that a class belongs to; none for a class that there is not.
    pub fn part_of(&self, class: usize) -> Option<&ClassPart> {
        self.part_of.get(class).map(|part| &self.parts[*part])
    }

    /// Calibration points of a class; 0 for a class that there is not.
    pub fn points_of(&self, class: usize) -> u64 {
        let found = self.part_of(class).and_then(|part| {
            let place = part.classes.iter().position(|other| *other == class)?;
            part.points.get(place).copied()
        });
        found.unwrap_or(0)
    }

    /// `t_y` of every class at a rate, that of the run if none is given; shape `(C,)`.
    pub fn thresholds(&self, alpha: Option<Miscoverage>) -> Vec<Threshold> {
        let alpha = alpha.unwrap_or(self.pooled.provenance().alpha);
        let of_parts: Vec<Threshold> =
            self.parts.iter().map(|part| part.threshold(alpha)).collect();
        self.part_of.iter().map(|part| of_parts[*part]).collect()
    }

    /// The sets of a block of probability rows; `first_row` is the index of its first row in the whole input.
    ///
    /// # Errors
    /// If the block has other classes than the calibration, or a row does not hold probabilities.
    pub fn predict<T: Real>(
        &self,
        first_row: usize,
        block: Rows<'_, T>,
        alpha: Option<Miscoverage>,
    ) -> Result<LabelSets> {
        self.predict_at(first_row, block, &self.thresholds(alpha))
    }

    /// The same at [`thresholds`](Self::thresholds) that were found before: many blocks need them once.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), or if there is not a threshold for each class.
    pub fn predict_at<T: Real>(
        &self,
        first_row: usize,
        block: Rows<'_, T>,
        thresholds: &[Threshold],
    ) -> Result<LabelSets> {
        let keys = RowKeys::From(first_row as u64);
        self.pooled.predict_cut(keys, block, Thresholds::PerLabel(thresholds))
    }
}

/// As it stands in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stored {
    format: String,
    version: u32,
    parts: Vec<ClassPart>,
    pooled: Calibration,
}

impl From<PerClassCalibration> for Stored {
    fn from(PerClassCalibration { pooled, parts, .. }: PerClassCalibration) -> Self {
        Self { format: FORMAT.to_owned(), version: VERSION, parts, pooled }
    }
}

impl TryFrom<Stored> for PerClassCalibration {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        CalibrationHeader { format: stored.format, version: stored.version }
            .check_as(FORMAT, VERSION)?;
        Self::new(stored.pooled, stored.parts)
    }
}

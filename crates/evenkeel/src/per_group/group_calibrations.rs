//! A calibration for each group: sets of a row by that of its group, and the stored form.
//!
//! ```text
//! C(x) = {y : s(x, y) <= t_g},   g the group of x, known when its set is made
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::parts::Standing;
use crate::calibration::{Calibration, CalibrationHeader, ClassNames, Provenance};
use crate::conformal::LabelSets;
use crate::error::{Error, Result, require_same_length};
use crate::level::Miscoverage;
use crate::rows::{Real, RowKeys, Rows};
use crate::side_inputs::SideInputs;

/// What a file of calibrations for each group says it is.
pub(crate) const FORMAT: &str = "evenkeel/calibration-per-group";
const VERSION: u32 = 1;

/// Groups that share a calibration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupPart {
    /// Their names, increasing.
    pub groups: Vec<String>,
    /// What their thresholds rest on.
    pub standing: Standing,
    /// Their calibration points.
    pub points: u64,
    /// Their target rows.
    pub rows: u64,
    /// What makes their sets; none where every set holds every label.
    pub calibration: Option<Calibration>,
}

/// A calibration for each group, of one method, score and level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct PerGroupCalibration {
    /// What the groups are called together, such as the column they came from.
    by: Option<String>,
    parts: Vec<GroupPart>,
    /// For rows of groups that are none of these; none where such rows are an error.
    others: Option<Calibration>,
    /// Of the first calibration; all agree in score, classes, level and seed.
    provenance: Provenance,
    /// Which part a name belongs to.
    part_of: BTreeMap<String, usize>,
    /// What the user calls the classes; none where nothing is named.
    class_names: Option<ClassNames>,
}

impl PerGroupCalibration {
    /// From calibrations of the same settings; `others` is for rows of groups that have none.
    ///
    /// # Errors
    /// If a name is empty or stands twice, no group has a calibration, or calibrations differ in score, classes, level or seed.
    pub fn new(
        by: Option<String>,
        parts: Vec<GroupPart>,
        others: Option<Calibration>,
    ) -> Result<Self> {
        let damaged = |why| Err(Error::Damaged { what: "this calibration", why });
        let mut part_of = BTreeMap::new();
        for (index, part) in parts.iter().enumerate() {
            for name in &part.groups {
                super::group_name(name, index)?;
                if part_of.insert(name.clone(), index).is_some() {
                    return damaged("a group stands twice");
                }
            }
        }
        let first = parts.iter().filter_map(|part| part.calibration.as_ref()).chain(&others).next();
        let Some(provenance) = first.map(|first| *first.provenance()) else {
            return damaged("no group has a calibration");
        };
        let made = Self { by, parts, others, provenance, part_of, class_names: None };
        // The method may differ: `auto` with labels of a group is `few-labels`, without it is `auto`.
        let same = |a: &Provenance, b: &Provenance| {
            (a.score, a.classes, a.alpha, a.seed) == (b.score, b.classes, b.alpha, b.seed)
        };
        if !made.calibrations().all(|other| same(other.provenance(), &provenance)) {
            return damaged("its groups were calibrated with different settings");
        }
        Ok(made)
    }

    /// With what the user calls the classes; names that are none are not kept.
    ///
    /// # Errors
    /// If there is not one name for each class, or two classes have the same one.
    pub fn with_class_names(mut self, names: ClassNames) -> Result<Self> {
        names.check(self.provenance.classes)?;
        self.class_names = Some(names).filter(|names| !names.is_empty());
        Ok(self)
    }

    /// What the user calls the classes; none in files that do not say.
    pub fn class_names(&self) -> Option<&ClassNames> {
        self.class_names.as_ref()
    }

    fn calibrations(&self) -> impl Iterator<Item = &Calibration> {
        let of_parts = self.parts.iter().filter_map(|part| part.calibration.as_ref());
        of_parts.chain(&self.others)
    }

    /// Score, classes, level and seed of all; the method of the first.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// What the groups are called together.
    pub fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    /// The groups that share a calibration, in the order of their first.
    pub fn parts(&self) -> &[GroupPart] {
        &self.parts
    }

    /// What makes the sets of rows of other groups; none where they are an error.
    pub fn others(&self) -> Option<&Calibration> {
        self.others.as_ref()
    }

    /// Whether features must stand beside the points to predict.
    pub fn needs_features(&self) -> bool {
        self.calibrations().any(Calibration::needs_features)
    }

    /// Whether likelihood ratios must.
    pub fn needs_ratios(&self) -> bool {
        self.calibrations().any(Calibration::needs_ratios)
    }

    /// Index of the part that makes the sets of a group; none for that of other groups. `row` names the row in errors.
    ///
    /// # Errors
    /// If the group is not known and there is nothing for others.
    pub fn part_of(&self, name: &str, row: usize) -> Result<Option<usize>> {
        match self.part_of.get(name) {
            Some(part) => Ok(Some(*part)),
            None if self.others.is_some() => Ok(None),
            None => {
                Err(Error::UnknownGroup { name: name.to_owned(), row, known: self.part_of.len() })
            }
        }
    }

    /// The sets of a block of probability rows whose parts are known; `first_row` is the index of its first row in the whole input.
    ///
    /// # Errors
    /// If there is not a part for each row, the block has other classes, a row does not hold probabilities, or a side input that the
    /// method needs is missing.
    pub fn predict<T: Real>(
        &self,
        first_row: usize,
        block: Rows<'_, T>,
        beside: SideInputs<'_>,
        parts: &[Option<usize>],
        alpha: Option<Miscoverage>,
    ) -> Result<LabelSets> {
        require_same_length("groups", parts.len(), "rows", block.rows())?;
        beside.check(block.rows())?;
        let mut rows_of: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for (row, part) in parts.iter().enumerate() {
            rows_of.entry(*part).or_default().push(row);
        }
        let mut made = Vec::with_capacity(rows_of.len());
        for (part, rows) in &rows_of {
            let calibration = match part {
                Some(part) => self.parts.get(*part).and_then(|part| part.calibration.as_ref()),
                None => self.others.as_ref(),
            };
            // Rows of groups without a calibration keep every label.
            let Some(calibration) = calibration else { continue };
            let gathered = Gathered::new(first_row, block, beside, rows);
            made.push((&rows[..], gathered.predict(calibration, block, alpha)?));
        }
        Ok(LabelSets::scattered(block.rows(), block.columns(), &made))
    }
}

/// Some rows of a block, copied to stand together.
struct Gathered<T> {
    keys: Vec<u64>,
    values: Vec<T>,
    features: Option<(Vec<f64>, usize)>,
    ratios: Option<Vec<f64>>,
}

impl<T: Real> Gathered<T> {
    fn new(first_row: usize, block: Rows<'_, T>, beside: SideInputs<'_>, rows: &[usize]) -> Self {
        let features = beside.features.map(|features| {
            let values = rows.iter().flat_map(|row| features.row(*row).iter().copied());
            (values.collect(), features.columns())
        });
        Self {
            keys: rows.iter().map(|row| first_row.wrapping_add(*row) as u64).collect(),
            values: rows.iter().flat_map(|row| block.row(*row).iter().copied()).collect(),
            features,
            ratios: beside.ratios.map(|ratios| rows.iter().map(|row| ratios[*row]).collect()),
        }
    }

    fn predict(
        &self,
        calibration: &Calibration,
        block: Rows<'_, T>,
        alpha: Option<Miscoverage>,
    ) -> Result<LabelSets> {
        let features = match &self.features {
            None => None,
            Some((values, columns)) => Some(Rows::new("features", values, *columns)?),
        };
        let ratios = self.ratios.as_deref();
        let beside = SideInputs { features, ratios, ..SideInputs::default() };
        let rows = Rows::new(block.what(), &self.values, block.columns())?;
        calibration.predict_keyed(RowKeys::Each(&self.keys), rows, beside, alpha)
    }
}

/// As it stands in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stored {
    format: String,
    version: u32,
    by: Option<String>,
    parts: Vec<GroupPart>,
    others: Option<Calibration>,
    /// Files of before have no names, and stay as they are when written again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    class_names: Option<ClassNames>,
}

impl From<PerGroupCalibration> for Stored {
    fn from(made: PerGroupCalibration) -> Self {
        let PerGroupCalibration { by, parts, others, class_names, .. } = made;
        Self { format: FORMAT.to_owned(), version: VERSION, by, parts, others, class_names }
    }
}

impl TryFrom<Stored> for PerGroupCalibration {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        CalibrationHeader { format: stored.format, version: stored.version }
            .check_as(FORMAT, VERSION)?;
        let read = Self::new(stored.by, stored.parts, stored.others)?;
        match stored.class_names {
            Some(names) => read.with_class_names(names),
            None => Ok(read),
        }
    }
}

//! Probabilities -> a calibration with a threshold for each class or each group.

use evenkeel::calibration::ClassNames;
use evenkeel::conformal::LabelSets;
use evenkeel::error::{PointSet, SideInput};
use evenkeel::level::Miscoverage;
use evenkeel::method::{MethodName, require_and_refuse};
use evenkeel::per_group::SmallGroups;
use evenkeel::score::{Randomisation, Score};
use evenkeel::threshold::Threshold;
use evenkeel_jobs::TargetLabels;
use evenkeel_jobs::grouped::documents::{CalibratePerClassDocument, CalibratePerGroupDocument};
use evenkeel_jobs::grouped::{
    AnyCalibration, GroupColumn, GroupJob, MemoryGroups, OtherGroups, calibrate_per_class,
    calibrate_per_group, calibrated_per_class, calibrated_per_group, evaluate_any, group_warnings,
    merged_classes, parse_any_calibration, predict_any,
};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{LabelArray, Matrix, matrix};
use crate::calibration::fill;
use crate::detached::detached;
use crate::errors::Failure;
use crate::json;
use crate::methods::Settings;
use crate::points::{Points, SideArrays, seen};

/// Thresholds for each class or each group.
#[pyclass(frozen, module = "evenkeel._evenkeel")]
pub(crate) struct GroupedCalibration {
    calibration: AnyCalibration,
}

fn rate(alpha: Option<f64>) -> Result<Option<Miscoverage>, Failure> {
    Ok(alpha.map(Miscoverage::new).transpose()?)
}

/// Learns thresholds for each class, or for each group where groups are given.
#[pyfunction]
#[pyo3(signature = (
    probs_cal, y_cal, probs_target, target_labels, side_cal, side_target, groups, by, small, pooled_others, method, alpha, seed,
    logits, options
))]
#[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn calibrate_grouped(
    py: Python<'_>,
    probs_cal: Matrix<'_>,
    y_cal: LabelArray<'_>,
    probs_target: Matrix<'_>,
    target_labels: Vec<(usize, usize)>,
    side_cal: &Bound<'_, PyDict>,
    side_target: &Bound<'_, PyDict>,
    groups: Option<(Vec<String>, Vec<String>)>,
    by: Option<String>,
    small: &str,
    pooled_others: bool,
    method: &str,
    alpha: f64,
    seed: u64,
    logits: &str,
    options: &Bound<'_, PyDict>,
) -> PyResult<GroupedCalibration> {
    let (side_cal, side_target) = (SideArrays::of(side_cal)?, SideArrays::of(side_target)?);
    let settings = Settings::new(alpha, seed, options)?;
    let calibrator = settings.calibrator(method, side_cal.known_ratios())?;
    for (points, side) in [(PointSet::Calibration, &side_cal), (PointSet::Target, &side_target)] {
        let mut given = side.given();
        let auto = calibrator.method.name() == MethodName::Auto;
        if points == PointSet::Calibration && !target_labels.is_empty() && !auto {
            given.push(SideInput::Labels);
        }
        require_and_refuse(&calibrator.method, points, &given).map_err(Failure::from)?;
    }
    let small = SmallGroups::of_name(small).map_err(Failure::from)?;
    let others = if pooled_others { OtherGroups::Pooled } else { OtherGroups::Refuse };
    let second_cal = side_cal.second(logits, seen("probs_cal", &probs_cal)?)?;
    let second_target = side_target.second(logits, seen("probs_target", &probs_target)?)?;
    let cal = Points::new(("probs_cal", PointSet::Calibration), &probs_cal, &side_cal, logits)?
        .with_second(&second_cal);
    let labels = y_cal.whole("y_cal")?;
    let target =
        Points::new(("probs_target", PointSet::Target), &probs_target, &side_target, logits)?
            .with_second(&second_target);
    let classes = target.classes();
    let target_labels = TargetLabels::new("y_target", target_labels, classes)
        .and_then(|labels| labels.of_rows(classes))
        .map_err(Failure::from)?;
    let calibration = detached(py, |watcher| {
        let mut softmax = Vec::new();
        let labeled = cal.labeled(&mut softmax, "y_cal", labels)?;
        let labeled = match target_labels.is_empty() {
            true => labeled,
            false => labeled.with_target_labels(&target_labels),
        };
        let mut source = target.source()?;
        let Some((of_cal, of_target)) = &groups else {
            let made = calibrate_per_class(&calibrator, &labeled, &mut source, small, watcher)?;
            return Ok(AnyCalibration::PerClass(made.calibration));
        };
        let job = GroupJob { by, small, others };
        let mut of_cal = MemoryGroups::new("groups_cal", of_cal);
        let mut of_target = MemoryGroups::new("groups_target", of_target);
        let made = calibrate_per_group(
            &calibrator,
            &job,
            (&labeled, &mut of_cal),
            (&mut source, &mut of_target),
            watcher,
        )?;
        Ok(AnyCalibration::PerGroup(made.calibration))
    })?;
    Ok(GroupedCalibration { calibration })
}

#[pymethods]
impl GroupedCalibration {
    /// Reads the text of a calibration file with thresholds for each class or group.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        let calibration = parse_any_calibration(text).map_err(Failure::from)?;
        Ok(Self { calibration })
    }

    /// The same with names of the columns and the classes.
    fn named(&self, columns: Option<Vec<String>>, classes: Option<Vec<String>>) -> PyResult<Self> {
        let names = ClassNames { columns, classes };
        let named = match self.calibration.clone() {
            AnyCalibration::One(made) => made.with_class_names(names).map(AnyCalibration::One),
            AnyCalibration::PerClass(made) => {
                made.with_class_names(names).map(AnyCalibration::PerClass)
            }
            AnyCalibration::PerGroup(made) => {
                made.with_class_names(names).map(AnyCalibration::PerGroup)
            }
        };
        Ok(Self { calibration: named.map_err(Failure::from)? })
    }

    /// Columns of the tables it was made of.
    #[getter]
    fn columns(&self) -> Option<Vec<String>> {
        self.calibration.class_names().and_then(|names| names.columns.clone())
    }

    /// Names of the classes.
    #[getter]
    fn class_names(&self) -> Option<Vec<String>> {
        self.names().map(<[String]>::to_vec)
    }

    /// The text of a calibration file.
    fn to_json(&self) -> PyResult<String> {
        json(&self.calibration)
    }

    /// `class` or `group`; `one` where it has one for all.
    #[getter]
    fn per(&self) -> &'static str {
        match &self.calibration {
            AnyCalibration::One(_) => "one",
            AnyCalibration::PerClass(_) => "class",
            AnyCalibration::PerGroup(_) => "group",
        }
    }

    #[getter]
    fn method(&self) -> &'static str {
        self.calibration.provenance().method.as_str()
    }

    #[getter]
    fn score(&self) -> &'static str {
        self.calibration.provenance().score.name()
    }

    #[getter]
    fn classes(&self) -> usize {
        self.calibration.provenance().classes
    }

    #[getter]
    fn alpha(&self) -> f64 {
        self.calibration.provenance().alpha.get()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.calibration.provenance().seed.get()
    }

    /// Whether a score draws a uniform number for every row.
    #[getter]
    fn randomised(&self) -> bool {
        match self.calibration.provenance().score {
            Score::Aps(aps) => aps.randomisation != Randomisation::Deterministic,
            Score::Raps(raps) => raps.randomisation() != Randomisation::Deterministic,
            _ => false,
        }
    }

    /// The document of `evenkeel calibrate`, with a line for each class or group; without the seconds.
    #[getter]
    fn document(&self) -> PyResult<String> {
        match &self.calibration {
            AnyCalibration::One(one) => {
                json(&evenkeel_jobs::documents::CalibrateDocument::new(one, 0.0, self.names()))
            }
            AnyCalibration::PerClass(made) => {
                json(&CalibratePerClassDocument::new(made, 0.0, self.names()))
            }
            AnyCalibration::PerGroup(made) => json(&CalibratePerGroupDocument::new(made, 0.0)),
        }
    }

    /// What it came to, for people.
    #[getter]
    fn sentences(&self) -> Vec<String> {
        match &self.calibration {
            AnyCalibration::One(one) => evenkeel_jobs::sentences::calibrated(one, None),
            AnyCalibration::PerClass(made) => calibrated_per_class(made, self.names()),
            AnyCalibration::PerGroup(made) => calibrated_per_group(made),
        }
    }

    /// What to know before trusting it.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        match &self.calibration {
            AnyCalibration::One(one) => evenkeel_jobs::sentences::warnings_of(one),
            AnyCalibration::PerClass(made) => {
                let mut said = evenkeel_jobs::sentences::warnings_of(made.pooled());
                said.extend(merged_classes(made, self.names()));
                said
            }
            AnyCalibration::PerGroup(made) => group_warnings(made),
        }
    }

    /// Names of the groups, or numbers of the classes, with the threshold of each: infinite where every label is taken, none where
    /// points or labels have their own.
    fn thresholds(&self, alpha: Option<f64>) -> PyResult<Vec<(String, Option<f64>)>> {
        let alpha = rate(alpha)?;
        Ok(match &self.calibration {
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
        })
    }

    /// The sets of rows of probabilities; bool `(n, C)`.
    #[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        probs: Matrix<'_>,
        side: &Bound<'py, PyDict>,
        groups: Option<Vec<String>>,
        alpha: Option<f64>,
        logits: &str,
        first_row: usize,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let alpha = rate(alpha)?;
        let side = self.used(side)?;
        let points = Points::new(("probs", PointSet::Predicted), &probs, &side, logits)?;
        let classes = self.calibration.provenance().classes;
        let members = detached(py, |watcher| {
            let mut source = points.source()?.starting_at(first_row);
            let mut members = vec![false; points.count() * classes];
            let mut rest = members.as_mut_slice();
            let sink = &mut |sets: &LabelSets| {
                let (block, later) =
                    std::mem::take(&mut rest).split_at_mut(sets.rows() * sets.classes());
                rest = later;
                fill(block, sets);
                Ok(())
            };
            let mut column = groups.as_deref().map(|groups| MemoryGroups::new("groups", groups));
            let column = column.as_mut().map(|column| column as &mut dyn GroupColumn);
            predict_any(&self.calibration, alpha, &mut source, column, sink, watcher)?;
            Ok(members)
        })?;
        matrix(py, members, classes)
    }

    /// Coverage and sizes on labeled rows: the document of `evenkeel evaluate`.
    #[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn evaluate(
        &self,
        py: Python<'_>,
        probs: Matrix<'_>,
        y: LabelArray<'_>,
        side: &Bound<'_, PyDict>,
        groups: Option<Vec<String>>,
        alpha: Option<f64>,
        logits: &str,
        first_row: usize,
    ) -> PyResult<String> {
        let alpha = rate(alpha)?;
        let side = self.used(side)?;
        let points = Points::new(("probs", PointSet::Predicted), &probs, &side, logits)?;
        let labels = points.labels("y", y.whole("y")?, self.calibration.provenance().classes)?;
        let evaluated = detached(py, |watcher| {
            let source = points.source()?.starting_at(first_row);
            let mut source = source.with_labels("y", &labels)?;
            let mut column = groups.as_deref().map(|groups| MemoryGroups::new("groups", groups));
            let column = column.as_mut().map(|column| column as &mut dyn GroupColumn);
            Ok(evaluate_any(&self.calibration, alpha, &mut source, column, watcher)?)
        })?;
        json(&evaluated.document(self.names()))
    }
}

impl GroupedCalibration {
    /// What the classes are called.
    fn names(&self) -> Option<&[String]> {
        self.calibration.class_names()?.classes.as_deref()
    }

    /// What stands beside the rows, all of which the calibration must have a use for.
    fn used<'py>(&self, side: &Bound<'py, PyDict>) -> PyResult<SideArrays<'py>> {
        let side = SideArrays::of(side)?;
        let given = side.given();
        let (features, ratios) = (SideInput::Features, SideInput::Ratios);
        self.calibration
            .refuse_unused(given.contains(&features), given.contains(&ratios))
            .map_err(Failure::from)?;
        Ok(side)
    }
}

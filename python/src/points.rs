//! The arrays of one set of points -> what a job reads: calibration data, or a source of rows.

use evenkeel::error::{PointSet, SideInput};
use evenkeel::method::KnownRatios;
use evenkeel::rows::Rows;
use evenkeel::score::Labels;
use evenkeel::side_inputs::SideInputs;
use evenkeel_jobs::{
    AnyRows, AnyTable, JobError, LabeledData, MemorySource, SecondTable, SeenRows, SideNames,
    ValueKind, beside_each_other,
};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Matrix, cells, kind, slice};
use crate::errors::Failure;
use crate::spelling::argument;

/// Features, known ratios and fixed weights of one set of points; each may be absent.
#[derive(Default, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SideArrays<'py> {
    features: Option<PyReadonlyArray2<'py, f64>>,
    ratios: Option<PyReadonlyArray1<'py, f64>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    /// Outputs of second models, with what the caller calls each.
    second: Vec<(String, PyReadonlyArray2<'py, f64>)>,
}

impl<'py> SideArrays<'py> {
    /// From the dict that `evenkeel._inputs.side_inputs` makes.
    pub(crate) fn of(given: &Bound<'py, PyDict>) -> PyResult<Self> {
        given.extract()
    }

    /// Whether there are known likelihood ratios.
    pub(crate) fn known_ratios(&self) -> KnownRatios {
        KnownRatios::of(self.ratios.as_ref())
    }

    /// Which of them are there.
    pub(crate) fn given(&self) -> Vec<SideInput> {
        let features = self.features.as_ref().map(|_| SideInput::Features);
        let ratios = self.ratios.as_ref().map(|_| SideInput::Ratios);
        let weights = self.weights.as_ref().map(|_| SideInput::Weights);
        let second = (!self.second.is_empty()).then_some(SideInput::Second);
        [features, ratios, weights, second].into_iter().flatten().collect()
    }

    /// What second models say of some rows, beside each other; empty without a model.
    pub(crate) fn second(&self, logits: &str, seen: SeenRows<'_>) -> Result<Vec<f64>, Failure> {
        let mut tables = Vec::new();
        for (name, array) in &self.second {
            let empty = || JobError::NoRows { input: name.clone() };
            let (values, columns) = cells(array, name)?.ok_or_else(empty)?;
            let rows = AnyRows::f64(values, columns)
                .map_err(|error| Failure::from(JobError::found_in(name, error)))?;
            tables.push(SecondTable { name, rows, first_row: 0 });
        }
        Ok(beside_each_other(&tables, kind(logits), seen)?)
    }

    /// As the core takes them; the job checks them.
    fn inputs(&self, names: SideNames<'_>) -> Result<SideInputs<'_>, Failure> {
        let mut side = SideInputs::default();
        if let Some(array) = &self.features {
            let empty = || JobError::NoRows { input: names.features.to_owned() };
            let (values, columns) = cells(array, names.features)?.ok_or_else(empty)?;
            side.features = Some(Rows::new("features", values, columns)?);
        }
        side.ratios = self.ratios.as_ref().map(|array| slice(array, names.ratios)).transpose()?;
        side.weights =
            self.weights.as_ref().map(|array| slice(array, names.weights)).transpose()?;
        Ok(side)
    }
}

/// The rows of an argument, as second models see them.
pub(crate) fn seen<'a>(name: &'a str, matrix: &Matrix<'_>) -> Result<SeenRows<'a>, Failure> {
    let rows = matrix.rows(name)?;
    Ok(SeenRows { name, rows: rows.rows(), classes: rows.columns() })
}

/// Rows of one set of points and what stands beside them, borrowed from the caller's arrays; free of the interpreter.
///
/// `R` is how the rows lie: one after the other, or in columns, which only a pass can read.
#[derive(Clone, Copy)]
pub(crate) struct Points<'a, R = AnyRows<'a>> {
    /// The argument with their probabilities or logits.
    name: &'static str,
    set: PointSet,
    kind: ValueKind,
    rows: R,
    side: SideInputs<'a>,
    /// What second models say of the rows, beside each other.
    second: &'a [f64],
}

impl<'a> Points<'a> {
    pub(crate) fn new(
        (name, set): (&'static str, PointSet),
        matrix: &'a Matrix<'_>,
        side: &'a SideArrays<'_>,
        logits: &str,
    ) -> Result<Self, Failure> {
        // Borrowed now, while the interpreter is held; the job then runs without it.
        Self::of_table((name, set), matrix.rows(name)?, side, logits)
    }

    /// With what second models say of the same rows.
    pub(crate) fn with_second(self, second: &'a [f64]) -> Self {
        Self { second, ..self }
    }

    /// Number of points.
    pub(crate) fn count(&self) -> usize {
        self.rows.rows()
    }

    /// Number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.rows.columns()
    }

    /// Labels of these points, each naming one of the classes of the calibration data. Rows of another model are not the
    /// labels' fault, so they are found first.
    pub(crate) fn labels(
        &self,
        name: &str,
        labels: Vec<usize>,
        classes: usize,
    ) -> Result<Labels, Failure> {
        let found = self.classes();
        if found != classes {
            return Err(JobError::Classes { input: self.name.to_owned(), found, classes }.into());
        }
        let checked = Labels::new(labels, classes);
        Ok(checked.map_err(|error| JobError::found_in(name, error))?)
    }

    /// The calibration data that these points are with their labels. The probabilities of logits are kept in `softmax`.
    pub(crate) fn labeled<'b>(
        &self,
        softmax: &'b mut Vec<f64>,
        labels_name: &str,
        labels: Vec<usize>,
    ) -> Result<LabeledData<'b>, Failure>
    where
        'a: 'b,
    {
        let rows = self.kind.probabilities(0, self.rows, softmax);
        let rows = rows.map_err(|error| JobError::found_in(self.name, error))?;
        let data = LabeledData::of_rows(self.name, rows, labels_name, labels)?;
        let data = data.with_side_inputs(side_names(self.set), self.side)?;
        Ok(data.with_second(self.second)?)
    }
}

impl<'a, R: Into<AnyTable<'a>> + Copy> Points<'a, R> {
    /// Points whose rows lie in any way.
    pub(crate) fn of_table(
        (name, set): (&'static str, PointSet),
        rows: R,
        side: &'a SideArrays<'_>,
        logits: &str,
    ) -> Result<Self, Failure> {
        let side = side.inputs(side_names(set))?;
        Ok(Self { name, set, kind: kind(logits), rows, side, second: &[] })
    }

    /// As a job reads them.
    pub(crate) fn source(&self) -> Result<MemorySource<'a>, Failure> {
        let source = MemorySource::new(self.name, self.rows).of_kind(self.kind);
        let source = source.with_side_inputs(side_names(self.set), self.side)?;
        Ok(source.with_second(self.second)?)
    }
}

/// The arguments that hold what stands beside the probabilities.
fn side_names(set: PointSet) -> SideNames<'static> {
    SideNames {
        features: argument(SideInput::Features, set),
        ratios: argument(SideInput::Ratios, set),
        weights: argument(SideInput::Weights, set),
    }
}

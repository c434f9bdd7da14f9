//! What a method may need of points beside their probabilities, as it comes from Python.

use evenkeel::error::Error;
use evenkeel::method::KnownRatios;
use evenkeel::rows::Rows;
use evenkeel::side_inputs::{PointSet, SideInput, SideInputs};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Table, slice};
use crate::errors::{Failure, about};
use crate::spelling::argument;

/// Features, known ratios and fixed weights of one set of points; each may be absent.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct BesideArrays<'py> {
    features: Option<PyReadonlyArray2<'py, f64>>,
    ratios: Option<PyReadonlyArray1<'py, f64>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
}

impl<'py> BesideArrays<'py> {
    /// From the dict that `evenkeel._inputs.beside` makes.
    pub(crate) fn of(given: &Bound<'py, PyDict>) -> PyResult<Self> {
        given.extract()
    }

    /// Whether there are known likelihood ratios.
    pub(crate) fn ratios(&self) -> KnownRatios {
        KnownRatios::of(self.ratios.as_ref())
    }

    /// Which of them are there.
    pub(crate) fn given(&self) -> Vec<SideInput> {
        let features = self.features.as_ref().map(|_| SideInput::Features);
        let ratios = self.ratios.as_ref().map(|_| SideInput::Ratios);
        let weights = self.weights.as_ref().map(|_| SideInput::Weights);
        [features, ratios, weights].into_iter().flatten().collect()
    }

    /// As the core takes them, one for each row of `table`.
    pub(crate) fn checked(
        &self,
        points: PointSet,
        table: &Table<'_>,
    ) -> Result<SideInputs<'_>, Failure> {
        let [features, ratios, weights] = SideInput::ALL.map(|side| argument(side, points));
        let rows = table.rows();
        let mut beside = SideInputs::default();
        if let Some(array) = &self.features {
            let columns = array.as_array().ncols();
            let values = array.as_slice().map_err(|_| Failure::not_contiguous(features))?;
            fits(
                features,
                ["row of features", "rows of features"],
                array.as_array().nrows(),
                table,
            )?;
            let rows_of = Rows::new("features", values, columns).map_err(about(features))?;
            beside.features = Some(rows_of);
            SideInputs::features(rows_of).check(rows).map_err(about(features))?;
        }
        if let Some(array) = &self.ratios {
            let values = slice(array, ratios)?;
            fits(ratios, ["ratio", "ratios"], values.len(), table)?;
            beside.ratios = Some(values);
            let alone = SideInputs { ratios: Some(values), ..SideInputs::default() };
            alone.check(rows).map_err(about(ratios))?;
        }
        if let Some(array) = &self.weights {
            let values = slice(array, weights)?;
            fits(weights, ["weight", "weights"], values.len(), table)?;
            beside.weights = Some(values);
            let alone = SideInputs { weights: Some(values), ..SideInputs::default() };
            alone.check(rows).map_err(about(weights))?;
            if values.iter().all(|weight| *weight <= 0.0) {
                return Err(about(weights)(Error::ZeroTotal { what: "weights" }));
            }
        }
        Ok(beside)
    }
}

fn fits(
    argument: &str,
    [one, many]: [&str; 2],
    found: usize,
    table: &Table<'_>,
) -> Result<(), Failure> {
    if found == table.rows() {
        return Ok(());
    }
    Err(Failure::Data(format!(
        "{argument} has {found} {many} but {} has {} rows; give one {one} for each",
        table.argument(),
        table.rows()
    )))
}

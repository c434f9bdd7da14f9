//! What a method may need of points beside their probabilities, as it comes from Python.

use evenkeel::error::Error;
use evenkeel::rows::Rows;
use evenkeel::side_inputs::SideInputs;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Table, slice};
use crate::errors::{Failure, about};
use crate::methods::Ratios;

/// Features, known ratios and fixed weights of one set of points; each may be absent.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct BesideArrays<'py> {
    features: Option<PyReadonlyArray2<'py, f64>>,
    ratios: Option<PyReadonlyArray1<'py, f64>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
}

/// Names of the three arguments of one set of points.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names {
    pub features: &'static str,
    pub ratios: &'static str,
    pub weights: &'static str,
}

/// Of the calibration points.
pub(crate) const CALIBRATION: Names =
    Names { features: "features_cal", ratios: "ratios_cal", weights: "weights_cal" };
/// Of target points.
pub(crate) const TARGET: Names =
    Names { features: "features_target", ratios: "ratios_target", weights: "weights_target" };
/// Of the test points of a comparison.
pub(crate) const TEST: Names =
    Names { features: "features_test", ratios: "ratios_test", weights: "weights_test" };
/// Of points to predict sets for.
pub(crate) const POINTS: Names =
    Names { features: "features", ratios: "ratios", weights: "weights" };

impl<'py> BesideArrays<'py> {
    /// From the dict that `evenkeel._inputs.beside` makes.
    pub(crate) fn of(given: &Bound<'py, PyDict>) -> PyResult<Self> {
        given.extract()
    }

    /// Whether there are known likelihood ratios.
    pub(crate) fn ratios(&self) -> Ratios {
        if self.ratios.is_some() { Ratios::Given } else { Ratios::Absent }
    }

    /// Whether there are weights of the user's own.
    pub(crate) fn has_weights(&self) -> bool {
        self.weights.is_some()
    }

    /// As the core takes them, one for each row of `table`.
    pub(crate) fn checked(
        &self,
        names: Names,
        table: &Table<'_>,
    ) -> Result<SideInputs<'_>, Failure> {
        let rows = table.rows();
        let mut beside = SideInputs::default();
        if let Some(array) = &self.features {
            let columns = array.as_array().ncols();
            let values = array.as_slice().map_err(|_| Failure::not_contiguous(names.features))?;
            fits(
                names.features,
                ["row of features", "rows of features"],
                array.as_array().nrows(),
                table,
            )?;
            let rows_of = Rows::new("features", values, columns).map_err(about(names.features))?;
            beside.features = Some(rows_of);
            SideInputs::features(rows_of).check(rows).map_err(about(names.features))?;
        }
        if let Some(array) = &self.ratios {
            let values = slice(array, names.ratios)?;
            fits(names.ratios, ["ratio", "ratios"], values.len(), table)?;
            beside.ratios = Some(values);
            let alone = SideInputs { ratios: Some(values), ..SideInputs::default() };
            alone.check(rows).map_err(about(names.ratios))?;
        }
        if let Some(array) = &self.weights {
            let values = slice(array, names.weights)?;
            fits(names.weights, ["weight", "weights"], values.len(), table)?;
            beside.weights = Some(values);
            let alone = SideInputs { weights: Some(values), ..SideInputs::default() };
            alone.check(rows).map_err(about(names.weights))?;
            if values.iter().all(|weight| *weight <= 0.0) {
                return Err(about(names.weights)(Error::ZeroTotal { what: "weights" }));
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

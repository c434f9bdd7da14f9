//! NumPy arrays -> rows and labels, without a copy; results -> NumPy arrays.

use evenkeel_jobs::{AnyRows, AnyTable, Columns, JobError, ValueKind};
use numpy::{Element, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::Failure;

/// A matrix as it comes from Python: `evenkeel._inputs` has made it two-dimensional, and contiguous if it was not.
#[derive(FromPyObject)]
pub(crate) enum Matrix<'py> {
    Single(PyReadonlyArray2<'py, f32>),
    Double(PyReadonlyArray2<'py, f64>),
}

impl Matrix<'_> {
    /// The rows; `argument` names them in errors.
    pub(crate) fn rows(&self, argument: &str) -> Result<AnyRows<'_>, Failure> {
        let rows = match self {
            Self::Single(array) => {
                cells(array, argument)?.map(|(values, columns)| AnyRows::f32(values, columns))
            }
            Self::Double(array) => {
                cells(array, argument)?.map(|(values, columns)| AnyRows::f64(values, columns))
            }
        };
        match rows {
            Some(rows) => Ok(rows?),
            None => Err(JobError::NoRows { input: argument.to_owned() }.into()),
        }
    }
}

/// A matrix, or the columns of a frame that lie apart: `evenkeel._inputs` says which.
#[derive(FromPyObject)]
pub(crate) enum Table<'py> {
    Matrix(Matrix<'py>),
    Single(Vec<PyReadonlyArray1<'py, f32>>),
    Double(Vec<PyReadonlyArray1<'py, f64>>),
}

/// The columns of a [`Table`], borrowed; none of a matrix.
#[derive(Default)]
pub(crate) struct BorrowedColumns<'a> {
    single: Vec<&'a [f32]>,
    double: Vec<&'a [f64]>,
}

impl Table<'_> {
    /// Its columns, where they lie apart; `argument` names them in errors.
    pub(crate) fn columns(&self, argument: &str) -> Result<BorrowedColumns<'_>, Failure> {
        let mut borrowed = BorrowedColumns::default();
        match self {
            Self::Matrix(_) => {}
            Self::Single(all) => {
                borrowed.single =
                    all.iter().map(|one| slice(one, argument)).collect::<Result<_, _>>()?;
            }
            Self::Double(all) => {
                borrowed.double =
                    all.iter().map(|one| slice(one, argument)).collect::<Result<_, _>>()?;
            }
        }
        Ok(borrowed)
    }

    /// The whole, however it lies; `columns` are its own.
    pub(crate) fn whole<'a>(
        &'a self,
        argument: &str,
        columns: &'a BorrowedColumns<'a>,
    ) -> Result<AnyTable<'a>, Failure> {
        let table = match self {
            Self::Matrix(matrix) => return Ok(matrix.rows(argument)?.into()),
            Self::Single(_) => AnyTable::F32(Columns::new(&columns.single)?),
            Self::Double(_) => AnyTable::F64(Columns::new(&columns.double)?),
        };
        match table.rows() {
            0 => Err(JobError::NoRows { input: argument.to_owned() }.into()),
            _ => Ok(table),
        }
    }
}

/// The values of a matrix, row after row, and its columns; none if it is empty.
pub(crate) fn cells<'a, T: Element>(
    array: &'a PyReadonlyArray2<'_, T>,
    argument: &str,
) -> Result<Option<(&'a [T], usize)>, Failure> {
    // Refused, not copied: `_inputs` has copied what needed it.
    let values = array.as_slice().map_err(|_| Failure::not_contiguous(argument))?;
    // An empty matrix has rows of no known width; the caller names the argument.
    Ok((!values.is_empty()).then_some((values, array.as_array().ncols())))
}

/// The values of a vector.
pub(crate) fn slice<'a, T: Element>(
    array: &'a PyReadonlyArray1<'_, T>,
    argument: &str,
) -> Result<&'a [T], Failure> {
    array.as_slice().map_err(|_| Failure::not_contiguous(argument))
}

/// What the numbers of all matrices of a call are, in the words of `_inputs.kind`.
pub(crate) fn kind(logits: &str) -> ValueKind {
    match logits {
        "force" => ValueKind::ForcedLogits,
        "logits" => ValueKind::Logits,
        _ => ValueKind::Probabilities,
    }
}

/// Labels as they come from Python.
#[derive(FromPyObject)]
pub(crate) enum LabelArray<'py> {
    Whole(PyReadonlyArray1<'py, i64>),
    Number(PyReadonlyArray1<'py, f64>),
}

/// Above this, f64 no longer holds every integer.
const LARGEST_LABEL: f64 = 9_007_199_254_740_992.0;

impl LabelArray<'_> {
    /// The labels as whole numbers.
    pub(crate) fn whole(&self, argument: &str) -> Result<Vec<usize>, Failure> {
        let refused = |row: usize, value: f64| {
            let message = format!(
                "{argument}: labels[{row}] is {value:?}; labels are whole numbers from 0: remove the row, or give its label"
            );
            Failure::Row { row, message }
        };
        match self {
            Self::Whole(array) => {
                let whole = |(row, label): (usize, &i64)| {
                    // Negative labels are a common mark for "unlabeled"; wrapped around they would
                    // be huge classes.
                    usize::try_from(*label).map_err(|_| refused(row, *label as f64))
                };
                array.as_array().iter().enumerate().map(whole).collect()
            }
            Self::Number(array) => {
                let whole = |(row, label): (usize, &f64)| {
                    if (0.0..=LARGEST_LABEL).contains(label) && label.fract() == 0.0 {
                        #[expect(
                            clippy::cast_possible_truncation,
                            clippy::cast_sign_loss,
                            reason = "checked"
                        )]
                        return Ok(*label as usize);
                    }
                    Err(refused(row, *label))
                };
                array.as_array().iter().enumerate().map(whole).collect()
            }
        }
    }
}

/// A vector as a NumPy array, without a copy.
pub(crate) fn vector<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    PyArray1::from_vec(py, values)
}

/// Where the values lie that a job is given for `matrix`: the address of the array itself, unless it was copied.
#[pyfunction]
pub(crate) fn address(matrix: Matrix<'_>) -> PyResult<usize> {
    Ok(match matrix.rows("matrix")? {
        AnyRows::F32(rows) => rows.values().as_ptr().addr(),
        AnyRows::F64(rows) => rows.values().as_ptr().addr(),
    })
}

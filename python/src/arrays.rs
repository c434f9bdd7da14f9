//! NumPy arrays -> the core's rows, without a copy.

use evenkeel::error::{At, Error};
use evenkeel::rows::{Real, Rows};
use evenkeel::score::{Labels, softmax_rows};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::errors::{Failure, about};

/// Rows a thread takes at a time.
pub(crate) const SHARE_ROWS: usize = 2048;

/// A matrix as it comes from Python: `evenkeel._inputs` has made it two-dimensional, and contiguous if it was not.
#[derive(FromPyObject)]
pub(crate) enum Matrix<'py> {
    Single(PyReadonlyArray2<'py, f32>),
    Double(PyReadonlyArray2<'py, f64>),
}

/// Labels as they come from Python.
#[derive(FromPyObject)]
pub(crate) enum LabelArray<'py> {
    Whole(PyReadonlyArray1<'py, i64>),
    Number(PyReadonlyArray1<'py, f64>),
}

/// What the numbers of all matrices of a call are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Probabilities,
    Logits,
}

impl ValueKind {
    pub(crate) fn of(logits: bool) -> Self {
        if logits { Self::Logits } else { Self::Probabilities }
    }
}

/// Borrowed rows of one argument; free of the interpreter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'a> {
    argument: &'static str,
    kind: ValueKind,
    values: Values<'a>,
    columns: usize,
}

#[derive(Debug, Clone, Copy)]
enum Values<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
}

/// Something to do with rows of probabilities of either precision.
pub(crate) trait RowsWork {
    type Output;
    fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<Self::Output>;
}

impl Matrix<'_> {
    /// The rows, under the name of their argument.
    pub(crate) fn table(
        &self,
        argument: &'static str,
        kind: ValueKind,
    ) -> Result<Table<'_>, Failure> {
        let (values, shape) = match self {
            Self::Single(array) => (contiguous(array, argument)?.map(Values::Single), shape(array)),
            Self::Double(array) => (contiguous(array, argument)?.map(Values::Double), shape(array)),
        };
        match values {
            Some(values) if shape[0] > 0 && shape[1] > 0 => {
                Ok(Table { argument, kind, values, columns: shape[1] })
            }
            _ => Err(Failure::Data(format!("{argument}: holds no rows; give at least one"))),
        }
    }
}

fn shape<T: Element>(array: &PyReadonlyArray2<'_, T>) -> [usize; 2] {
    let view = array.as_array();
    [view.nrows(), view.ncols()]
}

fn contiguous<'a, T: Element>(
    array: &'a PyReadonlyArray2<'_, T>,
    argument: &'static str,
) -> Result<Option<&'a [T]>, Failure> {
    match array.as_slice() {
        Ok(values) => Ok((!values.is_empty()).then_some(values)),
        Err(_) => Err(Failure::not_contiguous(argument)),
    }
}

/// The values of a vector.
pub(crate) fn slice<'a, T: Element>(
    array: &'a PyReadonlyArray1<'_, T>,
    argument: &'static str,
) -> Result<&'a [T], Failure> {
    array.as_slice().map_err(|_| Failure::not_contiguous(argument))
}

impl<'a> Table<'a> {
    pub(crate) fn argument(&self) -> &'static str {
        self.argument
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn rows(&self) -> usize {
        let values = match self.values {
            Values::Single(values) => values.len(),
            Values::Double(values) => values.len(),
        };
        values / self.columns
    }

    /// An error unless there is a column for each of `classes` classes.
    pub(crate) fn require_classes(&self, classes: usize) -> Result<(), Failure> {
        if self.columns == classes {
            return Ok(());
        }
        Err(Failure::Data(format!(
            "{} has {} columns but the calibration data have {classes} classes; give the outputs of the same model",
            self.argument, self.columns
        )))
    }

    /// Does `work` with the probabilities of all rows. Those of logits are made for it.
    pub(crate) fn probabilities<W: RowsWork>(&self, work: W) -> Result<W::Output, Failure> {
        self.block(0, self.rows(), work)
    }

    /// The same with `rows` rows from `first` on.
    pub(crate) fn block<W: RowsWork>(
        &self,
        first: usize,
        rows: usize,
        work: W,
    ) -> Result<W::Output, Failure> {
        let part = first * self.columns..(first + rows) * self.columns;
        let done = match self.values {
            Values::Single(values) => self.typed(first, &values[part], work),
            Values::Double(values) => self.typed(first, &values[part], work),
        };
        done.map_err(about(self.argument))
    }

    fn typed<T: Real, W: RowsWork>(
        &self,
        first: usize,
        values: &[T],
        work: W,
    ) -> evenkeel::Result<W::Output> {
        if self.kind == ValueKind::Probabilities {
            return work.run(Rows::new("probabilities", values, self.columns)?);
        }
        let logits = Rows::new("logits", values, self.columns)?;
        let softmax = softmax_rows(logits, 1.0).map_err(|error| moved(error, first))?;
        work.run(Rows::new("probabilities", &softmax, self.columns)?)
    }

    /// Does work with every share of the rows, on all threads; `work` gets the first row of its share.
    pub(crate) fn shares<W: RowsWork>(
        self,
        work: impl Fn(usize) -> W + Sync + Send + 'a,
    ) -> impl IndexedParallelIterator<Item = Result<W::Output, Failure>> + 'a
    where
        W::Output: Send,
    {
        let rows = self.rows();
        (0..rows.div_ceil(SHARE_ROWS)).into_par_iter().map(move |share| {
            let first = share * SHARE_ROWS;
            self.block(first, SHARE_ROWS.min(rows - first), work(first))
        })
    }

    /// `rows` rows from `first` on as a table of its own.
    pub(crate) fn part(&self, first: usize, rows: usize) -> Self {
        let part = first * self.columns..(first + rows) * self.columns;
        let values = match self.values {
            Values::Single(values) => Values::Single(&values[part]),
            Values::Double(values) => Values::Double(&values[part]),
        };
        Self { values, ..*self }
    }
}

/// An error about a block whose first row is `first`.
fn moved(error: Error, first: usize) -> Error {
    match error {
        Error::NotFinite { what, at: At::Cell { row, column }, value } => {
            Error::NotFinite { what, at: At::Cell { row: first + row, column }, value }
        }
        other => other,
    }
}

/// Above this, f64 no longer holds every integer.
const LARGEST_LABEL: f64 = 9_007_199_254_740_992.0;

impl LabelArray<'_> {
    /// The labels of the rows of `table`, checked.
    pub(crate) fn labels(
        &self,
        argument: &'static str,
        table: &Table<'_>,
    ) -> Result<Labels, Failure> {
        let labels = self.whole(argument)?;
        if labels.len() != table.rows() {
            return Err(Failure::Data(format!(
                "{argument} has {} labels but {} has {} rows; give one label for each",
                labels.len(),
                table.argument(),
                table.rows()
            )));
        }
        Labels::new(labels, table.columns()).map_err(about(argument))
    }

    /// The labels as whole numbers.
    pub(crate) fn whole(&self, argument: &'static str) -> Result<Vec<usize>, Failure> {
        let refused = |row: usize, value: f64| {
            Failure::Data(format!(
                "{argument}: labels[{row}] is {value:?}; labels are whole numbers from 0"
            ))
        };
        match self {
            Self::Whole(array) => {
                let whole = |(row, label): (usize, &i64)| {
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

/// Row-major values as a NumPy matrix, without a copy.
pub(crate) fn matrix<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
    columns: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let rows = values.len() / columns.max(1);
    PyArray1::from_vec(py, values).reshape([rows, columns])
}

/// Where the values lie that the core is given for `matrix`: the address of the array itself, unless it was copied.
#[pyfunction]
pub(crate) fn address(matrix: Matrix<'_>) -> PyResult<usize> {
    let table = matrix.table("matrix", ValueKind::Probabilities)?;
    struct Address;
    impl RowsWork for Address {
        type Output = usize;
        fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<usize> {
            Ok(rows.values().as_ptr().addr())
        }
    }
    Ok(table.probabilities(Address)?)
}

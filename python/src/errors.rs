//! Failures -> exceptions.
//!
//! Where a message of the command line names a file or a flag, the same message names the argument here.

use std::fmt;

use evenkeel::error::{Category, Error};
use evenkeel_jobs::JobError;
use pyo3::prelude::*;

use crate::spelling::PythonSpelling;

mod python {
    use pyo3::import_exception;

    import_exception!(evenkeel._errors, InvalidInputError);
    import_exception!(evenkeel._errors, InvalidParameterError);
    import_exception!(evenkeel._errors, IncompatibleError);
}

/// Why a call could not be answered.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What a job or the core says.
    Job(Box<JobError>),
    /// Data that neither of them sees.
    Data(String),
    /// The same, about a row.
    Row {
        /// Counted from 0 in the array that was given.
        row: usize,
        message: String,
    },
    /// A setting only Python could judge.
    Setting(String),
    /// Ctrl-C, or whatever else a signal handler raised.
    Interrupted(PyErr),
}

impl Failure {
    /// An array that `evenkeel._inputs` should have made contiguous.
    pub(crate) fn not_contiguous(argument: &str) -> Self {
        Self::Data(format!(
            "{argument}: its values do not lie one after the other; use numpy.ascontiguousarray"
        ))
    }

    /// A document that could not be written.
    pub(crate) fn not_json(error: &serde_json::Error) -> Self {
        Self::Data(format!("could not write JSON: {error}"))
    }
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        // Boxed: the error is large, and every result of every call would carry its size.
        Self::Job(Box::new(error))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        JobError::Core(error).into()
    }
}

/// An error of the core with options and inputs as Python calls them.
pub(crate) fn spelled(error: &Error) -> String {
    error.spelled(&PythonSpelling)
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(error) => f.write_str(&error.spelled(&spelled)),
            Self::Data(message) | Self::Row { message, .. } | Self::Setting(message) => {
                f.write_str(message)
            }
            Self::Interrupted(raised) => write!(f, "{raised}"),
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let message = failure.to_string();
        let (row, key) = match &failure {
            Failure::Job(error) => (error.row(), error.key()),
            Failure::Row { row, .. } => (Some(*row), None),
            _ => (None, None),
        };
        let category = match failure {
            Failure::Interrupted(raised) => return raised,
            // Without a category: a source that failed or a stop, neither of which a user's value
            // can mend.
            Failure::Job(error) => error.category().unwrap_or(Category::Incompatible),
            Failure::Data(_) | Failure::Row { .. } => Category::InvalidInput,
            Failure::Setting(_) => Category::InvalidParameter,
        };
        let error = match category {
            Category::InvalidInput => python::InvalidInputError::new_err(message),
            Category::InvalidParameter => python::InvalidParameterError::new_err(message),
            Category::Incompatible => python::IncompatibleError::new_err(message),
        };
        if let Some(row) = row {
            // As data too: who reads rows in batches knows what the row is called elsewhere. Without the attribute the message
            // says it all the same.
            Python::attach(|py| drop(error.value(py).setattr("row", row)));
        }
        if let Some(key) = key {
            // Who knows the ids can say what hashes to it.
            Python::attach(|py| drop(error.value(py).setattr("key", key)));
        }
        error
    }
}

/// Names the argument an error of the core is about. A setting that came to light while its values were read is not its
/// fault.
pub(crate) fn about(argument: &str) -> impl Fn(Error) -> Failure + Copy {
    move |error| JobError::from(error).while_reading(argument).into()
}

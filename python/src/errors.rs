//! Failures -> exceptions, in the words of the command line.
//!
//! Where a message of the command line names a file, the same message names the argument here.

use evenkeel::error::Category;
use pyo3::PyErr;

mod python {
    use pyo3::import_exception;

    import_exception!(evenkeel._errors, InvalidInputError);
    import_exception!(evenkeel._errors, InvalidParameterError);
    import_exception!(evenkeel._errors, IncompatibleError);
}

/// Why a call could not be answered.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something about a setting, or about data whose argument is clear from the words.
    Core(evenkeel::Error),
    /// Something about the data of one argument.
    In { argument: &'static str, error: evenkeel::Error },
    /// Two arguments that do not fit each other, or data the core never sees.
    Data(String),
    /// A setting only Python could judge.
    Setting(String),
    /// Something that is no calibration.
    Calibration(String),
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
}

impl From<evenkeel::Error> for Failure {
    fn from(error: evenkeel::Error) -> Self {
        Self::Core(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Core(error) => of_category(error.category(), error.to_string()),
            Failure::In { argument, error } => {
                of_category(error.category(), format!("{argument}: {error}"))
            }
            Failure::Data(message) => python::InvalidInputError::new_err(message),
            Failure::Setting(message) => python::InvalidParameterError::new_err(message),
            Failure::Calibration(message) => python::IncompatibleError::new_err(message),
            Failure::Interrupted(raised) => raised,
        }
    }
}

fn of_category(category: Category, message: String) -> PyErr {
    match category {
        Category::InvalidInput => python::InvalidInputError::new_err(message),
        Category::InvalidParameter => python::InvalidParameterError::new_err(message),
        Category::Incompatible => python::IncompatibleError::new_err(message),
    }
}

/// Names the argument an error of the core is about.
pub(crate) fn about(argument: &'static str) -> impl Fn(evenkeel::Error) -> Failure + Copy {
    move |error| Failure::In { argument, error }
}

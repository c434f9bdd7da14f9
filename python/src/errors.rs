//! Failures -> exceptions.
//!
//! Where a message of the command line names a file or a flag, the same message names the argument here.

use std::fmt;

use evenkeel::error::Category;
use pyo3::PyErr;

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
    /// Something about a setting, or about data whose argument is clear from the words.
    Core(evenkeel::Error),
    /// Something about the data of one argument.
    In { argument: &'static str, error: evenkeel::Error },
    /// Two arguments that do not fit each other, or data the core never sees.
    Data(String),
    /// A setting only Python could judge.
    Setting(String),
    /// Something that is not a calibration.
    Calibration(String),
    /// The work was asked to end; what was raised then is raised instead.
    Stopped,
    /// Ctrl-C, or whatever else a signal handler raised.
    Interrupted(PyErr),
}

impl Failure {
    /// Whether the data were the reason, not an argument.
    pub(crate) fn is_about_data(&self) -> bool {
        matches!(self, Self::Core(_) | Self::In { .. })
    }

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

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core(error) => f.write_str(&error.spelled(&PythonSpelling)),
            Self::In { argument, error } => {
                write!(f, "{argument}: {}", error.spelled(&PythonSpelling))
            }
            Self::Data(message) | Self::Setting(message) | Self::Calibration(message) => {
                f.write_str(message)
            }
            Self::Stopped => f.write_str("stopped on request"),
            Self::Interrupted(raised) => write!(f, "{raised}"),
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let message = failure.to_string();
        match failure {
            Failure::Core(error) | Failure::In { error, .. } => {
                of_category(error.category(), message)
            }
            Failure::Data(_) => python::InvalidInputError::new_err(message),
            Failure::Setting(_) => python::InvalidParameterError::new_err(message),
            Failure::Calibration(_) | Failure::Stopped => {
                python::IncompatibleError::new_err(message)
            }
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

/// Names the argument an error of the core is about. A setting that came to light while its rows were read is not its fault.
pub(crate) fn about(argument: &'static str) -> impl Fn(evenkeel::Error) -> Failure + Copy {
    move |error| match error.category() {
        Category::InvalidInput => Failure::In { argument, error },
        Category::InvalidParameter | Category::Incompatible => Failure::Core(error),
    }
}

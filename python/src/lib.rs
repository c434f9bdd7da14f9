//! The door between Python and the core.
//!
//! ```text
//! arrays        NumPy arrays -> the core's rows, without a copy; results -> NumPy arrays
//! beside        features, ratios and weights that some methods take beside the probabilities
//! door          one way in: releases the interpreter, listens to Ctrl-C, turns failures into exceptions
//! methods       keyword arguments -> the core's settings, by its option table
//! spelling      options and inputs of the core as they are called here
//! fitting       probabilities -> a calibration
//! calibration   its result: thresholds, sets, evaluation, file
//! check         is there a shift, what is at risk
//! compare       methods side by side
//! metrics       measured on labeled points
//! regression    bins and residuals
//! errors        failures -> exceptions, in the words of Python's arguments
//! ```
//! Everything here is thin: what a Python user sees is `python/evenkeel/*.py`.

#![allow(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]

mod arrays;
mod calibration;
mod check;
mod compare;
mod detached;
mod errors;
mod fitting;
mod methods;
mod metrics;
mod regression;
mod side_inputs;
mod spelling;

/// The compiled part of the package `evenkeel`.
#[pyo3::pymodule]
mod _evenkeel {
    #[pymodule_export]
    use crate::arrays::address;
    #[pymodule_export]
    use crate::calibration::FittedCalibration;
    #[pymodule_export]
    use crate::check::check;
    #[pymodule_export]
    use crate::compare::compare;
    #[pymodule_export]
    use crate::fitting::calibrate;
    #[pymodule_export]
    use crate::methods::{method_names, option_names, options_of_method};
    #[pymodule_export]
    use crate::metrics::{coverage, total_coverage_gap};
    #[pymodule_export]
    use crate::regression::{bin_labels, calibrate_residuals};

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "a Python module attribute")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

//! Python's door to the jobs.
//!
//! ```text
//! arrays        NumPy arrays -> rows and labels, without a copy; results -> NumPy arrays
//! points        rows with labels and side inputs -> what a job reads
//! methods       keyword arguments -> the core's settings, by its option table
//! spelling      options and inputs of the core as they are called here
//! detached      runs a job without the interpreter, and listens to Ctrl-C
//! calibrate     probabilities -> a calibration
//! calibration   its result, of any kind: thresholds, sets, evaluation, file
//! per_group     what differs where each class or group has its own threshold
//! certify       what labels certify, and which rows to label
//! distributed   fits, checks and evaluations whose rows lie with other processes
//! label_lists   sets as lists of labels, in the layout of Arrow
//! check         is there a shift, what is at risk
//! compare       methods side by side
//! pages         what a check, an evaluation or a comparison found, as HTML
//! metrics       measured on labeled points
//! regression    scores, the gate and its readings; bins and residuals
//! errors        failures -> exceptions, in the words of Python's arguments
//! ```
//! Everything here is thin: what a Python user sees is `python/evenkeel/*.py`.

#![allow(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]

mod arrays;
mod calibrate;
mod calibration;
mod certify;
mod check;
mod check_given;
mod compare;
mod detached;
mod distributed;
mod errors;
mod label_lists;
mod methods;
mod metrics;
mod pages;
mod per_group;
mod points;
mod regression;
mod spelling;

/// A document of the jobs, for `json.loads`.
fn json(document: &impl serde::Serialize) -> pyo3::PyResult<String> {
    // Text, not Python objects: one document for all shells, and its field names in one place.
    serde_json::to_string(document).map_err(|error| errors::Failure::not_json(&error).into())
}

/// The compiled part of the package `evenkeel`.
#[pyo3::pymodule]
mod _evenkeel {
    #[pymodule_export]
    use crate::arrays::address;
    #[pymodule_export]
    use crate::calibrate::calibrate;
    #[pymodule_export]
    use crate::calibration::FittedCalibration;
    #[pymodule_export]
    use crate::certify::{
        RunningAlarm, RunningSequence, coverage_interval, label_budget, rows_to_label,
    };
    #[pymodule_export]
    use crate::check::check;
    #[pymodule_export]
    use crate::compare::compare;
    #[pymodule_export]
    use crate::distributed::{
        RunningCheck, RunningEvaluation, RunningFit, RunningPart, keys_of_texts, merge_states,
    };
    #[pymodule_export]
    use crate::methods::{method_names, option_names, options_of_method};
    #[pymodule_export]
    use crate::metrics::{coverage, total_coverage_gap};
    #[pymodule_export]
    use crate::pages::Page;
    #[pymodule_export]
    use crate::regression::{
        bin_labels, binned_plan_weights, calibrate_residuals, calibrate_weighted, gate_regression,
        guaranteed_threshold, interval_scores, pull_to_labels, random_draw_p_value,
        reading_weights,
    };

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "a Python module attribute")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

//! Stage 5: weights on the calibration points that bring their law closer to the target data's.
//!
//! ```text
//! theta -> log-weights -> w = softmax -> objective (a bound of stage 4) -> closed-form gradient -> Adam
//! ```
//! Free-form weights give every calibration point a log-weight of its own; a weight function maps scores to
//! log-weights. Both are learned from unlabeled data alone. The baselines weigh by `dQ/dP` at every point
//! ([`likelihood_ratio`]) or at every label ([`label_shift`]).
//!
//! The label plan needs no optimiser: it builds a target law from the unlabeled points ([`label_plan`]) and takes the
//! weights closest to it, which are closed form ([`project`]).

mod free_form;
pub mod network;
pub mod objective;
pub mod optimise;
pub(crate) mod projection;
mod weight_function;

pub use free_form::{
    FreeFormFit, FreeFormSettings, fit_free_form, free_form_test_mass, initial_log_weights,
};
pub use projection::{Projection, project, total_gap_to};
pub use weight_function::{
    FunctionWeights, Halves, WeightFunctionFit, WeightFunctionSettings, fit_weight_function,
    function_weights,
};

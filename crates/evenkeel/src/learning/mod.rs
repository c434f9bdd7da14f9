//! Stage 6: weights on the calibration points that bring their law closer to that of the target
//! data.
//!
//! ```text
//! theta -> log-weights -> w = softmax -> objective (a bound of stage 4) -> closed-form gradient -> Adam
//! ```
//! Free-form weights give every calibration point a separate log-weight. A weight function maps scores to log-weights.
//! Both are learned from unlabeled target data alone. The exact bound needs no steps: its minimiser is an isotonic
//! regression ([`minimise_exactly`]). Where the law of the target scores is given, no optimiser is
//! needed: the weights closest to it have a closed form ([`project`]).
//!
//! This is what methods share. Each method is a module of [`method`](crate::method).

mod free_form;
mod minimiser;
// Hidden: the weight function is fitted by `fit_weight_function`; only our tests and benches take the network apart.
#[doc(hidden)]
pub mod network;
pub mod objective;
pub mod optimise;
pub(crate) mod projection;
mod weight_function;

pub use free_form::{
    FreeFormFit, FreeFormSettings, fit_free_form, free_form_test_mass, initial_log_weights,
};
pub use minimiser::minimise_exactly;
pub use projection::{Projection, project, total_gap_to};
pub(crate) use weight_function::Halves;
pub use weight_function::{
    FunctionWeights, WeightFunctionFit, WeightFunctionSettings, fit_weight_function,
    function_weights,
};

//! Stage 7: a room for every method.

pub mod auto;
pub mod conditional;
pub mod entropy_scaling;
pub mod label_plan;
pub mod label_shift;
pub mod likelihood_ratio;
pub(crate) mod ot;
pub mod quantile_transfer;

//! `ot`, the paper's method: weights that minimise a bound on the lost coverage.

mod problem;
mod settings;

pub(crate) use problem::{Problem, Weighted};
pub use settings::{ObjectiveChoice, SandwichChoice, TransportSettings, WeightsChoice};

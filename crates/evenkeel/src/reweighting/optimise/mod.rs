//! Descent on the parameters of the weights.

mod adam;

pub use adam::{Adam, AdamSettings};

//! Did the model's predictions change? A permutation test on what it says, without labels.

mod predictions;
mod shift_test;

pub use predictions::{KEPT_PREDICTIONS, predictions};
pub(crate) use predictions::{KeptPredictions, sampled};
pub use shift_test::{DEFAULT_PERMUTATIONS, Prediction, ShiftTest, permutations_for, shift_test};

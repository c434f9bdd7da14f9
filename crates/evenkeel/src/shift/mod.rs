//! Did the model's predictions change? A permutation test on what it says, without labels.

mod predictions;
mod shift_test;

pub use predictions::{KEPT_PREDICTIONS, predictions};
pub(crate) use predictions::{KeptPredictions, add_predictions, kept_predictions, sampled};
pub use shift_test::{DEFAULT_PERMUTATIONS, Prediction, ShiftTest, shift_test};

//! Did the model's predictions change? A permutation test on what it says, without labels. The same test tells whether rows that
//! were labeled look like a random draw.
//!
//! ```text
//! p = (1 + #{b : T_b >= T}) / (1 + B)      T the larger of two standardised distances, of confidences and of predicted classes
//! ```
//! [`covariate_test`] asks the same of any table of numbers: what a regressor predicts, and what it was given.

mod bit_counts;
mod covariates;
mod decision;
mod drawn_set;
mod predictions;
mod random_draw;
mod shift_test;
mod streams_abreast;
mod walk;

pub(crate) use covariates::sampled_rows;
pub use covariates::{CovariateTest, covariate_test};
pub(crate) use decision::shift_decision;
pub use predictions::predictions;
pub(crate) use predictions::{KEPT_PREDICTIONS, KeptPredictions, prediction, sampled};
pub(crate) use random_draw::random_draw_test;
pub use random_draw::{LabelDraw, RandomDrawTest};
pub use shift_test::{Prediction, ShiftTest, permutations_for, shift_test};
pub(crate) use shift_test::{least_permutations, require_drawable};

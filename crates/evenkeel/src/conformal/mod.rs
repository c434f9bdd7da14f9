//! Stage 6: from weighted calibration scores to thresholds and prediction sets.
//!
//! ```text
//! threshold   smallest s with (1 - test mass) F_w(s) >= 1 - alpha
//! sets        C(x) = {y : s(x, y) <= threshold}
//! ```

pub mod conditional;
mod label_sets;
mod lac_rows;
mod lac_settle;
#[cfg(target_arch = "x86_64")]
mod lac_settle_avx2;
mod prediction;
mod threshold;
mod thresholds;

pub use label_sets::{LabelSets, SetLabels};
pub use prediction::{label_scores_of_rows, predict_rows};
pub(crate) use threshold::threshold_of_sorted;
pub use threshold::{TestMass, Threshold, conformal_threshold};
pub use thresholds::Thresholds;

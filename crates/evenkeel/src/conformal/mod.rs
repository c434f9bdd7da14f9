//! Stage 6: from weighted calibration scores to thresholds and prediction sets.
//!
//! ```text
//! threshold   smallest s with (1 - test mass) F_w(s) >= 1 - alpha
//! sets        C(x) = {y : s(x, y) <= threshold}
//! ```
//! Two baselines move the threshold by what unlabeled data say about the classifier's confidence: [`EntropyScaling`] and
//! [`QuantileTransfer`].

pub mod conditional;
mod entropy_scaling;
mod interval_sample;
mod label_sets;
mod lac_rows;
mod lac_settle;
#[cfg(target_arch = "x86_64")]
mod lac_settle_avx2;
mod prediction;
mod quantile_transfer;
mod threshold;
mod thresholds;

pub use entropy_scaling::{EntropyCut, EntropyPower, EntropyScaling, entropy};
pub use interval_sample::MOST_EXACT_VALUES;
pub use label_sets::{LabelSets, SetLabels};
pub use prediction::{label_scores_of_rows, predict_rows};
pub use quantile_transfer::{QuantileTransfer, TransferRule, TransferredRate, confidence};
pub(crate) use threshold::threshold_of_sorted;
pub use threshold::{TestMass, Threshold, conformal_threshold};
pub use thresholds::Thresholds;

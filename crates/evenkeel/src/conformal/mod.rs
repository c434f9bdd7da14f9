//! Stage 6: from weighted calibration scores to thresholds and prediction sets.
//!
//! ```text
//! threshold   smallest s with (1 - test mass) F_w(s) >= 1 - alpha       crate::threshold
//! sets        C(x) = {y : s(x, y) <= threshold}                         prediction, law_sets, label_sets
//! ```
//! A block of rows has one threshold, one per row or one per label ([`Thresholds`]), depending on the method.

mod label_cells;
#[cfg(target_arch = "x86_64")]
mod label_cells_avx2;
mod label_lists;
mod label_sets;
mod lac_bands;
#[cfg(target_arch = "x86_64")]
mod lac_bands_avx2;
#[cfg(target_arch = "x86_64")]
mod lac_bands_avx2_f64;
mod lac_columns;
#[cfg(target_arch = "x86_64")]
mod lac_columns_avx2;
mod lac_rows;
mod law_sets;
mod prediction;
mod thresholds;

pub use label_sets::{LabelSets, SetLabels, SetSizes};
pub(crate) use lac_columns::lac_sets_of_columns;
pub(crate) use prediction::{Scoring, label_scores_by, predict_scored};
pub use prediction::{label_scores_of_rows, predict_rows};
pub use thresholds::{Cutoffs, Thresholds, ThresholdsDifferBy};

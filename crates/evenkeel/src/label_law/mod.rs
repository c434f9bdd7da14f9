//! Label laws: what the model's outputs on unlabeled rows can mean, row by row.
//!
//! ```text
//! temperature       T: calibration labels most likely under softmax(logits / T)
//! class_groups      classes, or groups of them where unlabeled points are few; prior pi
//! first_pass        predicted classes, confidences and kept rows of the target data; mergeable
//! shift_statistics  how far confidences and predicted groups moved -> mix, inflation
//! transport_plan    g_j(y) ~ f_j(y) b_group(y): target points transported onto the calibration labels
//! ```
//! A label law gives every target row a probability for each label. Methods and checks turn it into a law of scores.

mod class_groups;
mod first_pass;
mod labeled_logits;
mod shift_statistics;
mod target_rows;
mod temperature;
mod transport_plan;

pub use class_groups::ClassGroups;
pub(crate) use class_groups::POINTS_PER_GROUP;
pub use first_pass::FirstPass;
pub(crate) use first_pass::confidence;
pub use labeled_logits::LabeledLogits;
pub(crate) use labeled_logits::floored_log;
pub use shift_statistics::ShiftStatistics;
pub(crate) use shift_statistics::{LARGEST_INFLATION, PredictedCalibration, shift_statistics};
pub use target_rows::TargetRows;
pub(crate) use target_rows::{RowReader, in_blocks, predicted};
pub(crate) use temperature::best_temperature;
pub(crate) use transport_plan::{
    GroupTable, Iterating, Marginal, fit_plan, fit_plan_from, scale_row, tempered_softmax,
};
pub use transport_plan::{PlanStop, TransportPlan};

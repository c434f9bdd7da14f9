//! Label laws: what the model's outputs on unlabeled rows can mean, row by row.
//!
//! ```text
//! temperature       T: calibration labels most likely under softmax(logits / T)
//! class_groups      classes, or groups of them where unlabeled points are few; prior pi
//! first_pass        predicted classes, confidences and kept rows of the target data; mergeable
//! shift_statistics  how far confidences and predicted groups moved -> mix, inflation
//! transport_plan    g_j(y) ~ f_j(y) b_group(y): target points transported onto the calibration labels
//! carried_logits    target logits on their scale of the calibration data
//! accuracy          a: how often the model is right on the target data, from its outputs alone
//! second_opinion    the same with the outputs of other models
//! label_shares      whether other class frequencies alone explain the outputs, and which
//! matched_plan      e: the factor on the temperature at which a law has the accuracy a
//! plan_mixture      h = (1 - mix) f + mix g: a label law, row by row
//! law_map           h of any row, stored: what `--score plan` scores by
//! law_screen        which labels it admits for certain, in half the bytes
//! ```
//! A label law gives every target row a probability for each label. Methods and checks turn it into a law of scores.

mod accuracy;
mod calibration_outputs;
mod carried_logits;
mod class_groups;
mod first_pass;
mod kept_rows;
mod label_shares;
mod labeled_logits;
mod law_map;
mod law_screen;
mod matched_plan;
mod plan_mixture;
mod second_opinion;
mod shift_statistics;
mod target_rows;
mod temperature;
mod transport_plan;

pub use accuracy::AccuracyStatistics;
pub(crate) use accuracy::{FittedModel, accuracy_statistics, clip_to_shares};
pub(crate) use calibration_outputs::CalibrationOutputs;
pub use class_groups::ClassGroups;
pub(crate) use class_groups::POINTS_PER_GROUP;
pub use first_pass::FirstPass;
pub(crate) use first_pass::{Said, Unsampled};
pub(crate) use kept_rows::{KeptRow, KeptRows};
pub use label_shares::LabelShares;
pub(crate) use label_shares::{CONFIDENCES_MOVED, HISTOGRAMS_MOVED, Predicted, label_shares};
pub use labeled_logits::LabeledLogits;
pub(crate) use labeled_logits::floored_logs;
pub(crate) use law_map::{LabelLawMap, LawPlan, LawTerm};
pub(crate) use law_screen::{LawScreen, ROWS as SCREENED_ROWS};
pub use matched_plan::Match;
pub(crate) use matched_plan::{FACTORS, MatchedPlan, Matching};
pub(crate) use plan_mixture::{PlanMixture, RowLaws};
pub(crate) use second_opinion::second_opinion;
pub use second_opinion::{SecondOpinion, SecondOpinions};
pub use shift_statistics::ShiftStatistics;
pub(crate) use shift_statistics::{LARGEST_INFLATION, PredictedCalibration, shift_statistics};
pub use target_rows::TargetRows;
pub(crate) use target_rows::{RowReader, in_blocks};
pub(crate) use temperature::{Losses, best_temperature, temperature_error};
pub(crate) use transport_plan::{
    GroupTable, Iterating, Marginal, fit_plan, fit_plan_from, tempered_softmax,
};
pub use transport_plan::{PlanStop, TransportPlan};

//! The jobs with coverage for each class or each group.
//!
//! ```text
//! group_column   the groups of rows, read beside them            gathered   rows of one group, copied together
//! divided        which groups stand alone                        group_fit  the fit of one of them
//! classes        calibrate, a threshold for each class           groups     calibrate, a fit for each group, one reading for all
//! any            a stored calibration of either kind, or plain   sets       predict and evaluate with any of them
//! check          what a threshold is worth for each of them      documents, sentences
//! ```
//! Every group is fitted on its rows as if there were no others, under the keys that its rows have among all: what comes out
//! does not depend on blocks, threads or the order of groups.

mod any;
mod check;
mod classes;
mod divided;
pub mod documents;
mod gathered;
mod group_column;
mod group_fit;
mod groups;
mod sentences;
mod sets;

pub use any::{AnyCalibration, parse_any_calibration};
pub use check::{CheckedGroup, check_classes, check_groups};
pub use classes::{CalibratedPerClass, calibrate_per_class};
pub(crate) use divided::{Divided, SizesBy, TargetGroups};
pub(crate) use gathered::{GatheredData, GatheredRows, key_of};
pub use group_column::{GroupColumn, MemoryGroups};
pub(crate) use group_fit::{GroupFit, begin_fits, finish_fits};
pub use groups::{CalibratedPerGroup, GroupJob, OtherGroups, calibrate_per_group};
pub use sentences::{
    CALIBRATE_PER_CLASS, calibrated_per_class, calibrated_per_group, group_warnings,
    merged_classes, undercovered_classes,
};
pub use sets::{EvaluatedGroup, EvaluatedGroups, evaluate_any, predict_any};

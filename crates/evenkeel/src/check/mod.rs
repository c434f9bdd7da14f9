//! Is there a shift, how much coverage is at risk, what to do: the questions of someone on call, without labels.
//!
//! ```text
//! shift test     confidences and predicted classes, yesterday against today, by permutation           shift_test
//! coverage       [F_upper(t), F_lower(t)] at the uncorrected threshold t                              bound::coverage_interval
//! bounds         eq 7 and eq 8 for both sandwiches, with and without DKW                              bound
//! advice         one sentence
//! ```

mod report;
mod shift_test;
mod today;
mod words;

pub use report::{
    CheckSettings, ConfidentInterval, CoverageIntervals, DominanceReport, DominanceReports,
    SandwichBounds, SandwichReports, ShiftReport, check,
};
pub use shift_test::{DEFAULT_PERMUTATIONS, Prediction, ShiftTest, shift_test};
pub(crate) use today::KeptPredictions;
pub use today::{TodayLaws, TodaySketch, predictions};

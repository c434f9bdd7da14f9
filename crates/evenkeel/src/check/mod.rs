//! Is there a shift, how much coverage is at risk, what to do: the questions of someone on call, without labels.
//!
//! ```text
//! shift test     confidences and predicted classes, the calibration data against the target data, by permutation           shift_test
//! coverage       [F_upper(t), F_lower(t)] at the uncorrected threshold t                              bound::coverage_interval
//! bounds         eq 7 and eq 8 for both sandwiches, with and without DKW                              bound
//! ```

mod report;
mod target_laws;

pub use report::{
    CheckSettings, ConfidentInterval, CoverageIntervals, DominanceReport, DominanceReports,
    SandwichBounds, SandwichReports, ShiftOutcome, ShiftReport, check,
};
pub use target_laws::{GatheredTarget, TargetLaws, TargetLawsRecipe, TargetSketch};

//! Is there a shift, how much coverage is at risk, what to do: the questions of someone on call, without labels.
//!
//! ```text
//! shift test     confidences and predicted classes of the two data sets, by permutation               shift::shift_test
//! coverage       [F_upper(t), F_lower(t)] at the uncorrected threshold t                              bound::coverage_interval
//! bounds         eq 7 and eq 8 for both sandwiches, with and without DKW                              bound
//! ```

mod report;
mod target_laws;

pub use report::{
    CheckSettings, ConfidentInterval, CoverageIntervals, DominanceReport, DominanceReports,
    SandwichBounds, SandwichReports, ShiftOutcome, ShiftReport, check,
};
pub use target_laws::TargetLaws;
// Hidden: how the jobs gather target rows block by block, and the sketch alone that our tests compare with the exact laws.
#[doc(hidden)]
pub use target_laws::{GatheredTarget, TargetLawsRecipe, TargetSketch};

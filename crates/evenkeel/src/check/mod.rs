//! Is there a shift, how much coverage is at risk, what to do: the questions of someone on call, without labels.
//!
//! ```text
//! shift test     confidences and predicted classes of the two data sets, by permutation               shift::shift_test
//! belief         F_f(t) of the calibration rows against the share of their labels                     reading::belief
//! readings       F_h(t) under every reading h of the target rows: estimate, range, verdict, loss      reading
//! coverage       [F_upper(t), F_lower(t)] at the threshold t in question                              bound::coverage_interval
//! bounds         eq 7 and eq 8 for both sandwiches, with and without DKW                              bound
//! ```
//! Target rows are read once where no shift is found or all of them are kept (up to 2^21 probabilities), and twice elsewhere: laws that
//! thresholds are made of need what the first pass says of all rows. [`check`] does it for tables in memory, [`Check`] block by block,
//! [`CheckPart`] in other processes.
//!
//! ```
//! use evenkeel::check::{CheckSettings, check};
//! use evenkeel::level::{FailureProbability, Miscoverage};
//! use evenkeel::prelude::*;
//! use evenkeel::score::Score;
//! use evenkeel::seed::Seed;
//!
//! # fn main() -> evenkeel::Result<()> {
//! let calibration = [0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.2, 0.2, 0.6, 0.5, 0.3, 0.2];
//! let target = [0.4, 0.3, 0.3, 0.2, 0.5, 0.3];
//! let (calibration, target) = (Probabilities::new(&calibration, 3)?, Probabilities::new(&target, 3)?);
//! let labels = Labels::new(vec![0, 1, 2, 1], 3)?;
//! let settings = CheckSettings::new(Miscoverage::new(0.3)?, FailureProbability::FIVE_PERCENT, Seed::new(0));
//!
//! let checked = check(&calibration, &labels, &target, &Score::Lac, &settings)?;
//! let estimate = checked.report.coverage_estimate;
//! assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
//! # Ok(())
//! # }
//! ```

mod answer;
mod assumed;
mod checked_calibration;
mod job;
mod of_calibration;
mod part;
mod passes;
mod report;
mod settings;
mod target_laws;

pub use job::{Check, CheckEnded, CheckShare, Checked, check};
pub use part::CheckPart;
#[cfg(test)]
pub(crate) use passes::{FirstCheckPass, FirstCheckState};
pub use report::{
    AssumedModel, ConfidentInterval, CoverageIntervals, DominanceReport, DominanceReports,
    SandwichBounds, SandwichReports, ShiftOutcome, ShiftReport,
};
pub use settings::{CheckSettings, Stopping, ThresholdInQuestion};
pub use target_laws::TargetLaws;
// Hidden: how target rows are gathered block by block, and the sketch alone that our tests compare with the exact laws.
#[doc(hidden)]
pub use target_laws::{GatheredTarget, TargetLawsRecipe, TargetSketch};

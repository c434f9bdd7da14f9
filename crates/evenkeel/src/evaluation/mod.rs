//! Stage 10: how the prediction sets did, on labeled points.
//!
//! ```text
//! coverage             share of the points whose label is in their set; also by class and by set size
//! set size             mean, median, and how many sets are empty or full
//! total coverage gap   sum_i w_i |F_P(s_i) - F_Q(s_i)|, over all miscoverage rates at once
//! gap curve            (1 - alpha, F_Q(threshold(alpha))) for a list of rates
//! ```
//! Everything is counted in whole numbers, so blocks of rows can be evaluated anywhere, in any order, and merged: the
//! result is the same to the last bit.

mod coverage;
mod gap_curve;
mod set_size;
mod summary;
mod total_gap;

pub use coverage::{ClassCoverage, SizeCoverage, coverage, coverage_by_class, coverage_by_size};
pub use gap_curve::{GapPoint, gap_curve, percent_rates};
pub use set_size::{SetSizes, set_sizes};
pub use summary::{Evaluation, EvaluationCounts};
pub use total_gap::{LabelScoreCounts, total_coverage_gap};

//! Stage 5: what a pass over rows leaves behind. Bounded in memory, mergeable in any order, and the same bits for any cut.

mod abscissae;
mod confidence_counts;
mod law_sums;
mod log_bins;
mod quantile_counts;
mod row_count;
pub(crate) mod row_sample;
mod sandwich_sketch;
mod sketched_law;
pub(crate) mod state;
pub(crate) mod target_table;
#[cfg(test)]
mod tests;

pub use abscissae::Abscissae;
pub(crate) use confidence_counts::ConfidenceCounts;
pub use law_sums::TailAtom;
pub(crate) use law_sums::{LAWS, LawSums};
pub use quantile_counts::MOST_EXACT_VALUES;
pub(crate) use quantile_counts::{QuantileCounts, Rounding};
pub(crate) use row_count::{MOST_ROWS, contradiction, rows_of_both, sum_of_counts};
pub(crate) use row_sample::{RowSample, hash_of_key};
pub use sandwich_sketch::{LawSummary, SandwichSketch, SketchedLaws};
pub(crate) use target_table::{FilledTable, MOST_CANDIDATES, TargetTable, TargetTableRecipe};

//! Stage 5: what a pass over rows leaves behind. Bounded in memory, mergeable in any order, and the
//! same bits for any cut.
//!
//! ```text
//! abscissae          t_0 < .. < t_(K-1), where a sketch is exact
//! distance_cells     the bin of a score by the high bits of its distance from the end
//! sketched_law       mass and first moment in (t_(k-1), t_k], whole multiples of 2^-62
//! sandwich_sketch    two pairs of such laws, from one scan
//! lac_block          a block of rows of 1 - p for both, many rows at once
//! lac_sums           its f-u pair; extreme_sums its min-max pair
//! crowded_bins       where these two and row_sums are summed
//! whole_parts        sums of whole parts in vector registers, for lac_sums
//! target_table       every probability while they are few, a sandwich_sketch when they are many
//! law_sums           three laws of the label plan at the calibration scores, and a tail
//! tails              what lies beyond the largest calibration score: atoms, or masses in cells
//! row_sums           the same summed over many rows before they are handed on
//! confidences        a multiset of confidences, and its distance from weighted ones
//! quantile_counts    numbers of an interval: values, then counts in equal cells
//! row_sample         the rows with the smallest hashes of (seed, key)
//! row_marks          which rows were seen, as a sum of hashes
//! part_ids           which parts were
//! state              header | payload | SHA-256
//! ```
//! Sums are of whole numbers, or run in the order of the keys. Floating-point sums in the order of
//! arrival would make a result depend on threads, blocks and machines.

mod abscissae;
mod confidences;
mod crowded_bins;
mod distance_cells;
mod extreme_sums;
mod gathered_masses;
mod lac_block;
mod lac_sums;
mod law_sums;
pub(crate) mod log_bins;
mod part_ids;
mod quantile_counts;
mod row_count;
mod row_marks;
pub(crate) mod row_sample;
mod row_sums;
mod sandwich_sketch;
mod sketched_law;
pub(crate) mod state;
mod tails;
pub(crate) mod target_table;
#[cfg(test)]
mod tests;
mod whole_parts;
#[cfg(target_arch = "x86_64")]
mod whole_parts_avx512;

pub use abscissae::Abscissae;
pub(crate) use confidences::Confidences;
pub use law_sums::TailAtom;
pub(crate) use law_sums::{Aim, LawSums, MOST_LAWS};
pub use part_ids::PartIds;
pub use quantile_counts::MOST_EXACT_VALUES;
pub(crate) use quantile_counts::{QuantileCounts, Rounding};
pub(crate) use row_count::{MOST_ROWS, contradiction, rows_of_both, sum_of_counts};
pub use row_marks::RowMarks;
pub(crate) use row_marks::{marks_of_keys, marks_of_rows};
pub(crate) use row_sample::RowSample;
pub(crate) use row_sums::RowSums;
pub use sandwich_sketch::{LawSummary, SandwichSketch, SketchedLaws};
pub(crate) use target_table::{FilledTable, MOST_CANDIDATES, TargetTable, TargetTableRecipe};

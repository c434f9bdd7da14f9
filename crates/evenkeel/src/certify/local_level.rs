//! The level `eta(k)` at which Clopper-Pearson intervals hold at all thresholds that `k` labels can choose between.
//!
//! A threshold chosen with the labels lies at one of their order statistics, or between two. Its coverage is at least that of the
//! order statistic below. If all order statistics are above the lower ends of their own ranges at level `eta` with probability
//! `1 - d` together (an equal-local-level band), then the lower end holds at the chosen threshold, whatever chose it. Upper ends
//! are the mirror image: **each end holds with probability `1 - d`**, both together with `1 - 2 d`.
//!
//! ```text
//! eta   table at (k, d), made exactly by scripts/make-local-levels; between its entries ln eta is linear in ln k and ln d
//! ```
//! Straight lines lie within 1 % of the exact levels (tests repeat entries and midpoints). Outside the table (`k` above 10 000, `d`
//! below 0.0005 or above 0.25) the union bound `2 d / k`, which is valid and wider.

use super::local_level_table::{FAILURES, LABELS, LOCAL_LEVELS};
use crate::level::FailureProbability;

/// `eta(k)`: the level of Clopper-Pearson intervals each end of which holds at every threshold at once with probability `1 - d`.
pub fn same_labels_level(labels: u64, failure: FailureProbability) -> f64 {
    local_level(labels, failure.get())
}

pub(super) fn local_level(labels: u64, d: f64) -> f64 {
    let k = labels.max(1) as f64;
    let inside =
        k <= LABELS[LABELS.len() - 1] && (FAILURES[0]..=FAILURES[FAILURES.len() - 1]).contains(&d);
    if !inside {
        return 2.0 * d / k;
    }
    let (column, along_k) = place(&LABELS, k);
    let (row, along_d) = place(&FAILURES, d);
    let at = |row: usize| {
        let levels = &LOCAL_LEVELS[row];
        (1.0 - along_k) * levels[column].ln() + along_k * levels[column + 1].ln()
    };
    ((1.0 - along_d) * at(row) + along_d * at(row + 1)).exp()
}

/// The entry at or before `value`, not the last, and how far `ln value` is on the way to the next.
fn place(entries: &[f64], value: f64) -> (usize, f64) {
    let after = entries.partition_point(|entry| *entry <= value);
    let index = after.saturating_sub(1).min(entries.len() - 2);
    let (from, to) = (entries[index].ln(), entries[index + 1].ln());
    (index, (value.ln() - from) / (to - from))
}

#[cfg(test)]
mod tests {
    use super::super::order_band::exact_local_level;
    use super::*;

    fn level(k: u64, d: f64) -> f64 {
        same_labels_level(k, FailureProbability::new(d).unwrap())
    }

    #[test]
    fn between_entries_straight_lines_are_within_one_percent() {
        for (k, d) in
            [(7, 0.05), (26, 0.05), (45, 0.07), (64, 0.03), (170, 0.1), (13, 0.2), (33, 0.0007)]
        {
            let (found, exact) = (level(k, d), exact_local_level(k as usize, d));
            assert!((found / exact - 1.0).abs() < 0.01, "k {k} d {d}: {found} {exact}");
        }
    }

    #[test]
    fn outside_the_table_the_union_bound_holds() {
        assert_eq!(level(20_000, 0.05), 2.0 * 0.05 / 20_000.0);
        assert_eq!(level(100, 1e-6), 2.0 * 1e-6 / 100.0);
        assert!((level(1, 0.05) - 0.1).abs() < 1e-6);
        assert_eq!(level(0, 0.9), 1.8);
        for k in [2, 9, 57, 400, 9_999] {
            assert!(level(k, 0.05) > 0.1 / k as f64 && level(k, 0.05) < level(k - 1, 0.05));
        }
    }
}

//! `calibrated`: the law of a score at `x` is that of the calibration points nearest to it.
//!
//! ```text
//! r_i      mid-rank of each output of i among the calibration points
//! near(j)  the k calibration points nearest to j in ranks, k = ceil(n^(2/3)), and all as near as the last of them
//! w_i      1/m sum_j 1{i in near(j)} / #near(j)
//! ```
//! `sum_i w_i 1{s_i <= t}` is the nearest-neighbour estimate of `P(s <= t | x)`, averaged over the target points. Ranks make it
//! invariant under monotone changes of an output. Outputs that are all equal give equal weights.

use rayon::prelude::*;

use crate::error::{Error, Result, require_same_length};
use crate::measure::Weights;
use crate::rows::Rows;
use crate::seed::Seed;
use crate::shift::sampled_rows;

/// Pairs of calibration and target points looked at when there are several outputs; target points are sampled beyond.
const MOST_PAIRS: usize = 1 << 27;
/// Target points of one task.
const SHARE_ROWS: usize = 256;
/// Squares of differences of doubled ranks stay whole below this.
const MOST_POINTS: usize = 1 << 28;
/// A neighbour's share of a target point, in whole numbers: sums do not depend on their order.
const WHOLE: u128 = 1 << 62;

/// Weights of the calibration points, shape `(n,)`, from outputs of both sides, shapes `(n, d)` and `(m, d)` with few columns.
///
/// # Errors
/// If the tables differ in columns, or there are more than 2^28 calibration points.
pub fn neighbour_weights(
    calibration: Rows<'_, f64>,
    target: Rows<'_, f64>,
    seed: Seed,
) -> Result<Weights> {
    let (n, columns) = (calibration.rows(), calibration.columns());
    require_same_length("target outputs", target.columns(), "calibration outputs", columns)?;
    if n > MOST_POINTS {
        return Err(Error::OutOfRange {
            what: "the number of calibration points",
            value: n as f64,
            expected: "at most 2^28; give a sample",
        });
    }
    let sorted: Vec<Vec<f64>> = (0..columns)
        .map(|column| {
            let mut values: Vec<f64> = calibration.iter().map(|row| row[column]).collect();
            values.sort_unstable_by(f64::total_cmp);
            values
        })
        .collect();
    let ranked = |row: &[f64]| -> Vec<i64> {
        row.iter().zip(&sorted).map(|(value, column)| doubled_rank(column, *value)).collect()
    };
    let points: Vec<Vec<i64>> = calibration.iter().map(ranked).collect();
    // n^(2/3): the rate at which bias and variance of a nearest-neighbour mean fall together in few dimensions.
    let near = ((n as f64).powf(2.0 / 3.0).ceil() as usize).clamp(1, n);
    let sums = if columns == 1 {
        let points: Vec<i64> = points.iter().map(|point| point[0]).collect();
        sums_on_a_line(&points, target.iter().map(|row| doubled_rank(&sorted[0], row[0])), near)
    } else {
        let rows = sampled_rows(target.rows(), (MOST_PAIRS / n).max(1), seed);
        sums_in_space(&points, &rows, &|row| ranked(target.row(row)), near)
    };
    Weights::normalised(sums.into_iter().map(|sum| sum as f64).collect())
}

/// Twice the mid-rank of a value among sorted ones: how many are below, and how many are not above.
fn doubled_rank(sorted: &[f64], value: f64) -> i64 {
    let below = sorted.partition_point(|other| *other < value);
    let through = sorted.partition_point(|other| *other <= value);
    // At most 2^29: there are no more points.
    i64::try_from(below + through).unwrap_or(i64::MAX)
}

/// One output: neighbours are a run of the sorted ranks, found by bisection.
fn sums_on_a_line(points: &[i64], target: impl Iterator<Item = i64>, near: usize) -> Vec<u128> {
    let n = points.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|index| points[*index]);
    let ranks: Vec<i64> = order.iter().map(|index| points[*index]).collect();
    // Shares begin at one place and end at another: a running sum gives what covers each.
    let mut begins = vec![0u128; n + 1];
    let mut ends = vec![0u128; n + 1];
    for at in target {
        // The leftmost run of `near` ranks whose right neighbour is no nearer than its first.
        let (mut low, mut high) = (0, n - near);
        while low < high {
            let middle = low + (high - low) / 2;
            if at - ranks[middle] > ranks[middle + near] - at {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let radius = (at - ranks[low]).abs().max((ranks[low + near - 1] - at).abs());
        let first = ranks.partition_point(|rank| *rank < at - radius);
        let last = ranks.partition_point(|rank| *rank <= at + radius);
        let share = WHOLE / (last - first) as u128;
        begins[first] += share;
        ends[last] += share;
    }
    let mut sums = vec![0u128; n];
    let mut covering = 0u128;
    for (place, index) in order.iter().enumerate() {
        covering = covering + begins[place] - ends[place];
        sums[*index] = covering;
    }
    sums
}

/// Several outputs: every pair is looked at. Squared distances of ranks are whole numbers, so that ties are ties.
fn sums_in_space(
    points: &[Vec<i64>],
    rows: &[usize],
    ranked: &(impl Fn(usize) -> Vec<i64> + Sync),
    near: usize,
) -> Vec<u128> {
    let zero = || vec![0u128; points.len()];
    rows.par_chunks(SHARE_ROWS)
        .map(|share| {
            let mut sums = zero();
            let mut distances = vec![0u128; points.len()];
            for row in share {
                let at = ranked(*row);
                for (slot, point) in distances.iter_mut().zip(points) {
                    let square = |(a, b): (&i64, &i64)| u128::from(a.abs_diff(*b)).pow(2);
                    *slot = point.iter().zip(&at).map(square).sum();
                }
                let mut ordered = distances.clone();
                let (_, radius, _) = ordered.select_nth_unstable(near - 1);
                let radius = *radius;
                let inside = distances.iter().filter(|distance| **distance <= radius).count();
                let share = WHOLE / inside as u128;
                for (sum, distance) in sums.iter_mut().zip(&distances) {
                    if *distance <= radius {
                        *sum += share;
                    }
                }
            }
            sums
        })
        .reduce(zero, |mut sums, share| {
            sums.iter_mut().zip(share).for_each(|(sum, more)| *sum += more);
            sums
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn weights(calibration: &[f64], target: &[f64], columns: usize) -> Vec<f64> {
        let rows = |values| Rows::new("outputs", values, columns).unwrap();
        neighbour_weights(rows(calibration), rows(target), Seed::new(0))
            .unwrap()
            .as_slice()
            .to_vec()
    }

    proptest! {
        /// The run on a line is the neighbourhood in space: a second, constant output changes nothing.
        #[test]
        fn a_line_is_a_space(
            calibration in prop::collection::vec(0u8..12, 1..40),
            target in prop::collection::vec(0u8..14, 1..20),
        ) {
            let one = |values: &[u8]| values.iter().map(|v| f64::from(*v)).collect::<Vec<f64>>();
            let two = |values: &[u8]| values.iter().flat_map(|v| [f64::from(*v), 1.0]).collect::<Vec<f64>>();
            let line = weights(&one(&calibration), &one(&target), 1);
            let space = weights(&two(&calibration), &two(&target), 2);
            for (a, b) in line.iter().zip(&space) {
                prop_assert!((a - b).abs() < 1e-12, "{line:?} {space:?}");
            }
            prop_assert!((line.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }

        /// Any monotone change of the outputs, and any order of the target points, gives the same bits.
        #[test]
        fn only_ranks_count(
            calibration in prop::collection::vec(-3.0..3.0f64, 1..40),
            target in prop::collection::vec(-4.0..4.0f64, 1..20),
        ) {
            let before = weights(&calibration, &target, 1);
            let bent = |values: &[f64]| values.iter().map(|v| v.powi(3)).collect::<Vec<f64>>();
            let mut turned = bent(&target);
            turned.reverse();
            prop_assert_eq!(before, weights(&bent(&calibration), &turned, 1));
        }
    }

    #[test]
    fn weights_go_where_the_target_points_are() {
        let calibration: Vec<f64> = (0..100).map(f64::from).collect();
        let found = weights(&calibration, &[90.0, 95.0, 99.0, 200.0], 1);
        assert!(found[..60].iter().all(|w| *w == 0.0) && found[95] > 0.03, "{found:?}");
    }

    #[test]
    fn constant_outputs_and_single_points() {
        assert_eq!(weights(&[2.0; 5], &[2.0, 7.0], 1), [0.2; 5]);
        assert_eq!(weights(&[2.0], &[f64::MAX], 1), [1.0]);
        assert_eq!(weights(&[1.0, 5.0], &[1.0, 5.0], 2), [1.0]);
    }
}

//! Did a table of numbers change: what a regressor predicts, how wide its intervals are, what it was given?
//!
//! ```text
//! distance of a column   max_t |F_calibration(t) - F_target(t)|                                   (Kolmogorov-Smirnov)
//! statistic              the largest over the columns, each as (distance - mean) / sd over the random relabelings
//! p-value                (1 + b) / (1 + B): b of B relabelings have a statistic at least as large
//! ```
//! One relabeling of whole rows gives all distances, so that the dependence of the columns is accounted for and no correction
//! for their number is needed. As in [`shift_test`](super::shift_test()) mean and standard deviation are taken over the
//! relabelings and the observed labeling together, which makes the p-value exact, ties included.

use rayon::prelude::*;
use serde::Serialize;

use super::shift_test::require_drawable;
use crate::error::{At, Error, Result, require_same_length};
use crate::level::FailureProbability;
use crate::rows::Rows;
use crate::seed::{Seed, Stream};

/// Entries of one side that are tested at most: a thousand relabelings of them take some tenths of a second.
const MOST_ENTRIES: usize = 1 << 17;
/// Rows of one side that are always tested, however wide they are.
const LEAST_ROWS: usize = 500;

/// A two-sample permutation test of the columns of two tables: the observed distances, and how rare the largest is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CovariateTest {
    /// The largest distance, in standard deviations above what relabelings give.
    pub statistic: f64,
    /// The column it is of, from 0.
    pub column: usize,
    /// Kolmogorov-Smirnov distance of each column, in `[0, 1]`.
    pub distances: Vec<f64>,
    /// `(1 + b) / (1 + B)`. Exact: under no shift it is at most `p` with probability at most `p`.
    pub p_value: f64,
    /// `B`, the relabelings drawn, at least 1.
    pub permutations: usize,
}

impl CovariateTest {
    /// Whether the test rejects "no shift" at a level.
    pub fn rejects(&self, level: FailureProbability) -> bool {
        self.p_value <= level.get()
    }
}

/// Tests whether the rows of two tables come from the same law, column by column; shapes `(n, d)` and `(m, d)`.
///
/// A change that leaves every column's own law as it was, such as one of a correlation, is invisible to this test. Of large
/// tables a uniform sample of the rows is tested.
///
/// # Errors
/// If a table is empty, the two differ in columns, a number is not finite, or no permutation is asked for.
pub fn covariate_test(
    calibration: Rows<'_, f64>,
    target: Rows<'_, f64>,
    permutations: usize,
    seed: Seed,
) -> Result<CovariateTest> {
    require_drawable(permutations)?;
    let pooled = Pooled::new(calibration, target, seed)?;
    let relabeled = (0..permutations as u64).into_par_iter().map(|index| {
        // A seed for each relabeling, by its number: threads may draw them in any order.
        let mut draws = Relabeling::new(pooled.n, pooled.rows, seed.child("covariate-test", index));
        let sides: Vec<Side> = (0..pooled.rows).map(|_| draws.next_side()).collect();
        pooled.distances(&sides)
    });
    let mut all = vec![pooled.distances(&pooled.observed())];
    all.par_extend(relabeled);

    let count = all.len() as f64;
    // Of every labeling the largest standardised distance, and the column it is of.
    let mut largest = vec![(f64::NEG_INFINITY, 0); all.len()];
    for column in 0..pooled.columns.len() {
        let values: Vec<f64> = all.iter().map(|distances| distances[column] as f64).collect();
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let spread = (squares / count).sqrt();
        // A column that no relabeling changes (all entries equal) has nothing to say.
        let scale = if spread > 0.0 { 1.0 / spread } else { 0.0 };
        for (slot, value) in largest.iter_mut().zip(&values) {
            let standardised = (value - mean) * scale;
            if standardised > slot.0 {
                *slot = (standardised, column);
            }
        }
    }
    let (statistic, column) = largest[0];
    // `>=`: relabelings that tie count against a shift, and the p-value stays valid.
    let exceeded = largest[1..].iter().filter(|(drawn, _)| *drawn >= statistic).count();
    let pairs = pooled.n as f64 * (pooled.rows - pooled.n) as f64;
    Ok(CovariateTest {
        statistic,
        column,
        distances: all[0].iter().map(|distance| *distance as f64 / pairs).collect(),
        p_value: (1 + exceeded) as f64 / (1 + permutations) as f64,
        permutations,
    })
}

/// Both tables, each column in increasing order.
struct Pooled {
    /// Calibration rows; they stand first.
    n: usize,
    /// Rows of both.
    rows: usize,
    columns: Vec<Column>,
}

/// The rows in increasing order of an entry, and whether each is the last of its run of equal entries, where CDFs may be compared.
struct Column(Vec<(u32, bool)>);

impl Pooled {
    fn new(calibration: Rows<'_, f64>, target: Rows<'_, f64>, seed: Seed) -> Result<Self> {
        let columns = calibration.columns();
        require_same_length("target columns", target.columns(), "calibration columns", columns)?;
        for table in [calibration, target] {
            if table.rows() == 0 {
                return Err(Error::Empty { what: table.what() });
            }
            for (row, values) in table.iter().enumerate() {
                if let Some(column) = values.iter().position(|value| !value.is_finite()) {
                    let (at, value) = (At::Cell { row, column }, values[column]);
                    return Err(Error::NotFinite { what: table.what(), at, value });
                }
            }
        }
        let most = (MOST_ENTRIES / columns.max(1)).max(LEAST_ROWS);
        let kept = |table: Rows<'_, f64>, side: u64| {
            sampled_rows(table.rows(), most, seed.child("covariate-rows", side))
        };
        let (labeled, unlabeled) = (kept(calibration, 0), kept(target, 1));
        let rows = labeled.len() + unlabeled.len();
        let column = |column: usize| {
            let of = |table: Rows<'_, f64>, row: &usize| table.row(*row)[column];
            let mut entries: Vec<(f64, u32)> = labeled
                .iter()
                .map(|row| of(calibration, row))
                .chain(unlabeled.iter().map(|row| of(target, row)))
                .zip(0..)
                .collect();
            // 0 and -0 are one value: `total_cmp` alone would tell them apart and a run would be cut in two.
            entries.sort_by(|a, b| (a.0 + 0.0).total_cmp(&(b.0 + 0.0)));
            let ends =
                |index: usize| entries.get(index + 1).is_none_or(|next| next.0 != entries[index].0);
            Column((0..rows).map(|index| (entries[index].1, ends(index))).collect())
        };
        Ok(Self { n: labeled.len(), rows, columns: (0..columns).map(column).collect() })
    }

    /// Where each row truly came from.
    fn observed(&self) -> Vec<Side> {
        let side = |row| if row < self.n { Side::Calibration } else { Side::Target };
        (0..self.rows).map(side).collect()
    }

    /// The distance of each column times `n m`, a whole number, so that equal ones compare as equal.
    fn distances(&self, sides: &[Side]) -> Vec<u64> {
        let whole = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let (up, down) = (whole(self.rows - self.n), whole(self.n));
        let distance = |column: &Column| {
            let (mut difference, mut largest) = (0i64, 0u64);
            for (row, end) in &column.0 {
                let labeled = sides[*row as usize] == Side::Calibration;
                difference += if labeled { up } else { -down };
                // Inside a run of equal entries the walk depends on how ties were sorted.
                if *end {
                    largest = largest.max(difference.unsigned_abs());
                }
            }
            largest
        };
        self.columns.iter().map(distance).collect()
    }
}

/// Numbers of all rows, or of a uniform sample of `most` of them, in order.
pub(crate) fn sampled_rows(rows: usize, most: usize, seed: Seed) -> Vec<usize> {
    let mut stream = seed.stream("rows");
    let mut wanted = rows.min(most);
    let mut kept = Vec::with_capacity(wanted);
    for row in 0..rows {
        // Selection sampling (Knuth 3.4.2 S): every sample of the size is equally likely.
        let left = rows - row;
        if wanted == left || (wanted > 0 && stream.below(left) < wanted) {
            kept.push(row);
            wanted -= 1;
        }
    }
    kept
}

/// Which table a row belongs to, in truth or by relabeling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Calibration,
    Target,
}

/// A uniform relabeling, drawn row by row: the next row is one of the calibration data with probability `left / of`.
///
/// Each of the `n + m` choose `n` labelings is equally likely, which is what makes the p-value
/// exact.
struct Relabeling {
    /// Random numbers of this relabeling alone.
    stream: Stream,
    /// Calibration rows not yet placed.
    left: usize,
    /// Rows not yet placed.
    of: usize,
}

impl Relabeling {
    /// A relabeling with as many calibration rows as there are.
    fn new(calibration: usize, rows: usize, seed: Seed) -> Self {
        Self { stream: seed.stream("relabeling"), left: calibration, of: rows }
    }

    /// The side of the next row.
    #[inline]
    fn next_side(&mut self) -> Side {
        let labeled = self.stream.below(self.of) < self.left;
        self.of -= 1;
        self.left -= usize::from(labeled);
        if labeled { Side::Calibration } else { Side::Target }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: usize, columns: usize, shift: f64, seed: u64) -> Vec<f64> {
        let mut stream = Seed::new(seed).stream("table");
        let mut row = || {
            let mut values: Vec<f64> = (0..columns).map(|_| stream.uniform()).collect();
            values[columns - 1] += shift;
            values
        };
        (0..rows).flat_map(|_| row()).collect()
    }

    fn tested(
        a: &[f64],
        b: &[f64],
        columns: usize,
        permutations: usize,
        seed: u64,
    ) -> CovariateTest {
        let rows = |values| Rows::new("covariates", values, columns).unwrap();
        covariate_test(rows(a), rows(b), permutations, Seed::new(seed)).unwrap()
    }

    #[test]
    fn its_false_alarm_rate_is_its_level_for_any_number_of_columns() {
        let runs = 1000;
        for columns in [1, 5] {
            let alarms = (0..runs).filter(|run| {
                let (a, b) =
                    (table(30, columns, 0.0, 2 * run), table(50, columns, 0.0, 2 * run + 1));
                tested(&a, &b, columns, 99, *run).p_value <= 0.1
            });
            // 100 expected, standard deviation 9.5.
            let alarms = alarms.count();
            assert!(alarms.abs_diff(100) < 39, "{alarms} of {runs} with {columns} columns");
        }
    }

    #[test]
    fn ties_do_not_raise_the_false_alarm_rate() {
        let runs = 1000;
        let round = |mut values: Vec<f64>| {
            values.iter_mut().for_each(|value| *value = value.round());
            values
        };
        let alarms = (0..runs).filter(|run| {
            let (a, b) = (round(table(20, 2, 0.0, 2 * run)), round(table(30, 2, 0.0, 2 * run + 1)));
            tested(&a, &b, 2, 99, *run).p_value <= 0.1
        });
        // At most 100 expected, standard deviation 9.5.
        assert!(alarms.count() < 138);
    }

    #[test]
    fn it_names_the_column_that_moved() {
        let (a, b) = (table(100, 4, 0.0, 1), table(100, 4, 0.4, 2));
        let found = tested(&a, &b, 4, 199, 0);
        assert_eq!((found.column, found.p_value), (3, 0.005));
        assert!(found.distances[3] > 0.3 && found.distances[..3].iter().all(|d| *d < 0.25));
    }

    #[test]
    fn the_distance_is_the_largest_difference_of_two_cdfs() {
        let (a, b) = ([0.0, -0.0, 1.0, 2.0], [0.0, 2.0, 2.0]);
        // At 0: 1/2 - 1/3; at 1: 3/4 - 1/3.
        assert!((tested(&a, &b, 1, 9, 0).distances[0] - 5.0 / 12.0).abs() < 1e-15);
    }

    #[test]
    fn constant_columns_are_no_shift_and_bad_tables_are_refused() {
        let found = tested(&[1.0; 5], &[1.0; 7], 1, 99, 0);
        assert_eq!((found.statistic, found.p_value), (0.0, 1.0));
        let rows = |values, columns| Rows::new("covariates", values, columns).unwrap();
        let test = |a, b, permutations| covariate_test(a, b, permutations, Seed::new(0));
        assert!(test(rows(&[1.0, 2.0], 1), rows(&[1.0, f64::NAN], 1), 9).is_err());
        assert!(test(rows(&[1.0, 2.0], 1), rows(&[1.0, 2.0], 2), 9).is_err());
        assert!(test(rows(&[1.0], 1), rows(&[2.0], 1), 0).is_err());
    }

    #[test]
    fn threads_do_not_change_it_and_large_tables_are_sampled() {
        let (a, b) = (table(700, 300, 0.0, 1), table(600, 300, 0.1, 2));
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| tested(&a, &b, 300, 19, 4))
        };
        assert_eq!(with(1), with(3));
        let kept = sampled_rows(700, 500, Seed::new(0));
        assert!(kept.len() == 500 && kept.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(sampled_rows(3, 500, Seed::new(0)), [0, 1, 2]);
    }
}

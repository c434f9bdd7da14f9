//! Tables too large to fit on are fitted on a sample of their rows.
//!
//! ```text
//! P(row k is taken) = wanted / left        of the rows from k on
//! ```

use crate::rows::{Real, Rows};
use crate::seed::Stream;

/// Entries of one side's table that are fitted on at most (64 MB); a sample of a thousand rows is always allowed.
const MOST_ENTRIES: usize = 1 << 23;
/// Rows that are always allowed, however wide they are.
const LEAST_SAMPLE: usize = 1000;

/// The rows as `f64`: all of them in order, or a sample without replacement of as many as fit, in order.
pub(super) fn rows_to_fit<T: Real>(rows: Rows<'_, T>, stream: &mut Stream) -> Vec<f64> {
    let most = (MOST_ENTRIES / rows.columns()).max(LEAST_SAMPLE);
    let mut values = Vec::with_capacity(rows.rows().min(most) * rows.columns());
    // Selection sampling (Knuth 3.4.2 S): every row is taken with the probability that fills the sample exactly.
    let mut wanted = rows.rows().min(most);
    for (index, row) in rows.iter().enumerate() {
        let left = rows.rows() - index;
        // Without a draw once all that is left is wanted: a table that fits takes nothing from the
        // stream, so the other side's sample does not depend on it.
        if wanted == left || stream.below(left) < wanted {
            values.extend(row.iter().map(|value| -> f64 { (*value).into() }));
            wanted -= 1;
        }
        if wanted == 0 {
            break;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn a_table_that_fits_is_taken_as_it_is_and_a_large_one_sampled() {
        let table: Vec<f64> = (0..12).map(f64::from).collect();
        let rows = Rows::new("features", &table, 3).unwrap();
        assert_eq!(rows_to_fit(rows, &mut Seed::new(1).stream("sample")), table);

        let columns = MOST_ENTRIES / 1000;
        let table = vec![0.5_f32; 1010 * columns];
        let rows = Rows::new("features", &table, columns).unwrap();
        let sample = rows_to_fit(rows, &mut Seed::new(1).stream("sample"));
        assert_eq!(sample.len(), 1000 * columns);
    }
}

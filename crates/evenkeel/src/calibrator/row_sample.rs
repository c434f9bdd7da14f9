//! A table of rows in bounded memory: all of them, or a uniform sample that does not depend on how they were cut.

use super::MOST_CANDIDATES;
use crate::seed::{Seed, Stream};

/// Rows of `width` numbers. Once they hold more than [`MOST_CANDIDATES`] numbers, those with the smallest keys are kept;
/// a row's key is a function of the seed and its index.
#[derive(Debug, Clone)]
pub(super) struct RowSample {
    width: usize,
    capacity: usize,
    keys: Stream,
    /// `(key, row)`, and its numbers at the same place below.
    kept: Vec<(f64, usize)>,
    values: Vec<f64>,
    /// Rows with a larger key cannot be among the smallest any more.
    largest: f64,
    seen: usize,
}

impl RowSample {
    pub(super) fn new(width: usize, seed: Seed) -> Self {
        Self::with_capacity(width, (MOST_CANDIDATES / width.max(1)).max(1), seed)
    }

    fn with_capacity(width: usize, capacity: usize, seed: Seed) -> Self {
        let keys = seed.stream("sampled-rows");
        Self { width, capacity, keys, kept: Vec::new(), values: Vec::new(), largest: 1.0, seen: 0 }
    }

    /// Adds row `row`; rows must come in order.
    pub(super) fn add(&mut self, row: usize, values: &[f64]) {
        self.seen += 1;
        self.keys.seek(row as u64);
        let key = self.keys.uniform();
        if key <= self.largest {
            self.kept.push((key, row));
            self.values.extend_from_slice(&values[..self.width]);
            if self.kept.len() >= 2 * self.capacity {
                self.cut();
            }
        }
    }

    /// Back to the rows with the smallest keys, still in order.
    fn cut(&mut self) {
        if self.kept.len() <= self.capacity {
            return;
        }
        let mut keys = self.kept.clone();
        let by_key = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let (_, last, _) = keys.select_nth_unstable_by(self.capacity - 1, by_key);
        let last = *last;
        self.largest = last.0;
        let mut place = 0;
        for index in 0..self.kept.len() {
            let entry = self.kept[index];
            if by_key(&entry, &last).is_le() {
                self.kept[place] = entry;
                let start = index * self.width;
                self.values.copy_within(start..start + self.width, place * self.width);
                place += 1;
            }
        }
        self.kept.truncate(place);
        self.values.truncate(place * self.width);
    }

    /// Number of rows that were added.
    pub(super) fn seen(&self) -> usize {
        self.seen
    }

    /// The kept rows, one after the other.
    pub(super) fn into_values(mut self) -> Vec<f64> {
        self.cut();
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_all_kept() {
        let mut sample = RowSample::with_capacity(2, 5, Seed::new(1));
        (0..5).for_each(|row| sample.add(row, &[row as f64, -(row as f64)]));
        assert_eq!(sample.seen(), 5);
        let values = sample.into_values();
        assert_eq!(values, [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0]);
    }

    #[test]
    fn every_row_is_as_likely_and_rows_stay_whole() {
        let mut counts = [0u32; 100];
        for seed in 0..2000 {
            let mut sample = RowSample::with_capacity(2, 10, Seed::new(seed));
            (0..100).for_each(|row| sample.add(row, &[row as f64, 2.0 * row as f64]));
            let values = sample.into_values();
            assert_eq!(values.len(), 20);
            for row in values.chunks(2) {
                assert_eq!(row[1], 2.0 * row[0]);
                counts[row[0] as usize] += 1;
            }
        }
        // 200 expected in each, standard deviation 13.4.
        assert!(counts.iter().all(|count| count.abs_diff(200) < 75), "{counts:?}");
    }
}

//! A uniform sample of rows that does not depend on the order in which they were seen.

/// The rows with the smallest hashes, at most `capacity` of them.
///
/// Every row's hash is a function of the seed and its index, so the sample of a whole is the merge of the samples of its
/// parts, in any order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BottomK<V> {
    seed: u64,
    capacity: usize,
    /// `(hash, row, value)`; sorted and cut back to the capacity whenever it is twice as long.
    kept: Vec<(u64, u64, V)>,
    /// Rows with a larger hash cannot be among the smallest any more.
    largest: u64,
}

impl<V: Clone> BottomK<V> {
    pub(crate) fn new(seed: u64, capacity: usize) -> Self {
        Self { seed, capacity, kept: Vec::new(), largest: u64::MAX }
    }

    /// Told that rows are `0..rows`, it never keeps one that would be dropped later.
    pub(crate) fn expect(&mut self, rows: u64) {
        if rows > self.capacity as u64 && self.capacity > 0 {
            let mut hashes: Vec<u64> = (0..rows).map(|row| mix(self.seed ^ mix(row))).collect();
            let (_, largest, _) = hashes.select_nth_unstable(self.capacity - 1);
            self.largest = self.largest.min(*largest);
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, row: u64, value: V) {
        self.add_with(row, || value);
    }

    /// The same; the value is made only if the row is kept.
    #[inline]
    pub(crate) fn add_with(&mut self, row: u64, value: impl FnOnce() -> V) {
        let hash = mix(self.seed ^ mix(row));
        if hash <= self.largest {
            self.kept.push((hash, row, value()));
            if self.kept.len() >= 2 * self.capacity {
                self.cut();
            }
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let possible = other.kept.iter().filter(|(hash, ..)| *hash <= self.largest);
        self.kept.extend(possible.cloned());
        if self.kept.len() >= 2 * self.capacity {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.kept.sort_unstable_by_key(|(hash, row, _)| (*hash, *row));
        self.kept.truncate(self.capacity);
        if self.kept.len() == self.capacity {
            self.largest = self.kept.last().map_or(u64::MAX, |(hash, ..)| *hash);
        }
    }

    /// The sampled values, in the order of the rows.
    pub(crate) fn values(&self) -> Vec<V> {
        self.clone().into_values()
    }

    /// The same, without a copy.
    pub(crate) fn into_values(mut self) -> Vec<V> {
        self.cut();
        self.kept.sort_unstable_by_key(|(_, row, _)| *row);
        self.kept.into_iter().map(|(.., value)| value).collect()
    }
}

/// The finaliser of SplitMix64: every input bit changes half of the output's.
#[inline]
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_does_not_depend_on_order_or_parts() {
        let whole = {
            let mut sample = BottomK::new(3, 50);
            (0..1000).for_each(|row| sample.add(row, row as f64));
            sample.values()
        };
        assert_eq!(whole.len(), 50);
        let (mut front, mut back) = (BottomK::new(3, 50), BottomK::new(3, 50));
        (0..300).rev().for_each(|row| front.add(row, row as f64));
        (300..1000).for_each(|row| back.add(row, row as f64));
        back.merge(&front);
        assert_eq!(back.values(), whole);
    }

    #[test]
    fn knowing_the_number_of_rows_changes_nothing() {
        let mut sample = BottomK::new(3, 50);
        sample.expect(1000);
        (0..1000).for_each(|row| sample.add(row, row as f64));
        assert_eq!(sample.kept.len(), 50);
        let mut unaware = BottomK::new(3, 50);
        (0..1000).for_each(|row| unaware.add(row, row as f64));
        assert_eq!(sample.values(), unaware.values());
    }

    #[test]
    fn few_rows_are_all_kept_in_order() {
        let mut sample = BottomK::new(0, 50);
        (0..20).rev().for_each(|row| sample.add(row, row as f64));
        assert_eq!(sample.values(), (0..20).map(f64::from).collect::<Vec<f64>>());
    }

    #[test]
    fn every_row_is_as_likely() {
        let mut counts = [0u32; 100];
        for seed in 0..2000 {
            let mut sample = BottomK::new(seed, 10);
            (0..100).for_each(|row| sample.add(row, row as f64));
            sample.values().iter().for_each(|value| counts[*value as usize] += 1);
        }
        // 200 expected in each, standard deviation 13.4.
        assert!(counts.iter().all(|count| count.abs_diff(200) < 75), "{counts:?}");
    }
}

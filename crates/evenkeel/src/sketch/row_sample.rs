//! A uniform sample of rows that does not depend on the order in which they were seen.
//!
//! Kept: the `capacity` rows with the smallest hashes, with their keys. While it grows a sample may hold twice as many; its
//! wire form never does. A row takes 16 bytes and its value.
//!
//! Merging is exact because a row's hash is a function of the seed and its key alone: the smallest hashes of a whole are
//! among the smallest of each of its parts. Distinct keys have distinct hashes, so that no two rows ever tie.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::row_count::contradiction;
use crate::error::{Error, Result};

/// The rows with the smallest hashes, at most `capacity` of them.
#[derive(Debug, Clone)]
pub(crate) struct RowSample<V> {
    seed: u64,
    capacity: usize,
    /// Sorted by hash and cut back to the capacity whenever it is twice as long.
    kept: Vec<Row<V>>,
    /// Rows with a larger hash cannot be among the smallest any more.
    largest: u64,
}

#[derive(Debug, Clone)]
struct Row<V> {
    hash: u64,
    key: u64,
    value: V,
}

impl<V> RowSample<V> {
    pub(crate) fn new(seed: u64, capacity: usize) -> Self {
        Self { seed, capacity, kept: Vec::new(), largest: u64::MAX }
    }

    /// A sample of the same seed and size that has seen nothing; it keeps no row that this one would drop.
    pub(crate) fn emptied(&self) -> Self {
        Self { seed: self.seed, capacity: self.capacity, kept: Vec::new(), largest: self.largest }
    }

    /// Told that keys are `0..rows`, it never keeps a row that would be dropped later.
    pub(crate) fn expect(&mut self, rows: u64) {
        if rows > self.capacity as u64 && self.capacity > 0 {
            let mut hashes: Vec<u64> = (0..rows).map(|row| hash(self.seed, row)).collect();
            let (_, largest, _) = hashes.select_nth_unstable(self.capacity - 1);
            self.largest = self.largest.min(*largest);
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, key: u64, value: V) {
        self.add_with(key, || value);
    }

    /// The same; the value is made only if the row is kept.
    #[inline]
    pub(crate) fn add_with(&mut self, key: u64, value: impl FnOnce() -> V) {
        let hash = hash(self.seed, key);
        if hash <= self.largest {
            self.kept.push(Row { hash, key, value: value() });
            if self.kept.len() >= 2 * self.capacity {
                self.cut();
            }
        }
    }

    /// Adds the rows of another sample.
    ///
    /// # Errors
    /// If it was drawn by another seed or is of another size.
    pub(crate) fn merge(&mut self, other: Self) -> Result<()> {
        if (self.seed, self.capacity) != (other.seed, other.capacity) {
            return Err(Error::IncompatibleSketches { what: "samples of rows" });
        }
        let largest = self.largest;
        self.kept.extend(other.kept.into_iter().filter(|row| row.hash <= largest));
        if self.kept.len() >= 2 * self.capacity {
            self.cut();
        }
        Ok(())
    }

    /// An error unless another one is a sample by the same seed and of the same size.
    pub(crate) fn require_same(&self, other: &Self) -> Result<()> {
        other.require(self.seed, self.capacity)
    }

    /// An error unless it is a sample by this seed and of this size.
    pub(crate) fn require(&self, seed: u64, capacity: usize) -> Result<()> {
        if (self.seed, self.capacity) == (seed, capacity) {
            Ok(())
        } else {
            Err(Error::IncompatibleSketches { what: "samples of rows" })
        }
    }

    fn cut(&mut self) {
        self.kept.sort_unstable_by_key(|row| row.hash);
        self.kept
            .truncate(kept_of(self.capacity, |index| self.kept.get(index).map(|row| row.hash)));
        if self.kept.len() >= self.capacity {
            self.largest = self.kept.last().map_or(u64::MAX, |row| row.hash);
        }
    }

    /// Most rows of the sample.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Rows kept so far; fewer than were seen if those are more than the capacity.
    pub(crate) fn len(&self) -> usize {
        self.kept.len().min(self.capacity)
    }

    /// The kept rows that may be in the sample, with their keys: all of them, in no particular order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (u64, &V)> {
        self.kept.iter().map(|row| (row.key, &row.value))
    }

    /// The sampled values, in the order of the keys.
    ///
    /// # Errors
    /// If a key occurs twice among them.
    pub(crate) fn into_values(self) -> Result<Vec<V>> {
        Ok(self.into_rows()?.into_iter().map(|(_, value)| value).collect())
    }

    /// The sampled values with their keys, in the order of the keys.
    ///
    /// # Errors
    /// If a key occurs twice among them.
    pub(crate) fn into_rows(mut self) -> Result<Vec<(u64, V)>> {
        self.cut();
        self.kept.sort_unstable_by_key(|row| row.key);
        if let Some(pair) = self.kept.windows(2).find(|pair| pair[0].key == pair[1].key) {
            return Err(Error::DuplicateKey { key: pair[0].key });
        }
        Ok(self.kept.into_iter().map(|row| (row.key, row.value)).collect())
    }

    /// Rows of the sample in the order of their keys; where one key was given twice, twice.
    fn in_order(&self) -> Vec<&Row<V>> {
        let mut rows: Vec<&Row<V>> = self.kept.iter().collect();
        rows.sort_unstable_by_key(|row| row.hash);
        rows.truncate(kept_of(self.capacity, |index| rows.get(index).map(|row| row.hash)));
        rows.sort_unstable_by_key(|row| row.key);
        rows
    }
}

/// Rows to keep of a list that increases by hash: the capacity, and one more where that would part two rows of one key, so
/// that they are found out in the end.
fn kept_of(capacity: usize, hash_at: impl Fn(usize) -> Option<u64>) -> usize {
    let parts_a_pair =
        capacity > 0 && hash_at(capacity).is_some_and(|hash| hash_at(capacity - 1) == Some(hash));
    capacity + usize::from(parts_a_pair)
}

impl<V: Clone> RowSample<V> {
    /// The sampled values, in the order of the keys.
    pub(crate) fn values(&self) -> Result<Vec<V>> {
        self.clone().into_values()
    }
}

/// Two samples are equal if they hold the same rows, however they came by them.
impl<V: PartialEq> PartialEq for RowSample<V> {
    fn eq(&self, other: &Self) -> bool {
        let same = |a: &[&Row<V>], b: &[&Row<V>]| {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| (a.key, &a.value) == (b.key, &b.value))
        };
        (self.seed, self.capacity) == (other.seed, other.capacity)
            && same(&self.in_order(), &other.in_order())
    }
}

/// As it is written: hashes follow from keys.
#[derive(Serialize)]
#[serde(bound = "V: Serialize")]
struct Written<'a, V> {
    seed: u64,
    capacity: u64,
    rows: Vec<(u64, &'a V)>,
}

#[derive(Deserialize)]
struct Stored<V> {
    seed: u64,
    capacity: u64,
    rows: Vec<(u64, V)>,
}

impl<V: Serialize> Serialize for RowSample<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.in_order().into_iter().map(|row| (row.key, &row.value)).collect();
        Written { seed: self.seed, capacity: self.capacity as u64, rows }.serialize(serializer)
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for RowSample<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Stored { seed, capacity, rows } = Stored::<V>::deserialize(deserializer)?;
        let capacity = usize::try_from(capacity).map_err(D::Error::custom)?;
        // Twice the capacity must be a number too.
        if capacity > usize::MAX / 4 || rows.len() > capacity.saturating_add(1) {
            return Err(D::Error::custom(contradiction("it holds more rows than its sample")));
        }
        if !rows.is_sorted_by_key(|(key, _)| *key) {
            return Err(D::Error::custom(contradiction(
                "its rows are not in the order of their keys",
            )));
        }
        let mut sample = Self::new(seed, capacity);
        let row = |(key, value)| Row { hash: hash(seed, key), key, value };
        sample.kept = rows.into_iter().map(row).collect();
        Ok(sample)
    }
}

#[inline]
fn hash(seed: u64, key: u64) -> u64 {
    mix(seed ^ mix(key))
}

/// A hash of a key alone, for sums of keys.
#[inline]
pub(crate) fn hash_of_key(key: u64) -> u64 {
    mix(key)
}

/// The finaliser of SplitMix64: every input bit changes half of the output's, and distinct inputs have distinct outputs.
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
            let mut sample = RowSample::new(3, 50);
            (0..1000).for_each(|row| sample.add(row, row as f64));
            sample.values().unwrap()
        };
        assert_eq!(whole.len(), 50);
        let (mut front, mut back) = (RowSample::new(3, 50), RowSample::new(3, 50));
        (0..300).rev().for_each(|row| front.add(row, row as f64));
        (300..1000).for_each(|row| back.add(row, row as f64));
        back.merge(front).unwrap();
        assert_eq!(back.values().unwrap(), whole);
    }

    #[test]
    fn knowing_the_number_of_rows_changes_nothing() {
        let mut sample = RowSample::new(3, 50);
        sample.expect(1000);
        (0..1000).for_each(|row| sample.add(row, row as f64));
        assert_eq!(sample.kept.len(), 50);
        let mut unaware = RowSample::new(3, 50);
        (0..1000).for_each(|row| unaware.add(row, row as f64));
        assert_eq!(sample.values().unwrap(), unaware.values().unwrap());
    }

    #[test]
    fn few_rows_are_all_kept_in_order() {
        let mut sample = RowSample::new(0, 50);
        (0..20).rev().for_each(|row| sample.add(row, row as f64));
        assert_eq!(sample.values().unwrap(), (0..20).map(f64::from).collect::<Vec<f64>>());
    }

    #[test]
    fn every_row_is_as_likely() {
        let mut counts = [0u32; 100];
        for seed in 0..2000 {
            let mut sample = RowSample::new(seed, 10);
            (0..100).for_each(|row| sample.add(row, row as f64));
            sample.values().unwrap().iter().for_each(|value| counts[*value as usize] += 1);
        }
        // 200 expected in each, standard deviation 13.4.
        assert!(counts.iter().all(|count| count.abs_diff(200) < 75), "{counts:?}");
    }

    /// A row that is in the sample and was given twice is found out, in any order and at any place of the sample.
    #[test]
    fn a_key_given_twice_is_an_error() {
        for capacity in [1, 2, 5, 50] {
            let mut all = RowSample::new(7, capacity);
            (0..200).for_each(|key| all.add(key, ()));
            let sampled: Vec<u64> = all.in_order().iter().map(|row| row.key).collect();
            for twice in sampled {
                let (mut once, mut again) =
                    (RowSample::new(7, capacity), RowSample::new(7, capacity));
                (0..200).for_each(|key| once.add(key, ()));
                again.add(twice, ());
                once.merge(again.clone()).unwrap();
                assert!(
                    matches!(once.into_values(), Err(Error::DuplicateKey { key }) if key == twice)
                );
                (0..200).rev().for_each(|key| again.add(key, ()));
                assert!(
                    matches!(again.into_values(), Err(Error::DuplicateKey { key }) if key == twice)
                );
            }
        }
    }

    #[test]
    fn samples_of_other_seeds_and_sizes_do_not_merge() {
        let sample = RowSample::<f64>::new(1, 10);
        assert!(sample.clone().merge(RowSample::new(2, 10)).is_err());
        assert!(sample.clone().merge(RowSample::new(1, 11)).is_err());
        assert!(sample.clone().merge(sample).is_ok());
    }
}

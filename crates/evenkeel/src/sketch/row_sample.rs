//! A uniform sample of rows that does not depend on the order in which they were seen.
//!
//! ```text
//! sample = the capacity keys with the smallest hash(seed, key)
//! ```
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

/// The rows with the smallest hashes, at most `capacity` of them; `V` is what is kept of each.
///
/// Every set of `capacity` rows is as likely as any other, as far as the hash is like random
/// numbers. Which one it is depends on the seed and the keys, and not on the order, the blocks or
/// the machines.
#[derive(Debug, Clone)]
pub(crate) struct RowSample<V> {
    /// Chooses the sample; samples of different seeds do not merge.
    seed: u64,
    /// Most rows of the finished sample; 0 keeps none.
    capacity: usize,
    /// Sorted by hash and cut back to the capacity whenever it is twice as long.
    kept: Vec<Row<V>>,
    /// Rows with a larger hash cannot be among the smallest any more.
    largest: u64,
    /// Rows with a larger hash were not kept although the sample was not full; the largest number where there were none.
    limit: u64,
}

/// A row that may be in the sample.
#[derive(Debug, Clone)]
pub(crate) struct Row<V> {
    /// What it was chosen by: the rows with the smallest are a sample of the sample.
    pub hash: u64,
    pub key: u64,
    pub value: V,
}

impl<V> RowSample<V> {
    /// A sample of nothing yet.
    pub(crate) fn new(seed: u64, capacity: usize) -> Self {
        Self { seed, capacity, kept: Vec::new(), largest: u64::MAX, limit: u64::MAX }
    }

    /// A sample of the same seed and size that has seen nothing; it keeps no row that this one would drop.
    pub(crate) fn emptied(&self) -> Self {
        let Self { seed, capacity, largest, limit, .. } = *self;
        Self { seed, capacity, kept: Vec::new(), largest, limit }
    }

    /// Told that this and the samples it will be merged with see `rows` rows together, it keeps those that will stay and a few
    /// more: all samples together hold about as many rows as one.
    ///
    /// ```text
    /// hash <= 2^64 (k + 6 sqrt k + 12) / rows        k: the capacity
    /// ```
    /// Fewer than `k` of all rows lie below with a probability of less than 1e-8; that is found out when the sample is read.
    pub(crate) fn limit_to_share_of(&mut self, rows: u64) {
        let enough = self.capacity as f64 + 6.0 * (self.capacity as f64).sqrt() + 12.0;
        let share = enough / rows as f64;
        if self.capacity > 0 && share < 1.0 {
            // The product lies below 2^64.
            self.limit = self.limit.min((share * 2_f64.powi(64)) as u64);
            self.largest = self.largest.min(self.limit);
        }
    }

    /// Told that keys are `0..rows`, it never keeps a row that would be dropped later.
    pub(crate) fn expect(&mut self, rows: u64) {
        // Hashes cost 8 bytes and nanoseconds a row, copies of rows of a thousand classes far more.
        if rows > self.capacity as u64 && self.capacity > 0 {
            let mut hashes: Vec<u64> = (0..rows).map(|row| hash(self.seed, row)).collect();
            let (_, largest, _) = hashes.select_nth_unstable(self.capacity - 1);
            self.largest = self.largest.min(*largest);
        }
    }

    /// Whether a row of this key may be in the sample, as far as is known by now.
    #[inline]
    pub(crate) fn takes(&self, key: u64) -> bool {
        hash(self.seed, key) <= self.largest
    }

    /// Adds a row; keys must be unique, and that is found out when the sample is read.
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
            // At twice the capacity: a sort then serves as many rows as the sample holds.
            if self.kept.len() >= 2 * self.capacity {
                self.cut();
            }
        }
    }

    /// The same where making the value may fail; nothing is added then.
    ///
    /// # Errors
    /// Those of `value`.
    #[inline]
    pub(crate) fn try_add_with(
        &mut self,
        key: u64,
        value: impl FnOnce() -> Result<V>,
    ) -> Result<()> {
        if hash(self.seed, key) <= self.largest {
            self.add(key, value()?);
        }
        Ok(())
    }

    /// Adds the rows of another sample.
    ///
    /// # Errors
    /// If it was drawn by another seed or is of another size.
    pub(crate) fn merge(&mut self, other: Self) -> Result<()> {
        if (self.seed, self.capacity) != (other.seed, other.capacity) {
            return Err(Error::IncompatibleSketches { what: "samples of rows" });
        }
        if other.limit < self.limit {
            // What one of the two did not keep, the sum must not hold of the other alone.
            self.limit = other.limit;
            self.largest = self.largest.min(other.limit);
            self.kept.retain(|row| row.hash <= other.limit);
        }
        // Rows that cannot stay are dropped before they are moved.
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

    /// Cuts the rows back to the capacity, those with the smallest hashes.
    fn cut(&mut self) {
        self.kept.sort_unstable_by_key(|row| row.hash);
        self.kept
            .truncate(kept_of(self.capacity, |index| self.kept.get(index).map(|row| row.hash)));
        if self.kept.len() >= self.capacity {
            self.largest = self.kept.last().map_or(u64::MAX, |row| row.hash);
        }
    }

    /// Most rows of the finished sample.
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
        Ok(self.into_kept()?.into_iter().map(|row| row.value).collect())
    }

    /// The same with the rows' keys.
    ///
    /// # Errors
    /// If a key occurs twice among them.
    pub(crate) fn into_rows(self) -> Result<Vec<(u64, V)>> {
        Ok(self.into_kept()?.into_iter().map(|row| (row.key, row.value)).collect())
    }

    /// Hash and key of each sampled row: in the order of the hashes they are in a random order.
    ///
    /// # Errors
    /// If a key occurs twice among them.
    pub(crate) fn into_hashed_rows(self) -> Result<Vec<(u64, u64)>> {
        Ok(self.into_kept()?.into_iter().map(|row| (row.hash, row.key)).collect())
    }

    /// The sampled rows where they lie, in the order of the keys.
    ///
    /// # Errors
    /// If a key occurs twice among them.
    pub(crate) fn sampled(&self) -> Result<Vec<&Row<V>>> {
        let rows = self.in_order();
        self.require_whole(rows.len())?;
        match rows.windows(2).find(|pair| pair[0].key == pair[1].key) {
            Some(pair) => Err(Error::DuplicateKey { key: pair[0].key }),
            None => Ok(rows),
        }
    }

    /// An error if a limit on hashes left fewer rows than the sample should have.
    fn require_whole(&self, kept: usize) -> Result<()> {
        if self.limit < u64::MAX && kept < self.capacity {
            return Err(Error::ShortSample { kept, capacity: self.capacity });
        }
        Ok(())
    }

    /// The sampled rows, in the order of the keys.
    fn into_kept(mut self) -> Result<Vec<Row<V>>> {
        self.cut();
        self.require_whole(self.kept.len())?;
        // By key, not by hash: sums over a sample then run as they would over the whole table.
        self.kept.sort_unstable_by_key(|row| row.key);
        match self.kept.windows(2).find(|pair| pair[0].key == pair[1].key) {
            Some(pair) => Err(Error::DuplicateKey { key: pair[0].key }),
            None => Ok(self.kept),
        }
    }

    /// Whether another sample holds the rows of the same keys.
    pub(crate) fn same_keys<W>(&self, other: &RowSample<W>) -> bool {
        let (mine, theirs) = (self.in_order(), other.in_order());
        mine.iter().map(|row| row.key).eq(theirs.iter().map(|row| row.key))
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
///
/// ```text
/// capacity 2    hashes 3 5 5 9  ->  3 rows kept, the two of hash 5 among them: a key given twice
/// ```
fn kept_of(capacity: usize, hash_at: impl Fn(usize) -> Option<u64>) -> usize {
    let parts_a_pair =
        capacity > 0 && hash_at(capacity).is_some_and(|hash| hash_at(capacity - 1) == Some(hash));
    capacity + usize::from(parts_a_pair)
}

impl<V: Clone> RowSample<V> {
    /// The sampled values, in the order of the keys.
    ///
    /// # Errors
    /// If a key occurs twice among them.
    pub(crate) fn values(&self) -> Result<Vec<V>> {
        self.clone().into_values()
    }
}

/// Two samples are equal if they hold the same rows, however they came by them.
impl<V: PartialEq> PartialEq for RowSample<V> {
    // `kept` may hold rows that will be dropped, and `largest` depends on the past: neither counts.
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
/// The capacity is 8 bytes on every machine, and rows stand in the order of their keys.
#[derive(Serialize)]
#[serde(bound = "V: Serialize")]
struct Written<'a, V> {
    seed: u64,
    capacity: u64,
    /// How far the limit lies below the largest number: 0, a single byte, where there is none.
    below: u64,
    rows: Vec<(u64, &'a V)>,
}

/// As it is read back. Hashes are not among it, so that forged bytes cannot choose the sample.
#[derive(Deserialize)]
struct Stored<V> {
    seed: u64,
    capacity: u64,
    below: u64,
    rows: Vec<(u64, V)>,
}

impl<V: Serialize> Serialize for RowSample<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.in_order().into_iter().map(|row| (row.key, &row.value)).collect();
        let Self { seed, capacity, limit, .. } = *self;
        let (capacity, below) = (capacity as u64, u64::MAX - limit);
        Written { seed, capacity, below, rows }.serialize(serializer)
    }
}

/// Refuses more rows than the capacity and one (the second row of a key given twice), and rows out
/// of order, which would give one sample two forms on the wire.
impl<'de, V: Deserialize<'de>> Deserialize<'de> for RowSample<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Stored { seed, capacity, below, rows } = Stored::<V>::deserialize(deserializer)?;
        // No memory is set aside for the capacity: it is a number that anyone can write.
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
        let limit = u64::MAX - below;
        let row = |(key, value)| Row { hash: hash(seed, key), key, value };
        let kept: Vec<Row<V>> = rows.into_iter().map(row).collect();
        if kept.iter().any(|row| row.hash > limit) {
            return Err(D::Error::custom(contradiction("it keeps rows beyond its limit")));
        }
        Ok(Self { seed, capacity, kept, largest: limit, limit })
    }
}

/// The hash that orders keys. A bijection of the key for each seed: no two rows tie.
#[inline]
fn hash(seed: u64, key: u64) -> u64 {
    mix(seed ^ mix(key))
}

/// A hash of a key alone, for sums of keys: sums of the keys themselves would not tell `1 + 4` from
/// `2 + 3`.
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
    fn a_limit_bounds_all_parts_together_and_changes_nothing() {
        let rows = 20_000;
        let mut whole = RowSample::new(3, 500);
        (0..rows).for_each(|row| whole.add(row, row as f64));
        let mut merged = RowSample::new(3, 500);
        let mut held = 0;
        for part in 0..40 {
            let mut sample = RowSample::new(3, 500);
            sample.limit_to_share_of(rows);
            (0..rows).filter(|row| row % 40 == part).for_each(|row| sample.add(row, row as f64));
            let bytes = postcard::to_allocvec(&sample).unwrap();
            let read: RowSample<f64> = postcard::from_bytes(&bytes).unwrap();
            assert_eq!(read, sample);
            held += read.kept.len();
            merged.merge(read).unwrap();
        }
        assert!((500..800).contains(&held), "{held} rows in all parts");
        assert_eq!(merged.values().unwrap(), whole.values().unwrap());
        // Told of more rows than there are, too few are kept: found out, not taken for the sample.
        let mut few = RowSample::new(3, 500);
        few.limit_to_share_of(100 * rows);
        (0..rows).for_each(|row| few.add(row, row as f64));
        assert!(matches!(few.values(), Err(Error::ShortSample { capacity: 500, .. })));
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

//! The smoothed rank of a row among all rows so far, itself included.
//!
//! ```text
//! u = (number of rows before it + theta (number of rows equal to it)) / number of rows,        theta uniform in [0, 1)
//! ```
//! While rows are exchangeable the next one is as likely to be any of those in the bag, so that `u` is uniform and independent of
//! every `u` after it.

use std::collections::BTreeMap;

use super::prediction_counts::{CELLS, PredictionCounts};

/// Counts of cells whose sums up to any cell are found in a few steps (a Fenwick tree).
#[derive(Debug, Clone)]
pub(super) struct ConfidenceRanks {
    /// `tree[i]` holds the counts of the cells that end at `i`, as many as its lowest bit says; from 1.
    tree: Vec<u64>,
    counts: Vec<u64>,
    rows: u64,
}

impl ConfidenceRanks {
    /// The rows of both counts.
    pub(super) fn of(bags: [&PredictionCounts; 2]) -> Self {
        let mut counts = vec![0; CELLS];
        for (cell, count) in bags.iter().flat_map(|bag| bag.cells()) {
            counts[cell as usize] += count;
        }
        let mut tree = vec![0; CELLS + 1];
        for at in 1..=CELLS {
            tree[at] += counts[at - 1];
            let parent = at + (at & at.wrapping_neg());
            if parent <= CELLS {
                tree[parent] += tree[at];
            }
        }
        Self { tree, counts, rows: bags.iter().map(|bag| bag.rows()).sum() }
    }

    /// Adds a row and says its rank.
    pub(super) fn add(&mut self, cell: u32, theta: f64) -> f64 {
        let cell = (cell as usize).min(CELLS - 1);
        let mut before = 0;
        let mut at = cell;
        while at > 0 {
            before += self.tree[at];
            at -= at & at.wrapping_neg();
        }
        let mut at = cell + 1;
        while at <= CELLS {
            self.tree[at] += 1;
            at += at & at.wrapping_neg();
        }
        self.counts[cell] += 1;
        self.rows += 1;
        smoothed(before, self.counts[cell], self.rows, theta)
    }
}

/// Ranks by how common a row's predicted class is among all rows so far: rare classes are the surprising ones.
///
/// How common a class is depends on the bag alone, not on the order of its rows, so that the ranks are as good as any others.
#[derive(Debug, Clone)]
pub(super) struct ClassRanks {
    counts: BTreeMap<u32, u64>,
    /// How many classes have so many rows.
    of_count: BTreeMap<u64, u64>,
    rows: u64,
}

impl ClassRanks {
    /// The rows of both counts.
    pub(super) fn of(bags: [&PredictionCounts; 2]) -> Self {
        let mut counts = BTreeMap::<u32, u64>::new();
        for (class, count) in bags.iter().flat_map(|bag| bag.classes()) {
            *counts.entry(class).or_default() += count;
        }
        let mut of_count = BTreeMap::<u64, u64>::new();
        counts.values().for_each(|count| *of_count.entry(*count).or_default() += 1);
        Self { counts, of_count, rows: bags.iter().map(|bag| bag.rows()).sum() }
    }

    /// Adds a row and says its rank, larger for more common classes.
    pub(super) fn add(&mut self, class: u32, theta: f64) -> f64 {
        let count = self.counts.entry(class).or_default();
        let was = *count;
        *count += 1;
        let now = *count;
        if let Some(classes) = self.of_count.get_mut(&was) {
            *classes -= 1;
            if *classes == 0 {
                self.of_count.remove(&was);
            }
        }
        *self.of_count.entry(now).or_default() += 1;
        self.rows += 1;
        let rows_of = |(count, classes): (&u64, &u64)| count * classes;
        let before: u64 = self.of_count.range(..now).map(rows_of).sum();
        let equal = self.of_count.get(&now).map_or(now, |classes| now * classes);
        smoothed(before, equal, self.rows, theta)
    }
}

fn smoothed(before: u64, equal: u64, rows: u64, theta: f64) -> f64 {
    (before as f64 + theta * equal as f64) / rows as f64
}

#[cfg(test)]
mod tests {
    use super::super::prediction_counts::cell_of;
    use super::*;
    use crate::seed::Seed;
    use crate::shift::Prediction;

    #[test]
    fn ranks_are_those_of_all_rows_counted_one_by_one() {
        let mut stream = Seed::new(4).stream("ranks");
        let mut draw = |n: usize| -> Vec<Prediction> {
            let one = |_| Prediction {
                confidence: (stream.uniform() * 9.0).round() / 9.0,
                class: (stream.uniform() * stream.uniform() * 6.0) as u32,
            };
            (0..n).map(one).collect()
        };
        let (reference, earlier, new) = (draw(40), draw(25), draw(60));
        let bags = [&PredictionCounts::of(&reference), &PredictionCounts::of(&earlier)];
        let (mut confidence, mut classes) = (ConfidenceRanks::of(bags), ClassRanks::of(bags));
        let mut all = [reference, earlier].concat();
        for said in new {
            all.push(said);
            let (cell, rows) = (cell_of(said.confidence), all.len() as f64);
            let count = |keep: &dyn Fn(&Prediction) -> bool| {
                all.iter().filter(|other| keep(other)).count() as f64
            };
            let before = count(&|other| cell_of(other.confidence) < cell);
            let equal = count(&|other| cell_of(other.confidence) == cell);
            assert_eq!(confidence.add(cell, 0.25), (before + 0.25 * equal) / rows);
            let common = |class: u32| all.iter().filter(|other| other.class == class).count();
            let mine = common(said.class);
            let before = count(&|other| common(other.class) < mine);
            let equal = count(&|other| common(other.class) == mine);
            assert_eq!(classes.add(said.class, 0.75), (before + 0.75 * equal) / rows);
        }
    }
}

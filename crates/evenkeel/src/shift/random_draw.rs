//! Do the labeled rows look like a random draw of the target rows?
//!
//! ```text
//! p = (1 + b) / (1 + B)     the shift test between the labeled rows and the rows without a label
//! ```
//! Everything that labels certify rests on a draw at random. Rows chosen by confidence, by class or from one source break it, and
//! the commonest of these show in what the model says of them. Under a random draw every choice of the labeled rows is as likely as
//! any other, so the p-value is exact for any number of labels. A choice that the predictions do not show goes unseen.

use serde::{Deserialize, Serialize};

use super::predictions::{KeptPredictions, prediction};
use super::shift_test::{Prediction, shift_test};
use crate::error::Result;
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{row_scale, widen_scaled};
use crate::seed::Seed;
use crate::warning::Warning;

/// A random draw is called none this often. Smaller than the level of the shift test: it is asked of every set of labels.
const LEVEL: f64 = 0.01;
/// Two p-values are at or below the level: a single relabeling does not decide.
const RELABELINGS: usize = 199;

/// Whether labeled rows look like a random draw.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RandomDrawTest {
    /// Labeled rows.
    pub labels: usize,
    /// How likely a draw at random differs as much. Exact: it is at most `p` with probability at most `p`.
    pub p_value: f64,
    /// Mean confidence of the model on the labeled rows.
    pub labeled_confidence: f64,
    /// The same on the other target rows, or a sample of ten thousand of them.
    pub other_confidence: f64,
}

impl RandomDrawTest {
    /// What to warn of, if it is not likely that the rows were drawn at random.
    pub fn warning(&self) -> Option<Warning> {
        (self.p_value <= LEVEL).then_some(Warning::LabelsNotRandom {
            labels: self.labels,
            p_value: self.p_value,
            labeled: self.labeled_confidence,
            others: self.other_confidence,
        })
    }
}

/// Compares the predictions of the labeled rows with those of the others; none where there is nothing to compare.
///
/// # Errors
/// If a confidence is not finite.
pub(crate) fn random_draw_test(
    labeled: &[Prediction],
    others: &[Prediction],
    seed: Seed,
) -> Result<Option<RandomDrawTest>> {
    if labeled.is_empty() || others.is_empty() {
        return Ok(None);
    }
    // A seed of its own: relabelings of the shift test would be drawn again.
    let test = shift_test(labeled, others, RELABELINGS, seed.child("random-draw", 0))?;
    let mean = |said: &[Prediction]| {
        said.iter().map(|one| one.confidence).sum::<f64>() / said.len() as f64
    };
    Ok(Some(RandomDrawTest {
        labels: labeled.len(),
        p_value: test.p_value,
        labeled_confidence: mean(labeled),
        other_confidence: mean(others),
    }))
}

/// The same for rows that are read in blocks.
#[derive(Debug, Clone)]
pub struct LabelDraw {
    /// Increasing.
    keys: Vec<u64>,
    labeled: Vec<(u64, Prediction)>,
    kept: KeptPredictions,
    seed: Seed,
}

impl LabelDraw {
    /// Of the labeled rows with these keys, in any order.
    pub fn new(keys: impl IntoIterator<Item = u64>, seed: Seed) -> Self {
        let mut keys: Vec<u64> = keys.into_iter().collect();
        keys.sort_unstable();
        Self { keys, labeled: Vec::new(), kept: KeptPredictions::new(seed), seed }
    }

    /// Looks at a block of target rows.
    ///
    /// # Errors
    /// If a row does not hold probabilities, or there is not one key for each row.
    pub fn add<T: Real>(&mut self, keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<()> {
        keys.check(block.rows())?;
        let mut row = vec![0.0; block.columns()];
        let mut labeled = Vec::new();
        for (offset, values) in block.iter().enumerate() {
            let key = keys.key(offset);
            // Of every row: the sample below looks at its own rows only.
            let scale = row_scale(block.what(), key, values)?;
            if self.keys.binary_search(&key).is_ok() {
                widen_scaled(values, scale, &mut row);
                labeled.push((key, prediction(&row)));
            }
        }
        self.kept.add_block(keys, block)?;
        self.labeled.extend(labeled);
        Ok(())
    }

    /// The test, once all rows were seen; none where there is nothing to compare.
    ///
    /// # Errors
    /// If a row was seen twice.
    pub fn test(self) -> Result<Option<RandomDrawTest>> {
        let Self { keys, mut labeled, kept, seed } = self;
        labeled.sort_unstable_by_key(|(key, _)| *key);
        let labeled: Vec<Prediction> = labeled.into_iter().map(|(_, said)| said).collect();
        let others = kept.into_values_of(|key| keys.binary_search(&key).is_err())?;
        random_draw_test(&labeled, &others, seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::rows_to_label;

    const ROWS: u64 = 300;

    /// Confidences that pile up near one, as those of a good model do, ties and all.
    fn table(seed: u64) -> Vec<f64> {
        let mut stream = Seed::new(seed).stream("rows");
        (0..ROWS)
            .flat_map(|_| {
                let sure = (0.5 + 0.6 * stream.uniform()).min(1.0);
                if stream.below(2) == 0 { [sure, 1.0 - sure] } else { [1.0 - sure, sure] }
            })
            .collect()
    }

    fn tested(values: &[f64], keys: Vec<u64>, seed: u64) -> RandomDrawTest {
        let mut draw = LabelDraw::new(keys, Seed::new(seed));
        // In two blocks, the later one first: the order must not matter.
        let (first, second) = values.split_at(values.len() / 2);
        let rows = |values| Rows::new("probabilities", values, 2).unwrap();
        draw.add(RowKeys::From(ROWS / 2), rows(second)).unwrap();
        draw.add(RowKeys::From(0), rows(first)).unwrap();
        draw.test().unwrap().unwrap()
    }

    #[test]
    fn a_random_draw_is_called_none_once_in_a_hundred() {
        let draws = 1500;
        for labels in [3, 50] {
            let found = (0..draws).filter(|seed| {
                let keys = rows_to_label(ROWS, labels, Seed::new(seed + 9)).unwrap();
                tested(&table(*seed), keys, *seed).warning().is_some()
            });
            // 15 expected; above 30 with probability 0.0002.
            assert!(found.count() <= 30, "{labels} labels");
        }
    }

    #[test]
    fn the_most_confident_rows_are_no_random_draw() {
        for seed in 0..20 {
            let values = table(seed);
            let sure = |row: &u64| values[2 * *row as usize].max(values[2 * *row as usize + 1]);
            let mut keys: Vec<u64> = (0..ROWS).collect();
            keys.sort_by(|a, b| sure(b).total_cmp(&sure(a)));
            keys.truncate(30);
            let found = tested(&values, keys, seed);
            assert!(found.labeled_confidence > found.other_confidence);
            let warning = found.warning().unwrap();
            assert_eq!(warning.name(), "labels-not-random");
            assert!(warning.to_string().contains("30 labeled rows"), "{warning}");
        }
    }

    #[test]
    fn labels_of_one_predicted_class_are_no_random_draw() {
        let values = table(3);
        let keys: Vec<u64> = (0..ROWS).filter(|row| values[2 * *row as usize] > 0.5).collect();
        assert!(tested(&values, keys[..40].to_vec(), 0).warning().is_some());
    }

    #[test]
    fn without_labels_or_without_other_rows_there_is_nothing_to_test() {
        for keys in [Vec::new(), vec![0, 1]] {
            let mut draw = LabelDraw::new(keys, Seed::new(0));
            let rows = Rows::new("probabilities", &[0.5, 0.5, 0.1, 0.9], 2).unwrap();
            draw.add(RowKeys::From(0), rows).unwrap();
            assert!(draw.test().unwrap().is_none());
        }
    }
}

//! The target rows that a first pass kept, and the class the model says of each.

use std::sync::OnceLock;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::first_pass::FirstPass;
use super::labeled_logits::floored_logs;
use super::target_rows::predicted;
use super::transport_plan::tempered_softmax;
use crate::error::Result;
use crate::numeric::{ABREAST, RowsAbreast};
use crate::score::row_scale;
use crate::sketch::contradiction;

/// Rows that are worth another thread.
const LEAST_ROWS: usize = 256;

/// A row as a pass keeps it; shape `(C,)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum KeptRow {
    /// Probabilities, divided by their sum: labels can be scored by them again, to the bits of a second reading.
    Probabilities(Box<[f64]>),
    /// Logits, of rows that did not come as probabilities.
    Logits(Box<[f64]>),
}

impl KeptRow {
    /// Its logits.
    fn logits(&self) -> Box<[f64]> {
        match self {
            Self::Logits(logits) => logits.clone(),
            Self::Probabilities(probabilities) => {
                let mut logits = vec![0.0; probabilities.len()];
                floored_logs(probabilities, &mut logits);
                logits.into_boxed_slice()
            }
        }
    }

    /// Whether a row of so many classes can be kept so.
    pub(super) fn is_sound(&self, key: u64, classes: usize) -> bool {
        match self {
            Self::Logits(row) => row.len() == classes && row.iter().all(|logit| logit.is_finite()),
            Self::Probabilities(row) => {
                row.len() == classes && classes > 0 && row_scale("probabilities", key, row).is_ok()
            }
        }
    }
}

/// Logits of kept target rows, in the order of their keys: all rows, or a uniform sample of them where they are many.
pub(crate) struct KeptRows {
    logits: Vec<Box<[f64]>>,
    /// `top_j = argmax`, the first of equal ones.
    top: Vec<usize>,
    /// What rows were chosen by: the smallest are a uniform sample.
    hashes: Vec<u64>,
    /// The rows turned round where they are short; made when first asked for.
    abreast: OnceLock<Option<RowsAbreast>>,
}

impl KeptRows {
    /// The rows of a pass over all target rows.
    ///
    /// # Errors
    /// If two rows have one key, or the pass was cut or made up.
    pub(crate) fn of(first: &FirstPass) -> Result<Self> {
        // What was seen is in the sample, up to its capacity; a state that was cut or made up may say otherwise.
        let sampled = first.rows.min(first.kept.capacity() as u64);
        let rows = first.kept.sampled()?;
        if rows.len() as u64 != sampled {
            return Err(contradiction("its sample does not hold as many rows as were seen"));
        }
        let hashes = rows.iter().map(|row| row.hash).collect();
        let read = rows.into_par_iter().with_min_len(LEAST_ROWS).map(|row| {
            let logits = row.value.logits();
            let top = predicted(&logits);
            (logits, top)
        });
        let (logits, top) = read.unzip();
        Ok(Self { logits, top, hashes, abreast: OnceLock::new() })
    }

    /// Rows that came from nowhere.
    #[cfg(test)]
    pub(crate) fn of_logits(logits: &[f64], classes: usize, top: &[usize]) -> Self {
        let logits: Vec<Box<[f64]>> = logits.chunks_exact(classes).map(Box::from).collect();
        let hashes = vec![0; logits.len()];
        Self { logits, top: top.to_vec(), hashes, abreast: OnceLock::new() }
    }

    /// All of them, or a uniform sample of this many, in the order of their keys.
    pub(crate) fn thinned(self, most: usize) -> Self {
        if self.len() <= most || most == 0 {
            return self;
        }
        let mut sorted = self.hashes.clone();
        let (_, largest, _) = sorted.select_nth_unstable(most - 1);
        let largest = *largest;
        let (logits, top, hashes) = (Vec::new(), Vec::new(), Vec::new());
        let mut thinned = Self { logits, top, hashes, abreast: OnceLock::new() };
        for ((logits, top), hash) in self.logits.into_iter().zip(self.top).zip(self.hashes) {
            if hash <= largest {
                thinned.logits.push(logits);
                thinned.top.push(top);
                thinned.hashes.push(hash);
            }
        }
        thinned
    }

    pub(crate) fn len(&self) -> usize {
        self.logits.len()
    }

    /// Logits, row after row, without a copy.
    pub(crate) fn into_logits(self) -> Vec<Box<[f64]>> {
        self.logits
    }

    /// Logits, row after row.
    pub(crate) fn logits(&self) -> &[Box<[f64]>] {
        &self.logits
    }

    /// The same turned round, for whoever takes their softmax at many temperatures; none of long rows.
    pub(crate) fn abreast(&self) -> Option<&RowsAbreast> {
        let turn = || {
            let classes = self.logits.first().map_or(0, |row| row.len());
            RowsAbreast::new(self.logits.iter().map(|row| &row[..]), classes)
        };
        self.abreast.get_or_init(turn).as_ref()
    }

    /// `mean_j softmax(logits_j / temperature)(top_j)`.
    pub(crate) fn mean_top(&self, temperature: f64) -> f64 {
        let inverse = 1.0 / temperature;
        let mut sum = 0.0;
        if let Some(rows) = self.abreast() {
            rows.for_each(0..rows.groups(), inverse, |first, made| {
                for (index, top) in self.top[first..].iter().take(ABREAST).enumerate() {
                    sum += made.made[top * ABREAST + index] * (1.0 / made.sums[index]);
                }
            });
        } else {
            let mut row = vec![0.0; self.logits.first().map_or(0, |row| row.len())];
            for (logits, top) in self.logits.iter().zip(&self.top) {
                tempered_softmax(logits, inverse, &mut row);
                sum += row[*top];
            }
        }
        sum / self.len() as f64
    }

    /// The predicted class of each.
    pub(crate) fn top(&self) -> &[usize] {
        &self.top
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label_law::target_rows::TargetRows;
    use crate::rows::{RowKeys, Rows};

    /// The rows that a smaller sample would have kept, in the order of their keys.
    #[test]
    fn a_sample_of_a_sample_is_the_smaller_sample() {
        let logits: Vec<f64> = (0..1000).map(f64::from).collect();
        let block = TargetRows::Logits(Rows::new("logits", &logits, 2).unwrap());
        let kept = |most: usize| {
            let first = FirstPass::new(2, 1.0, 7, most).add(RowKeys::From(0), &block).unwrap();
            KeptRows::of(&first).unwrap()
        };
        for most in [1, 30, 200] {
            let thinned = kept(200).thinned(most);
            assert_eq!(thinned.logits, kept(most).logits);
            assert_eq!((thinned.top.len(), thinned.len()), (most, most));
        }
        assert_eq!(kept(200).thinned(500).len(), 200);
    }
}

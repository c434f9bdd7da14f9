//! The target rows that a first pass kept, and the class the model says of each.

use super::first_pass::FirstPass;
use super::target_rows::predicted;
use crate::error::Result;
use crate::sketch::contradiction;

/// Logits of kept target rows, in the order of their keys: all rows, or a uniform sample of them where they are many.
pub(crate) struct KeptRows {
    logits: Vec<Box<[f64]>>,
    /// `top_j = argmax`, the first of equal ones.
    top: Vec<usize>,
    /// What rows were chosen by: the smallest are a uniform sample.
    hashes: Vec<u64>,
}

impl KeptRows {
    /// The rows of a pass over all target rows.
    ///
    /// # Errors
    /// If two rows have one key, or the pass was cut or made up.
    pub(crate) fn of(first: FirstPass) -> Result<Self> {
        // What was seen is in the sample, up to its capacity; a state that was cut or made up may say otherwise.
        let sampled = first.rows.min(first.kept.capacity() as u64);
        let (hashes, logits): (Vec<u64>, Vec<Box<[f64]>>) =
            first.kept.into_hashed_values()?.into_iter().unzip();
        if logits.len() as u64 != sampled {
            return Err(contradiction("its sample does not hold as many rows as were seen"));
        }
        let top = logits.iter().map(|row| predicted(row)).collect();
        Ok(Self { logits, top, hashes })
    }

    /// All of them, or a uniform sample of this many, in the order of their keys.
    pub(crate) fn thinned(self, most: usize) -> Self {
        if self.len() <= most || most == 0 {
            return self;
        }
        let mut hashes = self.hashes.clone();
        let (_, largest, _) = hashes.select_nth_unstable(most - 1);
        let largest = *largest;
        let mut thinned = Self { logits: Vec::new(), top: Vec::new(), hashes: Vec::new() };
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

    /// Logits, row after row.
    pub(crate) fn logits(&self) -> &[Box<[f64]>] {
        &self.logits
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
            KeptRows::of(first).unwrap()
        };
        for most in [1, 30, 200] {
            let thinned = kept(200).thinned(most);
            assert_eq!(thinned.logits, kept(most).logits);
            assert_eq!((thinned.top.len(), thinned.len()), (most, most));
        }
        assert_eq!(kept(200).thinned(500).len(), 200);
    }
}

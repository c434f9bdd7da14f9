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
}

impl KeptRows {
    /// The rows of a pass over all target rows.
    ///
    /// # Errors
    /// If two rows have one key, or the pass was cut or made up.
    pub(crate) fn of(first: FirstPass) -> Result<Self> {
        // What was seen is in the sample, up to its capacity; a state that was cut or made up may say otherwise.
        let sampled = first.rows.min(first.kept.capacity() as u64);
        let logits = first.kept.into_values()?;
        if logits.len() as u64 != sampled {
            return Err(contradiction("its sample does not hold as many rows as were seen"));
        }
        let top = logits.iter().map(|row| predicted(row)).collect();
        Ok(Self { logits, top })
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

//! Class labels: one whole number in `0..classes` per row.
//!
//! Checked when they are made and once more against each table: labels are made without the table,
//! and a label beyond its columns would index outside a row.

use crate::error::{Error, Result, require_some};

/// Labels `0..classes`, one per row, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    labels: Vec<usize>,
}

impl Labels {
    /// Checks that there is at least one label and that all name one of `classes` classes.
    ///
    /// # Errors
    /// `Empty` for no labels, `TooFew` for no classes, `LabelOutOfRange` for the first label that is not below
    /// `classes`.
    pub fn new(labels: Vec<usize>, classes: usize) -> Result<Self> {
        require_some("labels", &labels)?;
        if classes == 0 {
            return Err(Error::TooFew { what: "classes", found: 0, least: 1 });
        }
        let labels = Self { labels };
        labels.require_below(classes)?;
        Ok(labels)
    }

    /// An error naming the first label that is not below `classes`, and its row.
    pub(crate) fn require_below(&self, classes: usize) -> Result<()> {
        match self.labels.iter().position(|label| *label >= classes) {
            None => Ok(()),
            Some(index) => Err(Error::LabelOutOfRange {
                what: "labels",
                index,
                label: self.labels[index],
                classes,
            }),
        }
    }

    /// The labels in the order of the rows.
    pub fn as_slice(&self) -> &[usize] {
        &self.labels
    }

    /// Number of labels, one per row.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Never true: there is at least one label.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

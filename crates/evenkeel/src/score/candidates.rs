//! `S[j][y] = s(x_j, y)`: the score of every label that an unlabeled point could have.

use super::probabilities::row_scale;
use crate::error::{At, Error, Result, require_same_length};
use crate::rows::Rows;

/// Largest mask that is made from a list, in entries of one byte. A number of labels taken from a damaged input would
/// otherwise ask for a terabyte, and the process would be killed instead of answering.
const MOST_CELLS: usize = 1 << 40;

/// Which labels are possible for which row (hierarchies, business rules); shape `(m, C)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelMask {
    /// Row-major; every row has a `true`.
    allowed: Vec<bool>,
    /// `C`, the length of a row.
    labels: usize,
}

impl LabelMask {
    /// From a row-major table of permissions; every row must allow a label.
    ///
    /// # Errors
    /// `TooFew` for no labels, `Empty` for no entries, `Ragged` unless the entries fill whole rows, `NoAllowedLabel`
    /// for a row that allows none.
    pub fn new(allowed: Vec<bool>, labels: usize) -> Result<Self> {
        const WHAT: &str = "the label mask";
        if labels == 0 {
            return Err(Error::TooFew { what: "labels", found: 0, least: 1 });
        }
        if allowed.is_empty() {
            return Err(Error::Empty { what: WHAT });
        }
        if !allowed.len().is_multiple_of(labels) {
            return Err(Error::Ragged { what: WHAT, values: allowed.len(), columns: labels });
        }
        match allowed.chunks_exact(labels).position(|row| !row.contains(&true)) {
            Some(row) => Err(Error::NoAllowedLabel { row }),
            None => Ok(Self { allowed, labels }),
        }
    }

    /// From the list of labels each row may have.
    ///
    /// # Errors
    /// `OutOfRange` if the table would exceed 2^40 entries, `LabelOutOfRange` for a label that is not below `labels`,
    /// and the errors of [`new`](Self::new).
    pub fn from_subsets(subsets: &[Vec<usize>], labels: usize) -> Result<Self> {
        // Checked: a product that wraps around would make a table too small for the indices below.
        let cells = subsets.len().checked_mul(labels).filter(|cells| *cells <= MOST_CELLS);
        let Some(cells) = cells else {
            return Err(Error::OutOfRange {
                what: "the number of labels",
                value: labels as f64,
                expected: "small enough for a table of rows times labels",
            });
        };
        let mut allowed = vec![false; cells];
        for (row, subset) in subsets.iter().enumerate() {
            for label in subset {
                if *label >= labels {
                    return Err(Error::LabelOutOfRange {
                        what: "label subsets",
                        index: row,
                        label: *label,
                        classes: labels,
                    });
                }
                allowed[row * labels + label] = true;
            }
        }
        Self::new(allowed, labels)
    }

    /// Number of rows `m`.
    pub(crate) fn rows(&self) -> usize {
        self.allowed.len() / self.labels
    }

    /// Number of labels `C`, the columns of the mask.
    pub(crate) fn labels(&self) -> usize {
        self.labels
    }

    /// Which labels row `index` may have; shape `(C,)`.
    ///
    /// # Panics
    /// If there is no such row.
    pub(crate) fn row(&self, index: usize) -> &[bool] {
        &self.allowed[index * self.labels..][..self.labels]
    }
}

/// Candidate scores `S[j][y] = s(x_j, y)`, with the plausibility `f[j][y]` of each label and the labels possible.
///
/// The target data enter the library through this table only.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateScores {
    /// Row-major `(m, C)`, finite.
    scores: Vec<f64>,
    labels: usize,
    /// Row-major `(m, C)`, rows of unit sum.
    plausibility: Option<Vec<f64>>,
    /// Possible labels; none where all are.
    mask: Option<LabelMask>,
}

impl CandidateScores {
    /// A row-major `(m, labels)` table of finite scores, without plausibility, all labels possible.
    ///
    /// # Errors
    /// `TooFew` for no labels, `Empty` for no scores, `Ragged` unless the scores fill whole rows, `NotFinite` for a
    /// score that is NaN or infinite.
    pub fn new(scores: Vec<f64>, labels: usize) -> Result<Self> {
        const WHAT: &str = "candidate scores";
        let rows = Rows::new(WHAT, &scores, labels)?;
        // By row, so that an error can name row and column: the user has to find the entry.
        for (row, values) in rows.iter().enumerate() {
            if let Some(column) = values.iter().position(|value| !value.is_finite()) {
                let at = At::Cell { row, column };
                return Err(Error::NotFinite { what: WHAT, at, value: values[column] });
            }
        }
        Ok(Self { scores, labels, plausibility: None, mask: None })
    }

    /// Adds a plausibility: rows `>= 0` that sum to one within 1e-3 (then renormalised).
    ///
    /// # Errors
    /// `LengthMismatch` unless there is one value per score; `NotFinite`, `Negative` or `NotNormalised` for a row that
    /// is not a probability vector.
    pub fn with_plausibility(mut self, mut plausibility: Vec<f64>) -> Result<Self> {
        const WHAT: &str = "plausibility";
        require_same_length(WHAT, plausibility.len(), "candidate scores", self.scores.len())?;
        for (row, values) in plausibility.chunks_exact_mut(self.labels).enumerate() {
            // Normalised as it comes in: sandwiches rely on rows of unit sum.
            let scale = row_scale(WHAT, row as u64, values)?;
            values.iter_mut().for_each(|value| *value *= scale);
        }
        self.plausibility = Some(plausibility);
        Ok(self)
    }

    /// Restricts each row to the labels the mask allows.
    ///
    /// # Errors
    /// `LengthMismatch` unless the mask has the shape of the scores.
    pub fn with_mask(mut self, mask: LabelMask) -> Result<Self> {
        require_same_length("label mask rows", mask.rows(), "candidate score rows", self.rows())?;
        require_same_length("label mask columns", mask.labels(), "candidate labels", self.labels)?;
        self.mask = Some(mask);
        Ok(self)
    }

    /// Flattens (`temperature > 1`) or sharpens (`< 1`) the plausibility: `f <- f^(1/T)`, renormalised. Labels of
    /// plausibility zero keep it at any temperature.
    ///
    /// # Errors
    /// `OutOfRange` unless the temperature is positive and finite, `NoPlausibility` if the table has none,
    /// `NoPlausibleLabel` for a row whose possible labels all have plausibility zero.
    pub fn tempered(mut self, temperature: f64) -> Result<Self> {
        if !(temperature.is_finite() && temperature > 0.0) {
            return Err(Error::OutOfRange {
                what: "the temperature",
                value: temperature,
                expected: "positive and finite",
            });
        }
        let labels = self.labels;
        let Some(plausibility) = &mut self.plausibility else {
            return Err(Error::NoPlausibility { construction: "tempered" });
        };
        for (index, row) in plausibility.chunks_exact_mut(labels).enumerate() {
            // Relative to the largest allowed one, so that a low temperature cannot underflow all that count.
            let mask = self.mask.as_ref().map(|mask| mask.row(index));
            let possible = row.iter().enumerate().filter(|(label, _)| is_allowed(mask, *label));
            let largest = possible.fold(0.0_f64, |largest, (_, value)| largest.max(*value));
            if largest <= 0.0 {
                return Err(Error::NoPlausibleLabel { row: index });
            }
            for (label, value) in row.iter_mut().enumerate() {
                // What the mask forbids does not count, and could be so much larger that nothing else would be left.
                let relative = if is_allowed(mask, label) { *value / largest } else { 0.0 };
                *value = relative.powf(1.0 / temperature);
            }
            let total: f64 = row.iter().sum();
            row.iter_mut().for_each(|value| *value /= total);
        }
        Ok(self)
    }

    /// Number of rows `m`.
    pub fn rows(&self) -> usize {
        self.scores.len() / self.labels
    }

    /// Number of candidate labels `C`.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Scores of row `index`; shape `(C,)`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.scores[index * self.labels..][..self.labels]
    }

    /// Plausibility of row `index`, summing to one, if the table has one; shape `(C,)`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn plausibility_row(&self, index: usize) -> Option<&[f64]> {
        self.plausibility.as_ref().map(|all| &all[index * self.labels..][..self.labels])
    }

    /// Which labels row `index` may have, shape `(C,)`; none if every label is possible.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn mask_row(&self, index: usize) -> Option<&[bool]> {
        self.mask.as_ref().map(|mask| mask.row(index))
    }

    /// The score of one chosen label per row; shape `(m,)`.
    ///
    /// # Errors
    /// `LengthMismatch` unless there is one label per row, `LabelOutOfRange` for a label that is not below the number
    /// of labels.
    pub fn at_labels(&self, labels: &[usize]) -> Result<Vec<f64>> {
        require_same_length("labels", labels.len(), "candidate score rows", self.rows())?;
        if let Some(index) = labels.iter().position(|label| *label >= self.labels) {
            return Err(Error::LabelOutOfRange {
                what: "labels",
                index,
                label: labels[index],
                classes: self.labels,
            });
        }
        Ok(labels.iter().enumerate().map(|(row, label)| self.row(row)[*label]).collect())
    }
}

/// Whether label `index` is possible under a row's permissions.
/// Without permissions every label is.
pub(crate) fn is_allowed(mask: Option<&[bool]>, index: usize) -> bool {
    mask.is_none_or(|allowed| allowed[index])
}

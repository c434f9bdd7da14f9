//! Labels of a few target rows.

use crate::error::{JobError, Result};

/// Labels by row of the target data, each row at most once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TargetLabels {
    name: String,
    /// By increasing row.
    labels: Vec<(usize, usize)>,
    /// How many rows they speak of, where there is one entry for each row; none for a sheet of some rows.
    rows: Option<usize>,
}

impl TargetLabels {
    /// Of `(row, label)` pairs in any order; `name` is the caller's for where they come from.
    ///
    /// # Errors
    /// If a row is labeled twice, or a label is not a class.
    pub fn new(name: &str, mut labels: Vec<(usize, usize)>, classes: usize) -> Result<Self> {
        labels.sort_unstable();
        if let Some(pair) = labels.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(JobError::LabeledTwice { input: name.to_owned(), row: pair[0].0 });
        }
        if let Some((row, label)) = labels.iter().find(|(_, label)| *label >= classes) {
            let (input, row, label) = (name.to_owned(), *row, *label);
            return Err(JobError::NoSuchClass { input, row, label, classes });
        }
        Ok(Self { name: name.to_owned(), labels, rows: None })
    }

    /// An error if there are none: whoever gives labels wants them used.
    ///
    /// # Errors
    /// [`JobError::NoneFilledIn`] without a label.
    pub fn or_refuse(self) -> Result<Self> {
        match self.labels.is_empty() {
            true => Err(JobError::NoneFilledIn { input: self.name }),
            false => Ok(self),
        }
    }

    /// The same, known to have one entry, or a gap, for each of so many rows.
    #[must_use]
    pub fn for_rows(mut self, rows: Option<usize>) -> Self {
        self.rows = rows;
        self
    }

    /// How many rows have an entry or a gap; none where labels name their rows.
    pub fn entries(&self) -> Option<usize> {
        self.rows
    }

    /// An error unless there was an entry for each of `rows` target rows, or the labels name their rows themselves.
    pub(crate) fn require_rows(&self, rows: usize) -> Result<()> {
        match self.rows {
            Some(found) if found != rows => {
                Err(JobError::OtherNumberOfRows { input: self.name.clone(), entries: found, rows })
            }
            _ => Ok(()),
        }
    }

    /// As methods take them; rows are their keys.
    ///
    /// # Errors
    /// None for checked labels in practice: those of the core's own check.
    pub fn of_rows(&self, classes: usize) -> Result<evenkeel::side_inputs::TargetLabels> {
        let pairs: Vec<(u64, usize)> =
            self.labels.iter().map(|(row, label)| (*row as u64, *label)).collect();
        Ok(evenkeel::side_inputs::TargetLabels::new(&pairs, classes)?)
    }

    /// What the caller calls them.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The label of a row, if it has one.
    pub fn label_of(&self, row: usize) -> Option<usize> {
        let place = self.labels.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        self.labels.get(place).map(|(_, label)| *label)
    }

    /// Number `k` of labels.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// `(row, label)`, by increasing row.
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.labels
    }

    /// Those of `count` rows from `first` on.
    pub(crate) fn within(
        &self,
        first: usize,
        count: usize,
    ) -> impl Iterator<Item = (usize, usize)> + '_ {
        let start = self.labels.partition_point(|(row, _)| *row < first);
        // Not `first + count`, which the last key there is has no number for.
        let end = self.labels.partition_point(|(row, _)| *row < first || *row - first < count);
        self.labels[start..end].iter().copied()
    }

    /// An error unless every labeled row was among the target rows.
    pub(crate) fn require_seen(&self, seen: u64) -> Result<()> {
        match self.labels.get(seen as usize) {
            None => Ok(()),
            Some((row, _)) => Err(JobError::NoSuchRow { input: self.name.clone(), row: *row }),
        }
    }
}

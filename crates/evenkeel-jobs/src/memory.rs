//! Arrays as a source of rows.

use evenkeel::rows::Rows;
use evenkeel::score::Labels;
use evenkeel::side_inputs::SideInputs;

use crate::any_table::{AnyTable, Turned};
use crate::error::{JobError, PerRow, Result};
use crate::labeled::SideNames;
use crate::source::{Block, RowSource};
use crate::value_kind::ValueKind;

/// Rows that lie in memory, borrowed from the caller.
#[derive(Debug, Clone)]
pub struct MemorySource<'a> {
    name: &'a str,
    kind: ValueKind,
    rows: AnyTable<'a>,
    side: SideInputs<'a>,
    labels: &'a [usize],
    /// Where the rows begin in the whole stream they are part of.
    first_row: usize,
    block_rows: usize,
    next: usize,
    turned: Turned,
    softmax: Vec<f64>,
}

impl<'a> MemorySource<'a> {
    /// Probabilities under the caller's name for them.
    pub fn new(name: &'a str, rows: impl Into<AnyTable<'a>>) -> Self {
        let rows = rows.into();
        Self {
            name,
            kind: ValueKind::Probabilities,
            rows,
            side: SideInputs::default(),
            labels: &[],
            first_row: 0,
            block_rows: rows.block_rows(),
            next: 0,
            turned: Turned::default(),
            softmax: Vec::new(),
        }
    }

    /// Says what the numbers are.
    #[must_use]
    pub fn of_kind(mut self, kind: ValueKind) -> Self {
        self.kind = kind;
        self
    }

    /// Gives every row a label.
    ///
    /// # Errors
    /// If there are not as many labels as rows, or one names no class.
    pub fn with_labels(mut self, name: &str, labels: &'a Labels) -> Result<Self> {
        let (found, rows) = (labels.len(), self.rows.rows());
        if found != rows {
            let (input, matrix) = (name.to_owned(), self.name.to_owned());
            let what = PerRow::Label;
            return Err(JobError::Count { input, what, found, matrix, rows, more: false });
        }
        let classes = self.rows.columns();
        // Against this table: the labels were checked by whoever made them, against another number
        // of classes.
        check_labels(labels.as_slice(), 0, classes)
            .map_err(|error| JobError::found_in(name, error))?;
        self.labels = labels.as_slice();
        Ok(self)
    }

    /// Adds what stands beside the probabilities; there must be one row or number for each point.
    ///
    /// # Errors
    /// If there is not, or a number is not finite or, for ratios and weights, negative.
    pub fn with_side_inputs(mut self, names: SideNames<'_>, side: SideInputs<'a>) -> Result<Self> {
        names.check(&side, (self.name, self.rows.rows()), 0)?;
        self.side = side;
        Ok(self)
    }

    /// Adds what second models say of the rows, beside each other, as [`beside_each_other`](crate::beside_each_other) gives it.
    ///
    /// # Errors
    /// If there is not a row for each point.
    pub fn with_second(mut self, wide: &'a [f64]) -> Result<Self> {
        if wide.is_empty() {
            return Ok(self);
        }
        let columns = wide.len() / self.rows.rows().max(1);
        self.side.second = Some(Rows::new("probabilities of second models", wide, columns)?);
        Ok(self)
    }

    /// Says where the rows begin in the whole stream they are part of: randomised scores draw by position.
    #[must_use]
    pub fn starting_at(mut self, first_row: usize) -> Self {
        self.first_row = first_row;
        self
    }

    /// Chooses how many rows a block has; at least one. No result depends on it.
    #[must_use]
    pub fn in_blocks_of(mut self, rows: usize) -> Self {
        self.block_rows = rows.max(1);
        self
    }
}

impl RowSource for MemorySource<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn columns(&self) -> usize {
        self.rows.columns()
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows.rows() as u64)
    }

    fn is_labeled(&self) -> bool {
        !self.labels.is_empty()
    }

    fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        Ok(())
    }

    fn apart(&self) -> Option<(AnyTable<'_>, usize)> {
        // Logits are no probabilities before their rows are known.
        let as_they_lie = self.kind == ValueKind::Probabilities;
        (as_they_lie && self.rows.lies_apart()).then_some((self.rows, self.first_row))
    }

    fn next_block(&mut self) -> Result<Option<Block<'_>>> {
        let start = self.next;
        let end = self.rows.rows().min(start + self.block_rows);
        if start >= end {
            return Ok(None);
        }
        self.next = end;
        let first_row = self.first_row + start;
        let rows = self
            .kind
            // `start`, not `first_row`: errors count rows as the caller does, in the array at hand.
            .probabilities(start, self.rows.part(start..end, &mut self.turned)?, &mut self.softmax)
            .map_err(|error| JobError::found_in(self.name, error))?;
        let side = self.side.of_rows(start..end)?;
        let labels = self.labels.get(start..end).unwrap_or_default();
        Ok(Some(Block { first_row, rows, side, labels }))
    }
}

/// An error unless every label names a class; rows are counted from the start of the input.
pub(crate) fn check_labels(
    labels: &[usize],
    first_row: usize,
    classes: usize,
) -> evenkeel::Result<()> {
    match labels.iter().position(|label| *label >= classes) {
        None => Ok(()),
        Some(offset) => Err(evenkeel::Error::LabelOutOfRange {
            what: "labels",
            index: first_row + offset,
            label: labels[offset],
            classes,
        }),
    }
}

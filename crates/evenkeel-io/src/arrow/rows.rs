//! Rows from the columns of batches.

use super::Trouble;
use super::buffer::Bits;
use super::messages::{Column, Message, Messages};
use super::numbers::{Lengths, Numbers, Opening};
use super::problem::ArrowProblem;
use super::schema::Kind;
use crate::block::{Precision, Values};
use crate::column_problem::ColumnProblem;
use crate::error::Result;
use crate::reader::{RowStream, check_columns};
use crate::source::Gaps;
use std::sync::Arc;

/// Numbers read from a column at a time: a batch may claim billions.
const STEP_VALUES: usize = 1 << 14;

/// Rows of an Arrow file or stream, one batch after the other.
pub(super) struct ArrowRows {
    messages: Messages,
    /// Places of the columns that are read.
    chosen: Vec<usize>,
    gaps: Gaps,
    columns: usize,
    names: Option<Vec<String>>,
    precision: Precision,
    next_message: usize,
    next_row: u64,
    /// Readers of the current batch, one per column, and the rows left in it.
    readers: Vec<Reader>,
    batch_left: u64,
    origin: Arc<str>,
}

enum Reader {
    Plain(Numbers),
    /// Lists; lengths where each has its own.
    Lists {
        validity: Option<Bits>,
        lengths: Option<Lengths>,
        numbers: Numbers,
    },
}

impl Reader {
    fn open(
        opening: Opening<'_>,
        kind: &Kind,
        column: &Column,
        rows: u64,
    ) -> Result<Self, Trouble> {
        Ok(match kind {
            Kind::List(offsets, number) => {
                let validity = opening.validity(column, (0, 0))?;
                let lengths = Lengths::open(opening, column, (1, rows), *offsets)?;
                let mut numbers = Numbers::open(opening, column, (1, 2), *number)?;
                numbers.skip(lengths.start())?;
                Self::Lists { validity, lengths: Some(lengths), numbers }
            }
            Kind::FixedList(_, number) => {
                let validity = opening.validity(column, (0, 0))?;
                let numbers = Numbers::open(opening, column, (1, 1), *number)?;
                Self::Lists { validity, lengths: None, numbers }
            }
            Kind::Number(number) => Self::Plain(Numbers::open(opening, column, (0, 0), *number)?),
            _ => return Err(ArrowProblem::Damaged { what: "a column changed its type" }.into()),
        })
    }
}

impl ArrowRows {
    pub(super) fn open(
        messages: Messages,
        chosen: Vec<usize>,
        gaps: Gaps,
        origin: &Arc<str>,
    ) -> Result<Self> {
        let numbers = chosen.iter().filter_map(|place| match &messages.fields[*place].kind {
            Kind::Number(number) | Kind::List(_, number) | Kind::FixedList(_, number) => {
                Some(number.precision())
            }
            _ => None,
        });
        // One column that needs double precision decides for all: a block has one type.
        let single = numbers.into_iter().all(|precision| precision == Precision::Single);
        let precision = if single { Precision::Single } else { Precision::Double };
        let first = chosen.first().map(|place| &messages.fields[*place]);
        let is_list = first.is_some_and(super::is_list);
        let names = (!is_list)
            .then(|| chosen.iter().map(|place| messages.fields[*place].name.clone()).collect());
        let mut rows = Self {
            columns: chosen.len(),
            messages,
            chosen,
            gaps,
            names,
            precision,
            next_message: 0,
            next_row: 0,
            readers: Vec::new(),
            batch_left: 0,
            origin: Arc::clone(origin),
        };
        let width = rows.width(is_list).map_err(|trouble| trouble.of(origin))?;
        rows.columns = check_columns(origin, width)?;
        Ok(rows)
    }

    /// Numbers of a row: those of the first list, which the others are held to as they are read.
    fn width(&mut self, is_list: bool) -> Result<u64, Trouble> {
        let first = self.chosen.first().map(|place| self.messages.fields[*place].clone());
        match first {
            Some(field) if is_list => match field.kind {
                Kind::FixedList(length, _) => Ok(length),
                _ => {
                    let mut width = 0;
                    if self.open_batch()?
                        && let Some(Reader::Lists { lengths: Some(lengths), .. }) =
                            self.readers.first_mut()
                    {
                        width = lengths.next()?;
                    }
                    // Read again from the start.
                    (self.next_message, self.batch_left) = (0, 0);
                    match width {
                        0 => Err(ColumnProblem::Null { row: 0, column: field.name }.into()),
                        width => Ok(width),
                    }
                }
            },
            _ => Ok(self.chosen.len() as u64),
        }
    }

    /// Opens the next batch that has rows; false after the last.
    fn open_batch(&mut self) -> Result<bool, Trouble> {
        while self.batch_left == 0 {
            let Some(message) = self.messages.all.get(self.next_message).copied() else {
                return Ok(false);
            };
            self.next_message += 1;
            let Message::Rows { place, rows } = message else { continue };
            if rows == 0 {
                continue;
            }
            let batch = self.messages.batch(place)?;
            let columns = batch.columns(&self.messages.fields)?;
            let opening = Opening { file: &self.messages.file, codec: batch.codec };
            let open = |place: &usize| {
                let kind = &self.messages.fields[*place].kind;
                Reader::open(opening, kind, &columns[*place], rows)
            };
            self.readers = self.chosen.iter().map(open).collect::<Result<_, _>>()?;
            self.batch_left = rows;
        }
        Ok(true)
    }

    /// Adds `count` rows of the current batch to `values`, row-major.
    fn read_rows(&mut self, count: usize, values: &mut Values) -> Result<(), Trouble> {
        let (start, columns, gaps) = (values.len(), self.columns, self.gaps);
        let is_list = self.names.is_none();
        values.extend_zeros(count * columns);
        for (column, reader) in self.readers.iter_mut().enumerate() {
            let name = || self.messages.fields[self.chosen[column]].name.clone();
            let null = |row: usize| ColumnProblem::Null {
                row: self.next_row + row as u64,
                column: name(),
            };
            let (at, step): (usize, usize) = match reader {
                Reader::Plain(_) => (start + column, columns),
                Reader::Lists { .. } => (start, 1),
            };
            let (numbers, asked) = match reader {
                Reader::Plain(numbers) => (numbers, count),
                Reader::Lists { validity, lengths, numbers } => {
                    for row in 0..count {
                        let there = validity.as_mut().map_or(Ok(true), Bits::next)?;
                        let length = lengths.as_mut().map_or(Ok(columns as u64), Lengths::next)?;
                        if !there {
                            return Err(null(row).into());
                        }
                        if length != columns as u64 {
                            return Err(ColumnProblem::Ragged {
                                row: self.next_row + row as u64,
                                column: name(),
                                found: length,
                                expected: columns,
                            }
                            .into());
                        }
                    }
                    (numbers, count * columns)
                }
            };
            let mut gap = None;
            numbers.read(asked, |place, value| match value {
                Some(value) => put(values, at + place * step, value.to_f64()),
                None => {
                    gap = gap.or(Some(place));
                    put(values, at + place * step, f64::NAN);
                }
            })?;
            match (gap, gaps) {
                // A list with a gap is no row, whatever the gap means.
                (Some(place), _) if is_list => return Err(null(place / columns).into()),
                (Some(place), Gaps::Refused) => return Err(null(place).into()),
                _ => {}
            }
        }
        self.next_row += count as u64;
        self.batch_left -= count as u64;
        Ok(())
    }
}

/// Narrow values come from narrow numbers, so that nothing is lost.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the precision of a file is that of its numbers"
)]
fn put(values: &mut Values, at: usize, value: f64) {
    match values {
        Values::F32(values) => values[at] = value as f32,
        Values::F64(values) => values[at] = value,
    }
}

impl RowStream for ArrowRows {
    fn columns(&self) -> usize {
        self.columns
    }

    fn rows(&self) -> Option<u64> {
        Some(self.messages.rows)
    }

    fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn fill(&mut self, rows: usize, values: &mut Values) -> Result<usize> {
        values.restart(self.precision);
        let step = match self.names {
            Some(_) => STEP_VALUES,
            None => (STEP_VALUES / self.columns).max(1),
        };
        let mut filled = 0;
        while filled < rows {
            let read = match self.open_batch() {
                Ok(false) => break,
                Ok(true) => {
                    let left = usize::try_from(self.batch_left).unwrap_or(usize::MAX);
                    let count = left.min(rows - filled).min(step);
                    self.read_rows(count, values).map(|()| count)
                }
                Err(trouble) => Err(trouble),
            };
            filled += read.map_err(|trouble| trouble.of(&self.origin))?;
        }
        Ok(filled)
    }
}

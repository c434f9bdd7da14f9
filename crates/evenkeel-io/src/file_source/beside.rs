//! A file that is read row for row beside the probabilities: labels, features, ratios, second models.

use std::sync::Arc;

use evenkeel::Error;
use evenkeel::rows::Rows;
use evenkeel::side_inputs::SideInputs;
use evenkeel_jobs::{JobError, PerRow, counted_from};

use super::file_block::SecondRows;
use crate::class_of_label::ClassOfLabel;
use crate::companion::RowAligned;
use crate::error::IoError;
use crate::labeled_files::is_about_words;
use crate::source::MatrixSource;
use crate::table_reading::TableReading;
use crate::text_rows::TextRows;

/// A file read beside the probabilities.
#[derive(Debug)]
pub(super) struct Companion {
    what: PerRow,
    file: String,
    source: MatrixSource,
    rows: Beside,
    /// What the classes are called, for labels; where they stand, for second models.
    reading: TableReading,
}

/// What stands beside the rows: numbers, or labels that are words.
#[derive(Debug)]
enum Beside {
    Numbers(RowAligned),
    Words { text: TextRows, class: ClassOfLabel, next_row: usize },
}

impl Companion {
    pub(super) fn open(
        what: PerRow,
        file: &str,
        matrix: &str,
        reading: &TableReading,
    ) -> Result<Self, JobError> {
        let source = MatrixSource::parse(file)?;
        let rows =
            opened(what, &source, reading).map_err(|error| error.or_swapped(what, matrix))?;
        Ok(Self { what, file: file.to_owned(), source, rows, reading: reading.clone() })
    }

    pub(super) fn rewind(&mut self) -> Result<(), JobError> {
        self.rows = opened(self.what, &self.source, &self.reading)?;
        Ok(())
    }

    /// The labels of the next rows, each naming a class.
    pub(super) fn labels(
        &mut self,
        rows: usize,
        first_row: usize,
        classes: usize,
        matrix: &str,
    ) -> Result<Vec<usize>, JobError> {
        // Of several parts the row is counted through all: the part that was read last need not hold it.
        let origin: Arc<str> = self.source.to_string().into();
        let labels = match &mut self.rows {
            Beside::Numbers(numbers) => {
                let found = numbers.next_labels(rows)?;
                let class = ClassOfLabel::new(self.reading.names.clone());
                let found = found.into_iter().enumerate();
                let found = found
                    .map(|(offset, label)| class.of_number(&origin, first_row + offset, label));
                found.collect::<Result<_, IoError>>()?
            }
            Beside::Words { text, class, next_row } => {
                let words = text.next_rows(rows)?;
                let found = words.iter().enumerate().map(|(offset, row)| {
                    let word = row.first().map_or("", String::as_str);
                    class.of(&origin, *next_row + offset, word)
                });
                let found = found.collect::<Result<Vec<usize>, IoError>>()?;
                *next_row += found.len();
                found
            }
        };
        self.require(labels.len(), (rows, first_row), matrix)?;
        match labels.iter().position(|label| *label >= classes) {
            None => Ok(labels),
            Some(offset) => {
                let (what, index, label) = ("labels", first_row + offset, labels[offset]);
                let error = Error::LabelOutOfRange { what, index, label, classes };
                Err(JobError::found_in(&self.file, error))
            }
        }
    }

    /// Reads the next rows; there must be one for each.
    pub(super) fn advance(
        &mut self,
        rows: usize,
        first_row: usize,
        matrix: &str,
    ) -> Result<(), JobError> {
        let found = match &mut self.rows {
            Beside::Numbers(numbers) => numbers.next_rows(rows)?.len() / numbers.columns(),
            Beside::Words { .. } => return Err(self.words()),
        };
        self.require(found, (rows, first_row), matrix)
    }

    /// Words where numbers are asked for; they are opened for labels alone.
    fn words(&self) -> JobError {
        JobError::NoLabels { input: self.file.clone() }
    }

    /// The rows that were read last, as a second model's.
    pub(super) fn last(&self) -> Result<SecondRows, JobError> {
        let Beside::Numbers(numbers) = &self.rows else { return Err(self.words()) };
        let (values, columns) = (numbers.last_rows().to_vec(), numbers.columns());
        Ok(SecondRows { file: self.file.clone(), values, columns })
    }

    /// The numbers of the next rows, checked, and how many a row has.
    pub(super) fn numbers(
        &mut self,
        rows: usize,
        first_row: usize,
        matrix: &str,
    ) -> Result<(&[f64], usize), JobError> {
        self.advance(rows, first_row, matrix)?;
        let Beside::Numbers(numbers) = &self.rows else { return Err(self.words()) };
        let (values, columns) = (numbers.last_rows(), numbers.columns());
        // Checked alone, so that the error names this file and not the one beside it.
        let alone = match self.what {
            PerRow::Features => SideInputs::features(Rows::new("features", values, columns)?),
            _ => SideInputs { ratios: Some(values), ..SideInputs::default() },
        };
        alone
            .check(rows)
            .map_err(|error| JobError::found_in(&self.file, counted_from(first_row, error)))?;
        Ok((values, columns))
    }

    /// An error if the headers of both files are enough to know that they do not belong together.
    pub(super) fn require_rows(&self, matrix: &str, rows: Option<u64>) -> Result<(), JobError> {
        let whole = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
        let own = match &self.rows {
            Beside::Numbers(numbers) => numbers.rows(),
            Beside::Words { text, .. } => text.rows(),
        };
        match (own, rows) {
            (Some(found), Some(rows)) if found != rows => {
                Err(self.miscounted(whole(found), matrix, whole(rows), false))
            }
            _ => Ok(()),
        }
    }

    /// An error unless there was something for each of the `rows` rows from `first_row` on.
    fn require(
        &self,
        found: usize,
        (rows, first_row): (usize, usize),
        matrix: &str,
    ) -> Result<(), JobError> {
        if found == rows {
            return Ok(());
        }
        Err(self.miscounted(first_row + found, matrix, first_row + rows, true))
    }

    /// An error unless `rows` rows were all there are. It tells the file's whole length, whatever of it was needed.
    pub(super) fn require_end(&mut self, matrix: &str, rows: usize) -> Result<(), JobError> {
        let found = match &mut self.rows {
            Beside::Numbers(numbers) => numbers.count_rows()?,
            Beside::Words { text, next_row, .. } => {
                // In pieces: what goes on for gigabytes is counted in the memory of one.
                loop {
                    match text.next_rows(1 << 14)?.len() {
                        0 => break *next_row,
                        more => *next_row += more,
                    }
                }
            }
        };
        match found {
            found if found == rows => Ok(()),
            found => Err(self.miscounted(found, matrix, rows, false)),
        }
    }

    fn miscounted(&self, found: usize, matrix: &str, rows: usize, more: bool) -> JobError {
        let (input, matrix) = (self.file.clone(), matrix.to_owned());
        JobError::Count { input, what: self.what, found, matrix, rows, more }
    }
}

fn opened(what: PerRow, source: &MatrixSource, reading: &TableReading) -> Result<Beside, IoError> {
    let names = &reading.names;
    match what {
        PerRow::Features => RowAligned::open(source).map(Beside::Numbers),
        // Another model of the same classes: columns with names are matched as those of the model itself.
        PerRow::Second => RowAligned::open_table(source, reading).map(Beside::Numbers),
        // Tables may hold words wherever the classes have names to find them by.
        PerRow::Label if names.names().is_some() && source.is_table() => {
            let mut text = TextRows::open(source, None)?;
            text.skip_header(names.names().unwrap_or_default());
            let class = ClassOfLabel::new(names.clone());
            Ok(Beside::Words { text, class, next_row: 0 })
        }
        PerRow::Label => match RowAligned::open_column(source, what.many()) {
            Err(error) if is_about_words(&error) => {
                Err(IoError::NoClassNames { origin: source.to_string().into() })
            }
            opened => opened.map(Beside::Numbers),
        },
        PerRow::Ratio | PerRow::Weight | PerRow::Group => {
            RowAligned::open_column(source, what.many()).map(Beside::Numbers)
        }
    }
}

//! The files of some points as a source of rows: probabilities, and beside them labels, features and ratios.

use std::any::Any;
use std::sync::Arc;

use evenkeel::Error;
use evenkeel::rows::{Rows, SHARE_CELLS};
use evenkeel::side_inputs::SideInputs;
use evenkeel_jobs::{
    AnyRows, BLOCK_BYTES, Block, JobError, PerRow, RowSource, SecondTable, SeenRows, TakeBlocks,
    TakenBlock, ValueKind, beside_each_other, counted_from,
};

use crate::class_of_label::ClassOfLabel;
use crate::companion::RowAligned;
use crate::error::IoError;
use crate::labeled_files::is_about_words;
use crate::reader::MatrixReader;
use crate::source::MatrixSource;
use crate::table_reading::TableReading;
use crate::text_rows::TextRows;

/// The files that describe one set of points, as typed.
#[derive(Debug, Clone, Copy)]
pub struct PointFiles<'a> {
    /// Class probabilities, or logits.
    pub probs: &'a str,
    /// Files whose rows follow those of the first, in their order.
    pub more: &'a [String],
    /// One label per row.
    pub labels: Option<&'a str>,
    /// One row of features per row.
    pub features: Option<&'a str>,
    /// One likelihood ratio per row.
    pub ratios: Option<&'a str>,
    /// Class probabilities, or logits, of each second model.
    pub second: &'a [String],
}

impl<'a> PointFiles<'a> {
    /// Probabilities alone.
    pub fn probs(probs: &'a str) -> Self {
        Self { probs, more: &[], labels: None, features: None, ratios: None, second: &[] }
    }

    /// Probabilities of several files, the rows of one after those of another.
    pub fn several(files: &'a [String]) -> Self {
        let (first, more) = files.split_first().map_or(("", files), |(first, more)| (first, more));
        Self { more, ..Self::probs(first) }
    }
}

/// Files read row for row in blocks; memory is bounded by the block, not by the files.
#[derive(Debug)]
pub struct FileSource {
    name: String,
    kind: ValueKind,
    source: MatrixSource,
    reading: TableReading,
    reader: MatrixReader,
    labels: Option<Companion>,
    features: Option<Companion>,
    ratios: Option<Companion>,
    second: Vec<Companion>,
    /// The block at hand, where blocks are not given away.
    block: FileBlock,
    seen: usize,
}

impl FileSource {
    /// Opens all files.
    ///
    /// # Errors
    /// If one cannot be opened or is not what it is given as.
    pub fn open(files: PointFiles<'_>, kind: ValueKind) -> Result<Self, JobError> {
        Self::open_table(files, kind, TableReading::default())
    }

    /// The same with a reading of the columns.
    ///
    /// # Errors
    /// As [`open`](Self::open), and if columns are not the ones expected.
    pub fn open_table(
        files: PointFiles<'_>,
        kind: ValueKind,
        reading: TableReading,
    ) -> Result<Self, JobError> {
        let companion = |what, file: Option<&str>| {
            file.map(|file| Companion::open(what, file, files.probs, &reading)).transpose()
        };
        // Companions first: where files were swapped, their error can say which belongs where.
        let labels = companion(PerRow::Label, files.labels)?;
        let features = companion(PerRow::Features, files.features)?;
        let ratios = companion(PerRow::Ratio, files.ratios)?;
        let second: Vec<Companion> = files
            .second
            .iter()
            .map(|file| Companion::open(PerRow::Second, file, files.probs, &reading))
            .collect::<Result<_, _>>()?;
        let source = MatrixSource::parse(files.probs)?.followed_by(files.more)?;
        let reader = reading.open(&source)?;
        // Before a row is read, where the headers tell.
        let others = [&labels, &features, &ratios].into_iter().flatten();
        for companion in others.chain(&second) {
            companion.require_rows(files.probs, reader.rows())?;
        }
        Ok(Self {
            name: match files.more.len() {
                0 => files.probs.to_owned(),
                more => format!("{} and {more} more", files.probs),
            },
            kind,
            block: FileBlock::new(kind, &reader),
            reader,
            reading,
            source,
            labels,
            features,
            ratios,
            second,
            seen: 0,
        })
    }

    fn companions(&mut self) -> impl Iterator<Item = &mut Companion> {
        let others = [&mut self.labels, &mut self.features, &mut self.ratios];
        others.into_iter().flatten().chain(&mut self.second)
    }

    /// Reads at most so many rows, and what stands beside them; returns whether there were any.
    fn fill(&mut self, rows: usize, block: &mut FileBlock) -> Result<bool, JobError> {
        if !self.reader.fill_block(rows, &mut block.rows)? {
            let (name, seen) = (self.name.clone(), self.seen);
            // Only at the end is it known that a companion has rows to spare, which mean that the
            // files do not belong together.
            self.companions().try_for_each(|companion| companion.require_end(&name, seen))?;
            return Ok(false);
        }
        let (first_row, count) = (block.rows.first_row(), block.rows.row_count());
        self.seen = first_row + count;
        block.labels = match &mut self.labels {
            Some(companion) => {
                companion.labels(count, first_row, block.rows.columns(), &self.name)?
            }
            // No labels, not zeros: a job that needs labels must be able to tell.
            None => Vec::new(),
        };
        block.features = match &mut self.features {
            Some(companion) => {
                let (values, columns) = companion.numbers(count, first_row, &self.name)?;
                Some((values.to_vec(), columns))
            }
            None => None,
        };
        block.ratios = match &mut self.ratios {
            Some(companion) => Some(companion.numbers(count, first_row, &self.name)?.0.to_vec()),
            None => None,
        };
        block.second.clear();
        for companion in &mut self.second {
            companion.advance(count, first_row, &self.name)?;
            block.second.push(companion.last()?);
            block.name.clone_from(&self.name);
        }
        Ok(true)
    }
}

impl RowSource for FileSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> usize {
        self.reader.columns()
    }

    fn rows(&self) -> Option<u64> {
        self.reader.rows()
    }

    fn is_labeled(&self) -> bool {
        self.labels.is_some()
    }

    fn rewind(&mut self) -> Result<(), JobError> {
        // A source that was just opened stands at its first row; opening every file twice would be
        // waste.
        if self.seen > 0 {
            self.reader = self.reading.open(&self.source)?;
            self.seen = 0;
            for companion in self.companions() {
                companion.rewind()?;
            }
        }
        Ok(())
    }

    fn next_block(&mut self) -> Result<Option<Block<'_>>, JobError> {
        let rows = self.reader.rows_within(BLOCK_BYTES);
        let nothing = FileBlock::new(self.kind, &self.reader);
        let mut block = std::mem::replace(&mut self.block, nothing);
        let filled = self.fill(rows, &mut block);
        self.block = block;
        if filled? { self.block.block().map(Some) } else { Ok(None) }
    }

    fn in_turns(&mut self) -> Option<&mut dyn TakeBlocks> {
        Some(self)
    }
}

impl TakeBlocks for FileSource {
    fn take(
        &mut self,
        used: Option<Box<dyn TakenBlock>>,
    ) -> Result<Option<Box<dyn TakenBlock>>, JobError> {
        let used = used.and_then(|used| (used as Box<dyn Any>).downcast::<FileBlock>().ok());
        let mut block = used.unwrap_or_else(|| Box::new(FileBlock::new(self.kind, &self.reader)));
        let rows = (SHARE_CELLS / self.reader.columns()).max(1);
        Ok(if self.fill(rows, &mut block)? { Some(block) } else { None })
    }
}

/// Rows of the files, and what is made of them.
#[derive(Debug)]
struct FileBlock {
    kind: ValueKind,
    /// What the rows are called, in errors about second models.
    name: String,
    rows: crate::Block,
    labels: Vec<usize>,
    /// Row after row, and the columns of one.
    features: Option<(Vec<f64>, usize)>,
    ratios: Option<Vec<f64>>,
    /// The output of each second model.
    second: Vec<SecondRows>,
    softmax: Vec<f64>,
    /// What second models say, beside each other.
    beside: Vec<f64>,
}

/// Rows of a second model, of some file.
#[derive(Debug)]
struct SecondRows {
    file: String,
    values: Vec<f64>,
    columns: usize,
}

impl FileBlock {
    /// Memory for the rows of a reader.
    fn new(kind: ValueKind, reader: &MatrixReader) -> Self {
        Self {
            kind,
            name: String::new(),
            rows: reader.empty_block(),
            labels: Vec::new(),
            features: None,
            ratios: None,
            second: Vec::new(),
            softmax: Vec::new(),
            beside: Vec::new(),
        }
    }
}

impl TakenBlock for FileBlock {
    fn block(&mut self) -> Result<Block<'_>, JobError> {
        let first_row = self.rows.first_row();
        let rows = self.rows.probabilities(self.kind, &mut self.softmax)?;
        let mut side = SideInputs::default();
        if let Some((values, columns)) = &self.features {
            side.features = Some(Rows::new("features", values, *columns)?);
        }
        side.ratios = self.ratios.as_deref();
        if !self.second.is_empty() {
            let tables = self.second.iter().map(|SecondRows { file, values, columns }| {
                let rows = AnyRows::f64(values, *columns)?;
                Ok(SecondTable { name: file, rows, first_row })
            });
            let tables: Vec<SecondTable<'_>> = tables.collect::<Result<_, JobError>>()?;
            let (count, classes) = (rows.rows(), rows.columns());
            let seen = SeenRows { name: &self.name, rows: count, classes };
            self.beside = beside_each_other(&tables, self.kind, seen)?;
            let what = "probabilities of second models";
            side.second = Some(Rows::new(what, &self.beside, classes * tables.len())?);
        }
        Ok(Block { first_row, rows, side, labels: &self.labels })
    }
}

/// A file read beside the probabilities.
#[derive(Debug)]
struct Companion {
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
    fn open(
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

    fn rewind(&mut self) -> Result<(), JobError> {
        self.rows = opened(self.what, &self.source, &self.reading)?;
        Ok(())
    }

    /// The labels of the next rows, each naming a class.
    fn labels(
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
    fn advance(&mut self, rows: usize, first_row: usize, matrix: &str) -> Result<(), JobError> {
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
    fn last(&self) -> Result<SecondRows, JobError> {
        let Beside::Numbers(numbers) = &self.rows else { return Err(self.words()) };
        let (values, columns) = (numbers.last_rows().to_vec(), numbers.columns());
        Ok(SecondRows { file: self.file.clone(), values, columns })
    }

    /// The numbers of the next rows, checked, and how many a row has.
    fn numbers(
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
    fn require_rows(&self, matrix: &str, rows: Option<u64>) -> Result<(), JobError> {
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
    fn require_end(&mut self, matrix: &str, rows: usize) -> Result<(), JobError> {
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

//! The files of some points as a source of rows: probabilities, and beside them labels, features and ratios.

mod beside;
mod file_block;

use std::any::Any;

use evenkeel::rows::SHARE_CELLS;
use evenkeel_jobs::{
    BLOCK_BYTES, Block, JobError, PerRow, RowSource, TakeBlocks, TakenBlock, ValueKind,
};

use self::beside::Companion;
use self::file_block::FileBlock;
use crate::reader::MatrixReader;
use crate::source::MatrixSource;
use crate::table_reading::TableReading;

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

//! Files as typed -> data the core takes, with the file's name in every error.

use std::path::Path;

use evenkeel::calibration::{Calibration, CalibrationHeader};
use evenkeel::calibrator::{MOST_CANDIDATES, ShiftCalibrator};
use evenkeel::check::{TodayLaws, TodaySketch};
use evenkeel::conformal::{LabelSets, label_scores_of_rows};
use evenkeel::level::Miscoverage;
use evenkeel::measure::Interval;
use evenkeel::rows::{Real, Rows};
use evenkeel::sandwich::SandwichSketch;
use evenkeel::score::{CandidateScores, Labels, Probabilities, Score};
use evenkeel::seed::Seed;
use evenkeel_io::{
    BlockRows, IoError, MatrixReader, MatrixSource, ValueKind, read_class_names, read_labels,
    read_matrix,
};
use rayon::prelude::*;

use crate::args::Reading;
use crate::job::{Failure, system_words};
use crate::progress::Verbosity;

/// Bytes of a file read at a time: memory is bounded by this, not by the file.
const BLOCK_BYTES: usize = 16 << 20;

/// Rows a thread takes at a time within a block.
const SHARE_ROWS: usize = 2048;

impl Reading {
    /// What the numbers are.
    pub(crate) fn kind(&self) -> ValueKind {
        if self.logits { ValueKind::Logits } else { ValueKind::Probabilities }
    }

    /// Class names, if a file was given; there must be one for each class.
    pub(crate) fn names(&self, classes: usize) -> Result<Option<Vec<String>>, Failure> {
        let read = |path: &std::path::PathBuf| read_class_names(path, Some(classes));
        Ok(self.class_names.as_ref().map(read).transpose()?)
    }
}

/// Labeled probabilities, whole in memory.
#[derive(Debug)]
pub(crate) struct Labeled {
    origin: String,
    values: Vec<f64>,
    classes: usize,
    labels_origin: String,
    labels: Vec<usize>,
}

impl Labeled {
    /// Reads and checks both files.
    pub(crate) fn read(matrix: &str, labels: &str, reading: &Reading) -> Result<Self, Failure> {
        let block = read_matrix(&MatrixSource::parse(matrix)?)?;
        let mut softmax = Vec::new();
        let values = match reading.kind().probabilities(&block, &mut softmax)? {
            BlockRows::F32(rows) => rows.values().iter().copied().map(f64::from).collect(),
            BlockRows::F64(rows) => rows.values().to_vec(),
        };
        let labels_origin = labels.to_owned();
        let labels = read_labels(&MatrixSource::parse(labels)?, Some(block.row_count()))
            .map_err(|error| swapped(error, matrix, labels))?;
        let (origin, classes) = (matrix.to_owned(), block.columns());
        let read = Self { origin, values, classes, labels_origin, labels };
        // Checked here, so that later errors can only be about something else.
        read.probabilities()?;
        read.checked_labels()?;
        Ok(read)
    }

    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    pub(crate) fn rows(&self) -> usize {
        self.labels.len()
    }

    pub(crate) fn probabilities(&self) -> Result<Probabilities<'_, f64>, Failure> {
        Probabilities::new(&self.values, self.classes).map_err(|error| in_file(&self.origin, error))
    }

    fn checked_labels(&self) -> Result<Labels, Failure> {
        Labels::new(self.labels.clone(), self.classes)
            .map_err(|error| in_file(&self.labels_origin, error))
    }

    /// `s(x_i, y_i)`.
    pub(crate) fn scores(&self, score: &Score) -> Result<Vec<f64>, Failure> {
        let labels = self.checked_labels()?;
        score
            .label_scores(&self.probabilities()?, &labels)
            .map_err(|error| in_file(&self.origin, error))
    }
}

/// A labels file with many columns next to a matrix with one: most likely the two were swapped.
fn swapped(error: IoError, matrix: &str, labels: &str) -> Failure {
    match error {
        IoError::NotOneColumn { columns, .. } => Failure::Mismatch(format!(
            "{labels} has {columns} columns, but labels are one integer a row; were {matrix} and {labels} swapped?"
        )),
        other => Failure::Io(other),
    }
}

/// An error of the core about a file it knows nothing of.
pub(crate) fn in_file(path: &str, error: evenkeel::Error) -> Failure {
    Failure::InFile { path: path.to_owned(), error }
}

/// What the streaming commands ask of a block, in either precision.
pub(crate) trait BlockWork {
    /// Sets of the block's rows, worked on by all threads.
    fn predict(
        &self,
        calibration: &Calibration,
        first_row: usize,
        alpha: Option<Miscoverage>,
    ) -> evenkeel::Result<LabelSets>;

    /// Scores of the block's rows at their labels.
    fn label_scores(
        &self,
        first_row: usize,
        score: &Score,
        labels: &[usize],
    ) -> evenkeel::Result<Vec<f64>>;
}

impl BlockWork for BlockRows<'_> {
    fn predict(
        &self,
        calibration: &Calibration,
        first_row: usize,
        alpha: Option<Miscoverage>,
    ) -> evenkeel::Result<LabelSets> {
        match self {
            Self::F32(rows) => predict(*rows, calibration, first_row, alpha),
            Self::F64(rows) => predict(*rows, calibration, first_row, alpha),
        }
    }

    fn label_scores(
        &self,
        first_row: usize,
        score: &Score,
        labels: &[usize],
    ) -> evenkeel::Result<Vec<f64>> {
        match self {
            Self::F32(rows) => label_scores_of_rows(first_row, *rows, score, labels),
            Self::F64(rows) => label_scores_of_rows(first_row, *rows, score, labels),
        }
    }
}

fn predict<T: Real>(
    rows: Rows<'_, T>,
    calibration: &Calibration,
    first_row: usize,
    alpha: Option<Miscoverage>,
) -> evenkeel::Result<LabelSets> {
    let parts: Vec<LabelSets> = shares(rows)
        .map(|(offset, part)| calibration.predict(first_row + offset, part?, alpha))
        .collect::<evenkeel::Result<_>>()?;
    LabelSets::concatenate(&parts)
}

/// A block cut into shares for the threads, with the offset of each.
fn shares<'a, T: Real>(
    rows: Rows<'a, T>,
) -> impl IndexedParallelIterator<Item = (usize, evenkeel::Result<Rows<'a, T>>)> {
    let (what, columns) = (rows.what(), rows.columns());
    let parts = rows.values().par_chunks(SHARE_ROWS * columns).enumerate();
    parts.map(move |(index, values)| (index * SHARE_ROWS, Rows::new(what, values, columns)))
}

/// Streams a matrix of `classes` columns through `work`, block by block; returns the number of rows.
pub(crate) fn each_block(
    matrix: &str,
    reading: &Reading,
    classes: usize,
    doing: &str,
    verbosity: Verbosity,
    mut work: impl FnMut(usize, &BlockRows<'_>) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let mut reader = MatrixReader::open(&MatrixSource::parse(matrix)?)?;
    require_classes(matrix, reader.columns(), classes)?;
    let bar = verbosity.rows(doing, reader.rows());
    let rows = reader.rows_within(BLOCK_BYTES);
    let mut softmax = Vec::new();
    let mut seen = 0;
    while let Some(block) = reader.next_block(rows)? {
        let first_row = block.first_row();
        let read = reading.kind().probabilities(block, &mut softmax)?;
        work(first_row, &read).map_err(|failure| name_file(failure, matrix))?;
        seen += read.rows();
        bar.set_position(seen as u64);
    }
    bar.finish_and_clear();
    if seen == 0 {
        // A table can have a header and nothing below it: means over no rows would be NaN.
        return Err(IoError::NoRows { origin: matrix.into() }.into());
    }
    Ok(seen)
}

/// An error of the core that came out of a block belongs to the block's file.
fn name_file(failure: Failure, matrix: &str) -> Failure {
    match failure {
        Failure::Core(error) => in_file(matrix, error),
        other => other,
    }
}

fn require_classes(matrix: &str, found: usize, classes: usize) -> Result<(), Failure> {
    if found == classes {
        return Ok(());
    }
    Err(Failure::Mismatch(format!(
        "{matrix} has {found} columns but the calibration data have {classes} classes; give the outputs of the same model"
    )))
}

/// Today's laws for a check: exact where the table is small enough to keep, from a sketch of one pass where it is not.
///
/// `known` is where a sketch must be exact, and its seed: calibration scores, range, grid points.
pub(crate) fn check_laws(
    matrix: &str,
    reading: &Reading,
    classes: usize,
    known: (&[f64], Interval, usize, Seed),
    score: &Score,
    verbosity: Verbosity,
) -> Result<TodayLaws, Failure> {
    let (scores, range, points, seed) = known;
    let empty = TodaySketch::new(scores, range, points, seed)?;
    let mut kept: Vec<f64> = Vec::new();
    let mut sketch: Option<TodaySketch> = None;
    each_block(matrix, reading, classes, "reading", verbosity, |first_row, block| {
        if let Some(sofar) = sketch.take() {
            let part = match block {
                BlockRows::F32(rows) => sketch_block(*rows, first_row, &empty, score),
                BlockRows::F64(rows) => sketch_block(*rows, first_row, &empty, score),
            };
            sketch = Some(sofar.merge(&part?)?);
            return Ok(());
        }
        keep(&mut kept, block);
        if kept.len() > MOST_CANDIDATES {
            let rows = Rows::new("probabilities", &kept, classes)?;
            sketch = Some(sketch_block(rows, 0, &empty, score)?);
            kept = Vec::new();
        }
        Ok(())
    })?;
    let laws = match sketch {
        Some(sketch) => sketch.laws(),
        None => Probabilities::new(&kept, classes)
            .and_then(|today| TodayLaws::of_probabilities(&today, score, seed)),
    };
    laws.map_err(|error| in_file(matrix, error))
}

/// Appends a block's values.
fn keep(kept: &mut Vec<f64>, block: &BlockRows<'_>) {
    match block {
        BlockRows::F32(rows) => kept.extend(rows.values().iter().copied().map(f64::from)),
        BlockRows::F64(rows) => kept.extend_from_slice(rows.values()),
    }
}

fn sketch_block<T: Real>(
    rows: Rows<'_, T>,
    first_row: usize,
    empty: &TodaySketch,
    score: &Score,
) -> evenkeel::Result<TodaySketch> {
    shares(rows)
        .map(|(offset, part)| empty.clone().add_probabilities(first_row + offset, part?, score))
        .try_reduce(|| empty.clone(), |merged, part| merged.merge(&part))
}

/// Today's unlabeled side, as the method takes it.
pub(crate) enum TodayInput {
    /// Every candidate score.
    Candidates(CandidateScores),
    /// More of them than are kept, sketched.
    Sketch(SandwichSketch),
}

/// Reads today's side: in memory up to the size at which the library sketches, and then as a sketch where the method
/// allows. The library does the same with arrays, so files and arrays give the same bits.
pub(crate) fn read_today(
    matrix: &str,
    reading: &Reading,
    calibrator: &ShiftCalibrator,
    scores: &[f64],
    classes: usize,
    verbosity: Verbosity,
) -> Result<TodayInput, Failure> {
    let mut kept: Vec<f64> = Vec::new();
    let mut sketch: Option<(SandwichSketch, Score)> = None;
    each_block(matrix, reading, classes, "reading", verbosity, |first_row, block| {
        if let Some((sofar, score)) = sketch.take() {
            sketch = Some((add_block(sofar, first_row, block, &score)?, score));
            return Ok(());
        }
        keep(&mut kept, block);
        if kept.len() > MOST_CANDIDATES
            && let Some((empty, score)) = calibrator.empty_sketch(scores, classes)?
        {
            let rows = BlockRows::F64(Rows::new("probabilities", &kept, classes)?);
            sketch = Some((add_block(empty, 0, &rows, &score)?, score));
            kept = Vec::new();
        }
        Ok(())
    })?;
    if let Some((sketch, _)) = sketch {
        return Ok(TodayInput::Sketch(sketch));
    }
    let today = Probabilities::new(&kept, classes).map_err(|error| in_file(matrix, error))?;
    let candidates = calibrator.score.with_draws_for("today").candidate_scores(&today);
    Ok(TodayInput::Candidates(candidates.map_err(|error| in_file(matrix, error))?))
}

fn add_block(
    sketch: SandwichSketch,
    first_row: usize,
    block: &BlockRows<'_>,
    score: &Score,
) -> evenkeel::Result<SandwichSketch> {
    match block {
        BlockRows::F32(rows) => sketch.add_probabilities(first_row, *rows, score),
        BlockRows::F64(rows) => sketch.add_probabilities(first_row, *rows, score),
    }
}

/// Labels of streamed rows.
pub(crate) struct StreamedLabels<'a> {
    origin: &'a str,
    labels: Vec<usize>,
}

impl<'a> StreamedLabels<'a> {
    /// Reads the labels of the rows of `matrix` and checks that each names one of `classes` classes.
    pub(crate) fn read(origin: &'a str, matrix: &str, classes: usize) -> Result<Self, Failure> {
        let labels = read_labels(&MatrixSource::parse(origin)?, None)
            .map_err(|error| swapped(error, matrix, origin))?;
        let labels = Labels::new(labels, classes).map_err(|error| in_file(origin, error))?;
        Ok(Self { origin, labels: labels.as_slice().to_vec() })
    }

    /// The labels of `rows` rows from `first_row` on.
    pub(crate) fn of(
        &self,
        first_row: usize,
        rows: usize,
        matrix: &str,
    ) -> Result<&[usize], Failure> {
        self.labels.get(first_row..first_row + rows).ok_or_else(|| {
            Failure::Mismatch(format!(
                "{} has {} labels but {matrix} has at least {} rows; give one label a row",
                self.origin,
                self.labels.len(),
                first_row + rows
            ))
        })
    }

    /// An error unless there were as many rows as labels.
    pub(crate) fn require_rows(&self, rows: usize, matrix: &str) -> Result<(), Failure> {
        if rows == self.labels.len() {
            return Ok(());
        }
        Err(Failure::Mismatch(format!(
            "{} has {} labels but {matrix} has {rows} rows; give one label a row",
            self.origin,
            self.labels.len()
        )))
    }
}

/// Reads and checks a file written by `calibrate`.
pub(crate) fn load_calibration(path: &Path) -> Result<Calibration, Failure> {
    let failed = |reason: String| Failure::Calibration { path: path.to_owned(), reason };
    let metadata = std::fs::metadata(path).map_err(|error| failed(unreadable(&error)))?;
    if !metadata.is_file() {
        return Err(failed("is not a file; give a file written by `evenkeel calibrate`".into()));
    }
    if metadata.len() > LARGEST_CALIBRATION {
        return Err(failed(format!("is {} bytes, too large for a calibration", metadata.len())));
    }
    let text = std::fs::read_to_string(path).map_err(|error| failed(unreadable(&error)))?;
    // What it is comes first: a file of a later version should not be called one with missing fields.
    if let Ok(header) = serde_json::from_str::<CalibrationHeader>(&text) {
        header.check().map_err(|error| failed(error.to_string()))?;
    }
    serde_json::from_str(&text)
        .map_err(|error| failed(format!("{error}; give a file written by `evenkeel calibrate`")))
}

/// Why a calibration cannot be read, and what to do.
fn unreadable(error: &std::io::Error) -> String {
    format!("cannot be read: {}; give a file written by `evenkeel calibrate`", system_words(error))
}

/// A calibration of ten million points is about 400 MB.
const LARGEST_CALIBRATION: u64 = 4 << 30;

/// Rows and columns of a matrix file, for the record.
pub(crate) fn shape_of(matrix: &str) -> Vec<usize> {
    let reader = MatrixSource::parse(matrix).and_then(|source| MatrixReader::open(&source));
    reader.map_or_else(
        |_| Vec::new(),
        |reader| {
            let rows = reader.rows().and_then(|rows| usize::try_from(rows).ok());
            rows.into_iter().chain([reader.columns()]).collect()
        },
    )
}

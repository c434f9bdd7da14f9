//! Files as typed -> data the core takes, with the file's name in every error.

use std::path::Path;

use evenkeel::calibration::{Calibration, CalibrationHeader};
use evenkeel::calibrator::MOST_CANDIDATES;
use evenkeel::check::{TargetLaws, TargetSketch};
use evenkeel::conformal::{LabelSets, label_scores_of_rows};
use evenkeel::error::{Input, PointSet, SideInput, User};
use evenkeel::interval::Interval;
use evenkeel::level::Miscoverage;
use evenkeel::rows::{Real, RowKeys, Rows};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::SideInputs;
use evenkeel_io::{
    BlockRows, IoError, MatrixReader, MatrixSource, ValueKind, read_class_names, read_labels,
    read_matrix, read_weights,
};
use rayon::prelude::*;

use crate::args::{BesideArgs, Reading};
use crate::job::{Failure, system_words};
use crate::progress::Verbosity;
use crate::spelling::CliSpelling;
use crate::streams::{PointFiles, each_block};

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

/// LabeledFiles probabilities, whole in memory.
#[derive(Debug)]
pub(crate) struct LabeledFiles {
    origin: String,
    values: Vec<f64>,
    classes: usize,
    labels_origin: String,
    labels: Vec<usize>,
    features: Option<(Vec<f64>, usize)>,
    ratios: Option<Vec<f64>>,
    weights: Option<Vec<f64>>,
}

impl LabeledFiles {
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
        let read = Self {
            origin,
            values,
            classes,
            labels_origin,
            labels,
            features: None,
            ratios: None,
            weights: None,
        };
        // Checked here, so that later errors can only be about something else.
        read.probabilities()?;
        read.checked_labels()?;
        Ok(read)
    }

    /// Reads what was given beside the probabilities; there must be one row or number for each point.
    pub(crate) fn with(mut self, beside: &BesideArgs) -> Result<Self, Failure> {
        let n = self.rows();
        let as_many = |file: &str, one: &str, found: usize| {
            if found == n {
                return Ok(());
            }
            Err(Failure::Mismatch(format!(
                "{file} has {found} rows but {} has {n}; give one {one} for each",
                self.origin
            )))
        };
        if let Some(file) = &beside.cal_features {
            let block = read_matrix(&MatrixSource::parse(file)?)?;
            as_many(file, "row of features", block.row_count())?;
            let columns = block.columns();
            let values = block.into_values().to_f64();
            SideInputs::features(Rows::new("features", &values, columns)?)
                .check(n)
                .map_err(|error| in_file(file, error))?;
            self.features = Some((values, columns));
        }
        for (file, one) in [(&beside.cal_ratios, "ratio"), (&beside.weights_file, "weight")] {
            let Some(file) = file else { continue };
            let values = read_weights(&MatrixSource::parse(file)?)?;
            as_many(file, one, values.len())?;
            let place = if one == "ratio" { &mut self.ratios } else { &mut self.weights };
            *place = Some(values);
        }
        Ok(self)
    }

    /// What stands beside the probabilities.
    pub(crate) fn beside(&self) -> Result<SideInputs<'_>, Failure> {
        let features = match &self.features {
            None => None,
            Some((values, columns)) => Some(Rows::new("features", values, *columns)?),
        };
        Ok(SideInputs {
            features,
            ratios: self.ratios.as_deref(),
            weights: self.weights.as_deref(),
        })
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

    pub(crate) fn checked_labels(&self) -> Result<Labels, Failure> {
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
pub(crate) fn swapped(error: IoError, matrix: &str, labels: &str) -> Failure {
    match error {
        IoError::NotOneColumn { columns, .. } => Failure::Mismatch(format!(
            "{labels} has {columns} columns, but labels are one integer per row; were {matrix} and {labels} swapped?"
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
        beside: SideInputs<'_>,
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
        beside: SideInputs<'_>,
        alpha: Option<Miscoverage>,
    ) -> evenkeel::Result<LabelSets> {
        match self {
            Self::F32(rows) => predict(*rows, calibration, first_row, beside, alpha),
            Self::F64(rows) => predict(*rows, calibration, first_row, beside, alpha),
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
    beside: SideInputs<'_>,
    alpha: Option<Miscoverage>,
) -> evenkeel::Result<LabelSets> {
    let sets_of = |(offset, part): (usize, evenkeel::Result<Rows<'_, T>>)| {
        let part = part?;
        let beside = beside.of_rows(offset..offset + part.rows())?;
        calibration.predict_beside(first_row + offset, part, beside, alpha)
    };
    let parts: Vec<LabelSets> = shares(rows).map(sets_of).collect::<evenkeel::Result<_>>()?;
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

/// An error of the core that came out of a block belongs to the block's file.
pub(crate) fn name_file(failure: Failure, matrix: &str) -> Failure {
    match failure {
        Failure::Core(error) => in_file(matrix, error),
        other => other,
    }
}

pub(crate) fn require_classes(matrix: &str, found: usize, classes: usize) -> Result<(), Failure> {
    if found == classes {
        return Ok(());
    }
    Err(Failure::Mismatch(format!(
        "{matrix} has {found} columns but the calibration data have {classes} classes; give the outputs of the same model"
    )))
}

/// Target laws for a check: exact where the table is small enough to keep, from a sketch of one pass where it is not.
///
/// `known` is where a sketch must be exact, and its seed: calibration scores, range, grid points.
pub(crate) fn check_laws(
    matrix: &str,
    reading: &Reading,
    classes: usize,
    known: (&[f64], Interval, usize, Seed),
    score: &Score,
    verbosity: Verbosity,
) -> Result<TargetLaws, Failure> {
    let (scores, range, points, seed) = known;
    let empty = TargetSketch::new(scores, range, points, seed)?;
    let mut kept: Vec<f64> = Vec::new();
    let mut sketch: Option<TargetSketch> = None;
    let files = PointFiles::probs(matrix);
    each_block(files, reading, classes, "reading", verbosity, |points| {
        let (first_row, block) = (points.first_row, points.block);
        if let Some(sofar) = sketch.take() {
            let part = match block {
                BlockRows::F32(rows) => sketch_block(*rows, first_row, &empty, score),
                BlockRows::F64(rows) => sketch_block(*rows, first_row, &empty, score),
            };
            sketch = Some(sofar.merge(part?)?);
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
            .and_then(|target| TargetLaws::of_probabilities(&target, score, seed)),
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
    empty: &TargetSketch,
    score: &Score,
) -> evenkeel::Result<TargetSketch> {
    shares(rows)
        .map(|(offset, part)| {
            let keys = RowKeys::From((first_row + offset) as u64);
            empty.clone().add_probabilities(keys, part?, score)
        })
        .try_reduce(|| empty.clone(), TargetSketch::merge)
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
        header.check().map_err(|error| failed(error.spelled(&CliSpelling)))?;
    }
    serde_json::from_str(&text)
        .map_err(|error| failed(format!("{error}; give a file written by `evenkeel calibrate`")))
}

/// An error if features or ratios are given to a calibration that has no use for them.
pub(crate) fn refuse_unused(
    calibration: &Calibration,
    features: Option<&String>,
    ratios: Option<&String>,
) -> Result<(), Failure> {
    let unused = [
        (SideInput::Features, features.is_some() && !calibration.needs_features()),
        (SideInput::Ratios, ratios.is_some() && !calibration.needs_ratios()),
    ];
    match unused.into_iter().find(|(_, unused)| *unused) {
        None => Ok(()),
        Some((side, _)) => Err(Failure::Core(evenkeel::Error::NotUsed {
            what: Input::Side(side, PointSet::Predicted),
            by: User::Calibration(calibration.provenance().method.as_str()),
            owners: Vec::new(),
        })),
    }
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

//! The files of the calibration data, whole in memory.

use evenkeel::rows::Rows;
use evenkeel::side_inputs::SideInputs;
use evenkeel_jobs::{
    AnyRows, JobError, LabeledData, PerRow, SecondTable, SeenRows, SideNames, ValueKind,
    beside_each_other,
};

use crate::error::IoError;
use crate::matrix::read_all;
use crate::reader::MatrixReader;
use crate::source::MatrixSource;
use crate::vectors::{open_column, read_labels, read_weights, require_count};

/// The files of what stands beside the probabilities, as typed.
#[derive(Debug, Clone, Copy, Default)]
pub struct SideFiles<'a> {
    /// One row of features per row.
    pub features: Option<&'a str>,
    /// One likelihood ratio per row.
    pub ratios: Option<&'a str>,
    /// One weight per row.
    pub weights: Option<&'a str>,
    /// Class probabilities, or logits, of each second model.
    pub second: &'a [String],
}

/// Reads what second models say of calibration points, beside each other.
///
/// # Errors
/// If a file cannot be read, or a model has other classes or another number of rows.
pub fn read_second(
    files: &[String],
    kind: ValueKind,
    seen: SeenRows<'_>,
) -> Result<Vec<f64>, JobError> {
    let mut blocks = Vec::new();
    for file in files {
        let mut reader = MatrixReader::open(&MatrixSource::parse(file)?)?;
        // Before a row is read, where the headers tell.
        match reader.rows() {
            Some(found) if found != seen.rows as u64 => {
                return Err(JobError::Count {
                    input: file.clone(),
                    what: PerRow::Second,
                    found: usize::try_from(found).unwrap_or(usize::MAX),
                    matrix: seen.name.to_owned(),
                    rows: seen.rows,
                    more: false,
                });
            }
            _ => {}
        }
        let block = read_all(&mut reader)?;
        let columns = block.columns();
        blocks.push((file, block.into_values().into_f64(), columns));
    }
    let mut tables = Vec::new();
    for (file, values, columns) in &blocks {
        let rows =
            AnyRows::f64(values, *columns).map_err(|error| JobError::found_in(file, error))?;
        tables.push(SecondTable { name: file, rows, first_row: 0 });
    }
    beside_each_other(&tables, kind, seen)
}

/// What the files of the calibration data hold; [`data`](Self::data) checks it.
#[derive(Debug)]
pub struct LabeledFiles<'a> {
    probs: &'a str,
    values: Vec<f64>,
    classes: usize,
    labels_file: &'a str,
    labels: Vec<usize>,
    files: SideFiles<'a>,
    features: Option<(Vec<f64>, usize)>,
    ratios: Option<Vec<f64>>,
    weights: Option<Vec<f64>>,
    kind: ValueKind,
    second: Vec<f64>,
}

impl<'a> LabeledFiles<'a> {
    /// Reads probabilities, or logits, and labels.
    ///
    /// # Errors
    /// If a file cannot be read, or there are not as many labels as rows.
    pub fn read(probs: &'a str, labels: &'a str, kind: ValueKind) -> Result<Self, JobError> {
        let mut matrix = MatrixReader::open(&MatrixSource::parse(probs)?)?;
        let labels_source = MatrixSource::parse(labels)?;
        // A matrix where labels are expected is nearly always the other file.
        let swapped = |error: IoError| error.or_swapped(PerRow::Label, probs);
        // Before a row is read, where the headers tell: a few compressed bytes can hold a billion rows.
        if let Some(rows) = matrix.rows().and_then(|rows| usize::try_from(rows).ok()) {
            let column = open_column(&labels_source, PerRow::Label.many()).map_err(swapped)?;
            require_count(&column, PerRow::Label.many(), rows)?;
        }
        let block = read_all(&mut matrix)?;
        let mut softmax = Vec::new();
        // Widened once: the calibration data are small and are read several times.
        let values = block.probabilities(kind, &mut softmax)?.widened().into_owned();
        let (labels_file, expected) = (labels, Some(block.row_count()));
        let labels = read_labels(&labels_source, expected).map_err(swapped)?;
        Ok(Self {
            probs,
            values,
            classes: block.columns(),
            labels_file,
            labels,
            files: SideFiles::default(),
            features: None,
            ratios: None,
            weights: None,
            kind,
            second: Vec::new(),
        })
    }

    /// Reads what stands beside the probabilities.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn with_side_files(mut self, files: SideFiles<'a>) -> Result<Self, JobError> {
        let rows = self.labels.len();
        let opened = |what: PerRow, file: &str| {
            let reader = MatrixReader::open(&MatrixSource::parse(file)?)?;
            // Headers are enough to refuse what does not belong here.
            match reader.rows() {
                Some(found) if found != rows as u64 => Err(JobError::Count {
                    input: file.to_owned(),
                    what,
                    found: usize::try_from(found).unwrap_or(usize::MAX),
                    matrix: self.probs.to_owned(),
                    rows,
                    more: false,
                }),
                _ => Ok(reader),
            }
        };
        if let Some(file) = files.features {
            let block = read_all(&mut opened(PerRow::Features, file)?)?;
            let columns = block.columns();
            self.features = Some((block.into_values().into_f64(), columns));
        }
        let vector = |what: PerRow, file: Option<&str>| {
            let read = |file: &str| {
                opened(what, file)?;
                Ok::<_, JobError>(read_weights(&MatrixSource::parse(file)?)?)
            };
            file.map(read).transpose()
        };
        self.ratios = vector(PerRow::Ratio, files.ratios)?;
        self.weights = vector(PerRow::Weight, files.weights)?;
        let seen = SeenRows { name: self.probs, rows, classes: self.classes };
        self.second = read_second(files.second, self.kind, seen)?;
        self.files = files;
        Ok(self)
    }

    /// The file of the probabilities, as the user typed it.
    pub fn probs(&self) -> &str {
        self.probs
    }

    /// The calibration data, checked.
    ///
    /// # Errors
    /// If a row is not a probability vector, a label names no class, or something is not there for every row.
    pub fn data(&self) -> Result<LabeledData<'_>, JobError> {
        let labeled = LabeledData::new(
            self.probs,
            &self.values,
            self.classes,
            self.labels_file,
            self.labels.clone(),
        )?;
        let features = match &self.features {
            None => None,
            Some((values, columns)) => Some(Rows::new("features", values, *columns)?),
        };
        let side = SideInputs {
            features,
            ratios: self.ratios.as_deref(),
            weights: self.weights.as_deref(),
            ..SideInputs::default()
        };
        let SideFiles { features, ratios, weights, .. } = self.files;
        let names = SideNames {
            features: features.unwrap_or_default(),
            ratios: ratios.unwrap_or_default(),
            weights: weights.unwrap_or_default(),
        };
        labeled.with_side_inputs(names, side)?.with_second(&self.second)
    }
}

//! A classifier's probabilities under one condition, with labels and image ids: one `.npz` file.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use evenkeel::rows::Rows;
use evenkeel::score::{Labels, Probabilities};
use evenkeel_io::{
    AnyRows, AtomicFile, IoError, MatrixSource, NpzProblem, ValueKind, Values, read_labels,
    read_matrix,
};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::error::{Error, Result};
use crate::npy;
use crate::trial::Points;

/// Probabilities of all images under one condition.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftmaxTable {
    /// Shape `(rows, classes)`, row-major. Single precision, as classifiers give them: half the memory.
    pub probabilities: Vec<f32>,
    /// Number of classes.
    pub classes: usize,
    /// Label of every row.
    pub labels: Vec<usize>,
    /// Which image a row shows; the same number in two files means the same image.
    pub image_ids: Vec<usize>,
}

impl SoftmaxTable {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// Row `index`.
    fn row(&self, index: usize) -> &[f32] {
        &self.probabilities[index * self.classes..][..self.classes]
    }

    /// Some rows, in the order given.
    pub fn subset(&self, rows: &[usize]) -> Result<Subset> {
        let mut probabilities = Vec::with_capacity(rows.len() * self.classes);
        rows.iter().for_each(|row| probabilities.extend_from_slice(self.row(*row)));
        let labels = rows.iter().map(|row| self.labels[*row]).collect();
        let labels = Labels::new(labels, self.classes)?;
        Ok(Subset { probabilities, labels, classes: self.classes })
    }

    /// The rows that show some images, in the order given.
    pub fn of_images(&self, images: &[usize]) -> Result<Subset> {
        let places: BTreeMap<usize, usize> =
            self.image_ids.iter().enumerate().map(|(row, id)| (*id, row)).collect();
        let place = |id: &usize| places.get(id).copied().ok_or(Error::NotInSecond { id: *id });
        self.subset(&images.iter().map(place).collect::<Result<Vec<usize>>>()?)
    }

    /// Reads an `.npz` file with the arrays `probs` or `logits`, `labels` and `image_id`.
    pub fn read(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Err(Error::MissingSoftmax { path: path.to_path_buf() });
        }
        let (matrix, kind) = match read_matrix(&part(path, "probs")?) {
            // Only a missing key leads to the other array; damage must be reported as what it is.
            Err(IoError::Npz { problem: NpzProblem::NoSuchKey { .. }, .. }) => {
                (read_matrix(&part(path, "logits")?)?, ValueKind::Logits)
            }
            found => (found?, ValueKind::Probabilities),
        };
        let (rows, classes) = (matrix.row_count(), matrix.columns());
        let mut softmax = Vec::new();
        // Checked once, here, so that an error names the file; cells take the rows as they are.
        match matrix.probabilities(kind, &mut softmax)? {
            AnyRows::F32(rows) => check(path, kind, rows)?,
            AnyRows::F64(rows) => check(path, kind, rows)?,
        }
        let probabilities = match (kind, matrix.into_values()) {
            (ValueKind::Logits | ValueKind::ForcedLogits, _) => {
                softmax.into_iter().map(|value| value as f32).collect()
            }
            (ValueKind::Probabilities, Values::F32(values)) => values,
            (ValueKind::Probabilities, Values::F64(values)) => {
                values.into_iter().map(|value| value as f32).collect()
            }
        };
        let labels = read_labels(&part(path, "labels")?, Some(rows))?;
        let image_ids = read_labels(&part(path, "image_id")?, Some(rows))?;
        let mut seen = image_ids.clone();
        // An image twice in one table could be dealt to two roles.
        seen.sort_unstable();
        if let Some(pair) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::RepeatedImage { path: path.to_path_buf(), id: pair[0] });
        }
        let labels = Labels::new(labels, classes).map_err(|source| Error::UnfitLabels {
            path: path.to_path_buf(),
            source: Box::new(source),
        })?;
        let labels = labels.as_slice().to_vec();
        Ok(Self { probabilities, classes, labels, image_ids })
    }

    /// Writes such a file; it appears whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let matrix = Rows::new("probabilities", &self.probabilities, self.classes)?;
        let arrays = [
            ("probs.npy", npy::matrix_bytes(&matrix)),
            ("labels.npy", integers(&self.labels)),
            ("image_id.npy", integers(&self.image_ids)),
        ];
        // Probabilities hardly shrink, and stored arrays are read without inflating them.
        write_archive(path, CompressionMethod::Stored, arrays)
    }
}

/// Writes arrays into one `.npz` file, which appears whole or not at all.
pub(super) fn write_archive(
    path: &Path,
    compression: CompressionMethod,
    arrays: [(&str, Vec<u8>); 3],
) -> Result<()> {
    let failed = |source| Error::Archive { path: path.to_path_buf(), source };
    let mut archive = ZipWriter::new(AtomicFile::create(path)?);
    let options = SimpleFileOptions::default().compression_method(compression).large_file(true);
    for (name, bytes) in arrays {
        archive.start_file(name, options).map_err(failed)?;
        archive.write_all(&bytes).map_err(Error::at(path))?;
    }
    Ok(archive.finish().map_err(failed)?.commit()?)
}

/// The file of a vector of small whole numbers.
pub(super) fn integers(values: &[usize]) -> Vec<u8> {
    let values: Vec<i64> = values.iter().map(|value| value.cast_signed() as i64).collect();
    npy::vector_bytes(&values)
}

fn part(path: &Path, key: &str) -> Result<MatrixSource> {
    Ok(MatrixSource::parse(&format!("{}:{key}", path.display()))?)
}

/// An error unless every row is a probability vector.
fn check<T: evenkeel::rows::Real>(path: &Path, kind: ValueKind, rows: Rows<'_, T>) -> Result<()> {
    let array = if kind == ValueKind::Logits { "logits" } else { "probs" };
    // Under its own name the core would advise an option that experiments do not have.
    let checked =
        Rows::new(array, rows.values(), rows.columns()).and_then(Probabilities::from_rows);
    let path = path.to_path_buf();
    checked.map(drop).map_err(|source| Error::NoProbabilities {
        path,
        array,
        source: Box::new(source),
    })
}

/// Rows taken out of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Subset {
    probabilities: Vec<f32>,
    labels: Labels,
    classes: usize,
}

impl Subset {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// The probabilities, as methods take them.
    pub fn probabilities(&self) -> Result<Probabilities<'_, f32>> {
        Ok(Probabilities::new(&self.probabilities, self.classes)?)
    }

    /// The same as a table.
    pub fn table(&self) -> Result<Rows<'_, f32>> {
        Ok(Rows::new("probabilities", &self.probabilities, self.classes)?)
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// As the jobs take them.
    pub(super) fn points(&self) -> Result<Points<'_>> {
        let rows = AnyRows::F32(self.table()?);
        Ok(Points { rows, labels: &self.labels, ratios: None, second: None })
    }

    /// The probabilities in double precision, as the jobs take those of second models.
    pub(super) fn widened(&self) -> Vec<f64> {
        self.probabilities.iter().map(|value| f64::from(*value)).collect()
    }

    /// Share of the rows whose most probable class is their label.
    pub(super) fn accuracy(&self) -> f64 {
        let labeled = self.probabilities.chunks_exact(self.classes).zip(self.labels.as_slice());
        let right = labeled.filter(|(row, label)| row.iter().all(|other| *other <= row[**label]));
        right.count() as f64 / self.rows().max(1) as f64
    }

    /// The first rows of it.
    pub fn first(&self, rows: usize) -> Result<Self> {
        let rows = rows.min(self.rows());
        Ok(Self {
            probabilities: self.probabilities[..rows * self.classes].to_vec(),
            labels: Labels::new(self.labels.as_slice()[..rows].to_vec(), self.classes)?,
            classes: self.classes,
        })
    }
}

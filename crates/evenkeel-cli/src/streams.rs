//! Rows of target and test points, streamed: probabilities, and what stands beside them in other files.

use evenkeel::rows::Rows;
use evenkeel::side_inputs::SideInputs;
use evenkeel_io::{BlockRows, IoError, MatrixReader, MatrixSource, RowAligned};

use crate::args::Reading;
use crate::inputs::{in_file, name_file, require_classes, swapped};
use crate::job::Failure;
use crate::progress::Verbosity;

/// Bytes of a file read at a time: memory is bounded by this, not by the file.
const BLOCK_BYTES: usize = 16 << 20;

/// The files that describe one set of points, as typed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PointFiles<'a> {
    pub probs: &'a str,
    pub labels: Option<&'a str>,
    pub features: Option<&'a str>,
    pub ratios: Option<&'a str>,
}

impl<'a> PointFiles<'a> {
    /// Probabilities alone.
    pub(crate) fn probs(probs: &'a str) -> Self {
        Self { probs, labels: None, features: None, ratios: None }
    }
}

/// Consecutive points, row for row from all files.
pub(crate) struct Points<'a> {
    pub first_row: usize,
    pub block: &'a BlockRows<'a>,
    /// Empty if there is no file of labels.
    pub labels: &'a [usize],
    pub beside: SideInputs<'a>,
}

/// A file read beside the probabilities.
struct Companion<'a> {
    /// One of them, in words: "label".
    one: &'static str,
    file: &'a str,
    rows: RowAligned,
}

impl<'a> Companion<'a> {
    fn open(
        one: &'static str,
        file: Option<&'a str>,
        matrix: &str,
    ) -> Result<Option<Self>, Failure> {
        let Some(file) = file else { return Ok(None) };
        let source = MatrixSource::parse(file)?;
        let rows = match one {
            "label" => RowAligned::open_column(&source, "labels"),
            "ratio" => RowAligned::open_column(&source, "ratios"),
            _ => RowAligned::open(&source),
        };
        let rows = rows.map_err(|error| swapped(error, matrix, file))?;
        Ok(Some(Self { one, file, rows }))
    }

    fn many(&self) -> &'static str {
        match self.one {
            "label" => "labels",
            "ratio" => "ratios",
            _ => "rows of features",
        }
    }

    /// A mismatch is told with the file's whole length, whatever of it was needed.
    fn too_few(&self, matrix: &str, found: usize, rows: usize) -> Failure {
        Failure::Mismatch(format!(
            "{} has {found} {} but {matrix} has at least {rows} rows; give one {} for each",
            self.file,
            self.many(),
            self.one,
        ))
    }

    /// An error unless `rows` rows were all there are.
    fn require_end(&mut self, matrix: &str, rows: usize) -> Result<(), Failure> {
        let found = self.rows.count_rows()?;
        if found == rows {
            return Ok(());
        }
        Err(Failure::Mismatch(format!(
            "{} has {found} {} but {matrix} has {rows} rows; give one {} for each",
            self.file,
            self.many(),
            self.one,
        )))
    }
}

/// Streams points of `classes` classes through `work`, block by block; returns how many there were.
pub(crate) fn each_block(
    files: PointFiles<'_>,
    reading: &Reading,
    classes: usize,
    doing: &str,
    verbosity: Verbosity,
    mut work: impl FnMut(&Points<'_>) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let matrix = files.probs;
    let mut label_file = Companion::open("label", files.labels, matrix)?;
    let mut feature_file = Companion::open("row of features", files.features, matrix)?;
    let mut ratio_file = Companion::open("ratio", files.ratios, matrix)?;
    let mut reader = MatrixReader::open(&MatrixSource::parse(matrix)?)?;
    require_classes(matrix, reader.columns(), classes)?;
    let bar = verbosity.rows(doing, reader.rows());
    let at_a_time = reader.rows_within(BLOCK_BYTES);
    let mut softmax = Vec::new();
    let mut seen = 0;
    while let Some(block) = reader.next_block(at_a_time)? {
        let first_row = block.first_row();
        let block = reading.kind().probabilities(block, &mut softmax)?;
        let rows = block.rows();
        let mut labels = Vec::new();
        if let Some(companion) = &mut label_file {
            labels = companion.rows.next_labels(rows)?;
            if labels.len() < rows {
                return Err(companion.too_few(matrix, first_row + labels.len(), first_row + rows));
            }
            check_labels(&labels, first_row, classes)
                .map_err(|error| in_file(companion.file, error))?;
        }
        let features = beside(&mut feature_file, rows, first_row, matrix)?;
        let ratios = beside(&mut ratio_file, rows, first_row, matrix)?;
        let features =
            features.map(|(values, columns)| Rows::new("features", values, columns)).transpose()?;
        let beside =
            SideInputs { features, ratios: ratios.map(|(values, _)| values), weights: None };
        let whose = files.features.or(files.ratios).unwrap_or(matrix);
        beside.check(rows).map_err(|error| IoError::from_core(&whose.into(), first_row, error))?;
        work(&Points { first_row, block: &block, labels: &labels, beside })
            .map_err(|failure| name_file(failure, matrix))?;
        seen += rows;
        bar.set_position(seen as u64);
    }
    bar.finish_and_clear();
    if seen == 0 {
        // A table can have a header and nothing below it: means over no rows would be NaN.
        return Err(IoError::NoRows { origin: matrix.into() }.into());
    }
    for companion in [&mut label_file, &mut feature_file, &mut ratio_file].into_iter().flatten() {
        companion.require_end(matrix, seen)?;
    }
    Ok(seen)
}

/// The next rows of a companion, with its width.
fn beside<'c>(
    companion: &'c mut Option<Companion<'_>>,
    rows: usize,
    first_row: usize,
    matrix: &str,
) -> Result<Option<(&'c [f64], usize)>, Failure> {
    let Some(companion) = companion else { return Ok(None) };
    let columns = companion.rows.columns();
    let found = companion.rows.next_rows(rows)?.len() / columns;
    if found < rows {
        return Err(companion.too_few(matrix, first_row + found, first_row + rows));
    }
    Ok(Some((companion.rows.last_rows(), columns)))
}

/// An error unless every label names a class; rows are counted in the file.
fn check_labels(labels: &[usize], first_row: usize, classes: usize) -> evenkeel::Result<()> {
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

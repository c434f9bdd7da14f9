//! The files of the calibration data, whole in memory.

use evenkeel::calibration::ClassNames;
use evenkeel::rows::Rows;
use evenkeel::side_inputs::SideInputs;
use evenkeel_jobs::{
    AnyRows, JobError, LabeledData, PerRow, SecondTable, SeenRows, SideNames, ValueKind,
    beside_each_other,
};
use std::sync::Arc;

use crate::class_of_label::{ClassOfLabel, worded_labels};
use crate::csv::CsvProblem;
use crate::doubtful_columns;
use crate::error::{IoError, some_of};
use crate::json_lines::JsonLineProblem;
use crate::label_names::{LabelNames, boolean};
use crate::matrix::read_all;
use crate::parquet::ParquetProblem;
use crate::reader::MatrixReader;
use crate::source::MatrixSource;
use crate::table_reading::TableReading;
use crate::text_rows::TextRows;
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
    reading: &TableReading,
    seen: SeenRows<'_>,
) -> Result<Vec<f64>, JobError> {
    let mut blocks = Vec::new();
    for file in files {
        let mut reader = reading.open(&MatrixSource::parse(file)?)?;
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
    columns: Option<Vec<String>>,
    names: LabelNames,
    files: SideFiles<'a>,
    features: Option<(Vec<f64>, usize)>,
    ratios: Option<Vec<f64>>,
    weights: Option<Vec<f64>>,
    kind: ValueKind,
    /// Whether the user said what the classes are called.
    is_told: bool,
    /// How columns of second models are found: as those of the model.
    reading: TableReading,
    second: Vec<f64>,
}

impl<'a> LabeledFiles<'a> {
    /// Reads probabilities, or logits, and labels.
    ///
    /// # Errors
    /// If a file cannot be read, or there are not as many labels as rows.
    pub fn read(probs: &'a str, labels: &'a str, kind: ValueKind) -> Result<Self, JobError> {
        Self::read_table(probs, labels, kind, &TableReading::default())
    }

    /// The same with a reading of the columns. Labels may be words: names of the classes, of their columns, or, where
    /// nothing is named, as many words as there are classes, which then name these in sorted order.
    ///
    /// # Errors
    /// If a file cannot be read, a column is missing, a label names no class, or there are not as many labels as rows.
    pub fn read_table(
        probs: &'a str,
        labels: &'a str,
        kind: ValueKind,
        reading: &TableReading,
    ) -> Result<Self, JobError> {
        let mut matrix = reading.open(&MatrixSource::parse(probs)?)?;
        let columns = matrix.names().map(<[String]>::to_vec);
        let labels_source = MatrixSource::parse(labels)?;
        // A matrix where labels are expected is nearly always the other file.
        let swapped = |error: IoError| error.or_swapped(PerRow::Label, probs);
        // Before a row is read, where the headers tell: a few compressed bytes can hold a billion rows.
        if let Some(rows) = matrix.rows().and_then(|rows| usize::try_from(rows).ok()) {
            match open_column(&labels_source, PerRow::Label.many()) {
                Ok(column) => require_count(&column, PerRow::Label.many(), rows)?,
                // Words are counted when they are read.
                Err(error) if is_about_words(&error) => {}
                Err(error) => return Err(swapped(error).into()),
            }
        }
        // Before the rows: they would be called out for their sums.
        if matrix.columns() == 1 {
            return Err(IoError::OneClass { origin: Arc::clone(matrix.origin()) }.into());
        }
        let block = read_all(&mut matrix)?;
        let mut softmax = Vec::new();
        // Widened once: the calibration data are small and are read several times.
        let values = block.probabilities(kind, &mut softmax)?.widened().into_owned();
        let labels_file = labels;
        let shape = (block.row_count(), block.columns());
        let names = names_of_classes(reading, columns.as_deref(), probs)?;
        let (labels, names) =
            read_labels_as(&labels_source, names, columns.as_deref(), shape).map_err(swapped)?;
        let is_told = matches!(reading.names, LabelNames::Listed(_));
        let reading = TableReading { columns: columns.clone(), ..reading.clone() };
        Ok(Self {
            is_told,
            probs,
            values,
            classes: block.columns(),
            labels_file,
            labels,
            columns,
            names,
            files: SideFiles::default(),
            features: None,
            ratios: None,
            weights: None,
            kind,
            reading,
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
        self.second = read_second(files.second, self.kind, &self.reading, seen)?;
        self.files = files;
        Ok(self)
    }

    /// Columns and names of the classes.
    pub fn class_names(&self) -> ClassNames {
        let classes = self.names.names().map(<[String]>::to_vec);
        ClassNames { columns: self.columns.clone(), classes }
    }

    /// What is doubtful about columns that were taken for classes because nothing says which are, in sentences.
    pub fn doubts(&self) -> Vec<String> {
        let chosen = self.reading.patterns.is_some() || self.is_told;
        match (&self.columns, self.kind) {
            (Some(columns), kind) if !chosen => {
                let of_logits = doubtful_columns::doubts(columns, &self.labels);
                match kind {
                    ValueKind::Logits | ValueKind::ForcedLogits => of_logits,
                    ValueKind::Probabilities => {
                        doubtful_columns::doubts_of_zeros(columns, &self.labels, &self.values)
                    }
                }
            }
            _ => Vec::new(),
        }
    }

    /// What the classes are called, for labels that come later.
    pub fn label_names(&self) -> &LabelNames {
        &self.names
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

/// What the classes are called: as typed, else by the star of the patterns, else by numbers in the names of the columns.
fn names_of_classes(
    reading: &TableReading,
    columns: Option<&[String]>,
    probs: &str,
) -> Result<LabelNames, IoError> {
    let Some(columns) = columns else { return Ok(reading.names.clone()) };
    let starred = reading.patterns.as_ref().and_then(|patterns| patterns.class_names(columns));
    // What is typed comes before what the columns say, and must not say it in another order.
    if reading.names != LabelNames::None {
        let shown = starred.as_deref().unwrap_or(columns);
        return match reading.names.at_odds_with(shown) {
            None => Ok(reading.names.clone()),
            Some(name) => Err(IoError::NamesInAnotherOrder {
                origin: probs.into(),
                name: name.clone(),
                columns: some_of(shown),
            }),
        };
    }
    let own = starred.map(LabelNames::Own);
    Ok(own.or_else(|| LabelNames::of_numbered_columns(columns)).unwrap_or_default())
}

/// Reads labels as numbers, or as words where they are words or the names of the classes decide what a number means.
fn read_labels_as(
    source: &MatrixSource,
    names: LabelNames,
    columns: Option<&[String]>,
    shape: (usize, usize),
) -> Result<(Vec<usize>, LabelNames), IoError> {
    // Columns of yes and no in this order: nothing else would tell what 0 and 1 mean beside them.
    let names = match (names, columns.map(|columns| LabelNames::Own(columns.to_vec()))) {
        (LabelNames::None, Some(own)) if own.places_of_truth() == Some([1, 0]) => own,
        (names, _) => names,
    };
    let is_named = names != LabelNames::None || columns.is_some();
    let by_name =
        source.is_table() && (names.contradict_numbers() || (is_named && has_truth(source)?));
    let numbers = match by_name || names.places_of_truth() == Some([1, 0]) && source.is_table() {
        true => None,
        false => Some(read_labels(source, Some(shape.0))),
    };
    match numbers {
        Some(Ok(labels)) if source.is_table() => Ok((labels, names)),
        // Arrays count the columns from 0.
        Some(Ok(labels)) => {
            let (origin, class) = (source.to_string().into(), ClassOfLabel::new(names.clone()));
            let found = labels.iter().enumerate();
            let labels = found
                .map(|(row, label)| class.of_number(&origin, row, *label))
                .collect::<Result<_, _>>()?;
            Ok((labels, names))
        }
        Some(Err(error)) if !is_about_words(&error) => Err(error),
        as_numbers => {
            let as_numbers = as_numbers.and_then(Result::err);
            let names = match (names, columns) {
                (LabelNames::None, Some(columns)) => LabelNames::Own(columns.to_vec()),
                (names, _) => names,
            };
            let found = worded_labels(source, &names, shape, as_numbers)?;
            Ok((found.labels, found.names))
        }
    }
}

/// Whether a column of labels begins with true or false, in any of its parts: read as numbers these would be 0 and 1, whatever the
/// classes are called.
fn has_truth(source: &MatrixSource) -> Result<bool, IoError> {
    for part in source.parts() {
        let rows = match TextRows::open(&part, None) {
            Ok(mut text) => text.next_rows(1)?,
            // What is wrong with the column is said where it is read.
            Err(_) => return Ok(false),
        };
        let first = rows.first().and_then(|row| row.first());
        if first.is_some_and(|cell| boolean(cell.trim()).is_some()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether labels may be words: what was found is not a number.
pub(crate) fn is_about_words(error: &IoError) -> bool {
    match error {
        IoError::Csv { problem, .. } => matches!(problem, CsvProblem::NotANumber { .. }),
        IoError::Parquet { problem: ParquetProblem::Column(problem), .. } => {
            problem.is_about_words()
        }
        IoError::JsonLine { problem, .. } => matches!(problem, JsonLineProblem::NotANumber { .. }),
        IoError::Column { problem, .. } => problem.is_about_words(),
        // A word alone above numbers was taken for the name of their column.
        _ => false,
    }
}

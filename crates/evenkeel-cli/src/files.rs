//! Arguments that name files -> the sources a job reads.

use std::path::Path;

use evenkeel::calibration::{Calibration, ClassNames};
use evenkeel::method::MethodName;
use evenkeel::side_inputs::{SideInput, TargetLabels};
use evenkeel_io::{
    FileSource, LabelNames, LabeledFiles, MatrixReader, MatrixSource, PointFiles, SideFiles,
    TableReading, ValueKind, read_class_names, read_labels_of_rows, read_second,
};
use evenkeel_jobs::grouped::{AnyCalibration, parse_any_calibration};
use evenkeel_jobs::{LabeledData, SeenRows};

use crate::args::{BesideArgs, Reading, SecondArgs};
use crate::failure::{Failure, system_words};
use crate::table_args::LabeledPaths;

impl Reading {
    /// What the numbers are.
    pub(crate) fn kind(&self) -> ValueKind {
        match (self.logits, self.force_logits) {
            (_, true) => ValueKind::ForcedLogits,
            (true, false) => ValueKind::Logits,
            (false, false) => ValueKind::Probabilities,
        }
    }

    /// What says so on a command line; none for probabilities.
    pub(crate) fn flag(&self) -> Option<&'static str> {
        match self.kind() {
            ValueKind::Probabilities => None,
            ValueKind::Logits => Some("--logits"),
            ValueKind::ForcedLogits => Some("--force-logits"),
        }
    }

    /// Class names, if a file was given, or those of the calibration data; there must be one for each class.
    pub(crate) fn names(
        &self,
        classes: usize,
        known: &ClassNames,
    ) -> Result<Option<Vec<String>>, Failure> {
        let read = |path: &std::path::PathBuf| read_class_names(path, Some(classes));
        let given = self.class_names.as_ref().map(read).transpose()?;
        let before = known.classes.as_ref().or(known.columns.as_ref());
        let (Some(given), Some(before)) = (&given, before) else {
            return Ok(given.or_else(|| known.classes.clone()));
        };
        // Sets would be given the names of other classes.
        match LabelNames::Listed(given.clone()).at_odds_with(before) {
            None => Ok(Some(given.clone())),
            Some(name) => Err(Failure::Argument(format!(
                "--class-names: {name} stands in another place than among the classes of the calibration data, {}; put the names in this \
                 order, or leave --class-names out",
                before.join(", ")
            ))),
        }
    }

    /// How columns are understood, before or after those of the calibration data are known.
    pub(crate) fn table(
        &self,
        known: &ClassNames,
        beside: &[String],
    ) -> Result<TableReading, Failure> {
        let given = self.class_names.as_deref().map(|path| read_class_names(path, None));
        let names = match (given.transpose()?, known) {
            (Some(names), _) => LabelNames::Listed(names),
            (None, ClassNames { classes: None, .. }) => LabelNames::None,
            (None, ClassNames { columns: Some(columns), classes: Some(names) })
                if columns.iter().zip(names).all(|(column, name)| column.contains(name)) =>
            {
                LabelNames::Own(names.clone())
            }
            // A list in the order of the numbers.
            (None, ClassNames { classes: Some(names), .. }) => LabelNames::Listed(names.clone()),
        };
        let beside = self.columns.label_col.iter().chain(beside).cloned().collect();
        let (patterns, columns) = (self.columns.patterns()?, known.columns.clone());
        Ok(TableReading { patterns, columns, beside, names })
    }

    /// Opens the files of some points, whose columns are those of the calibration data where both have names.
    pub(crate) fn open(
        &self,
        files: PointFiles<'_>,
        known: &ClassNames,
    ) -> Result<FileSource, Failure> {
        self.open_beside(files, known, &[])
    }

    /// The same with columns that are no classes.
    pub(crate) fn open_beside(
        &self,
        files: PointFiles<'_>,
        known: &ClassNames,
        beside: &[String],
    ) -> Result<FileSource, Failure> {
        Ok(FileSource::open_table(files, self.kind(), self.table(known, beside)?)?)
    }

    /// Reads the files of the calibration data.
    pub(crate) fn read_labeled<'a>(
        &self,
        paths: &'a LabeledPaths,
        beside: &[String],
    ) -> Result<LabeledFiles<'a>, Failure> {
        let reading = self.table(&ClassNames::default(), beside)?;
        Ok(LabeledFiles::read_table(&paths.probs, &paths.labels, self.kind(), &reading)?)
    }

    /// What says the same of columns and names on another command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let names = self.class_names.as_ref().map(|path| path.display().to_string());
        let given = [
            ("--class-names", names.as_ref()),
            ("--prob-cols", self.columns.prob_cols.as_ref()),
            ("--label-col", self.columns.label_col.as_ref()),
        ];
        let given = given.into_iter().filter_map(|(option, value)| Some((option, value?)));
        given.flat_map(|(option, value)| [option.to_owned(), crate::page::quoted(value)]).collect()
    }

    /// Reads the files of the calibration data.
    pub(crate) fn read<'a>(
        &self,
        paths: &'a LabeledPaths,
        beside: &'a BesideArgs,
        columns: &[String],
    ) -> Result<LabeledFiles<'a>, Failure> {
        let files = self.read_labeled(paths, columns)?;
        Ok(files.with_side_files(SideFiles {
            features: beside.cal_features.as_deref(),
            ratios: beside.cal_ratios.as_deref(),
            weights: beside.weights_file.as_deref(),
            second: &beside.second.paired()?.second_cal_probs,
        })?)
    }
}

impl SecondArgs {
    /// The files, of which there must be as many of calibration points as of target points.
    pub(crate) fn paired(&self) -> Result<&Self, Failure> {
        let (cal, target) = (self.second_cal_probs.len(), self.second_probs.len());
        if cal == target {
            return Ok(self);
        }
        Err(Failure::Argument(format!(
            "--second-cal-probs is given {} and --second-probs {}; give both for every second model, in the same order",
            times(cal),
            times(target)
        )))
    }

    /// Calibration data with what second models say of them.
    pub(crate) fn read(
        &self,
        labeled: &LabeledData<'_>,
        kind: ValueKind,
        reading: &TableReading,
    ) -> Result<Vec<f64>, Failure> {
        let (name, rows, classes) = (labeled.name(), labeled.rows(), labeled.classes());
        let seen = SeenRows { name, rows, classes };
        Ok(read_second(&self.paired()?.second_cal_probs, kind, reading, seen)?)
    }
}

fn times(count: usize) -> String {
    match count {
        0 => "not at all".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

impl BesideArgs {
    /// The side inputs that a method must have a use for: `auto` with labels becomes `few-labels`, which has one for them.
    pub(crate) fn given_for(&self, method: MethodName) -> Vec<SideInput> {
        let mut given = self.given();
        if method == MethodName::Auto {
            given.retain(|input| *input != SideInput::Labels);
        }
        given
    }

    /// Labels of target rows, if a file was given, and how many rows it has an entry for.
    pub(crate) fn labels(
        &self,
        classes: usize,
        names: &LabelNames,
    ) -> Result<Option<(TargetLabels, Option<usize>)>, Failure> {
        let Some(input) = &self.target_labels else { return Ok(None) };
        let found = read_labels_of_rows(input, names)?;
        let labels = evenkeel_jobs::TargetLabels::new(input, found.pairs, classes)?.or_refuse()?;
        Ok(Some((labels.of_rows(classes)?, found.entries)))
    }
}

/// What a calibration says that the user calls the classes.
pub(crate) fn named_by(calibration: &Calibration) -> ClassNames {
    calibration.class_names().cloned().unwrap_or_default()
}

/// Reads and checks a file written by `calibrate`.
pub(crate) fn load_calibration(path: &Path) -> Result<Calibration, Failure> {
    Ok(load_any_calibration(path)?.into_one(&path.display().to_string())?)
}

/// The same for calibrations with a threshold for each class or group.
pub(crate) fn load_any_calibration(path: &Path) -> Result<AnyCalibration, Failure> {
    let failed = |reason: String| Failure::Calibration { path: path.to_owned(), reason };
    parse_any_calibration(&calibration_text(path)?).map_err(|error| failed(error.to_string()))
}

/// The text of a calibration file.
pub(crate) fn calibration_text(path: &Path) -> Result<String, Failure> {
    let failed = |reason: String| Failure::Calibration { path: path.to_owned(), reason };
    let metadata = std::fs::metadata(path).map_err(|error| failed(unreadable(&error)))?;
    // A pipe has no length to compare, and a directory gives an error that names neither.
    if !metadata.is_file() {
        return Err(failed("is not a file; give a file written by `evenkeel calibrate`".into()));
    }
    // Before it is read into memory: a table of probabilities is easily given in its place.
    if metadata.len() > LARGEST_CALIBRATION {
        return Err(failed(format!("is {} bytes, too large for a calibration", metadata.len())));
    }
    std::fs::read_to_string(path).map_err(|error| failed(unreadable(&error)))
}

/// A calibration of ten million points is about 400 MB.
const LARGEST_CALIBRATION: u64 = 4 << 30;

/// Why a calibration cannot be read, and what to do.
fn unreadable(error: &std::io::Error) -> String {
    format!("cannot be read: {}; give a file written by `evenkeel calibrate`", system_words(error))
}

/// Rows and columns of a matrix file, for the record.
pub(crate) fn shape_of(matrix: &str) -> Vec<usize> {
    let reader = MatrixSource::parse(matrix).and_then(|source| MatrixReader::open(&source));
    reader.map_or_else(
        // For the record only: the job has read the file, and the page must not fail for its shape.
        |_| Vec::new(),
        |reader| {
            let rows = reader.rows().and_then(|rows| usize::try_from(rows).ok());
            rows.into_iter().chain([reader.columns()]).collect()
        },
    )
}

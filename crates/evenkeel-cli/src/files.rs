//! Arguments that name files -> the sources a job reads.

use std::path::Path;

use evenkeel::calibration::Calibration;
use evenkeel::method::MethodName;
use evenkeel::side_inputs::{SideInput, TargetLabels};
use evenkeel_io::{
    FileSource, LabeledFiles, MatrixReader, MatrixSource, PointFiles, SideFiles, ValueKind,
    read_class_names, read_labels_of_rows, read_second,
};
use evenkeel_jobs::grouped::{AnyCalibration, parse_any_calibration};
use evenkeel_jobs::{LabeledData, SeenRows};

use crate::args::{BesideArgs, Labeled, Reading, SecondArgs};
use crate::failure::{Failure, system_words};

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

    /// Opens the files of some points.
    pub(crate) fn open(&self, files: PointFiles<'_>) -> Result<FileSource, Failure> {
        Ok(FileSource::open(files, self.kind())?)
    }

    /// Reads the files of the calibration data.
    pub(crate) fn read<'a>(
        &self,
        labeled: &'a Labeled,
        beside: &'a BesideArgs,
    ) -> Result<LabeledFiles<'a>, Failure> {
        let files = LabeledFiles::read(&labeled.cal_probs, &labeled.cal_labels, self.kind())?;
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
    ) -> Result<Vec<f64>, Failure> {
        let (name, rows, classes) = (labeled.name(), labeled.rows(), labeled.classes());
        let seen = SeenRows { name, rows, classes };
        Ok(read_second(&self.paired()?.second_cal_probs, kind, seen)?)
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
        names: Option<&[String]>,
    ) -> Result<Option<(TargetLabels, Option<usize>)>, Failure> {
        let Some(input) = &self.target_labels else { return Ok(None) };
        let found = read_labels_of_rows(input, names)?;
        let labels = evenkeel_jobs::TargetLabels::new(input, found.pairs, classes)?.or_refuse()?;
        Ok(Some((labels.of_rows(classes)?, found.entries)))
    }
}

/// Reads and checks a file written by `calibrate`.
pub(crate) fn load_calibration(path: &Path) -> Result<Calibration, Failure> {
    Ok(load_any_calibration(path)?.into_one(&path.display().to_string())?)
}

/// The same for calibrations with a threshold for each class or group.
pub(crate) fn load_any_calibration(path: &Path) -> Result<AnyCalibration, Failure> {
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
    let text = std::fs::read_to_string(path).map_err(|error| failed(unreadable(&error)))?;
    parse_any_calibration(&text).map_err(|error| failed(error.to_string()))
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

//! The reference of a model as it is sent: a calibration, or the rows and labels that one is made of.
//!
//! ```text
//! application/json         a calibration
//! multipart/form-data      calibration            a calibration
//!                          probs, labels, alpha   -> what `evenkeel calibrate --method uncorrected` makes of them, to the byte
//!                          delta, keep            how the model is watched
//! ```

use std::path::Path;

use evenkeel::calibration::{Calibration, ClassNames};
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::method::Method;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel_io::{
    FileSource, Format, LabeledFiles, Packing, PointFiles, TableReading, ValueKind, text_of_path,
};
use evenkeel_jobs::{JobError, Unobserved, calibrate};
use evenkeel_monitor::Keep;
use serde::Serialize;
use utoipa::ToSchema;

use crate::content::{parse_json, require_cells, require_table};
use crate::form::{Part, Parts, SHOWN_CHARACTERS};
use crate::limits::Limits;
use crate::problem::Problem;
use crate::spool::{Spool, SpooledFile};

/// The parts that the form of a reference may have.
pub(crate) const PARTS: [&str; 6] = ["calibration", "probs", "labels", "alpha", "delta", "keep"];

/// Miscoverage rate where none is given: that of `evenkeel calibrate`.
const ALPHA: f64 = 0.1;

/// Bytes of a part that is a number or a word.
const LONGEST_FIELD: usize = 64;

/// Tables by their media types; others are known by the names of their files.
const TABLES: [(&str, Format); 8] = [
    ("application/x-npy", Format::Npy),
    ("application/vnd.apache.parquet", Format::Parquet),
    ("application/vnd.apache.arrow.stream", Format::Arrow),
    ("application/vnd.apache.arrow.file", Format::Arrow),
    ("text/csv", Format::Csv),
    ("application/jsonl", Format::Jsonl),
    ("application/x-ndjson", Format::Jsonl),
    ("application/x-jsonlines", Format::Jsonl),
];

/// The form of a reference, as it is described to callers; [`SentReference::of_form`] reads it.
#[derive(Debug, Serialize, ToSchema)]
#[expect(dead_code, reason = "the description of a body")]
#[serde(untagged)]
pub(crate) enum ReferenceForm {
    /// A calibration.
    Calibration(CalibrationForm),
    /// The calibration data, of which a calibration is made as `evenkeel calibrate --method uncorrected` does.
    Data(DataForm),
}

/// The form of a calibration.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CalibrationForm {
    /// A file written by `evenkeel calibrate`.
    calibration: String,
    /// Chance of any false alarm over the life of a reference, where the address has none [default: 0.05].
    #[schema(nullable = false, required = false, exclusive_minimum = 0, exclusive_maximum = 1)]
    delta: Option<f64>,
    /// What is kept of batches, where the address does not say it: `nothing`, `sets` or `rows` [default: sets].
    #[schema(nullable = false, required = false, pattern = "^(nothing|sets|rows)$")]
    keep: Option<String>,
}

/// The form of calibration data.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataForm {
    /// Class probabilities of calibration rows: a file of npy, parquet, Arrow, csv or JSON lines, known by the Content-Type of the part or
    /// the name of the file.
    #[schema(value_type = String, content_media_type = "application/octet-stream")]
    probs: Vec<u8>,
    /// Their labels, one for each row, in such a file: classes from 0, or their names.
    #[schema(value_type = String, content_media_type = "application/octet-stream")]
    labels: Vec<u8>,
    /// Miscoverage rate [default: 0.1].
    #[schema(nullable = false, required = false, exclusive_minimum = 0, exclusive_maximum = 1)]
    alpha: Option<f64>,
    /// Chance of any false alarm over the life of a reference, where the address has none [default: 0.05].
    #[schema(nullable = false, required = false, exclusive_minimum = 0, exclusive_maximum = 1)]
    delta: Option<f64>,
    /// What is kept of batches, where the address does not say it: `nothing`, `sets` or `rows` [default: sets].
    #[schema(nullable = false, required = false, pattern = "^(nothing|sets|rows)$")]
    keep: Option<String>,
}

/// A reference, and what was sent with it.
#[derive(Debug)]
pub(crate) struct SentReference {
    /// The calibration file.
    pub calibration: String,
    /// Chance of any false alarm, where it was sent.
    pub delta: Option<f64>,
    /// What is kept of batches, where it was sent.
    pub keep: Option<Keep>,
    /// What to know about a calibration that was made here.
    pub warnings: Vec<String>,
}

impl SentReference {
    /// A calibration alone.
    ///
    /// # Errors
    /// If it is not JSON.
    pub(crate) fn of_json(content: &[u8]) -> Result<Self, Problem> {
        let text = std::str::from_utf8(content)
            .map_err(|_| Problem::usage("the body is not UTF-8, as JSON is"))?;
        // As JSON first: what is no JSON at all is another mistake than a document of something else.
        parse_json::<serde::de::IgnoredAny>(content)?;
        Ok(Self { calibration: text.to_owned(), delta: None, keep: None, warnings: Vec::new() })
    }

    /// The parts of a form.
    ///
    /// # Errors
    /// If parts are missing or do not go together, cannot be read, or are beyond the limits.
    pub(crate) fn of_form(
        parts: &Parts,
        (spool, limits): (&Spool, &Limits),
    ) -> Result<Self, Problem> {
        let alpha = number(parts, "alpha")?;
        let (delta, keep) = (number(parts, "delta")?, kept(parts)?);
        let (calibration, warnings) =
            match (parts.get("calibration"), parts.get("probs"), parts.get("labels")) {
                (Some(part), None, None) if alpha.is_none() => (stored(part)?, Vec::new()),
                (Some(_), None, None) => {
                    return Err(Problem::data(
                        "a calibration has an alpha of its own; leave the part `alpha` out",
                    ));
                }
                (None, Some(probs), Some(labels)) => {
                    let alpha = Miscoverage::new(alpha.unwrap_or(ALPHA))?;
                    let probs = Table::kept("probs", probs, spool)?;
                    let labels = Table::kept("labels", labels, spool)?;
                    made_of(&probs, &labels, alpha, limits)
                        .map_err(|problem| labels.shown(probs.shown(problem)))?
                }
                (calibration, probs, labels) => {
                    let all = [("calibration", calibration), ("probs", probs), ("labels", labels)];
                    return Err(unfit(&all));
                }
            };
        Ok(Self { calibration, delta, keep, warnings })
    }
}

/// What to send instead of these parts.
fn unfit(parts: &[(&str, Option<&Part>)]) -> Problem {
    let found: Vec<&str> =
        parts.iter().filter(|(_, part)| part.is_some()).map(|(name, _)| *name).collect();
    let found = match found.is_empty() {
        true => "none of them".to_owned(),
        false => found.join(" and "),
    };
    Problem::data(format!(
        "the form has {found}; send either the part `calibration`, or the parts `probs` and `labels`"
    ))
}

/// A calibration that was sent as a part.
fn stored(part: &Part) -> Result<String, Problem> {
    let text = part.text("calibration")?;
    serde_json::from_str::<serde::de::IgnoredAny>(text)
        .map_err(|error| Problem::data(format!("the part `calibration` is not JSON: {error}")))?;
    Ok(text.to_owned())
}

/// The text of a part that is a number or a word.
fn field<'a>(parts: &'a Parts, name: &str) -> Result<Option<&'a str>, Problem> {
    let Some(part) = parts.get(name) else { return Ok(None) };
    let found = part.bytes.len();
    if found > LONGEST_FIELD {
        return Err(Problem::data(format!(
            "the part `{name}` has {found} bytes, and {LONGEST_FIELD} are enough; is it a file that belongs to another part?"
        )));
    }
    Ok(Some(part.text(name)?.trim()))
}

fn number(parts: &Parts, name: &str) -> Result<Option<f64>, Problem> {
    let Some(text) = field(parts, name)? else { return Ok(None) };
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && *number < 1.0);
    number.map(Some).ok_or_else(|| {
        Problem::data(format!("the part `{name}` is {text:?}; send a number between 0 and 1"))
    })
}

fn kept(parts: &Parts) -> Result<Option<Keep>, Problem> {
    let Some(word) = field(parts, "keep")? else { return Ok(None) };
    Keep::from_word(word).map(Some).ok_or_else(|| {
        Problem::data(format!("the part `keep` is {word:?}; send nothing, sets or rows"))
    })
}

/// A table that was sent, in a file while it is read.
struct Table {
    part: &'static str,
    file: SpooledFile,
    path: String,
}

impl Table {
    fn kept(part: &'static str, sent: &Part, spool: &Spool) -> Result<Self, Problem> {
        let format = format_of(part, sent)?;
        let file = spool
            .keep(&sent.bytes, &format.to_string())
            .map_err(|error| Problem::system(&error))?;
        let path = text_of_path(file.path());
        Ok(Self { part, file, path })
    }

    /// A problem with the name that the caller knows the table by.
    fn shown(&self, problem: Problem) -> Problem {
        problem.renamed(&self.path, &format!("the part `{}`", self.part))
    }
}

/// What a table is: as its media type says, else as the name of its file does.
fn format_of(name: &str, part: &Part) -> Result<Format, Problem> {
    let typed = part.media_type.as_deref();
    let by_type = TABLES.iter().find(|(media_type, _)| Some(*media_type) == typed);
    let file_name = part.file_name.as_deref().unwrap_or_default();
    let by_name = || Format::of(Path::new(file_name)).filter(|format| *format != Format::Npz);
    let Some(format) = by_type.map(|(_, format)| *format).or_else(by_name) else {
        return Err(Problem::data(format!(
            "what the part `{name}` is cannot be told: its Content-Type is {:?}, its file name {:?}; name a file .npy, .parquet, .arrow, \
             .csv or .jsonl, or send one of the media types {}",
            shown(typed.unwrap_or_default()),
            shown(file_name),
            TABLES.map(|(media_type, _)| media_type).join(", ")
        )));
    };
    // Readers of text unpack it as they find it. What comes out has no limit then: not of bytes, nor of time.
    let is_text = matches!(format, Format::Csv | Format::Jsonl);
    if is_text && Packing::of(&part.bytes).is_some() || is_packed_name(file_name) {
        return Err(Problem::data(format!(
            "the part `{name}` is packed by itself; send it as it is, and pack the whole request (`Content-Encoding: gzip`)"
        )));
    }
    Ok(format)
}

/// The beginning of what a caller wrote, for an error.
fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARACTERS).collect()
}

fn is_packed_name(file_name: &str) -> bool {
    [".gz", ".zst"].iter().any(|ending| file_name.to_ascii_lowercase().ends_with(ending))
}

/// What `evenkeel calibrate --method uncorrected` would write, and what it would warn of.
fn made_of(
    probs: &Table,
    labels: &Table,
    alpha: Miscoverage,
    limits: &Limits,
) -> Result<(String, Vec<String>), Problem> {
    // Counted before anything is held: the readers of whole files have no such limits.
    require_table(probs.file.path(), limits)?;
    require_cells(labels.file.path(), limits)?;
    let reading = TableReading::default();
    let files =
        LabeledFiles::read_table(&probs.path, &labels.path, ValueKind::Probabilities, &reading)?;
    let names = files.class_names();
    let (calibration, mut warnings) = calibrated(&files, &names, alpha)?;
    warnings.extend(files.doubts());
    let text = serde_json::to_string(&calibration).map_err(|error| Problem::system(&error))?;
    // The line ends as it does in the file of `calibrate`: serving systems compare bytes.
    Ok((text + "\n", warnings))
}

fn calibrated(
    files: &LabeledFiles<'_>,
    names: &ClassNames,
    alpha: Miscoverage,
) -> Result<(Calibration, Vec<String>), JobError> {
    let calibrator = ShiftCalibrator {
        method: Method::Uncorrected,
        score: Score::Lac,
        alpha,
        seed: Seed::new(0),
    };
    let reading = TableReading { columns: names.columns.clone(), ..TableReading::default() };
    let mut rows = FileSource::open_table(
        PointFiles::probs(files.probs()),
        ValueKind::Probabilities,
        reading,
    )?;
    let made = calibrate(&calibrator, &files.data()?, &mut rows, &mut Unobserved)?;
    let warnings = made.document(names.classes.as_deref()).warnings;
    let calibration = made.calibration.with_class_names(names.clone())?;
    Ok((calibration, warnings))
}

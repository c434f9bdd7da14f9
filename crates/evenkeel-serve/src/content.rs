//! What a body is: its media type, its encoding, and the rows it holds.

use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;

use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use evenkeel_io::{
    IoError, MatrixReader, MatrixSource, TableReading, TextRows, Values, text_of_path,
};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::batch_columns::BatchColumns;
use crate::form::plain_media_type;
use crate::json_batch::{self, JsonTable};
use crate::json_within::problem_of;
use crate::limits::Limits;
use crate::problem::{Kind, Problem};
use crate::spool::Spool;

/// What a caller calls a body in errors.
const SHOWN: &str = "the body";

/// Bytes of numbers that are read at a time.
const STEP_BYTES: usize = 4 << 20;

/// Cells of a column that are read at a time.
const CELLS_AT_A_TIME: usize = 1024;

/// The forms in which batches come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BatchForm {
    Npy,
    Parquet,
    Arrow,
    Json,
}

impl BatchForm {
    /// Every form with its media type.
    pub(crate) const ALL: [(Self, &'static str); 4] = [
        (Self::Npy, "application/x-npy"),
        (Self::Parquet, "application/vnd.apache.parquet"),
        (Self::Arrow, "application/vnd.apache.arrow.stream"),
        (Self::Json, "application/json"),
    ];

    /// The form that a head announces.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let named = media_type(headers);
        let found = Self::ALL.into_iter().find(|(_, name)| Some(*name) == named.as_deref());
        found.map(|(form, _)| form).ok_or_else(|| {
            let known = Self::ALL.map(|(_, name)| name).join(", ");
            unsupported(named.as_deref(), &known)
        })
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Npy => "npy",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Json => "json",
        }
    }
}

/// The media type of a body, without its parameters and in lower case.
fn media_type(headers: &HeaderMap) -> Option<String> {
    headers.get(CONTENT_TYPE)?.to_str().ok().map(plain_media_type)
}

/// 415, with what would be understood.
fn unsupported(named: Option<&str>, known: &str) -> Problem {
    let detail = match named {
        Some(named) => format!("{named:?} is not understood here; send one of {known}"),
        None => format!("the body has no Content-Type; send one of {known}"),
    };
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Kind::Usage, detail)
}

/// An error unless the body is announced as JSON.
///
/// Asked of every request that changes something: a page of another site can send forms, but not JSON, without the
/// browser asking this server first.
pub(crate) fn require_json(headers: &HeaderMap) -> Result<(), Problem> {
    match media_type(headers).as_deref() {
        Some("application/json") => Ok(()),
        named => Err(unsupported(named, "application/json")),
    }
}

/// The forms in which the reference of a model comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReferenceBody {
    /// A calibration.
    Json,
    /// A form. No page of another site can send one: browsers ask this server before they PUT.
    Form,
}

impl ReferenceBody {
    /// The form that a head announces.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        match media_type(headers).as_deref() {
            Some("application/json") => Ok(Self::Json),
            Some("multipart/form-data") => Ok(Self::Form),
            named => Err(unsupported(named, "application/json, multipart/form-data")),
        }
    }
}

/// The content of a body: inflated where it was sent as gzip, and never more than the limit of it.
pub(crate) fn inflated<'a>(
    headers: &HeaderMap,
    bytes: &'a [u8],
    limits: &Limits,
) -> Result<Cow<'a, [u8]>, Problem> {
    let encoding = headers.get(CONTENT_ENCODING).map_or(Ok("identity"), |value| value.to_str());
    match encoding.map(|name| name.trim().to_ascii_lowercase()).as_deref() {
        Ok("identity") => Ok(Cow::Borrowed(bytes)),
        Ok("gzip") => {
            let most = limits.inflated_bytes;
            let mut content = Vec::new();
            // One byte more than the limit tells that there is more; nothing beyond it is ever inflated.
            let mut reader = flate2::read::MultiGzDecoder::new(bytes).take(most as u64 + 1);
            reader.read_to_end(&mut content).map_err(|error| {
                Problem::usage(format!(
                    "the body was announced as gzip and cannot be inflated: {error}"
                ))
            })?;
            if content.len() > most {
                return Err(too_much(most));
            }
            Ok(Cow::Owned(content))
        }
        _ => {
            let detail =
                "this Content-Encoding is not understood here; send the body as it is, or as gzip";
            Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Kind::Usage, detail))
        }
    }
}

fn too_much(most: usize) -> Problem {
    Problem::too_large(format!(
        "the body holds more than {most} bytes once it is inflated; send smaller batches, or raise --max-inflated"
    ))
}

/// The rows of a batch, all in memory: at most what the limits let in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BatchRows {
    /// The numbers, row after row, in the precision they came in.
    pub values: Values,
    /// Numbers of a row, at least one.
    pub columns: usize,
    /// What the caller calls the rows, one for each, where they say so.
    pub ids: Option<Vec<String>>,
}

/// What somebody calls a row: a word or a number.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum RowId {
    /// A word.
    Word(String),
    /// A whole number.
    Number(i64),
}

impl From<RowId> for String {
    fn from(id: RowId) -> Self {
        match id {
            RowId::Word(word) => word,
            RowId::Number(number) => number.to_string(),
        }
    }
}

/// A batch as JSON, as it is described to callers; [`json_batch`] reads it.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "the description of a body")]
#[schema(example = json!({"probs": [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]]}))]
pub(crate) struct JsonBatch {
    /// Class probabilities, a list for each row; each sums to 1.
    #[schema(min_items = 1)]
    pub probs: Vec<Vec<f64>>,
    /// What the rows are called, one for each, so that late labels can name them.
    #[schema(nullable = false, required = false)]
    pub ids: Option<Vec<RowId>>,
}

/// Reads the rows of a body; `columns` says which of a table hold what.
pub(crate) fn rows_of(
    form: BatchForm,
    content: &[u8],
    (spool, limits): (&Spool, &Limits),
    columns: &BatchColumns,
) -> Result<BatchRows, Problem> {
    match (form, &columns.ids) {
        (BatchForm::Json, None) => rows_of_json(content, limits),
        (BatchForm::Json | BatchForm::Npy, Some(_)) => Err(Problem::data(
            "X-Row-Ids names a column, and this body has none with names; send ids in the field `ids` of JSON, or a table of parquet or Arrow",
        )),
        (BatchForm::Npy | BatchForm::Parquet | BatchForm::Arrow, _) => {
            let file =
                spool.keep(content, form.extension()).map_err(|error| Problem::system(&error))?;
            rows_of_file(file.path(), limits, columns)
        }
    }
}

/// Reads the rows of a file, within the same limits.
pub(crate) fn rows_of_file(
    file: &Path,
    limits: &Limits,
    columns: &BatchColumns,
) -> Result<BatchRows, Problem> {
    let name = text_of_path(file);
    let source = MatrixSource::parse(&name).map_err(|error| of_io(&error, &name))?;
    let reader = columns.reading().open(&source).map_err(|error| of_io(&error, &name))?;
    let mut rows = rows_of_table(reader, &name, limits)?;
    if let Some(column) = &columns.ids {
        let names = std::slice::from_ref(column);
        let cells = TextRows::open(&source, Some(names)).map_err(|error| of_io(&error, &name))?;
        rows.ids = Some(ids_of_table(cells, &name, limits)?);
    }
    Ok(rows)
}

/// Ids of rows.
fn ids_of_table(cells: TextRows, name: &str, limits: &Limits) -> Result<Vec<String>, Problem> {
    let mut ids = Vec::new();
    each_cell(cells, name, limits, |id| ids.push(id))?;
    Ok(ids)
}

/// The cells of a column, some at a time: a table may say in a few bytes that a long word stands in a million rows.
fn each_cell(
    mut cells: TextRows,
    name: &str,
    limits: &Limits,
    mut take: impl FnMut(String),
) -> Result<(), Problem> {
    let (mut rows, mut bytes) = (0_usize, 0_usize);
    loop {
        let more = cells.next_rows(CELLS_AT_A_TIME).map_err(|error| of_io(&error, name))?;
        if more.is_empty() {
            return Ok(());
        }
        for cell in more.into_iter().filter_map(|mut row| row.pop()) {
            bytes = bytes.saturating_add(cell.len() + size_of::<String>());
            if bytes > limits.inflated_bytes {
                return Err(too_much(limits.inflated_bytes));
            }
            rows += 1;
            require_rows(rows, 1, limits)?;
            take(cell);
        }
    }
}

/// An error if the table of a file has more rows or columns than the limits let in. Nothing of it is held. Errors name the file.
pub(crate) fn require_table(file: &Path, limits: &Limits) -> Result<(), Problem> {
    let source = MatrixSource::parse(&text_of_path(file)).map_err(|error| of_io(&error, ""))?;
    let reader = TableReading::default().open(&source).map_err(|error| of_io(&error, ""))?;
    each_block(reader, "", limits, |_| Ok(()))
}

/// The same of a file of one column, whose cells may be words. What is wrong with it otherwise is said where it is read.
pub(crate) fn require_cells(file: &Path, limits: &Limits) -> Result<(), Problem> {
    let source = MatrixSource::parse(&text_of_path(file)).map_err(|error| of_io(&error, ""))?;
    match TextRows::open(&source, None) {
        Ok(cells) => each_cell(cells, "", limits, drop),
        Err(_) => Ok(()),
    }
}

fn of_io(error: &IoError, name: &str) -> Problem {
    Problem::of_io(error, name, SHOWN)
}

/// The rows of a table block by block, counted as they come: a parquet page that repeats one number claims millions of rows in a few
/// bytes.
fn each_block(
    mut reader: MatrixReader,
    name: &str,
    limits: &Limits,
    mut take: impl FnMut(&Values) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let columns = reader.columns();
    require_classes(columns, limits)?;
    let step = reader.rows_within(STEP_BYTES);
    let mut rows = 0;
    while let Some(block) = reader.next_block(step).map_err(|error| of_io(&error, name))? {
        rows += block.row_count();
        require_rows(rows, columns, limits)?;
        take(block.values())?;
    }
    Ok(())
}

fn rows_of_table(reader: MatrixReader, name: &str, limits: &Limits) -> Result<BatchRows, Problem> {
    let columns = reader.columns();
    let mut held: Option<Values> = None;
    each_block(reader, name, limits, |values| {
        let held = held.get_or_insert_with(|| match values {
            Values::F32(_) => Values::F32(Vec::new()),
            Values::F64(_) => Values::F64(Vec::new()),
        });
        match (held, values) {
            (Values::F32(held), Values::F32(more)) => held.extend_from_slice(more),
            (Values::F64(held), Values::F64(more)) => held.extend_from_slice(more),
            // A reader keeps its precision.
            _ => return Err(Problem::data("the body changes its precision from row to row")),
        }
        Ok(())
    })?;
    let values = held.ok_or_else(|| Problem::data("the body holds no rows; send at least one"))?;
    Ok(BatchRows { values, columns, ids: None })
}

fn rows_of_json(content: &[u8], limits: &Limits) -> Result<BatchRows, Problem> {
    let JsonTable { values, columns, ids } = json_batch::read(content, limits)?;
    Ok(BatchRows { values: Values::F64(values), columns, ids })
}

/// The rows of a batch of JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonRows {
    /// Its numbers, row after row.
    pub values: Vec<f64>,
    /// How many a row has, at least one.
    pub columns: usize,
    /// What the rows are called, where the batch says so.
    pub ids: Option<Vec<String>>,
}

/// Reads a batch of JSON as the server does.
///
/// # Errors
/// What a caller would be told.
pub fn read_json_batch(content: &[u8], limits: &Limits) -> Result<JsonRows, String> {
    let rows = rows_of_json(content, limits).map_err(|problem| problem.detail().to_owned())?;
    Ok(JsonRows { values: rows.values.to_f64(), columns: rows.columns, ids: rows.ids })
}

/// JSON that says where it is wrong.
pub(crate) fn parse_json<'a, T: Deserialize<'a>>(content: &'a [u8]) -> Result<T, Problem> {
    serde_json::from_slice(content).map_err(|error| problem_of(&error))
}

pub(crate) fn require_classes(columns: usize, limits: &Limits) -> Result<(), Problem> {
    let most = limits.classes;
    if columns <= most {
        return Ok(());
    }
    Err(Problem::too_large(format!(
        "a row has {columns} numbers and may have {most}; are rows and columns swapped? Else raise --max-classes"
    )))
}

pub(crate) fn require_rows(rows: usize, columns: usize, limits: &Limits) -> Result<(), Problem> {
    if rows > limits.rows {
        let most = limits.rows;
        return Err(Problem::too_large(format!(
            "there are more than {most} rows; send fewer at a time, or raise --max-rows"
        )));
    }
    // Counted as doubles, which is what they become where they are worked with.
    if rows.saturating_mul(columns).saturating_mul(size_of::<f64>()) > limits.inflated_bytes {
        return Err(too_much(limits.inflated_bytes));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn headers(pairs: &[(axum::http::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn media_types_are_known_with_parameters_and_in_any_case() {
        for (form, name) in BatchForm::ALL {
            let spelled = format!("{}; charset=utf-8", name.to_ascii_uppercase());
            assert_eq!(BatchForm::of(&headers(&[(CONTENT_TYPE, &spelled)])).unwrap(), form);
        }
        let problem = BatchForm::of(&headers(&[(CONTENT_TYPE, "text/csv")])).unwrap_err();
        assert_eq!(problem.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert!(problem.detail().contains("application/x-npy"), "{}", problem.detail());
    }

    #[test]
    fn what_inflates_beyond_the_limit_is_refused_at_the_limit() {
        let limits = Limits { inflated_bytes: 1000, ..Limits::default() };
        let gzip = |bytes: &[u8]| {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        };
        let head = headers(&[(CONTENT_ENCODING, "gzip")]);
        assert_eq!(inflated(&head, &gzip(&[7; 1000]), &limits).unwrap(), vec![7; 1000]);
        let problem = inflated(&head, &gzip(&[7; 1001]), &limits).unwrap_err();
        assert_eq!(problem.status(), StatusCode::PAYLOAD_TOO_LARGE);
        let problem = inflated(&head, b"not gzip", &limits).unwrap_err();
        assert_eq!(problem.status(), StatusCode::BAD_REQUEST);
        let problem = inflated(&headers(&[(CONTENT_ENCODING, "br")]), &[], &limits).unwrap_err();
        assert_eq!(problem.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }

    #[test]
    fn json_rows_have_one_width_and_keep_the_limits() {
        let limits = Limits { rows: 2, classes: 3, ..Limits::default() };
        let read = |text: &str| rows_of_json(text.as_bytes(), &limits);
        let rows = read(r#"{"probs": [[0.5, 0.5], [1, 0]]}"#).unwrap();
        let values = Values::F64(vec![0.5, 0.5, 1.0, 0.0]);
        assert_eq!(rows, BatchRows { values, columns: 2, ids: None });
        let named = read(r#"{"probs": [[0.5, 0.5], [1, 0]], "ids": ["a", 7]}"#).unwrap();
        assert_eq!(named.ids, Some(vec!["a".to_owned(), "7".to_owned()]));
        for (text, status) in [
            (r#"{"probs": []}"#, 422),
            (r#"{"probs": [[]]}"#, 422),
            (r#"{"probs": [[1], [0.5, 0.5]]}"#, 422),
            (r#"{"probs": [["a"]]}"#, 422),
            (r#"{"probs": [[1], [1], [1]]}"#, 413),
            (r#"{"probs": [[0.2, 0.2, 0.2, 0.4]]}"#, 413),
            (r#"{"probs": [[1]], "other": 1}"#, 422),
            (r#"{"probs": [[1]], "probs": [[1]]}"#, 422),
            (r#"{"probs": [[1]], "ids": [1, 2, 3]}"#, 413),
            (r#"{"probs": [[0.5, 0.5], []]}"#, 422),
            (r#"{"ids": [1]}"#, 422),
            (r#"{"probs": [[1]]} 7"#, 400),
            (r#"{"probs": [[1], [1], [1], "what follows is not read"#, 413),
            ("{", 400),
            ("", 400),
        ] {
            assert_eq!(read(text).unwrap_err().status().as_u16(), status, "{text}");
        }
    }
}

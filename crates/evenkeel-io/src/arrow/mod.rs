//! `file.arrow[:column] -> rows`: tables of Apache Arrow, as files (Feather is one) and as streams.
//!
//! Read without the crates of Arrow, which hold whole batches in memory and reserve what lengths in the file claim. Here every buffer
//! is read and inflated a step at a time: memory is that of the block and of one window of the codec per column, however long a
//! batch is.

mod buffer;
mod flat_table;
mod messages;
mod numbers;
mod problem;
mod rows;
mod schema;
mod text;

pub use problem::ArrowProblem;
pub(crate) use text::ArrowText;

use crate::column_choice::ColumnChoice;
use crate::column_problem::ColumnProblem;
use crate::error::{IoError, Result};
use crate::input::open_file;
use crate::reader::RowStream;
use crate::source::MatrixSource;
use messages::Messages;
use rows::ArrowRows;
use schema::{Field, Kind};
use std::path::Path;
use std::sync::Arc;

/// The index that pandas adds to a table it did not number itself.
const INDEX: &str = "__index_level_";

/// What is wrong: with the file, or with one of its columns.
#[derive(Debug)]
enum Trouble {
    File(ArrowProblem),
    Column(ColumnProblem),
}

impl From<ArrowProblem> for Trouble {
    fn from(problem: ArrowProblem) -> Self {
        Self::File(problem)
    }
}

impl From<ColumnProblem> for Trouble {
    fn from(problem: ColumnProblem) -> Self {
        Self::Column(problem)
    }
}

impl Trouble {
    fn of(self, origin: &Arc<str>) -> IoError {
        let origin = Arc::clone(origin);
        match self {
            Self::File(problem) => IoError::Arrow { origin, problem },
            Self::Column(problem) => IoError::Column { origin, problem },
        }
    }
}

fn scan(path: &Path, origin: &Arc<str>) -> Result<Messages> {
    let (file, length) = open_file(path)?;
    if length == 0 {
        return Err(IoError::NoRows { origin: Arc::clone(origin) });
    }
    Messages::scan(file, length).map_err(|problem| Trouble::File(problem).of(origin))
}

/// Names of the columns of a file.
pub(crate) fn column_names(path: &Path, origin: &Arc<str>) -> Result<Vec<String>> {
    Ok(scan(path, origin)?.fields.into_iter().map(|field| field.name).collect())
}

/// Names of the plain columns of numbers; a list column has no names for its entries.
pub(crate) fn number_columns(path: &Path, origin: &Arc<str>) -> Result<Vec<String>> {
    let fields = scan(path, origin)?.fields.into_iter();
    Ok(fields.filter(is_plain).map(|field| field.name).collect())
}

fn is_plain(field: &Field) -> bool {
    matches!(field.kind, Kind::Number(_)) && !field.name.starts_with(INDEX)
}

fn is_list(field: &Field) -> bool {
    matches!(field.kind, Kind::List(..) | Kind::FixedList(..)) && !field.name.starts_with(INDEX)
}

/// Opens an Arrow file or stream: the column or list column that is selected, or without a selector the columns of `choice`.
pub(crate) fn open(
    source: &MatrixSource,
    choice: &ColumnChoice,
    origin: &Arc<str>,
) -> Result<Box<dyn RowStream>> {
    let messages = scan(source.path(), origin)?;
    if messages.rows == 0 {
        return Err(IoError::NoRows { origin: Arc::clone(origin) });
    }
    let chosen = chosen(&messages.fields, source.selector(), choice, origin)?;
    Ok(Box::new(ArrowRows::open(messages, chosen, source.gaps(), origin)?))
}

/// Places of the columns that make the matrix: columns of numbers, or one of lists.
fn chosen(
    fields: &[Field],
    selector: Option<&str>,
    choice: &ColumnChoice,
    origin: &Arc<str>,
) -> Result<Vec<usize>> {
    let fail = |problem| Trouble::Column(problem).of(origin);
    let names = || fields.iter().map(|field| field.name.clone()).collect::<Vec<String>>();
    let not_numeric = |place: usize, found: String| {
        fail(ColumnProblem::NotNumeric { column: fields[place].name.clone(), found })
    };
    let places = match selector {
        Some(name) => match fields.iter().position(|field| field.name == name) {
            Some(place) => vec![place],
            None => {
                let (column, columns) = (name.to_owned(), names());
                return Err(fail(ColumnProblem::NoSuchColumn { column, columns }));
            }
        },
        None => choice.places(origin, &names(), |place| is_plain(&fields[place]))?,
    };
    if selector.is_some() || choice.needs_names() {
        let is_alone = places.len() == 1;
        for place in &places {
            match &fields[*place].kind {
                Kind::Number(_) => {}
                Kind::List(..) | Kind::FixedList(..) if is_alone => {}
                Kind::List(..) | Kind::FixedList(..) => {
                    return Err(not_numeric(*place, "lists, not numbers".into()));
                }
                _ => return Err(not_numeric(*place, fields[*place].words())),
            }
        }
        return Ok(places);
    }
    // Numeric columns win over a list: a table with features and an embedding means its columns.
    if !places.is_empty() {
        return Ok(places);
    }
    let lists: Vec<usize> = (0..fields.len()).filter(|place| is_list(&fields[*place])).collect();
    match &lists[..] {
        [_] => Ok(lists),
        [] => Err(fail(ColumnProblem::NoNumericColumn { columns: names() })),
        several => {
            let columns = several.iter().map(|place| fields[*place].name.clone()).collect();
            Err(fail(ColumnProblem::SeveralLists { columns }))
        }
    }
}

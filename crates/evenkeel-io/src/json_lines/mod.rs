//! `{"p_cat": 0.7, "p_dog": 0.3, "label": "cat"}`: one row a line, objects with the names of the columns, or lists.

mod lines;
mod problem;
mod text;

pub(crate) use lines::{Line, Lines, number, shortened};
pub use problem::JsonLineProblem;
pub(crate) use text::JsonText;

use crate::block::{Precision, Values};
use crate::column_choice::ColumnChoice;
use crate::column_problem::ColumnProblem;
use crate::error::{IoError, Result};
use crate::input::open_text;
use crate::reader::{RowStream, check_columns};
use crate::source::{Gaps, MatrixSource};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What stands in a field of the first line, which decides for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    List,
    Other(&'static str),
}

impl Kind {
    fn of(value: &str) -> Self {
        match value.as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => Self::Number,
            Some(b'[') => Self::List,
            Some(b'"') => Self::Other("text"),
            Some(b'{') => Self::Other("records"),
            // A gap in a column of numbers: an error with its line when it is read, not a column fewer.
            Some(b'n') => Self::Number,
            _ => Self::Other("true and false"),
        }
    }
}

/// Names and kinds of the fields of the first line; none if it is a list or a value.
fn first_fields(path: &Path, origin: &Arc<str>) -> Result<Option<Vec<(String, Kind)>>> {
    let mut lines = Lines::new(open_text(path)?, origin);
    if lines.next()?.is_none() {
        return Err(IoError::NoRows { origin: Arc::clone(origin) });
    }
    let row = lines.row();
    // An array may also run over many lines, of which the first is no JSON.
    let is_array = match &row {
        Ok(Line::List(entries)) => entries.first().is_some_and(|entry| entry.starts_with('{')),
        Ok(_) => false,
        Err(_) => lines.starts_with(b"["),
    };
    if is_array {
        drop(row);
        return Err(lines.error(JsonLineProblem::OneArray));
    }
    let Line::Fields(fields) = row? else { return Ok(None) };
    let fields: Vec<(String, Kind)> =
        fields.into_iter().map(|(name, value)| (name.into_owned(), Kind::of(value))).collect();
    let mut names: Vec<&String> = fields.iter().map(|(name, _)| name).collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(lines.error(JsonLineProblem::Twice { field: pair[0].clone() })),
        None => Ok(Some(fields)),
    }
}

/// Names of the fields of the first line, if it is an object.
pub(crate) fn column_names(path: &Path, origin: &Arc<str>) -> Result<Option<Vec<String>>> {
    let fields = first_fields(path, origin)?;
    Ok(fields.map(|fields| fields.into_iter().map(|(name, _)| name).collect()))
}

/// Names of the fields that hold numbers, if the first line is an object.
pub(crate) fn number_columns(path: &Path, origin: &Arc<str>) -> Result<Option<Vec<String>>> {
    let fields = first_fields(path, origin)?;
    let numbers = |fields: Vec<(String, Kind)>| {
        let numbers = fields.into_iter().filter(|(_, kind)| *kind == Kind::Number);
        numbers.map(|(name, _)| name).collect()
    };
    Ok(fields.map(numbers))
}

/// Which entries of a line make the row.
enum Layout {
    /// Numbers of these fields.
    Fields(Vec<String>),
    /// The list of numbers in a field.
    ListField(String),
    /// The line is a list of numbers.
    Lists,
    /// The line is a number.
    Values,
}

/// Opens a file of JSON lines; its first line says which fields there are.
pub(crate) fn open(
    source: &MatrixSource,
    choice: &ColumnChoice,
    origin: &Arc<str>,
) -> Result<Box<dyn RowStream>> {
    let fields = first_fields(source.path(), origin)?;
    let mut lines = Lines::new(open_text(source.path())?, origin);
    lines.next()?;
    let first = lines.row()?;
    let layout = match (&fields, &first) {
        (Some(fields), _) => chosen(fields, source.selector(), choice, origin)?,
        (None, _) if choice.needs_names() || source.selector().is_some() => {
            return Err(IoError::NoNames { origin: Arc::clone(origin) });
        }
        (None, Line::List(_)) => Layout::Lists,
        (None, _) => Layout::Values,
    };
    let columns = match (&layout, &first) {
        (Layout::Fields(names), _) => names.len(),
        (Layout::ListField(name), Line::Fields(fields)) => {
            let list = fields.iter().find(|(field, _)| field == name);
            list.map_or(0, |(_, value)| entries(value).count())
        }
        (Layout::Lists, Line::List(entries)) => entries.len(),
        _ => 1,
    };
    let columns = check_columns(origin, columns as u64)?;
    // Where columns were typed, others may come and go; where all numbers are classes, a new one is a mistake.
    let is_open = source.selector().is_some()
        || matches!(choice, ColumnChoice::Fitting(_) | ColumnChoice::Named(_));
    let slots = match &layout {
        Layout::Fields(chosen) => slots(fields.as_deref().unwrap_or_default(), chosen),
        _ => BTreeMap::new(),
    };
    let names = match &layout {
        Layout::Fields(names) => Some(names.clone()),
        _ => None,
    };
    let (gaps, order) = (source.gaps(), Vec::new());
    let strangers = if is_open { Strangers::Ignored } else { Strangers::Refused };
    let lines = Lines::new(open_text(source.path())?, origin);
    Ok(Box::new(JsonRows { lines, layout, columns, names, slots, order, strangers, gaps }))
}

/// Where in the row the number of each field goes, if anywhere.
fn slots(fields: &[(String, Kind)], chosen: &[String]) -> BTreeMap<String, Option<usize>> {
    let places: BTreeMap<&String, usize> =
        chosen.iter().enumerate().map(|(place, name)| (name, place)).collect();
    fields.iter().map(|(name, _)| (name.clone(), places.get(name).copied())).collect()
}

/// The fields that make the row.
fn chosen(
    fields: &[(String, Kind)],
    selector: Option<&str>,
    choice: &ColumnChoice,
    origin: &Arc<str>,
) -> Result<Layout> {
    let fail = |problem| IoError::Column { origin: Arc::clone(origin), problem };
    let names: Vec<String> = fields.iter().map(|(name, _)| name.clone()).collect();
    let single = |place: usize| match fields[place] {
        (ref name, Kind::Number) => Ok(Layout::Fields(vec![name.clone()])),
        (ref name, Kind::List) => Ok(Layout::ListField(name.clone())),
        (ref name, Kind::Other(found)) => {
            let (column, found) = (name.clone(), found.to_owned());
            Err(fail(ColumnProblem::NotNumeric { column, found }))
        }
    };
    if let Some(column) = selector {
        return match names.iter().position(|name| name == column) {
            Some(place) => single(place),
            None => {
                let column = column.to_owned();
                Err(fail(ColumnProblem::NoSuchColumn { column, columns: names }))
            }
        };
    }
    let places = choice.places(origin, &names, |place| fields[place].1 == Kind::Number)?;
    if let (true, [place]) = (choice.needs_names(), &places[..]) {
        return single(*place);
    }
    let mut numbers = Vec::new();
    for place in places {
        match single(place)? {
            Layout::Fields(name) => numbers.extend(name),
            _ => {
                let (column, found) = (names[place].clone(), "lists, not numbers".to_owned());
                return Err(fail(ColumnProblem::NotNumeric { column, found }));
            }
        }
    }
    // Numbers win over a list: a line with features and an embedding means its numbers.
    if !numbers.is_empty() {
        return Ok(Layout::Fields(numbers));
    }
    let mut lists: Vec<String> = fields
        .iter()
        .filter(|(_, kind)| *kind == Kind::List)
        .map(|(name, _)| name.clone())
        .collect();
    match lists.len() {
        1 => Ok(Layout::ListField(lists.remove(0))),
        0 => Err(fail(ColumnProblem::NoNumericColumn { columns: names })),
        _ => Err(fail(ColumnProblem::SeveralLists { columns: lists })),
    }
}

/// What becomes of numbers in fields that the first line does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strangers {
    Refused,
    Ignored,
}

/// Rows of a file of JSON lines.
struct JsonRows {
    lines: Lines,
    layout: Layout,
    columns: usize,
    names: Option<Vec<String>>,
    /// Fields of the first line, and where their numbers go.
    slots: BTreeMap<String, Option<usize>>,
    /// The same in the order of the line before: most files keep it, and comparing is cheaper than searching.
    order: Vec<(String, Option<usize>)>,
    strangers: Strangers,
    gaps: Gaps,
}

impl JsonRows {
    /// Adds the numbers of the current line.
    fn push_row(&mut self, values: &mut Vec<f64>) -> Result<()> {
        let row = self.lines.row()?;
        let start = values.len();
        let fail = |problem| self.lines.error(problem);
        match (&self.layout, row) {
            (Layout::Fields(names), Line::Fields(fields)) => {
                values.resize(start + self.columns, 0.0);
                let mut found = vec![false; self.columns];
                let mut order = Vec::new();
                for (place, (name, value)) in fields.iter().enumerate() {
                    let slot = match self.order.get(place) {
                        Some((expected, slot)) if expected == name => *slot,
                        _ => {
                            let slot = self.slots.get(name.as_ref());
                            if slot.is_none()
                                && self.strangers == Strangers::Refused
                                && number(value).is_some()
                            {
                                return Err(fail(JsonLineProblem::NewField {
                                    field: name.clone().into_owned(),
                                }));
                            }
                            // From here on the order is another.
                            if order.is_empty() {
                                order = self.order[..place.min(self.order.len())].to_vec();
                            }
                            slot.copied().flatten()
                        }
                    };
                    if !order.is_empty() || self.order.len() <= place {
                        order.push((name.clone().into_owned(), slot));
                    }
                    let Some(slot) = slot else { continue };
                    if std::mem::replace(&mut found[slot], true) {
                        let field = name.clone().into_owned();
                        return Err(fail(JsonLineProblem::Twice { field }));
                    }
                    values[start + slot] = self.value(name, value)?;
                }
                if let Some(missing) = found.iter().position(|found| !found) {
                    let field = names[missing].clone();
                    // What is left out is a gap, as null is.
                    match self.gaps {
                        Gaps::Refused => return Err(fail(JsonLineProblem::Missing { field })),
                        Gaps::AreNan => found.iter().enumerate().for_each(|(place, found)| {
                            if !found {
                                values[start + place] = f64::NAN;
                            }
                        }),
                    }
                }
                if !order.is_empty() {
                    self.order = order;
                }
                Ok(())
            }
            (Layout::ListField(name), Line::Fields(fields)) => {
                let mut lists = fields.iter().filter(|(field, _)| field == name);
                let Some((_, list)) = lists.next() else {
                    return Err(fail(JsonLineProblem::Missing { field: name.clone() }));
                };
                if lists.next().is_some() {
                    return Err(fail(JsonLineProblem::Twice { field: name.clone() }));
                }
                if !list.starts_with('[') {
                    let (field, found) = (name.clone(), shortened(list));
                    return Err(fail(JsonLineProblem::NotANumber { field, found }));
                }
                self.push_list(entries(list), values)
            }
            (Layout::Lists, Line::List(list)) => self.push_list(list.into_iter(), values),
            (Layout::Values, Line::Value(value)) => {
                values.push(self.value("the line", value.get())?);
                Ok(())
            }
            (layout, row) => {
                let expected = match layout {
                    Layout::Fields(_) | Layout::ListField(_) => "an object",
                    Layout::Lists => "a list",
                    Layout::Values => "one value",
                };
                Err(fail(JsonLineProblem::OtherForm { found: row.form(), expected }))
            }
        }
    }

    /// Adds a list of numbers, as many as the first had.
    fn push_list<'a>(
        &self,
        list: impl Iterator<Item = &'a str>,
        values: &mut Vec<f64>,
    ) -> Result<()> {
        let (mut found, expected) = (0, self.columns);
        for entry in list {
            // Counted on, but not kept: the error tells how many there are.
            if found < expected {
                values.push(self.value(&found.to_string(), entry)?);
            }
            found += 1;
        }
        match found == expected {
            true => Ok(()),
            false => Err(self.lines.error(JsonLineProblem::Ragged { found, expected })),
        }
    }

    fn value(&self, name: &str, value: &str) -> Result<f64> {
        match (number(value), self.gaps) {
            (Some(number), _) => Ok(number),
            (None, Gaps::AreNan) if value == "null" => Ok(f64::NAN),
            (None, _) => Err(self.lines.error(JsonLineProblem::NotANumber {
                field: name.to_owned(),
                found: shortened(value),
            })),
        }
    }
}

/// The entries of a list of numbers, whose text is known to be JSON. Entries that are no numbers come in pieces, which are no
/// numbers either.
fn entries(list: &str) -> impl Iterator<Item = &str> {
    let inside = list.trim().strip_prefix('[').and_then(|list| list.strip_suffix(']'));
    let inside = inside.unwrap_or_default().trim();
    inside.split(',').map(str::trim).filter(move |_| !inside.is_empty())
}

impl RowStream for JsonRows {
    fn columns(&self) -> usize {
        self.columns
    }

    fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    // Lines are rows, but counting them means reading it all.
    fn rows(&self) -> Option<u64> {
        None
    }

    fn precision(&self) -> Precision {
        Precision::Double
    }

    fn fill(&mut self, rows: usize, values: &mut Values) -> Result<usize> {
        let mut buffer = match values {
            Values::F64(values) => std::mem::take(values),
            Values::F32(_) => Vec::new(),
        };
        buffer.clear();
        let mut filled = 0;
        while filled < rows && self.lines.next()?.is_some() {
            self.push_row(&mut buffer)?;
            filled += 1;
        }
        *values = Values::F64(buffer);
        Ok(filled)
    }
}

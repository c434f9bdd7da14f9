//! `column -> text`: labels by name and columns that are passed through.

use super::buffer::{Bits, Buffer};
use super::messages::{Codec, Column, Entries, Message, Messages, Place};
use super::numbers::{Lengths, Numbers, Opening, Value};
use super::problem::ArrowProblem;
use super::schema::{Field, Kind, Number};
use super::{Trouble, scan};
use crate::column_problem::ColumnProblem;
use crate::decimal::decimal;
use crate::error::{IoError, Result, some_of};
use crate::instant::Clock;
use crate::reader::check_columns;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Longest cell that is read, as in parquet.
const MOST_CELL_BYTES: usize = 4096;
/// Rows read from a column at a time.
const STEP_ROWS: usize = 1 << 14;
/// Most entries of a dictionary, and bytes of them or of compressed long texts, which are held in memory.
const MOST_ENTRIES: u64 = 1 << 22;
const MOST_HELD_BYTES: u64 = 64 << 20;

/// Cells of some columns, row for row.
pub(crate) struct ArrowText {
    messages: Messages,
    chosen: Vec<usize>,
    dictionaries: BTreeMap<i64, Vec<String>>,
    next_message: usize,
    readers: Vec<Cells>,
    batch_left: u64,
    origin: Arc<str>,
}

impl ArrowText {
    /// Opens these columns, or without names the one that there is.
    pub(crate) fn open(path: &Path, names: Option<&[String]>, origin: &Arc<str>) -> Result<Self> {
        let messages = scan(path, origin)?;
        check_columns(origin, messages.fields.len() as u64)?;
        let fields = &messages.fields;
        let place_of = |name: &String| {
            let place = fields.iter().position(|field| field.name == *name);
            let found: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
            place.ok_or_else(|| IoError::NoColumn {
                origin: Arc::clone(origin),
                name: name.clone(),
                found: some_of(&found),
            })
        };
        let chosen: Vec<usize> = match (names, &fields[..]) {
            (Some(names), _) => names.iter().map(place_of).collect::<Result<_>>()?,
            (None, [_]) => vec![0],
            (None, several) => {
                let (origin, columns) = (Arc::clone(origin), several.len());
                return Err(IoError::NotOneColumn { origin, what: "labels", columns });
            }
        };
        for place in &chosen {
            if !is_written(&fields[*place].kind) {
                let (column, found) = (fields[*place].name.clone(), fields[*place].words());
                return Err(Trouble::Column(ColumnProblem::NotText { column, found }).of(origin));
            }
        }
        let (dictionaries, readers) = (BTreeMap::new(), Vec::new());
        let (next_message, batch_left, origin) = (0, 0, Arc::clone(origin));
        Ok(Self { messages, chosen, dictionaries, next_message, readers, batch_left, origin })
    }

    pub(crate) fn rows(&self) -> u64 {
        self.messages.rows
    }

    /// The next rows, fewer only at the end.
    pub(crate) fn next_rows(&mut self, rows: usize) -> Result<Vec<Vec<String>>> {
        let mut found = Vec::new();
        while found.len() < rows {
            let step = self.step(rows - found.len());
            let step = step.map_err(|trouble| trouble.of(&self.origin))?;
            if step.is_empty() {
                break;
            }
            found.extend(step);
        }
        Ok(found)
    }

    /// Some rows of the current batch; none after the last.
    fn step(&mut self, wanted: usize) -> Result<Vec<Vec<String>>, Trouble> {
        while self.batch_left == 0 {
            let Some(message) = self.messages.all.get(self.next_message).copied() else {
                return Ok(Vec::new());
            };
            self.next_message += 1;
            match message {
                Message::Dictionary { place } => self.load(place)?,
                Message::Rows { place, rows } if rows > 0 => {
                    let batch = self.messages.batch(place)?;
                    let columns = batch.columns(&self.messages.fields)?;
                    let opening = Opening { file: &self.messages.file, codec: batch.codec };
                    let open = |place: &usize| {
                        let field = &self.messages.fields[*place];
                        Cells::open(opening, &field.kind, &columns[*place], rows)
                    };
                    self.readers = self.chosen.iter().map(open).collect::<Result<_, _>>()?;
                    self.batch_left = rows;
                }
                Message::Rows { .. } => {}
            }
        }
        let left = usize::try_from(self.batch_left).unwrap_or(usize::MAX);
        let count = wanted.min(left).min(STEP_ROWS);
        let mut rows = vec![Vec::with_capacity(self.chosen.len()); count];
        for (reader, place) in self.readers.iter_mut().zip(&self.chosen) {
            let name = &self.messages.fields[*place].name;
            let cells = reader.next(count, name, &self.dictionaries)?;
            rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
        }
        self.batch_left -= count as u64;
        Ok(rows)
    }

    /// Reads the entries of a dictionary, if one of the columns uses it.
    fn load(&mut self, place: Place) -> Result<(), Trouble> {
        let batch = self.messages.batch(place)?;
        let Some((id, entries)) = batch.dictionary else { return Ok(()) };
        let used = self.chosen.iter().find_map(|place| match &self.messages.fields[*place].kind {
            Kind::Dictionary { id: own, value, .. } if *own == id => {
                Some((self.messages.fields[*place].name.clone(), (**value).clone()))
            }
            _ => None,
        });
        let Some((name, kind)) = used else { return Ok(()) };
        let buffers = if matches!(kind, Kind::Text(_)) { 3 } else { 2 };
        let views = usize::from(kind == Kind::TextView);
        let field = Field { name, kind, nodes: 1, buffers, views };
        let mut columns = batch.columns(std::slice::from_ref(&field))?;
        let Some(column) = columns.pop() else { return Ok(()) };
        let opening = Opening { file: &self.messages.file, codec: batch.codec };
        let mut cells = Cells::open(opening, &field.kind, &column, batch.rows)?;
        let mut found = match entries {
            Entries::Added => self.dictionaries.remove(&id).unwrap_or_default(),
            Entries::Replaced => Vec::new(),
        };
        let (mut left, mut held) = (batch.rows, 0_u64);
        while left > 0 {
            let count = usize::try_from(left).unwrap_or(usize::MAX).min(STEP_ROWS);
            let step = cells.next(count, &field.name, &BTreeMap::new())?;
            held += step.iter().map(|cell| cell.len() as u64).sum::<u64>();
            found.extend(step);
            if held > MOST_HELD_BYTES || found.len() as u64 > MOST_ENTRIES {
                return Err(ArrowProblem::Unread { what: "categories beyond number" }.into());
            }
            left -= count as u64;
        }
        self.dictionaries.insert(id, found);
        Ok(())
    }
}

/// Whether the cells of a column can be written as text.
fn is_written(kind: &Kind) -> bool {
    match kind {
        Kind::Number(_)
        | Kind::Text(_)
        | Kind::TextView
        | Kind::Days
        | Kind::Instant(..)
        | Kind::Decimal(_) => true,
        Kind::Dictionary { value, .. } => {
            !matches!(**value, Kind::Dictionary { .. }) && is_written(value)
        }
        Kind::List(..) | Kind::FixedList(..) | Kind::Other(_) => false,
    }
}

/// Reads the cells of one column of a batch.
enum Cells {
    Numbers(Numbers, Written),
    Texts { validity: Option<Bits>, lengths: Lengths, data: Buffer },
    Views { validity: Option<Bits>, views: Buffer, long: Vec<Long> },
    Entries(Numbers, i64),
    Decimals { validity: Option<Bits>, units: Buffer, scale: i32 },
}

/// How a number is written.
#[derive(Debug, Clone, Copy)]
enum Written {
    Plain,
    Day,
    Instant(i64, Clock),
}

/// A buffer of long texts.
enum Long {
    Stored { file: Arc<File>, at: u64, length: u64 },
    Inflated(Vec<u8>),
}

const CONTRADICTION: ArrowProblem =
    ArrowProblem::Damaged { what: "a text lies outside its column" };

impl Cells {
    fn open(
        opening: Opening<'_>,
        kind: &Kind,
        column: &Column,
        rows: u64,
    ) -> Result<Self, Trouble> {
        let numbers = |number| Numbers::open(opening, column, (0, 0), number);
        Ok(match kind {
            Kind::Number(number) => Self::Numbers(numbers(*number)?, Written::Plain),
            Kind::Days => Self::Numbers(numbers(Number::I32)?, Written::Day),
            Kind::Instant(units, clock) => {
                Self::Numbers(numbers(Number::I64)?, Written::Instant(*units, *clock))
            }
            Kind::Decimal(scale) => Self::Decimals {
                validity: opening.validity(column, (0, 0))?,
                units: opening.buffer(column, 1)?,
                scale: *scale,
            },
            Kind::Dictionary { id, index, .. } => Self::Entries(numbers(*index)?, *id),
            Kind::Text(offsets) => {
                let validity = opening.validity(column, (0, 0))?;
                let lengths = Lengths::open(opening, column, (1, rows), *offsets)?;
                let mut data = opening.buffer(column, 2)?;
                data.skip(lengths.start())?;
                Self::Texts { validity, lengths, data }
            }
            Kind::TextView => {
                let validity = opening.validity(column, (0, 0))?;
                let views = opening.buffer(column, 1)?;
                let mut room = MOST_HELD_BYTES;
                let long = (2..column.buffers.len()).map(|place| {
                    let (at, length) = column.buffers[place];
                    if opening.codec == Codec::None {
                        return Ok(Long::Stored { file: Arc::clone(opening.file), at, length });
                    }
                    let bytes = opening.buffer(column, place)?.read_rest(room)?;
                    room -= bytes.len() as u64;
                    Ok(Long::Inflated(bytes))
                });
                let long = long.collect::<Result<_, ArrowProblem>>()?;
                Self::Views { validity, views, long }
            }
            Kind::List(..) | Kind::FixedList(..) | Kind::Other(_) => {
                return Err(ArrowProblem::Damaged { what: "a column changed its type" }.into());
            }
        })
    }

    /// The next `count` cells; those that are missing are empty.
    fn next(
        &mut self,
        count: usize,
        name: &str,
        dictionaries: &BTreeMap<i64, Vec<String>>,
    ) -> Result<Vec<String>, Trouble> {
        let long_cell =
            || ColumnProblem::LongCell { column: name.to_owned(), limit: MOST_CELL_BYTES };
        let mut found = Vec::new();
        match self {
            Self::Numbers(numbers, written) => {
                numbers.read(count, |_, value| {
                    found.push(value.map_or_else(String::new, |value| written.text(value)));
                })?;
            }
            Self::Entries(numbers, id) => {
                let entries = dictionaries.get(id).map(Vec::as_slice).unwrap_or_default();
                let mut outside = false;
                numbers.read(count, |_, value| {
                    let place = match value {
                        Some(Value::I64(place)) => usize::try_from(place).ok(),
                        Some(Value::U64(place)) => usize::try_from(place).ok(),
                        _ => None,
                    };
                    let entry = place.and_then(|place| entries.get(place));
                    outside |= value.is_some() && entry.is_none();
                    found.push(entry.cloned().unwrap_or_default());
                })?;
                if outside {
                    let what = "a category has no entry";
                    return Err(ArrowProblem::Damaged { what }.into());
                }
            }
            Self::Decimals { validity, units, scale } => {
                for _ in 0..count {
                    let there = validity.as_mut().map_or(Ok(true), Bits::next)?;
                    let mut bytes = [0; 16];
                    units.read(&mut bytes)?;
                    let text = decimal(i128::from_le_bytes(bytes), *scale);
                    found.push(if there { text } else { String::new() });
                }
            }
            Self::Texts { validity, lengths, data } => {
                for _ in 0..count {
                    let there = validity.as_mut().map_or(Ok(true), Bits::next)?;
                    let length = usize::try_from(lengths.next()?).unwrap_or(usize::MAX);
                    if length > MOST_CELL_BYTES {
                        return Err(long_cell().into());
                    }
                    let mut bytes = vec![0; length];
                    data.read(&mut bytes)?;
                    // What is missing may hold anything.
                    found.push(if there { text_of(&bytes, name)? } else { String::new() });
                }
            }
            Self::Views { validity, views, long } => {
                for _ in 0..count {
                    let there = validity.as_mut().map_or(Ok(true), Bits::next)?;
                    let mut view = [0; 16];
                    views.read(&mut view)?;
                    let text = match there {
                        true => text_of_view(&view, long, (name, &long_cell))?,
                        false => String::new(),
                    };
                    found.push(text);
                }
            }
        }
        Ok(found)
    }
}

/// A text of up to twelve bytes stands in its view; of a longer one the view says where it stands.
///
/// ```text
/// i32: length | the text, up to 12 bytes
/// i32: length | its first 4 bytes | i32: buffer | i32: place in it
/// ```
fn text_of_view(
    view: &[u8; 16],
    long: &[Long],
    (name, long_cell): (&str, &dyn Fn() -> ColumnProblem),
) -> Result<String, Trouble> {
    let word = |at: usize| {
        let word = i32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]);
        usize::try_from(word).map_err(|_| CONTRADICTION)
    };
    let length = word(0)?;
    if length <= 12 {
        return text_of(&view[4..4 + length], name);
    }
    if length > MOST_CELL_BYTES {
        return Err(long_cell().into());
    }
    let (buffer, at) = (long.get(word(8)?).ok_or(CONTRADICTION)?, word(12)?);
    let bytes = match buffer {
        Long::Inflated(bytes) => bytes.get(at..at + length).ok_or(CONTRADICTION)?.to_vec(),
        Long::Stored { file, at: start, length: whole } => {
            if (at + length) as u64 > *whole {
                return Err(CONTRADICTION.into());
            }
            let mut bytes = vec![0; length];
            let place = (start + at as u64, length as u64);
            Buffer::open(file, place, Codec::None)?.read(&mut bytes)?;
            bytes
        }
    };
    text_of(&bytes, name)
}

/// A cell as text; bytes that are none must not be passed on mutilated.
fn text_of(bytes: &[u8], name: &str) -> Result<String, Trouble> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(ColumnProblem::NotUtf8 { column: name.to_owned() }.into()),
    }
}

impl Written {
    fn text(self, value: Value) -> String {
        match (self, value) {
            (Self::Day, Value::I64(day)) => crate::instant::date(day),
            (Self::Instant(units, clock), Value::I64(value)) => {
                crate::instant::instant(value, units, clock)
            }
            (_, value) => value.to_text(),
        }
    }
}

//! Several files as one matrix, one after the other.

use crate::block::{Precision, Values};
use crate::column_choice::{ColumnChoice, other_columns};
use crate::error::{IoError, Result};
use crate::reader::{RowStream, open_stream};
use crate::source::MatrixSource;
use std::sync::Arc;

/// Rows of several files.
pub(crate) struct PartRows {
    source: MatrixSource,
    choice: ColumnChoice,
    columns: usize,
    names: Option<Vec<String>>,
    rows: Option<u64>,
    precision: Precision,
    /// Places of the parts that hold rows, those still to be read last first.
    left: Vec<usize>,
    current: Option<Box<dyn RowStream>>,
    scratch: Values,
}

impl PartRows {
    /// Opens all parts, so that a part that does not fit is found before a row is read. Parts without rows are passed over, as
    /// programs that write tables in parts leave some.
    pub(crate) fn open(source: &MatrixSource, choice: &ColumnChoice) -> Result<Self> {
        let mut whole: Option<Self> = None;
        for (place, part) in source.parts().enumerate() {
            let known = whole.as_ref().and_then(|whole| whole.names.clone());
            let stream = match open_part(&part, choice, known.as_deref()) {
                Err(IoError::NoRows { .. }) => continue,
                opened => opened?,
            };
            let (columns, rows, precision) = (stream.columns(), stream.rows(), stream.precision());
            match &mut whole {
                None => {
                    whole = Some(Self {
                        source: source.clone(),
                        choice: choice.clone(),
                        columns,
                        names: stream.names().map(<[String]>::to_vec),
                        rows,
                        precision,
                        left: vec![place],
                        current: None,
                        scratch: Values::none(precision),
                    });
                }
                Some(whole) => {
                    whole.left.push(place);
                    if columns != whole.columns {
                        let (origin, what) = (part.to_string().into(), "columns");
                        let (found, expected) = (columns, whole.columns);
                        return Err(IoError::WrongCount { origin, what, found, expected });
                    }
                    whole.rows = whole.rows.zip(rows).and_then(|(all, more)| all.checked_add(more));
                    // One part that needs double precision decides for all: a block has one type.
                    if precision == Precision::Double {
                        whole.precision = Precision::Double;
                    }
                }
            }
        }
        let mut whole =
            whole.ok_or_else(|| IoError::NoRows { origin: source.to_string().into() })?;
        whole.left.reverse();
        Ok(whole)
    }
}

/// Opens one part with the columns of the first.
fn open_part(
    part: &MatrixSource,
    choice: &ColumnChoice,
    known: Option<&[String]>,
) -> Result<Box<dyn RowStream>> {
    let stream = open_stream(part, choice)?;
    match (known, stream.names()) {
        (Some(known), Some(names)) if known != names => {
            let lacking = |names: &[String], among: &[String]| -> Vec<String> {
                names.iter().filter(|name| !among.contains(name)).cloned().collect()
            };
            let (missing, surplus) = (lacking(known, names), lacking(names, known));
            if missing.is_empty() && surplus.is_empty() {
                return open_stream(part, &ColumnChoice::Named(known.to_vec()));
            }
            let origin: Arc<str> = part.to_string().into();
            Err(other_columns(&origin, &missing, &surplus))
        }
        _ => Ok(stream),
    }
}

impl RowStream for PartRows {
    fn columns(&self) -> usize {
        self.columns
    }

    fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    fn rows(&self) -> Option<u64> {
        self.rows
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn fill(&mut self, rows: usize, values: &mut Values) -> Result<usize> {
        values.restart(self.precision);
        let mut filled = 0;
        while filled < rows {
            if self.current.is_none() {
                let Some(place) = self.left.pop() else { break };
                let Some(part) = self.source.parts().nth(place) else { break };
                self.current = Some(open_part(&part, &self.choice, self.names.as_deref())?);
            }
            let Some(stream) = &mut self.current else { break };
            // Most blocks lie within one part: these are read in place, in the memory of one block.
            if filled == 0 && stream.precision() == self.precision {
                match stream.fill(rows, values)? {
                    0 => self.current = None,
                    found => filled = found,
                }
                continue;
            }
            // A stream fills values of its own precision.
            self.scratch.restart(stream.precision());
            match stream.fill(rows - filled, &mut self.scratch)? {
                0 => self.current = None,
                found => {
                    filled += found;
                    let added = values.try_reserve_close(self.scratch.len());
                    let added = added.and_then(|()| values.try_extend(&self.scratch));
                    added.map_err(|_| IoError::OutOfMemory {
                        origin: self.source.to_string().into(),
                        bytes: values.bytes().saturating_mul(2),
                    })?;
                }
            }
        }
        Ok(filled)
    }
}

//! How the columns of a table are understood: which hold the classes, in which order, and what the classes are called.
//!
//! ```text
//! patterns typed        the columns that fit; with the calibration data's columns known, they must be the same
//! columns known         the table's columns of these names, in this order; no other column of numbers
//! neither               all columns of numbers; 0, 1, 2, ... in any order are put in order
//! ```
//! Columns without names (npy, lists, text without a header) are taken in their order.

use crate::column_choice::{ColumnChoice, ColumnPatterns, other_columns};
use crate::error::Result;
use crate::input::file_length;
use crate::label_names::LabelNames;
use crate::reader::{MatrixReader, are_numbers};
use crate::source::{Format, MatrixSource};
use crate::{arrow, csv, json_lines, parquet};
use std::collections::HashSet;
use std::sync::Arc;

/// How the columns of a table are understood.
#[derive(Debug, Clone, Default)]
pub struct TableReading {
    /// Columns of the classes, as typed.
    pub patterns: Option<ColumnPatterns>,
    /// Columns of the calibration data, in the order of the classes.
    pub columns: Option<Vec<String>>,
    /// Columns that are no classes: labels, ids.
    pub beside: Vec<String>,
    /// What the classes are called.
    pub names: LabelNames,
}

impl TableReading {
    /// Opens the classes' columns of a matrix.
    ///
    /// # Errors
    /// As [`MatrixReader::open_choosing`].
    pub fn open(&self, source: &MatrixSource) -> Result<MatrixReader> {
        MatrixReader::open_choosing(source, &self.choice(source)?)
    }

    /// The columns to read.
    fn choice(&self, source: &MatrixSource) -> Result<ColumnChoice> {
        let origin: Arc<str> = source.to_string().into();
        let known = names_of(source, &origin)?;
        match (&self.patterns, &self.columns, known) {
            (Some(patterns), Some(columns), Some(_)) => {
                let fitting = ColumnChoice::Fitting(patterns.clone());
                let reader = MatrixReader::open_choosing(source, &fitting)?;
                let found = reader.names().unwrap_or_default();
                let lacking = |names: &[String], among: &[String]| -> Vec<String> {
                    names.iter().filter(|name| !among.contains(name)).cloned().collect()
                };
                let (missing, surplus) = (lacking(columns, found), lacking(found, columns));
                match missing.is_empty() && surplus.is_empty() {
                    true => Ok(ColumnChoice::Named(columns.clone())),
                    false => Err(other_columns(&origin, &missing, &surplus)),
                }
            }
            // A matrix without names has nothing to choose; a table without a header says so when it is opened.
            (Some(patterns), _, _) => Ok(match source.format() {
                Format::Npy | Format::Npz => ColumnChoice::But(Vec::new()),
                _ => ColumnChoice::Fitting(patterns.clone()),
            }),
            (None, Some(columns), Some(_)) => {
                let (columns, beside) = (columns.clone(), self.beside.clone());
                Ok(ColumnChoice::Exactly { columns, beside })
            }
            (None, None, Some(known)) => {
                let kept: Vec<String> =
                    known.into_iter().filter(|name| !self.beside.contains(name)).collect();
                Ok(match in_order(&kept) {
                    Some(ordered) => ColumnChoice::Named(ordered),
                    None => ColumnChoice::But(self.beside.clone()),
                })
            }
            (None, _, None) => Ok(ColumnChoice::But(self.beside.clone())),
        }
    }
}

/// Names of the columns that may be classes, where they have any.
fn names_of(source: &MatrixSource, origin: &Arc<str>) -> Result<Option<Vec<String>>> {
    if source.selector().is_some() {
        return Ok(None);
    }
    // A part that is empty says nothing of the others.
    let empty = |part: &MatrixSource| file_length(part.path()).is_ok_and(|length| length == 0);
    let mut parts = source.parts();
    let Some(first) = parts.find(|part| !empty(part)).or_else(|| source.parts().next()) else {
        return Ok(None);
    };
    let names = match first.format() {
        Format::Npy | Format::Npz => None,
        Format::Csv => csv::column_names(first.path(), origin)?,
        Format::Jsonl => json_lines::number_columns(first.path(), origin)?,
        Format::Parquet => Some(parquet::number_columns(first.path(), origin)?),
        Format::Arrow => Some(arrow::number_columns(first.path(), origin)?),
    };
    // Two columns of one name are names all the same: they are not the ones expected.
    Ok(names.filter(|names| !names.is_empty() && !are_numbers(names)))
}

/// The numbers of the classes in their order, if the names are these numbers in another.
fn in_order(names: &[String]) -> Option<Vec<String>> {
    let ordered: Vec<String> = (0..names.len()).map(|class| class.to_string()).collect();
    let given: HashSet<&String> = names.iter().collect();
    (names.len() > 1 && ordered.iter().all(|name| given.contains(name))).then_some(ordered)
}

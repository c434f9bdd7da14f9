//! The groups of rows, read beside them.

use std::collections::BTreeMap;

use evenkeel::per_group::group_name;

use crate::error::{JobError, PerRow, Result};

/// A column with the group of every row: a file, an array, a column of the table that holds the rows.
pub trait GroupColumn {
    /// What the caller calls it, for errors.
    fn name(&self) -> &str;

    /// Goes back to the first row.
    ///
    /// # Errors
    /// If it can no longer be read.
    fn rewind(&mut self) -> Result<()>;

    /// Hands the cells of the next rows to `take`, at most `rows` of them, and says how many there were.
    ///
    /// # Errors
    /// If they cannot be read, or `take` fails.
    fn next_cells(
        &mut self,
        rows: usize,
        take: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<usize>;
}

/// Groups that lie in memory.
#[derive(Debug, Clone)]
pub struct MemoryGroups<'a> {
    name: &'a str,
    cells: &'a [String],
    next: usize,
}

impl<'a> MemoryGroups<'a> {
    /// Cells under the caller's name for them.
    pub fn new(name: &'a str, cells: &'a [String]) -> Self {
        Self { name, cells, next: 0 }
    }
}

impl GroupColumn for MemoryGroups<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        Ok(())
    }

    fn next_cells(
        &mut self,
        rows: usize,
        take: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<usize> {
        let end = self.cells.len().min(self.next.saturating_add(rows));
        let cells = &self.cells[self.next..end];
        self.next = end;
        cells.iter().try_for_each(|cell| take(cell))?;
        Ok(cells.len())
    }
}

/// Rows read at a time where only groups are read.
const CELLS_AT_A_TIME: usize = 1 << 16;

/// Names met so far, each with a number of its own.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<String, usize>);

impl Names {
    fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.0.get(name) {
            return *number;
        }
        let number = self.0.len();
        self.0.insert(name.to_owned(), number);
        number
    }

    /// The names, increasing, and the place there of every number.
    pub(super) fn sorted(self) -> (Vec<String>, Vec<usize>) {
        let mut place_of = vec![0; self.0.len()];
        let mut names = Vec::with_capacity(self.0.len());
        for (place, (name, number)) in self.0.into_iter().enumerate() {
            place_of[number] = place;
            names.push(name);
        }
        (names, place_of)
    }
}

/// Hands the number of every row's group to `take`, with the number of the row, and gives the number of rows.
pub(super) fn each_group(
    column: &mut dyn GroupColumn,
    names: &mut Names,
    mut take: impl FnMut(usize, usize),
) -> Result<usize> {
    column.rewind()?;
    let input = column.name().to_owned();
    let mut row = 0;
    loop {
        let found = column.next_cells(CELLS_AT_A_TIME, &mut |cell| {
            let name = group_name(cell, row).map_err(|error| JobError::found_in(&input, error))?;
            take(row, names.number(name.get()));
            row += 1;
            Ok(())
        })?;
        if found == 0 {
            return Ok(row);
        }
    }
}

/// What `of` makes of the groups of the next rows of `matrix`, from `first_row` on.
pub(super) fn of_block<V>(
    column: &mut dyn GroupColumn,
    (matrix, first_row, rows): (&str, usize, usize),
    of: &mut dyn FnMut(&str, usize) -> Result<V>,
) -> Result<Vec<V>> {
    let input = column.name().to_owned();
    let mut found = Vec::with_capacity(rows);
    // In a loop: a file may give its rows in pieces.
    while found.len() < rows {
        let given = column.next_cells(rows - found.len(), &mut |cell| {
            let row = first_row + found.len();
            let name = group_name(cell, row).map_err(|error| JobError::found_in(&input, error))?;
            found.push(of(name.get(), row)?);
            Ok(())
        })?;
        if given == 0 {
            let (found, rows, matrix) =
                (first_row + found.len(), first_row + rows, matrix.to_owned());
            let what = PerRow::Group;
            return Err(JobError::Count { input, what, found, matrix, rows, more: true });
        }
    }
    Ok(found)
}

/// An error if the column goes on after the last of `rows` rows.
pub(super) fn require_end(column: &mut dyn GroupColumn, matrix: &str, rows: usize) -> Result<()> {
    let mut more = 0;
    while column.next_cells(CELLS_AT_A_TIME, &mut |_| {
        more += 1;
        Ok(())
    })? > 0
    {}
    if more == 0 {
        return Ok(());
    }
    let (input, matrix) = (column.name().to_owned(), matrix.to_owned());
    let found = rows + more;
    Err(JobError::Count { input, what: PerRow::Group, found, matrix, rows, more: false })
}

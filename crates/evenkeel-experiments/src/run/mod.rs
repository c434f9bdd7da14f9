//! A run of an experiment: a configuration, many cells, and a folder that remembers which of them are done.
//!
//! ```text
//! configuration.json   the exact configuration; a folder with another one is refused
//! cells/NAME.json      one finished cell each, written whole or not at all
//! tables/  figures/    tables as CSV and Markdown, figures as SVG
//! report.html          all of it on one page
//! timing.csv           seconds by cell and part: the only file that differs between two runs
//! ```
//! Cells take their randomness from their own names, and tables are always made from the cells' files: neither the
//! number of threads nor an interruption changes a byte.

mod folder;
mod outputs;
mod spread;
mod stopwatch;
mod table;

pub use folder::RunFolder;
pub use outputs::Outputs;
pub use spread::Spread;
pub use stopwatch::Stopwatch;
pub use table::{Entry, NumberStyle, Table};

use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Result;

/// Cells that share something costly to load.
#[derive(Debug, Clone, PartialEq)]
pub struct Group<C> {
    /// What they share, for whoever watches.
    pub name: String,
    /// The cells.
    pub cells: Vec<C>,
}

/// A family of cells with a table at its end.
pub trait Experiment: Sync {
    /// What tells cells apart.
    type Cell: Sync;
    /// What the cells of a group share.
    type Shared: Sync;
    /// What a finished cell leaves behind.
    type Outcome: Serialize + DeserializeOwned + Send;

    /// Everything the outcome depends on, in JSON.
    fn configuration(&self) -> Result<serde_json::Value>;
    /// Checks what all cells are made of; asked for before the first of them is run, so that a run does not end after
    /// hours at a file that could have been refused at once.
    fn check(&self) -> Result<()> {
        Ok(())
    }
    /// The cells, group by group.
    fn groups(&self) -> Vec<Group<Self::Cell>>;
    /// The cell's name: stable, unique, and fit for a file.
    fn name(&self, cell: &Self::Cell) -> String;
    /// Loads what a group shares; asked for only if one of its cells is still to be run.
    fn prepare(&self, group: &Group<Self::Cell>) -> Result<Self::Shared>;
    /// Runs one cell.
    fn run_cell(
        &self,
        shared: &Self::Shared,
        cell: &Self::Cell,
        stopwatch: &mut Stopwatch,
    ) -> Result<Self::Outcome>;
    /// Tables and figures of all cells, in the order of the groups.
    fn outputs(&self, finished: &[(Self::Cell, Self::Outcome)]) -> Result<Outputs>;
}

/// Someone who watches a run.
pub trait Watcher: Sync {
    /// The run has `total` cells, `done` of which were found finished.
    fn started(&self, total: usize, done: usize);
    /// One more cell is finished.
    fn finished_cell(&self);
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn started(&self, _: usize, _: usize) {}
    fn finished_cell(&self) {}
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// All cells.
    pub cells: usize,
    /// Those found finished at the start.
    pub resumed: usize,
    /// Tables, figures and words, as written.
    pub outputs: Outputs,
}

/// Runs the cells that are not finished yet, then writes tables, figures and the page.
pub fn run<E: Experiment>(experiment: &E, path: &Path, watcher: &dyn Watcher) -> Result<Finished> {
    let folder = RunFolder::open(path, &experiment.configuration()?)?;
    let groups = experiment.groups();
    let cells: usize = groups.iter().map(|group| group.cells.len()).sum();
    let is_open = |cell: &E::Cell| folder.read_cell::<E::Outcome>(&experiment.name(cell)).is_none();
    let open: Vec<Vec<&E::Cell>> = groups
        .iter()
        .map(|group| group.cells.par_iter().filter(|cell| is_open(cell)).collect())
        .collect();
    let resumed = cells - open.iter().map(Vec::len).sum::<usize>();
    if resumed < cells {
        experiment.check()?;
    }
    watcher.started(cells, resumed);
    for (group, open) in groups.iter().zip(&open) {
        if open.is_empty() {
            continue;
        }
        // One group after the other: its table may be the largest thing in memory.
        let shared = experiment.prepare(group)?;
        open.par_iter().try_for_each(|cell| -> Result<()> {
            let mut stopwatch = Stopwatch::default();
            let outcome = experiment.run_cell(&shared, cell, &mut stopwatch)?;
            let name = experiment.name(cell);
            // As soon as it is done: an interruption costs the cells at hand and no others.
            folder.write_cell(&name, &outcome)?;
            folder.write_timing(&name, &stopwatch)?;
            watcher.finished_cell();
            Ok(())
        })?;
    }
    let all: Vec<E::Cell> = groups.into_iter().flat_map(|group| group.cells).collect();
    let outcomes: Vec<E::Outcome> = all
        .par_iter()
        // Read back even if it was just computed: tables of a run and of its continuation are the
        // same bytes.
        .map(|cell| folder.require_cell(&experiment.name(cell)))
        .collect::<Result<_>>()?;
    let finished: Vec<(E::Cell, E::Outcome)> = all.into_iter().zip(outcomes).collect();
    let outputs = experiment.outputs(&finished)?;
    folder.write_outputs(&outputs)?;
    Ok(Finished { cells, resumed, outputs })
}

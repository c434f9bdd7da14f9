//! `evenkeel reproduce`: the paper's experiments.

use std::path::PathBuf;

use evenkeel_experiments::regression::Regression;
use evenkeel_experiments::run::{self, Experiment, Table, Watcher};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::exit::Outcome;
use crate::job::{Failure, Rates, on_threads, print, print_json};
use crate::progress::Verbosity;
use crate::reproduce_args::{RegressionArgs, ReproduceCommand, RunArgs};

pub(crate) fn run(command: &ReproduceCommand) -> Result<Outcome, Failure> {
    match command {
        ReproduceCommand::Regression(args) => regression(args),
    }
}

fn regression(args: &RegressionArgs) -> Result<Outcome, Failure> {
    let rates = Rates::of(&args.run.common)?;
    let experiment = Regression {
        simulations: args.simulations,
        samples: args.samples,
        epochs: args.epochs.clone(),
        ..Regression::new(rates.alpha, rates.seed)
    };
    reproduce("regression", &experiment, &args.run)
}

/// Runs an experiment in its folder and shows its tables.
fn reproduce<E: Experiment + Send>(
    name: &str,
    experiment: &E,
    args: &RunArgs,
) -> Result<Outcome, Failure> {
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("evenkeel-{name}")));
    let verbosity = Verbosity::of(args.common.quiet);
    let bar = Bar(verbosity.cells(name));
    let finished = on_threads(args.common.threads, || Ok(run::run(experiment, &out, &bar)?))?;
    bar.0.finish_and_clear();
    let document = Document {
        out: out.clone(),
        report: out.join("report.html"),
        cells: finished.cells,
        resumed: finished.resumed,
        tables: finished.outputs.tables.iter().map(ShownTable::of).collect(),
    };
    if args.common.json {
        print_json(&document)?;
    } else {
        let tables: Vec<String> = finished.outputs.tables.iter().map(Table::markdown).collect();
        print(&format!(
            "{}\nThe page with figures: {}\n",
            tables.join("\n"),
            document.report.display()
        ))?;
    }
    Ok(Outcome::Done)
}

#[derive(Debug, Serialize)]
struct Document {
    out: PathBuf,
    report: PathBuf,
    cells: usize,
    /// Cells that were found finished.
    resumed: usize,
    tables: Vec<ShownTable>,
}

/// A table as it stands in the Markdown files.
#[derive(Debug, Serialize)]
struct ShownTable {
    name: String,
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl ShownTable {
    fn of(table: &Table) -> Self {
        let shown = table.for_page();
        Self {
            name: table.name.clone(),
            title: shown.title,
            columns: shown.columns,
            rows: shown.rows,
        }
    }
}

/// A progress bar over cells.
struct Bar(ProgressBar);

impl Watcher for Bar {
    fn started(&self, total: usize, done: usize) {
        self.0.set_length(total as u64);
        self.0.set_position(done as u64);
        // Cells of an earlier run took no time of this one.
        self.0.reset_eta();
    }

    fn finished_cell(&self) {
        self.0.inc(1);
    }
}

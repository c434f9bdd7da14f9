//! Tables and figures of the regression experiment.

use evenkeel::method::ObjectiveChoice;
use evenkeel_report::study::{DensityAxis, DensityPlot, DensitySeries, Drawing, density_plot};

use super::{MethodOutcome, Regression, RegressionMethod, SimulationOutcome};
use crate::run::{Entry, NumberStyle, Outputs, Table};

type Finished = [(usize, SimulationOutcome)];

pub(super) fn outputs(experiment: &Regression, finished: &Finished) -> Outputs {
    let level = 1.0 - experiment.alpha.get();
    let mut outputs = Outputs {
        title: "Synthetic regression".to_owned(),
        subtitle: format!(
            "{} simulations, four samples of {} each, {} bins, level {:.0} %",
            experiment.simulations,
            experiment.samples,
            experiment.bins,
            100.0 * level
        ),
        lead: vec![
            "Figs 3 and 5 of the paper. A point of the target data is covered if the bin of its y is in its set; the length of a set \
             is the number of its bins times their width."
                .to_owned(),
        ],
        data: vec![data(finished)],
        ..Outputs::default()
    };
    for stage in 0..experiment.epochs.len() {
        let epochs = experiment.epochs[stage];
        outputs.tables.push(table(finished, stage, epochs, level));
        outputs.figures.extend(figures(finished, stage, epochs, level));
    }
    outputs.tables.push(losses(experiment, finished));
    outputs
}

/// The outcomes of one method at one stage, with the width of a bin.
fn of_method(
    finished: &Finished,
    stage: usize,
    method: RegressionMethod,
) -> impl Iterator<Item = (f64, &MethodOutcome)> {
    finished.iter().flat_map(move |(_, outcome)| {
        let methods = outcome.stages.get(stage).map(|stage| &stage.methods);
        let found = methods.into_iter().flatten().filter(move |row| row.method == method.name());
        found.map(|row| (outcome.bin_width, row))
    })
}

fn table(finished: &Finished, stage: usize, epochs: usize, level: f64) -> Table {
    let columns = [
        "method",
        "coverage, %",
        "mean gap to level, points",
        "runs within 2 points, %",
        "set size, bins",
        "set length",
        "total gap",
        "n_w",
    ];
    let mut table = Table::new(
        &format!("regression-{epochs}-epochs"),
        &format!("Regression after {epochs} epochs (Figs 3 and 5)"),
        columns.map(str::to_owned).to_vec(),
    )
    .with_note("Mean ± standard deviation over simulations.");
    for method in RegressionMethod::ALL {
        let rows = || of_method(finished, stage, method);
        let near = rows().map(|(_, row)| f64::from((row.coverage - level).abs() <= 0.02));
        let off = rows().map(|(_, row)| (row.coverage - level).abs());
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            crate::run::Spread::of(values).map(|spread| spread.mean)
        };
        table.rows.push(vec![
            Entry::text(method.name()),
            Entry::spread(rows().map(|(_, row)| row.coverage), NumberStyle::Percent),
            Entry::number(mean(&mut off.into_iter()), NumberStyle::Percent),
            Entry::number(mean(&mut near.into_iter()), NumberStyle::Percent),
            Entry::spread(rows().map(|(_, row)| row.bins), NumberStyle::Decimals(2)),
            Entry::spread(rows().map(|(width, row)| width * row.bins), NumberStyle::Decimals(1)),
            Entry::spread(rows().filter_map(|(_, row)| row.total_gap), NumberStyle::Decimals(3)),
            Entry::spread(rows().filter_map(|(_, row)| row.effective), NumberStyle::Decimals(0)),
        ]);
    }
    table
}

/// How good the predictor is, which the outcome depends on.
fn losses(experiment: &Regression, finished: &Finished) -> Table {
    let columns = ["epochs", "cross-entropy, calibration data", "cross-entropy, target data"];
    let mut table = Table::new(
        "predictor",
        "The predictor on held-out points",
        columns.map(str::to_owned).to_vec(),
    );
    for (stage, epochs) in experiment.epochs.iter().enumerate() {
        let stages = || finished.iter().filter_map(move |(_, outcome)| outcome.stages.get(stage));
        let two = NumberStyle::Decimals(2);
        table.rows.push(vec![
            Entry::text(epochs.to_string()),
            Entry::spread(stages().map(|stage| stage.loss_labeled), two),
            Entry::spread(stages().map(|stage| stage.loss_target), two),
        ]);
    }
    table
}

/// Every number of every simulation.
fn data(finished: &Finished) -> Table {
    let columns =
        ["simulation", "epochs", "method", "coverage", "bins", "length", "total_gap", "n_w"];
    let mut table = Table::new("cells", "All simulations", columns.map(str::to_owned).to_vec());
    let exact = NumberStyle::Decimals(6);
    for (simulation, outcome) in finished {
        for stage in &outcome.stages {
            for row in &stage.methods {
                table.rows.push(vec![
                    Entry::text(simulation.to_string()),
                    Entry::text(stage.epochs.to_string()),
                    Entry::text(&row.method),
                    Entry::Number(row.coverage, exact),
                    Entry::Number(row.bins, exact),
                    Entry::Number(outcome.bin_width * row.bins, exact),
                    Entry::number(row.total_gap, exact),
                    Entry::number(row.effective, exact),
                ]);
            }
        }
    }
    table
}

fn figures(finished: &Finished, stage: usize, epochs: usize, level: f64) -> Vec<Drawing> {
    let series = |objective: ObjectiveChoice, value: fn((f64, &MethodOutcome)) -> f64| {
        let shown = RegressionMethod::ALL.into_iter();
        let shown = shown.filter(|method| method.is_shown_with(objective));
        let series = |method: RegressionMethod| DensitySeries {
            label: method.name().to_owned(),
            values: of_method(finished, stage, method).map(value).collect(),
        };
        shown.map(series).collect::<Vec<_>>()
    };
    let plot = |name: &str, title: &str, quantity: &str, axis, series| {
        density_plot(&DensityPlot {
            name: format!("{name}-{epochs}-epochs"),
            title: format!("{title} ({epochs} epochs)"),
            caption: format!(
                "Density over {} simulations, by Gaussian kernels. The predictor was trained for {epochs} epochs.",
                finished.len()
            ),
            quantity: quantity.to_owned(),
            axis,
            mark: (axis == DensityAxis::Percent)
                .then(|| (level, format!("level {:.0} %", 100.0 * level))),
            series,
        })
    };
    let wasserstein = ObjectiveChoice::Wasserstein;
    let percent = DensityAxis::Percent;
    let drawings = [
        plot(
            "figure-3-coverage",
            "Fig 3: coverage, W1 objective",
            "coverage",
            percent,
            series(wasserstein, |(_, row)| row.coverage),
        ),
        plot(
            "figure-3-size",
            "Fig 3: set size in bins",
            "mean number of bins in a set",
            DensityAxis::Plain,
            series(wasserstein, |(_, row)| row.bins),
        ),
        plot(
            "figure-3-length",
            "Fig 3: set length",
            "mean length of a set, in units of y",
            DensityAxis::Plain,
            series(wasserstein, |(width, row)| width * row.bins),
        ),
        plot(
            "figure-5-weighted-cdf",
            "Fig 5, right: coverage, weighted-CDF objective",
            "coverage",
            percent,
            series(ObjectiveChoice::PaperGrid, |(_, row)| row.coverage),
        ),
    ];
    drawings.into_iter().flatten().collect()
}

//! Tables 2 and 3: how the total coverage gap depends on the numbers of labeled and unlabeled points.

use evenkeel::learning::optimise::AdamSettings;
use evenkeel::level::Miscoverage;
use evenkeel::method::TransportSettings;
use evenkeel::seed::Seed;
use evenkeel_report::study::{Joined, LineAxis, LinePlot, line_plot};
use serde_json::json;

use super::calibrated::CellPoints;
use super::cell::{CellOutcome, MethodOutcome, run_methods};
use super::method::DELTA;
use super::{
    DataFolder, ImageMethod, LabelMarginal, RoleSizes, ShiftedCondition, SoftmaxTable, Split,
    refuse_repeated, with_data,
};
use crate::error::{Error, Result};
use crate::run::{Entry, Experiment, Group, NumberStyle, Outputs, Spread, Stopwatch, Table};

/// The paper's numbers of points, for both sides.
pub const PAPER_SIZES: [usize; 5] = [30, 100, 300, 1000, 3000];

/// Ids of the methods, with the name and the title of each one's table.
const TABLES: [(&str, &str, &str); 3] = [
    ("ff-min-max", "table-2", "Table 2: total coverage gap, FF (min, max)"),
    ("ff-f-u", "table-3", "Table 3: total coverage gap, FF (f, U)"),
    ("label-plan", "label-plan", "The same for label-plan"),
];

/// The experiment on one data folder.
#[derive(Debug, Clone)]
pub struct SampleSize {
    data: DataFolder,
    clean: SoftmaxTable,
    settings: SampleSizeSettings,
}

/// Settings of the experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleSizeSettings {
    /// Numbers of labeled and of unlabeled points, increasing.
    pub sizes: Vec<usize>,
    /// Repetitions of every condition.
    pub seeds: u64,
    /// Test points at most.
    pub test: usize,
    /// Grid points of the paper's objective.
    pub grid: usize,
    /// Miscoverage rate.
    pub alpha: Miscoverage,
    /// Root of all randomness.
    pub seed: Seed,
}

/// What tells cells apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleSizeCell {
    /// Corruption and severity.
    pub condition: ShiftedCondition,
    /// Repetition.
    pub repetition: u64,
}

/// One pair of sizes: labeled points, unlabeled points, and how the methods did.
type Pair = (usize, usize, CellOutcome);

impl SampleSizeSettings {
    /// What of the configuration is known before there are data; an error unless every setting is in its range.
    pub fn configuration(&self) -> Result<serde_json::Value> {
        let Self { sizes, seeds, test, grid, alpha, seed } = self;
        let smallest = sizes.iter().copied().min().unwrap_or(0);
        let least = [
            ("the smallest number of points", smallest, 2),
            ("the number of seeds", *seeds as usize, 1),
            ("the number of test points", *test, 1),
        ];
        if let Some((what, found, least)) =
            least.into_iter().find(|(_, found, least)| found < least)
        {
            let expected = if least == 1 { "at least 1" } else { "at least 2" };
            return Err(Error::BadSetting { what, found: found as f64, expected });
        }
        refuse_repeated("--sizes", sizes)?;
        let methods = SampleSize::methods()?;
        Ok(json!({
            "experiment": "sample-size",
            "version": env!("CARGO_PKG_VERSION"),
            "methods": methods.iter().map(|method| method.id()).collect::<Vec<_>>(),
            "transport_steps": "1000 a unit of severity",
            "transport_learning_rate": AdamSettings::default().learning_rate(),
            "transport_bandwidth_factor": TransportSettings::paper().bandwidth_factor,
            "delta": DELTA,
            "sizes": sizes,
            "seeds": seeds,
            "test": test,
            "grid": grid,
            "alpha": alpha.get(),
            "seed": seed.get(),
        }))
    }
}

impl SampleSize {
    /// Reads the folder's clean table.
    pub fn new(data: DataFolder, settings: SampleSizeSettings) -> Result<Self> {
        Ok(Self { clean: data.read_clean()?, data, settings })
    }

    /// The largest samples; smaller ones are parts of them.
    fn role_sizes(&self) -> RoleSizes {
        let most = self.settings.sizes.iter().copied().max().unwrap_or(0);
        RoleSizes { calibration: most, unlabeled: most, test: self.settings.test }
    }

    fn methods() -> Result<Vec<ImageMethod>> {
        let ids = std::iter::once("uncorrected").chain(TABLES.map(|(id, ..)| id));
        ids.map(ImageMethod::from_id).collect()
    }
}

impl Experiment for SampleSize {
    type Cell = SampleSizeCell;
    type Shared = SoftmaxTable;
    type Outcome = Vec<Pair>;

    fn configuration(&self) -> Result<serde_json::Value> {
        with_data(self.settings.configuration()?, &self.data, self.clean.classes)
    }

    fn check(&self) -> Result<()> {
        self.data.check(&self.clean, self.role_sizes(), self.settings.seed)
    }

    fn groups(&self) -> Vec<Group<SampleSizeCell>> {
        let group = |condition: &ShiftedCondition| Group {
            name: condition.name(),
            cells: (0..self.settings.seeds)
                .map(|repetition| SampleSizeCell { condition: condition.clone(), repetition })
                .collect(),
        };
        self.data.conditions().iter().map(group).collect()
    }

    fn name(&self, cell: &SampleSizeCell) -> String {
        format!("{}-{:03}", cell.condition.name(), cell.repetition)
    }

    fn prepare(&self, group: &Group<SampleSizeCell>) -> Result<SoftmaxTable> {
        match group.cells.first() {
            Some(cell) => self.data.read(&cell.condition, self.clean.classes),
            None => Ok(self.clean.clone()),
        }
    }

    fn run_cell(
        &self,
        shifted: &SoftmaxTable,
        cell: &SampleSizeCell,
        stopwatch: &mut Stopwatch,
    ) -> Result<Vec<Pair>> {
        let SampleSizeSettings { sizes, grid, alpha, seed, .. } = &self.settings;
        let seed = seed.child(&format!("{}-sizes", cell.condition.name()), cell.repetition);
        let roles = self.role_sizes();
        let split = Split::deal(&self.clean, shifted, roles, LabelMarginal::Same, seed)?;
        let calibration = self.clean.subset(&split.calibration)?;
        let unlabeled = shifted.subset(&split.unlabeled)?;
        let mut points = CellPoints {
            calibration: calibration.clone(),
            both_halves: calibration.clone(),
            unlabeled: unlabeled.clone(),
            test: shifted.subset(&split.test)?,
            second: None,
            accuracy: 1.0,
            severity: cell.condition.severity,
            grid: *grid,
            alpha: *alpha,
        };
        let methods = Self::methods()?;
        let mut pairs = Vec::new();
        for n in sizes {
            // Smaller samples are the first points of larger ones: rows of the table differ by size alone.
            points.calibration = calibration.first(*n)?;
            for m in sizes {
                points.unlabeled = unlabeled.first(*m)?;
                pairs.push((*n, *m, run_methods(&methods, &points, seed, stopwatch)?));
            }
        }
        Ok(pairs)
    }

    fn outputs(&self, finished: &[(SampleSizeCell, Vec<Pair>)]) -> Result<Outputs> {
        let sizes = &self.settings.sizes;
        let severities: Vec<String> = {
            let mut found: Vec<u32> =
                self.data.conditions().iter().map(|condition| condition.severity).collect();
            found.dedup();
            found.iter().map(u32::to_string).collect()
        };
        let of = |id: &str, n: usize, m: usize, value: fn(&MethodOutcome) -> Option<f64>| {
            let pairs = finished.iter().flat_map(|(_, pairs)| pairs);
            let outcomes = pairs.filter(|pair| (pair.0, pair.1) == (n, m));
            let rows = outcomes.flat_map(|(.., outcome)| &outcome.methods);
            rows.filter(|row| row.method == id).filter_map(value).collect::<Vec<f64>>()
        };
        let mut outputs = Outputs {
            title: "Numbers of labeled and unlabeled points".to_owned(),
            subtitle: format!(
                "{} conditions of severity {}, {} seeds, 1000 steps for each unit of severity",
                self.data.conditions().len(),
                severities.join(", "),
                self.settings.seeds
            ),
            lead: vec![
                "Rows: labeled points of the calibration data. Columns: unlabeled points of the target data. Mean ± standard deviation over seeds \
                 and corruptions; lower is better."
                    .to_owned(),
            ],
            ..Outputs::default()
        };
        let gap = |row: &MethodOutcome| row.total_gap;
        let coverage = |row: &MethodOutcome| Some(row.coverage);
        for (id, name, title) in TABLES {
            let mut columns = vec!["labeled points".to_owned(), "uncorrected".to_owned()];
            columns.extend(sizes.iter().map(|size| format!("{size} unlabeled")));
            let mut gaps = Table::new(name, title, columns.clone());
            let mut covered =
                Table::new(&format!("{name}-coverage"), &format!("{title}: coverage, %"), columns);
            for n in sizes {
                // The uncorrected gap does not depend on the unlabeled points: any column will do.
                let any = sizes.first().copied().unwrap_or(0);
                let (three, percent) = (NumberStyle::Decimals(3), NumberStyle::Percent);
                let mut gap_row = vec![Entry::text(n.to_string())];
                let mut coverage_row = gap_row.clone();
                gap_row.push(Entry::spread(of("uncorrected", *n, any, gap), three));
                coverage_row.push(Entry::spread(of("uncorrected", *n, any, coverage), percent));
                for m in sizes {
                    gap_row.push(Entry::spread(of(id, *n, *m, gap), three));
                    coverage_row.push(Entry::spread(of(id, *n, *m, coverage), percent));
                }
                gaps.rows.push(gap_row);
                covered.rows.push(coverage_row);
            }
            outputs.tables.extend([gaps, covered]);
        }
        let most = sizes.iter().copied().max().unwrap_or(0);
        let mean = |id: &str, n: usize| {
            let spread = Spread::of(of(id, n, most, gap))?;
            Some((n as f64, spread.mean))
        };
        let series = Self::methods()?.into_iter().map(|method| {
            let points = sizes.iter().filter_map(|n| mean(method.id(), *n)).collect();
            (method.words().to_owned(), points)
        });
        outputs.figures.extend(line_plot(&LinePlot {
            name: "gap-by-size".to_owned(),
            title: "Total coverage gap by labeled points".to_owned(),
            caption: format!(
                "With {most} unlabeled points. Mean over seeds and corruptions; lower is better."
            ),
            across: ("labeled points".to_owned(), LineAxis::Logarithmic),
            up: ("total coverage gap".to_owned(), LineAxis::Plain),
            reference: None,
            joined: Joined::Lines,
            series: series.collect(),
        }));
        Ok(outputs)
    }
}

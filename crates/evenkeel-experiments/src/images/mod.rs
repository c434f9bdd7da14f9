//! The paper's image experiments on any folder of softmax files.
//!
//! ```text
//! fashion_softmax   Fashion-MNIST, corruptions, classifier -> a data folder
//! export            Fashion-MNIST, corruptions             -> the images themselves, for classifiers of one's own
//! data_folder       clean.npz, fog_3.npz, ...              -> conditions
//! split             tables of two conditions               -> calibration, unlabeled and test rows without a common image
//! method            the rows of the tables, by name
//! calibrated        a method and the points of a cell      -> the jobs calibrate and evaluate
//! cell              condition, label marginal, seed        -> coverage, size and gap of every method
//! tables            all cells                              -> Tables 1, 4, 5 and 6
//! sample_size       sizes instead of methods               -> Tables 2 and 3
//! few_labels        labels of target rows                  -> error and size by the number of labels
//! figures           two conditions                         -> Figs 1 and 2
//! ```

mod calibrated;
mod cell;
mod data_folder;
mod export;
mod fashion_softmax;
mod few_labels;
mod figures;
mod method;
mod sample_size;
mod softmax;
mod split;
mod tables;

pub use cell::{CellOutcome, MethodOutcome};
pub use data_folder::{DataFolder, ShiftedCondition};
pub use export::export_images;
pub use fashion_softmax::{WhichClassifier, make_data_folder};
pub use few_labels::{
    ApproachOutcome, LabelApproach, LabelsCell, LabelsOutcome, LabelsSettings, LabelsStudy,
};
pub use figures::{FigureSettings, Figures, KeptDrawing, PaperFigure};
pub use method::{ImageMethod, PlanRow, ScoredBy, Steps};
pub use sample_size::{PAPER_SIZES, SampleSize, SampleSizeCell, SampleSizeSettings};
pub use softmax::{SoftmaxTable, Subset};
pub use split::{
    LABEL_SHIFT_DRAWS, LABEL_SHIFT_GAMMA, LABEL_SHIFT_LEAST, LabelMarginal, RoleSizes, Split,
};

use evenkeel::learning::optimise::AdamSettings;
use evenkeel::level::Miscoverage;
use evenkeel::measure::Grid;
use evenkeel::method::TransportSettings;
use evenkeel::seed::Seed;
use serde_json::json;

use crate::error::{Error, Result};
use crate::run::{Experiment, Group, Outputs, Stopwatch};
use calibrated::CellPoints;
use cell::run_methods;
use method::{DELTA, likelihood_ratio_words};

/// Which tables are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tables {
    /// Tables 1, 4, 5 and 6, and how far each method is from the level.
    All,
    /// Table 5: bounds against measured gaps.
    Tightness,
}

/// Settings of the experiment.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `methods` | all | rows of the tables | at least 1 |
/// | `marginals` | both | without and with label shift | |
/// | `seeds` | 10 | repetitions of every condition | at least 1 |
/// | `calibration` | 300 | labeled clean points; weight functions take twice as many | at least 1 |
/// | `unlabeled` | 300 | unlabeled points of the target data | at least 1 |
/// | `test` | 30 000 | test points at most | at least 1 |
/// | `grid` | 100 | grid points of the paper's objective; its answer depends on them | at least 2 |
/// | `alpha` | 0.1 | miscoverage rate | |
#[derive(Debug, Clone, PartialEq)]
pub struct ImageSettings {
    /// Rows of the tables.
    pub methods: Vec<ImageMethod>,
    /// With and without label shift.
    pub marginals: Vec<LabelMarginal>,
    /// Repetitions of every condition.
    pub seeds: u64,
    /// Labeled clean points `n`; a weight function takes twice as many.
    pub calibration: usize,
    /// Unlabeled points `m`.
    pub unlabeled: usize,
    /// Test points at most.
    pub test: usize,
    /// Grid points of the paper's objective.
    pub grid: usize,
    /// Miscoverage rate.
    pub alpha: Miscoverage,
    /// Root of all randomness.
    pub seed: Seed,
    /// Which tables are made.
    pub tables: Tables,
}

impl ImageSettings {
    /// The paper's sizes.
    pub fn new(alpha: Miscoverage, seed: Seed) -> Self {
        Self {
            methods: ImageMethod::all(),
            marginals: LabelMarginal::ALL.to_vec(),
            seeds: 10,
            calibration: 300,
            unlabeled: 300,
            test: 30_000,
            grid: Grid::LEARNING_POINTS,
            alpha,
            seed,
            tables: Tables::All,
        }
    }

    /// What of the configuration is known before there are data; an error unless every setting is in its range.
    pub fn configuration(&self) -> Result<serde_json::Value> {
        let sizes = [
            ("the number of seeds", self.seeds as usize),
            ("the number of calibration points", self.calibration),
            ("the number of unlabeled points", self.unlabeled),
            ("the number of test points", self.test),
            ("the number of methods", self.methods.len()),
        ];
        if let Some((what, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(Error::BadSetting { what, found: 0.0, expected: "at least 1" });
        }
        let methods: Vec<&str> = self.methods.iter().map(|method| method.id()).collect();
        // A row twice would be counted twice in every average of the page.
        refuse_repeated("--methods", &methods)?;
        let marginals: Vec<&str> = self.marginals.iter().map(|labels| labels.name()).collect();
        Ok(json!({
            "experiment": match self.tables { Tables::All => "images", Tables::Tightness => "tightness" },
            // A later version may compute other numbers: cells of both must not be averaged.
            "version": env!("CARGO_PKG_VERSION"),
            "methods": methods,
            "transport_steps": "1000 a unit of severity, unless the method names its steps",
            "transport_learning_rate": AdamSettings::default().learning_rate(),
            "transport_bandwidth_factor": TransportSettings::paper().bandwidth_factor,
            "likelihood_ratio": likelihood_ratio_words(),
            "conditional_test_points_at_most": ImageMethod::Conditional.most_test_rows(),
            "delta": DELTA,
            "label_marginals": marginals,
            "label_shift_gamma": LABEL_SHIFT_GAMMA,
            "label_shift_least_points": LABEL_SHIFT_LEAST,
            "label_shift_most_draws": LABEL_SHIFT_DRAWS,
            "seeds": self.seeds,
            "calibration": self.calibration,
            "unlabeled": self.unlabeled,
            "test": self.test,
            "grid": self.grid,
            "alpha": self.alpha.get(),
            "seed": self.seed.get(),
        }))
    }
}

/// An error if a list that a user types names something twice.
fn refuse_repeated(option: &'static str, values: &[impl ToString]) -> Result<()> {
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    let repeated =
        values.iter().enumerate().find(|(index, value)| values[..*index].contains(value));
    match repeated {
        Some((_, value)) => Err(Error::Repeated { option, found: value.clone() }),
        None => Ok(()),
    }
}

/// A configuration with the fields that data add to it.
fn with_data(
    configuration: serde_json::Value,
    data: &DataFolder,
    classes: usize,
) -> Result<serde_json::Value> {
    let mut configuration = configuration;
    configuration["severities"] = json!(data.severities());
    configuration["classes"] = json!(classes);
    configuration["data"] = data.fingerprint()?;
    Ok(configuration)
}

/// The experiment on one data folder.
#[derive(Debug, Clone)]
pub struct Images {
    data: DataFolder,
    clean: SoftmaxTable,
    /// What another classifier says of the same images: its folder, and its clean table.
    second: Option<(DataFolder, SoftmaxTable)>,
    settings: ImageSettings,
}

/// A condition's images as one classifier sees them, and another.
#[derive(Debug, Clone)]
pub struct TargetTables {
    table: SoftmaxTable,
    second: Option<SoftmaxTable>,
}

/// What tells cells apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageCell {
    /// Corruption and severity.
    pub condition: ShiftedCondition,
    /// Label marginal of the target data.
    pub labels: LabelMarginal,
    /// Repetition.
    pub repetition: u64,
}

impl Images {
    /// Reads the folder's clean table.
    pub fn new(data: DataFolder, settings: ImageSettings) -> Result<Self> {
        Ok(Self { clean: data.read_clean()?, data, second: None, settings })
    }

    /// With what another classifier says of the same images; without it the row of second opinions is left out.
    pub fn with_second(mut self, data: DataFolder) -> Result<Self> {
        let clean = data.read_clean()?;
        self.second = Some((data, clean));
        Ok(self)
    }

    fn role_sizes(&self) -> RoleSizes {
        RoleSizes {
            // Twice as many are dealt, because a weight function takes both halves; the others take
            // the first.
            calibration: 2 * self.settings.calibration,
            unlabeled: self.settings.unlabeled,
            test: self.settings.test,
        }
    }

    /// The seed of a cell: from its name, so that neither order nor company matters.
    fn seed_of(&self, cell: &ImageCell) -> Seed {
        let family = format!("{}-{}", cell.condition.name(), cell.labels.name());
        self.settings.seed.child(&family, cell.repetition)
    }
}

impl Experiment for Images {
    type Cell = ImageCell;
    type Shared = TargetTables;
    type Outcome = CellOutcome;

    fn configuration(&self) -> Result<serde_json::Value> {
        let known = self.settings.configuration()?;
        let mut found = with_data(known, &self.data, self.clean.classes)?;
        if let Some((second, _)) = &self.second {
            found["second_data"] = second.fingerprint()?;
        }
        Ok(found)
    }

    fn check(&self) -> Result<()> {
        self.data.check(&self.clean, self.role_sizes(), self.settings.seed)
    }

    fn groups(&self) -> Vec<Group<ImageCell>> {
        let cells = |condition: &ShiftedCondition| {
            let of_marginal = |labels: &LabelMarginal| {
                let (condition, labels) = (condition.clone(), *labels);
                (0..self.settings.seeds).map(move |repetition| ImageCell {
                    condition: condition.clone(),
                    labels,
                    repetition,
                })
            };
            self.settings.marginals.iter().flat_map(of_marginal).collect()
        };
        let group = |condition: &ShiftedCondition| Group {
            name: condition.name(),
            cells: cells(condition),
        };
        self.data.conditions().iter().map(group).collect()
    }

    fn name(&self, cell: &ImageCell) -> String {
        format!("{}-{}-{:03}", cell.condition.name(), cell.labels.name(), cell.repetition)
    }

    fn prepare(&self, group: &Group<ImageCell>) -> Result<TargetTables> {
        let condition = group.cells.first().map(|cell| &cell.condition);
        let read = |data: &DataFolder, clean: &SoftmaxTable| match condition {
            None => Ok(clean.clone()),
            Some(condition) => data.read(condition, self.clean.classes),
        };
        let second = self.second.as_ref().map(|(data, clean)| read(data, clean)).transpose()?;
        Ok(TargetTables { table: read(&self.data, &self.clean)?, second })
    }

    fn run_cell(
        &self,
        shared: &TargetTables,
        cell: &ImageCell,
        stopwatch: &mut Stopwatch,
    ) -> Result<CellOutcome> {
        let shifted = &shared.table;
        let seed = self.seed_of(cell);
        let sizes = self.role_sizes();
        let split = match Split::deal(&self.clean, shifted, sizes, cell.labels, seed) {
            // Told in the tables: averages over a handful of points would say nothing.
            Err(Error::SmallLabelShift { largest, .. }) => {
                return Ok(CellOutcome::left_out(largest));
            }
            // A sample with label shift is dealt class by class; mixed, unlabeled and test rows have one law.
            dealt if cell.labels == LabelMarginal::Shifted => dealt?.mixed(seed),
            dealt => dealt?,
        };
        let points = stopwatch.time("dealing", || -> Result<CellPoints> {
            let both_halves = self.clean.subset(&split.calibration)?;
            let second = match (&self.second, &shared.second) {
                (Some((_, clean)), Some(target)) => {
                    let first = &split.calibration[..self.settings.calibration];
                    let images = |table: &SoftmaxTable, rows: &[usize]| -> Vec<usize> {
                        rows.iter().map(|row| table.image_ids[*row]).collect()
                    };
                    Some([
                        clean.of_images(&images(&self.clean, first))?,
                        target.of_images(&images(shifted, &split.unlabeled))?,
                    ])
                }
                _ => None,
            };
            let test = shifted.subset(&split.test)?;
            Ok(CellPoints {
                second,
                accuracy: test.accuracy(),
                calibration: both_halves.first(self.settings.calibration)?,
                both_halves,
                unlabeled: shifted.subset(&split.unlabeled)?,
                test,
                severity: cell.condition.severity,
                grid: self.settings.grid,
                alpha: self.settings.alpha,
            })
        })?;
        let outcome = run_methods(&self.settings.methods, &points, seed, stopwatch)?;
        Ok(CellOutcome { redraws: split.redraws, ..outcome })
    }

    fn outputs(&self, finished: &[(ImageCell, CellOutcome)]) -> Result<Outputs> {
        Ok(tables::outputs(self, finished))
    }
}

//! How near coverage comes to the level with `k` labels of the target data, for growing `k`.
//!
//! ```text
//! approach   what is done with the labels, by name
//! cell       condition, label marginal, seed -> coverage and size of every approach at every k
//! outputs    all cells                       -> error and size by k, a figure, and every cell as data
//! ```

mod approach;
mod cell;
mod outputs;

pub use approach::LabelApproach;
pub use cell::{ApproachOutcome, LabelsOutcome};

use evenkeel::level::Miscoverage;
use evenkeel::seed::Seed;
use serde_json::json;

use super::method::DELTA;
use super::{
    DataFolder, LABEL_SHIFT_DRAWS, LABEL_SHIFT_GAMMA, LABEL_SHIFT_LEAST, LabelMarginal, RoleSizes,
    ShiftedCondition, SoftmaxTable, Split, refuse_repeated, with_data,
};
use crate::error::{Error, Result};
use crate::run::{Experiment, Group, Outputs, Stopwatch};
use cell::{LabelPoints, run_approaches};

/// Settings of the experiment.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `labels` | 10, 20, 30, 50, 100, 200 | numbers `k` of labels; 0 is always there | 1 to `unlabeled`, each once |
/// | `seeds` | 10 | repetitions of every condition | at least 1 |
/// | `calibration` | 300 | labeled clean points | at least 1 |
/// | `unlabeled` | 300 | points of the target data, the labeled ones among them | at least 1 |
/// | `test` | 30 000 | test points at most | at least 1 |
/// | `alpha` | 0.1 | miscoverage rate | |
#[derive(Debug, Clone, PartialEq)]
pub struct LabelsSettings {
    /// Numbers of labels.
    pub labels: Vec<usize>,
    /// Repetitions of every condition.
    pub seeds: u64,
    /// Labeled clean points `n`.
    pub calibration: usize,
    /// Points of the target data `m`.
    pub unlabeled: usize,
    /// Test points at most.
    pub test: usize,
    /// Miscoverage rate.
    pub alpha: Miscoverage,
    /// Root of all randomness.
    pub seed: Seed,
}

impl LabelsSettings {
    /// The default sizes.
    pub fn new(alpha: Miscoverage, seed: Seed) -> Self {
        Self {
            labels: vec![10, 20, 30, 50, 100, 200],
            seeds: 10,
            calibration: 300,
            unlabeled: 300,
            test: 30_000,
            alpha,
            seed,
        }
    }

    /// What of the configuration is known before there are data; an error unless every setting is in its range.
    pub fn configuration(&self) -> Result<serde_json::Value> {
        let Self { labels, seeds, calibration, unlabeled, test, alpha, seed } = self;
        let fewest = labels.iter().copied().min().unwrap_or(0);
        let sizes = [
            ("the smallest number of labels", fewest),
            ("the number of seeds", *seeds as usize),
            ("the number of calibration points", *calibration),
            ("the number of unlabeled points", *unlabeled),
            ("the number of test points", *test),
        ];
        if let Some((what, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(Error::BadSetting { what, found: 0.0, expected: "at least 1" });
        }
        if let Some(most) = labels.iter().find(|count| *count > unlabeled) {
            let what = "the largest number of labels";
            let expected = "at most the number of unlabeled points, which are what is labeled";
            return Err(Error::BadSetting { what, found: *most as f64, expected });
        }
        refuse_repeated("--labels", labels)?;
        let approaches: Vec<&str> = LabelApproach::ALL.iter().map(|row| row.id()).collect();
        Ok(json!({
            "experiment": "few-labels",
            "version": env!("CARGO_PKG_VERSION"),
            "approaches": approaches,
            "labels": labels,
            "delta": DELTA,
            "label_shift_gamma": LABEL_SHIFT_GAMMA,
            "label_shift_least_points": LABEL_SHIFT_LEAST,
            "label_shift_most_draws": LABEL_SHIFT_DRAWS,
            "seeds": seeds,
            "calibration": calibration,
            "unlabeled": unlabeled,
            "test": test,
            "alpha": alpha.get(),
            "seed": seed.get(),
        }))
    }
}

/// The experiment on one data folder.
#[derive(Debug, Clone)]
pub struct LabelsStudy {
    data: DataFolder,
    clean: SoftmaxTable,
    settings: LabelsSettings,
}

/// What tells cells apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelsCell {
    /// Corruption and severity; none for clean images.
    pub condition: Option<ShiftedCondition>,
    /// Label marginal of the target data.
    pub marginal: LabelMarginal,
    /// Repetition.
    pub repetition: u64,
}

impl LabelsCell {
    /// The name of its softmax file, without extension.
    fn condition_name(&self) -> String {
        condition_name(self.condition.as_ref())
    }
}

fn condition_name(condition: Option<&ShiftedCondition>) -> String {
    condition.map_or_else(|| "clean".to_owned(), ShiftedCondition::name)
}

impl LabelsStudy {
    /// Reads the folder's clean table.
    pub fn new(data: DataFolder, settings: LabelsSettings) -> Result<Self> {
        Ok(Self { clean: data.read_clean()?, data, settings })
    }

    fn role_sizes(&self) -> RoleSizes {
        let LabelsSettings { calibration, unlabeled, test, .. } = self.settings;
        RoleSizes { calibration, unlabeled, test }
    }
}

impl Experiment for LabelsStudy {
    type Cell = LabelsCell;
    type Shared = SoftmaxTable;
    type Outcome = LabelsOutcome;

    fn configuration(&self) -> Result<serde_json::Value> {
        with_data(self.settings.configuration()?, &self.data, self.clean.classes)
    }

    fn check(&self) -> Result<()> {
        let (sizes, seed) = (self.role_sizes(), self.settings.seed);
        Split::deal(&self.clean, &self.clean, sizes, LabelMarginal::Same, seed)?;
        self.data.check(&self.clean, sizes, seed)
    }

    fn groups(&self) -> Vec<Group<LabelsCell>> {
        let cells = |condition: &Option<ShiftedCondition>| {
            let of_marginal = |marginal: LabelMarginal| {
                (0..self.settings.seeds).map(move |repetition| LabelsCell {
                    condition: condition.clone(),
                    marginal,
                    repetition,
                })
            };
            LabelMarginal::ALL.into_iter().flat_map(of_marginal).collect()
        };
        let shifted = self.data.conditions().iter().cloned().map(Some);
        std::iter::once(None)
            .chain(shifted)
            .map(|condition| Group {
                name: condition_name(condition.as_ref()),
                cells: cells(&condition),
            })
            .collect()
    }

    fn name(&self, cell: &LabelsCell) -> String {
        format!("{}-{}-{:03}", cell.condition_name(), cell.marginal.name(), cell.repetition)
    }

    fn prepare(&self, group: &Group<LabelsCell>) -> Result<SoftmaxTable> {
        match group.cells.first().and_then(|cell| cell.condition.as_ref()) {
            Some(condition) => self.data.read(condition, self.clean.classes),
            None => Ok(self.clean.clone()),
        }
    }

    fn run_cell(
        &self,
        shifted: &SoftmaxTable,
        cell: &LabelsCell,
        stopwatch: &mut Stopwatch,
    ) -> Result<LabelsOutcome> {
        let family = format!("{}-{}", cell.condition_name(), cell.marginal.name());
        let seed = self.settings.seed.child(&family, cell.repetition);
        let sizes = self.role_sizes();
        let split = match Split::deal(&self.clean, shifted, sizes, cell.marginal, seed) {
            // Told in the tables: averages over a handful of points would say nothing.
            Err(Error::SmallLabelShift { .. }) => return Ok(LabelsOutcome::left_out()),
            // Labels must be those of rows drawn at random from what the sets are made for.
            dealt => dealt?.mixed(seed),
        };
        let points = LabelPoints {
            calibration: self.clean.subset(&split.calibration)?,
            target: shifted.subset(&split.unlabeled)?,
            test: shifted.subset(&split.test)?,
            alpha: self.settings.alpha,
            seed,
        };
        run_approaches(&points, &self.settings.labels, stopwatch)
    }

    fn outputs(&self, finished: &[(LabelsCell, LabelsOutcome)]) -> Result<Outputs> {
        Ok(outputs::outputs(&self.settings, finished))
    }
}

//! The paper's synthetic regression (Figs 3 and 5): coverage and set size over many simulations.

mod method;
mod predictor;
mod simulation;
mod tables;
mod world;

pub use method::RegressionMethod;
pub use predictor::{HIDDEN, Predictor, PredictorSettings, Training};
pub use simulation::{MethodOutcome, SimulationOutcome, StageOutcome};
pub use world::{FEATURES, SHIFT, Sample, World};

use evenkeel::level::Miscoverage;
use evenkeel::measure::{BANDWIDTH_FACTOR_REGRESSION, Grid};
use evenkeel::sandwich::LabelBins;
use evenkeel::seed::Seed;
use serde_json::json;

use crate::error::{Error, Result};
use crate::run::{Experiment, Group, Outputs, Stopwatch};
use method::{LEARNING_RATE, STEPS, learned_ratio_words};
use simulation::{SimulationSettings, simulate};

/// Settings of the experiment.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `simulations` | 500 | repetitions, each with samples of its own | at least 1 |
/// | `samples` | 1000 | points of each of the four samples | at least 2 |
/// | `epochs` | 30 | training of the predictor; each number is shown | at least 1, increasing |
/// | `bins` | 50 | bins of `y` | at least 2 |
/// | `alpha` | 0.1 | miscoverage rate | |
#[derive(Debug, Clone, PartialEq)]
pub struct Regression {
    /// Repetitions.
    pub simulations: usize,
    /// Points of each sample.
    pub samples: usize,
    /// Stages of the predictor's training at which all methods are run.
    pub epochs: Vec<usize>,
    /// Bins of `y`.
    pub bins: usize,
    /// Step and batch size of the predictor's training.
    pub predictor: PredictorSettings,
    /// Miscoverage rate.
    pub alpha: Miscoverage,
    /// Root of all randomness.
    pub seed: Seed,
}

impl Regression {
    /// The paper's sizes.
    pub fn new(alpha: Miscoverage, seed: Seed) -> Self {
        Self {
            simulations: 500,
            samples: 1000,
            epochs: vec![30],
            bins: LabelBins::DEFAULT_COUNT,
            predictor: PredictorSettings::default(),
            alpha,
            seed,
        }
    }

    /// An error unless every setting is in its range.
    pub fn check(&self) -> Result<()> {
        let sizes = [
            ("the number of simulations", self.simulations, 1),
            ("the number of samples", self.samples, 2),
            ("the number of bins", self.bins, 2),
            ("the number of epochs", self.epochs.iter().copied().min().unwrap_or(0), 1),
            ("the batch size", self.predictor.batch, 1),
        ];
        for (what, found, least) in sizes {
            if found < least {
                let expected = if least == 1 { "at least 1" } else { "at least 2" };
                return Err(Error::BadSetting { what, found: found as f64, expected });
            }
        }
        // Increasing, because one training serves all stages: it cannot go back.
        match self.epochs.windows(2).find(|pair| pair[0] >= pair[1]) {
            Some(pair) => Err(Error::BadSetting {
                what: "a number of epochs",
                found: pair[1] as f64,
                expected: "more than the one before",
            }),
            None => Ok(()),
        }
    }
}

impl Experiment for Regression {
    type Cell = usize;
    type Shared = ();
    type Outcome = SimulationOutcome;

    fn configuration(&self) -> Result<serde_json::Value> {
        self.check()?;
        Ok(json!({
            "experiment": "regression",
            "version": env!("CARGO_PKG_VERSION"),
            "simulations": self.simulations,
            "samples": self.samples,
            "epochs": self.epochs,
            "batch": self.predictor.batch,
            "learning_rate": self.predictor.learning_rate,
            "bins": self.bins,
            "alpha": self.alpha.get(),
            "seed": self.seed.get(),
            "transport_steps": STEPS,
            "transport_learning_rate": LEARNING_RATE,
            "transport_grid": Grid::LEARNING_POINTS,
            "transport_bandwidth_factor": BANDWIDTH_FACTOR_REGRESSION,
            "learned_ratios": learned_ratio_words(),
            "methods": RegressionMethod::ALL.map(RegressionMethod::name),
        }))
    }

    fn groups(&self) -> Vec<Group<usize>> {
        let cells = (0..self.simulations).collect();
        vec![Group { name: "simulations".to_owned(), cells }]
    }

    fn name(&self, cell: &usize) -> String {
        format!("simulation-{cell:05}")
    }

    fn prepare(&self, _: &Group<usize>) -> Result<()> {
        Ok(())
    }

    fn run_cell(
        &self,
        (): &(),
        cell: &usize,
        stopwatch: &mut Stopwatch,
    ) -> Result<SimulationOutcome> {
        let settings = SimulationSettings {
            samples: self.samples,
            bins: self.bins,
            epochs: &self.epochs,
            predictor: self.predictor,
            alpha: self.alpha,
        };
        simulate(&settings, self.seed.child("regression", *cell as u64), stopwatch)
    }

    fn outputs(&self, finished: &[(usize, SimulationOutcome)]) -> Result<Outputs> {
        Ok(tables::outputs(self, finished))
    }
}

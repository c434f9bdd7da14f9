//! One simulation: four samples, a predictor at several stages of its training, all methods.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::sandwich::LabelBins;
use evenkeel::score::Labels;
use evenkeel::seed::Seed;
use evenkeel_jobs::AnyRows;
use serde::{Deserialize, Serialize};

use super::method::{Ratios, RegressionMethod};
use super::predictor::{Predictor, PredictorSettings, Training};
use super::world::{Sample, World};
use crate::error::Result;
use crate::run::Stopwatch;
use crate::trial::{Points, SCORE, Trial};

/// What a simulation leaves behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimulationOutcome {
    /// Width of a bin of `y`.
    pub bin_width: f64,
    /// One for each number of epochs.
    pub stages: Vec<StageOutcome>,
}

/// Everything measured after so many epochs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageOutcome {
    /// Epochs of training.
    pub epochs: usize,
    /// Mean cross-entropy of the predictor on held-out calibration points.
    pub loss_labeled: f64,
    /// The same on held-out target points.
    pub loss_target: f64,
    /// One for each method.
    pub methods: Vec<MethodOutcome>,
}

/// How one method did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodOutcome {
    /// Its name.
    pub method: String,
    /// Share of the test points whose bin is in their set.
    pub coverage: f64,
    /// Mean number of bins in a set.
    pub bins: f64,
    /// Share of the test points whose set holds all bins.
    pub full: f64,
    /// Measured total coverage gap, where there is one calibration law.
    pub total_gap: Option<f64>,
    /// Effective sample size of the weights.
    pub effective: Option<f64>,
}

/// The four samples of a simulation.
#[derive(Debug)]
pub(super) struct Sets {
    pub(super) training: Sample,
    pub(super) calibration: Sample,
    pub(super) unlabeled: Sample,
    pub(super) test: Sample,
}

impl Sets {
    fn draw(n: usize, seed: Seed) -> Self {
        let draw = |world, purpose| Sample::draw(world, n, &mut seed.stream(purpose));
        Self {
            training: draw(World::Labeled, "training"),
            calibration: draw(World::Labeled, "calibration"),
            // A stream for each sample: a larger one leaves the others as they are.
            unlabeled: draw(World::TargetScores, "unlabeled"),
            test: draw(World::TargetScores, "test"),
        }
    }
}

/// A sample as the predictor sees it.
struct Predicted {
    /// Of the bins of `y`; shape `(n, bins)`, row-major.
    probabilities: Vec<f64>,
    /// The bin of every point.
    labels: Labels,
    bins: usize,
}

impl Predicted {
    fn by(predictor: &Predictor, sample: &Sample, bins: &LabelBins) -> Result<Self> {
        let labels = sample.y.iter().map(|y| bins.bin_of(*y)).collect();
        let labels = Labels::new(labels, bins.count())?;
        let probabilities = predictor.probabilities(&sample.x)?;
        Ok(Self { probabilities, labels, bins: bins.count() })
    }

    /// As the jobs take them.
    fn points(&self) -> Result<Points<'_>> {
        let rows = AnyRows::f64(&self.probabilities, self.bins)?;
        Ok(Points { rows, labels: &self.labels, ratios: None, second: None })
    }

    /// Mean cross-entropy from scores `1 - p`; a probability that rounds to zero counts as the smallest number.
    fn loss(&self) -> Result<f64> {
        let scores = self.points()?.scores()?;
        let losses = scores.iter().map(|score| -(1.0 - score).max(f64::MIN_POSITIVE).ln());
        Ok(losses.sum::<f64>() / scores.len() as f64)
    }
}

/// What methods see: likelihood ratios, and the samples as the predictor sees them.
struct Stage<'a> {
    known: &'a Ratios,
    learned: &'a Ratios,
    calibration: Predicted,
    unlabeled: Predicted,
    test: Predicted,
}

impl Stage<'_> {
    fn evaluate(
        &self,
        method: RegressionMethod,
        alpha: Miscoverage,
        seed: Seed,
    ) -> Result<MethodOutcome> {
        let (labeled, ratios) = match method {
            // Labels of the target data, which only the oracle may see.
            RegressionMethod::Oracle => (&self.unlabeled, None),
            RegressionMethod::TrueRatio => (&self.calibration, Some(self.known)),
            RegressionMethod::LearnedRatio => (&self.calibration, Some(self.learned)),
            _ => (&self.calibration, None),
        };
        let calibrator = ShiftCalibrator { method: method.in_core()?, score: SCORE, alpha, seed };
        let of_calibration = ratios.map(|ratios| &ratios.calibration[..]);
        let labeled = Points { ratios: of_calibration, ..labeled.points()? };
        let trial = Trial::calibrate(&calibrator, labeled, self.unlabeled.points()?)?;
        let of_test = ratios.map(|ratios| &ratios.test[..]);
        let test = Points { ratios: of_test, ..self.test.points()? };
        let evaluation = trial.evaluate(test)?;
        let effective = match method {
            // Equal weights: `1 / sum w^2` may miss the number of points in the last digit.
            RegressionMethod::Uncorrected | RegressionMethod::Oracle => trial.law().points() as f64,
            _ => trial.law().effective_sample_size(),
        };
        Ok(MethodOutcome {
            method: method.name().to_owned(),
            coverage: evaluation.coverage,
            bins: evaluation.mean_size,
            full: evaluation.full as f64 / evaluation.n as f64,
            total_gap: trial.total_gap(&test.law()?),
            effective: Some(effective),
        })
    }
}

/// Settings of one simulation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SimulationSettings<'a> {
    pub(super) samples: usize,
    pub(super) bins: usize,
    pub(super) epochs: &'a [usize],
    pub(super) predictor: PredictorSettings,
    pub(super) alpha: Miscoverage,
}

/// Runs one simulation.
pub(super) fn simulate(
    settings: &SimulationSettings<'_>,
    seed: Seed,
    stopwatch: &mut Stopwatch,
) -> Result<SimulationOutcome> {
    let sets = Sets::draw(settings.samples, seed);
    // Over the training sample: bins that looked at other samples would know their range.
    let bins = LabelBins::over(&sets.training.y, settings.bins)?;
    let bins_of_y = sets.training.y.iter().map(|y| bins.bin_of(*y)).collect();
    let mut training =
        Training::new(&sets.training.x, bins_of_y, bins.count(), settings.predictor, seed);
    let known = Ratios::known(&sets);
    let learned = stopwatch.time("learning ratios", || Ratios::fit(&sets, seed))?;
    let mut stages = Vec::new();
    for epochs in settings.epochs {
        stopwatch.time("training", || training.train_to(*epochs));
        let predictor = training.predictor();
        let predicted = |sample| Predicted::by(predictor, sample, &bins);
        let stage = Stage {
            known: &known,
            learned: &learned,
            calibration: predicted(&sets.calibration)?,
            unlabeled: predicted(&sets.unlabeled)?,
            test: predicted(&sets.test)?,
        };
        let methods = RegressionMethod::ALL
            .into_iter()
            .map(|method| {
                stopwatch.time(method.name(), || stage.evaluate(method, settings.alpha, seed))
            })
            .collect::<Result<_>>()?;
        stages.push(StageOutcome {
            epochs: *epochs,
            loss_labeled: stage.calibration.loss()?,
            loss_target: stage.unlabeled.loss()?,
            methods,
        });
    }
    Ok(SimulationOutcome { bin_width: bins.width(), stages })
}

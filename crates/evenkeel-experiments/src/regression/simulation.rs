//! One simulation: four samples, a predictor at several stages of its training, all methods.

use evenkeel::conformal::{label_scores_of_rows, predict_rows};
use evenkeel::evaluation::{EvaluationCounts, total_coverage_gap};
use evenkeel::level::Miscoverage;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::rows::Rows;
use evenkeel::sandwich::LabelBins;
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::Seed;
use serde::{Deserialize, Serialize};

use super::method::{LearnedRatios, RegressionMethod};
use super::predictor::{PredictorSettings, Training};
use super::world::{Sample, World};
use crate::error::Result;
use crate::run::Stopwatch;

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

/// What methods see: the samples, and the predictor's probabilities on them.
pub(super) struct Stage<'a> {
    pub(super) sets: &'a Sets,
    pub(super) learned: &'a LearnedRatios,
    bins: &'a LabelBins,
    calibration: Vec<f64>,
    unlabeled: Vec<f64>,
    test: Vec<f64>,
}

impl Stage<'_> {
    fn bins_of(&self, y: &[f64]) -> Vec<usize> {
        y.iter().map(|y| self.bins.bin_of(*y)).collect()
    }

    fn labels_of(&self, sample: &Sample) -> Result<Labels> {
        Ok(Labels::new(self.bins_of(&sample.y), self.bins.count())?)
    }

    pub(super) fn calibration(&self) -> Result<Probabilities<'_, f64>> {
        Ok(Probabilities::new(&self.calibration, self.bins.count())?)
    }

    pub(super) fn unlabeled(&self) -> Result<Probabilities<'_, f64>> {
        Ok(Probabilities::new(&self.unlabeled, self.bins.count())?)
    }

    pub(super) fn calibration_labels(&self) -> Result<Labels> {
        self.labels_of(&self.sets.calibration)
    }

    pub(super) fn calibration_scores(&self) -> Result<Vec<f64>> {
        Ok(Score::Lac.label_scores(&self.calibration()?, &self.calibration_labels()?)?)
    }

    /// Scores of the first target sample at its labels, which only the oracle may see.
    pub(super) fn unlabeled_scores(&self) -> Result<Vec<f64>> {
        let labels = self.labels_of(&self.sets.unlabeled)?;
        Ok(Score::Lac.label_scores(&self.unlabeled()?, &labels)?)
    }

    fn evaluate(
        &self,
        method: RegressionMethod,
        alpha: Miscoverage,
        seed: Seed,
    ) -> Result<MethodOutcome> {
        let cut = method.cut(self, alpha, seed)?;
        let rows = Rows::new("test probabilities", &self.test, self.bins.count())?;
        let sets = predict_rows(0, rows, &Score::Lac, cut.thresholds.thresholds())?;
        let labels = self.labels_of(&self.sets.test)?;
        let counts = EvaluationCounts::of(&sets, &labels)?;
        let scores = label_scores_of_rows(0, rows, &Score::Lac, labels.as_slice())?;
        let total_gap = match &cut.law {
            Some(law) => Some(total_coverage_gap(law, &WeightedEmpirical::uniform(&scores)?)),
            None => None,
        };
        let evaluation = counts.finish(alpha, total_gap)?;
        Ok(MethodOutcome {
            method: method.name().to_owned(),
            coverage: evaluation.coverage,
            bins: evaluation.mean_size,
            full: evaluation.full as f64 / evaluation.n as f64,
            total_gap: evaluation.total_coverage_gap,
            effective: cut.effective,
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
    // Once for all stages: the ratio of features does not depend on the predictor.
    let learned = stopwatch.time("learning ratios", || LearnedRatios::fit(&sets, seed))?;
    let mut stages = Vec::new();
    for epochs in settings.epochs {
        stopwatch.time("training", || training.train_to(*epochs));
        let predictor = training.predictor();
        let stage = Stage {
            sets: &sets,
            learned: &learned,
            bins: &bins,
            calibration: predictor.probabilities(&sets.calibration.x)?,
            unlabeled: predictor.probabilities(&sets.unlabeled.x)?,
            test: predictor.probabilities(&sets.test.x)?,
        };
        let methods = RegressionMethod::ALL
            .into_iter()
            .map(|method| {
                stopwatch.time(method.name(), || stage.evaluate(method, settings.alpha, seed))
            })
            .collect::<Result<_>>()?;
        stages.push(StageOutcome {
            epochs: *epochs,
            loss_labeled: loss(&stage.calibration_scores()?),
            loss_target: loss(&stage.unlabeled_scores()?),
            methods,
        });
    }
    Ok(SimulationOutcome { bin_width: bins.width(), stages })
}

/// Mean cross-entropy from scores `1 - p`; a probability that rounds to zero counts as the smallest number.
fn loss(scores: &[f64]) -> f64 {
    let losses = scores.iter().map(|score| -(1.0 - score).max(f64::MIN_POSITIVE).ln());
    losses.sum::<f64>() / scores.len() as f64
}

//! The whole algorithm, one call per stage (the paper's Alg 2). Read this first.
//!
//! ```text
//! scores -> measures -> sandwich -> bound before -> weights -> bound after -> calibration (thresholds, sets)
//! ```

use std::ops::ControlFlow;

use crate::bound::{Integrator, integrated_gap_between, wasserstein_gap_between};
use crate::calibration::{Calibration, Learned, MethodName, Provenance, diagnose};
use crate::conformal::TestMass;
use crate::error::{Error, Result, require_finite, require_same_length, require_some};
use crate::level::{FailureProbability, Miscoverage, MiscoverageRange};
use crate::measure::{
    BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FLOOR, Bandwidth, Grid, Interval, SmoothedLaw,
    Support, WeightedEmpirical, Weights,
};
use crate::reweighting::network::Mlp;
use crate::reweighting::objective::{
    FiniteSample, Objective, ObjectiveInputs, WassersteinObjective, WeightedCdfObjective,
};
use crate::reweighting::optimise::{AdamSettings, StopReason, StoppingRule, Trace, TracePoint};
use crate::reweighting::{
    FreeFormSettings, Halves, WeightFunctionSettings, fit_free_form, fit_weight_function,
    free_form_test_mass, function_weights, initial_log_weights,
};
use crate::rows::Real;
use crate::sandwich::{
    Abscissae, Sandwich, SandwichSketch, SketchedLaws, min_max, model_uniform,
    model_uniform_sampled,
};
use crate::score::{CandidateScores, Labels, Probabilities, Score};
use crate::seed::Seed;

/// How calibration weights are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// Split conformal prediction: every calibration point counts the same.
    Uncorrected,
    /// The paper's: weights that minimise a bound on the lost coverage.
    OptimalTransport(TransportSettings),
}

impl Method {
    /// The name used on the command line and in files.
    pub fn name(&self) -> MethodName {
        match self {
            Self::Uncorrected => MethodName::Uncorrected,
            Self::OptimalTransport(_) => MethodName::Ot,
        }
    }
}

/// Which laws are put around today's scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SandwichChoice {
    /// Model and uniform labels in exact expectation.
    #[default]
    ModelUniform,
    /// Model and uniform labels drawn anew in each step, as printed in Alg 1.
    ModelUniformSampled,
    /// Extremes over the possible labels.
    MinMax,
}

/// Which bound is minimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ObjectiveChoice {
    /// Eq 7 on the learning grid.
    #[default]
    WeightedCdf,
    /// Eq 8.
    Wasserstein,
}

/// What the log-weights are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WeightsChoice {
    /// One per calibration point.
    #[default]
    FreeForm,
    /// A network of the score, fitted on one half of the calibration points and used on the other.
    Function,
}

/// Settings of [`Method::OptimalTransport`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `sandwich` | f-u, exact | laws around today's scores | |
/// | `objective` | weighted-cdf | bound that is minimised | |
/// | `finite_sample` | none | adds `sqrt(ln(2/d) / (2 n_w))`, so that it can be run to convergence | `0 < d < 1` |
/// | `restriction` | none | miscoverage rates the weighted-CDF objective averages over | |
/// | `weights` | free-form | what the log-weights are made of | |
/// | `adam`, `stopping` | the paper's | step size 1e-3, 1000 steps | |
/// | `learning_grid` | 100 | grid of the objective; the answer depends on it, see docs/paper-map.md | `>= 2` |
/// | `bound_grid` | 1000 | grid of the reported bounds | `>= 2` |
/// | `bandwidth_factor` | 0.1 | factor of Scott's rule (1 in regression) | `>= 0` |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransportSettings {
    /// Laws around today's scores.
    pub sandwich: SandwichChoice,
    /// Bound that is minimised.
    pub objective: ObjectiveChoice,
    /// Failure probability of the finite-sample term, if the objective has one.
    pub finite_sample: Option<FailureProbability>,
    /// Miscoverage rates the weighted-CDF objective averages over, if not all.
    pub restriction: Option<MiscoverageRange>,
    /// What the log-weights are made of.
    pub weights: WeightsChoice,
    /// Step sizes.
    pub adam: AdamSettings,
    /// When to stop.
    pub stopping: StoppingRule,
    /// Grid points of the objective.
    pub learning_grid: usize,
    /// Grid points of the reported bounds.
    pub bound_grid: usize,
    /// Factor of the bandwidth rule.
    pub bandwidth_factor: f64,
}

impl Default for TransportSettings {
    fn default() -> Self {
        Self {
            sandwich: SandwichChoice::default(),
            objective: ObjectiveChoice::default(),
            finite_sample: None,
            restriction: None,
            weights: WeightsChoice::default(),
            adam: AdamSettings::default(),
            stopping: StoppingRule::default(),
            learning_grid: Grid::LEARNING_POINTS,
            bound_grid: Grid::BOUND_POINTS,
            bandwidth_factor: BANDWIDTH_FACTOR_CLASSIFICATION,
        }
    }
}

/// Candidate scores kept one by one; more of them are sketched where that gives the same answer. As atoms with masses
/// they take 48 bytes each.
pub const MOST_CANDIDATES: usize = 1 << 21;

/// Today's unlabeled side.
#[derive(Debug, Clone, Copy)]
pub enum Today<'a> {
    /// The score of every label every point could have.
    Candidates(&'a CandidateScores),
    /// Two laws made elsewhere: a sketch of a file larger than memory, or the user's own.
    Sandwich(&'a Sandwich),
}

/// Turns labeled scores of yesterday and unlabeled ones of today into a [`Calibration`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShiftCalibrator {
    /// How weights are found.
    pub method: Method,
    /// What scores labels.
    pub score: Score,
    /// Miscoverage rate of the traced thresholds and the default of the calibration; any other can be asked for later.
    pub alpha: Miscoverage,
    /// Root of all randomness.
    pub seed: Seed,
}

impl ShiftCalibrator {
    /// From probabilities: `(n, C)` labeled ones of yesterday and `(m, C)` unlabeled ones of today.
    pub fn calibrate<T: Real, U: Real>(
        &self,
        yesterday: &Probabilities<'_, T>,
        labels: &Labels,
        today: &Probabilities<'_, U>,
    ) -> Result<Calibration> {
        let classes = yesterday.classes();
        require_same_length("today's classes", today.classes(), "yesterday's classes", classes)?;
        let scores = self.score.with_draws_for("calibration").label_scores(yesterday, labels)?;
        let score = self.score.with_draws_for("today");
        let range = self.score.range(classes);
        if today.rows() * classes > MOST_CANDIDATES
            && let Some(laws) = self.sketchable_laws()
        {
            let abscissae = self.abscissae(&scores, range)?;
            let sketch = SandwichSketch::of_probabilities(abscissae, laws, today.table(), &score)?;
            return self.calibrate_sketched(&scores, &sketch, classes);
        }
        let candidates = score.candidate_scores(today)?;
        self.calibrate_scores(&scores, Today::Candidates(&candidates), classes, range)
    }

    /// An empty sketch for a table of more than [`MOST_CANDIDATES`] candidate scores that is read in blocks, with the score
    /// function to add them by; none where the method needs every candidate.
    pub fn empty_sketch(
        &self,
        scores: &[f64],
        classes: usize,
    ) -> Result<Option<(SandwichSketch, Score)>> {
        let Some(laws) = self.sketchable_laws() else { return Ok(None) };
        let abscissae = self.abscissae(scores, self.score.range(classes))?;
        Ok(Some((SandwichSketch::new(abscissae, laws), self.score.with_draws_for("today"))))
    }

    /// From scores and a filled [`empty_sketch`](Self::empty_sketch).
    pub fn calibrate_sketched(
        &self,
        scores: &[f64],
        sketch: &SandwichSketch,
        classes: usize,
    ) -> Result<Calibration> {
        let sandwich = match self.sketchable_laws() {
            Some(SketchedLaws::Extremes) => sketch.min_max()?,
            _ => sketch.model_uniform()?,
        };
        let range = self.score.range(classes);
        self.calibrate_scores(scores, Today::Sandwich(&sandwich), classes, range)
    }

    /// The laws to sketch instead of keeping every candidate score, where the method needs no more than their CDFs on
    /// the grids.
    fn sketchable_laws(&self) -> Option<SketchedLaws> {
        let Method::OptimalTransport(settings) = self.method else {
            return Some(SketchedLaws::Extremes);
        };
        match (settings.objective, settings.sandwich) {
            (ObjectiveChoice::Wasserstein, _) | (_, SandwichChoice::ModelUniformSampled) => None,
            (ObjectiveChoice::WeightedCdf, SandwichChoice::MinMax) => Some(SketchedLaws::Extremes),
            (ObjectiveChoice::WeightedCdf, SandwichChoice::ModelUniform) => {
                Some(SketchedLaws::ModelUniform)
            }
        }
    }

    /// Where the CDFs must be exact: on both grids, and at the largest calibration score.
    fn abscissae(&self, scores: &[f64], range: Interval) -> Result<Abscissae> {
        let settings = match self.method {
            Method::Uncorrected => TransportSettings::default(),
            Method::OptimalTransport(settings) => settings,
        };
        let mut further = Grid::new(range, settings.learning_grid)?.points().to_vec();
        further.extend(scores.iter().copied().reduce(f64::max));
        Abscissae::of_grid_and_points(&Grid::new(range, settings.bound_grid)?, &further)
    }

    /// From scores: `(n,)` of yesterday's labels, and today's candidates or the laws around today's scores. `range` must
    /// contain all of yesterday's scores; the grids cover it.
    pub fn calibrate_scores(
        &self,
        scores: &[f64],
        today: Today<'_>,
        classes: usize,
        range: Interval,
    ) -> Result<Calibration> {
        self.calibrate_observed(scores, today, classes, range, &mut |_| ControlFlow::Continue(()))
    }

    /// The same; `observer` sees every recorded point of the optimisation and may end it.
    pub fn calibrate_observed(
        &self,
        scores: &[f64],
        today: Today<'_>,
        classes: usize,
        range: Interval,
        observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
    ) -> Result<Calibration> {
        require_some("calibration scores", scores)?;
        require_finite("calibration scores", scores)?;
        let mut sorted = scores.to_vec();
        sorted.sort_by(f64::total_cmp);
        match self.method {
            Method::Uncorrected => self.uncorrected(sorted, today, classes),
            Method::OptimalTransport(settings) => {
                let problem = Problem { seed: self.seed, alpha: self.alpha, settings, range };
                let learned = problem.learn(sorted, today, observer)?;
                self.finish(learned, classes)
            }
        }
    }

    fn uncorrected(
        &self,
        sorted: Vec<f64>,
        today: Today<'_>,
        classes: usize,
    ) -> Result<Calibration> {
        let n = sorted.len();
        let sandwich = match today {
            Today::Candidates(candidates) => min_max(candidates)?,
            Today::Sandwich(sandwich) => sandwich.clone(),
        };
        let learned = Weighted {
            weights: Weights::uniform(n)?,
            test_mass: TestMass::exchangeable(n),
            bounds: None,
            steps: 0,
            stopped: StopReason::NotIterative,
            trace: Trace::default(),
            sandwich,
            scores: sorted,
        };
        self.finish(learned, classes)
    }

    /// Weights, thresholds and what a user should know about them.
    fn finish(&self, weighted: Weighted, classes: usize) -> Result<Calibration> {
        let law = WeightedEmpirical::new(&weighted.scores, &weighted.weights)?;
        let warnings =
            diagnose(&law, weighted.test_mass, &weighted.sandwich, self.alpha, weighted.stopped);
        let provenance = Provenance {
            method: self.method.name(),
            score: self.score,
            classes,
            alpha: self.alpha,
            seed: self.seed,
        };
        let learned = Learned {
            bound_before: weighted.bounds.map(|(before, _)| before),
            bound_after: weighted.bounds.map(|(_, after)| after),
            steps: weighted.steps,
            stopped: weighted.stopped,
            trace: weighted.trace,
            warnings,
        };
        Calibration::new(provenance, weighted.scores, weighted.weights, weighted.test_mass, learned)
    }
}

/// What the weights of a method amount to.
struct Weighted {
    /// Increasing.
    scores: Vec<f64>,
    weights: Weights,
    test_mass: TestMass,
    /// Before and after.
    bounds: Option<(f64, f64)>,
    steps: usize,
    stopped: StopReason,
    trace: Trace,
    sandwich: Sandwich,
}

/// The paper's method on one set of scores.
struct Problem {
    seed: Seed,
    alpha: Miscoverage,
    settings: TransportSettings,
    range: Interval,
}

impl Problem {
    fn learn(
        &self,
        sorted: Vec<f64>,
        today: Today<'_>,
        observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
    ) -> Result<Weighted> {
        match self.settings.weights {
            WeightsChoice::FreeForm => self.learn_free_form(sorted, today, observer),
            WeightsChoice::Function => self.learn_function(&sorted, today, observer),
        }
    }

    fn learn_free_form(
        &self,
        sorted: Vec<f64>,
        today: Today<'_>,
        observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
    ) -> Result<Weighted> {
        let sandwich = self.sandwich(today)?;
        let bandwidth = self.bandwidth(&sorted)?;
        let initial = initial_log_weights(sorted.len(), self.seed);
        let TransportSettings { adam, stopping, .. } = self.settings;
        let fit = fit_free_form(
            &sorted,
            self.objective(&sorted, &sandwich, bandwidth)?,
            &initial,
            FreeFormSettings { adam, stopping },
            self.alpha,
            &mut |step, objective| self.redraw(today, step, objective),
            observer,
        )?;
        let weights = Weights::softmax(fit.log_weights.clone())?;
        let bounds = self.bounds(&sorted, &weights, &sandwich, bandwidth)?;
        Ok(Weighted {
            scores: sorted,
            weights,
            test_mass: free_form_test_mass(&fit.log_weights)?,
            bounds: Some(bounds),
            steps: fit.steps,
            stopped: fit.stopped,
            trace: fit.trace,
            sandwich,
        })
    }

    fn learn_function(
        &self,
        sorted: &[f64],
        today: Today<'_>,
        observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
    ) -> Result<Weighted> {
        let sandwich = self.sandwich(today)?;
        let halves = Halves::new(sorted.len(), self.seed)?;
        let half = |indices: &[usize]| {
            let mut scores: Vec<f64> = indices.iter().map(|index| sorted[*index]).collect();
            scores.sort_by(f64::total_cmp);
            scores
        };
        let (fitted, calibration) = (half(&halves.fit), half(&halves.calibrate));
        let grid = self.learning_grid()?;
        let TransportSettings { adam, stopping, .. } = self.settings;
        let fit = fit_weight_function(
            &fitted,
            &calibration,
            &grid,
            self.objective(&fitted, &sandwich, self.bandwidth(&fitted)?)?,
            Mlp::initialised(self.seed),
            WeightFunctionSettings { adam, stopping },
            self.alpha,
            &mut |step, objective| self.redraw(today, step, objective),
            observer,
        )?;
        let weighted = function_weights(&fit.network, &calibration, &grid)?;
        let bandwidth = self.bandwidth(&calibration)?;
        let bounds = self.bounds(&calibration, &weighted.weights, &sandwich, bandwidth)?;
        Ok(Weighted {
            scores: calibration,
            weights: weighted.weights,
            test_mass: weighted.test_mass,
            bounds: Some(bounds),
            steps: fit.steps,
            stopped: fit.stopped,
            trace: fit.trace,
            sandwich,
        })
    }

    /// The laws around today's scores; for the sampled choice its exact expectation, which bounds are reported for.
    fn sandwich(&self, today: Today<'_>) -> Result<Sandwich> {
        match (today, self.settings.sandwich) {
            (Today::Sandwich(_), SandwichChoice::ModelUniformSampled) => Err(Error::Unsupported {
                what: "a sandwich drawn anew in each step from two fixed laws",
                instead: "give the candidate scores, or choose the exact expectation",
            }),
            (Today::Sandwich(sandwich), _) => Ok(sandwich.clone()),
            (Today::Candidates(candidates), SandwichChoice::MinMax) => min_max(candidates),
            (Today::Candidates(candidates), _) => model_uniform(candidates),
        }
    }

    /// Alg 1 draws labels in each step; the other sandwiches stay as they are.
    fn redraw(
        &self,
        today: Today<'_>,
        step: usize,
        objective: &mut Box<dyn Objective>,
    ) -> Result<()> {
        match (today, self.settings.sandwich) {
            (Today::Candidates(candidates), SandwichChoice::ModelUniformSampled) => {
                let drawn = model_uniform_sampled(candidates, self.seed, step as u64)?;
                objective.set_sandwich(&drawn)
            }
            _ => Ok(()),
        }
    }

    fn bandwidth(&self, scores: &[f64]) -> Result<Bandwidth> {
        let floor = BANDWIDTH_FLOOR * self.range.width();
        Bandwidth::scott(scores, self.settings.bandwidth_factor, floor)
    }

    fn learning_grid(&self) -> Result<Grid> {
        Grid::new(self.range, self.settings.learning_grid)
    }

    fn support(&self) -> Support {
        Support::Bounded(self.range)
    }

    fn objective(
        &self,
        sorted: &[f64],
        sandwich: &Sandwich,
        bandwidth: Bandwidth,
    ) -> Result<Box<dyn Objective>> {
        let grid = self.learning_grid()?;
        let inputs = ObjectiveInputs {
            sorted_scores: sorted,
            sandwich,
            grid: &grid,
            bandwidth,
            support: self.support(),
        };
        let bound: Box<dyn Objective> = match (self.settings.objective, self.settings.restriction) {
            (ObjectiveChoice::WeightedCdf, None) => Box::new(WeightedCdfObjective::new(inputs)?),
            (ObjectiveChoice::WeightedCdf, Some(range)) => {
                Box::new(WeightedCdfObjective::new(inputs)?.restricted(range))
            }
            (ObjectiveChoice::Wasserstein, None) => Box::new(WassersteinObjective::new(inputs)?),
            (ObjectiveChoice::Wasserstein, Some(_)) => {
                return Err(Error::Unsupported {
                    what: "a restricted range of miscoverage rates with the Wasserstein objective",
                    instead: "use the weighted-CDF objective",
                });
            }
        };
        Ok(match self.settings.finite_sample {
            None => bound,
            Some(d) => Box::new(FiniteSample::new(bound, d)),
        })
    }

    /// The minimised bound at uniform and at learned weights, on the bound grid.
    fn bounds(
        &self,
        scores: &[f64],
        weights: &Weights,
        sandwich: &Sandwich,
        bandwidth: Bandwidth,
    ) -> Result<(f64, f64)> {
        let grid = Grid::new(self.range, self.settings.bound_grid)?;
        let bound = |weights: &Weights| -> Result<f64> {
            let law = WeightedEmpirical::new(scores, weights)?;
            let smoothed = SmoothedLaw::new(law, bandwidth, self.support())?;
            Ok(match self.settings.objective {
                ObjectiveChoice::WeightedCdf => {
                    let integrator = Integrator::density(&smoothed, &grid)?;
                    integrated_gap_between(smoothed.law(), sandwich, &integrator).value
                }
                ObjectiveChoice::Wasserstein => {
                    wasserstein_gap_between(&smoothed, sandwich, &grid)?.value
                }
            })
        };
        Ok((bound(&Weights::uniform(scores.len())?)?, bound(weights)?))
    }
}

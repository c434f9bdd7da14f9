//! The whole algorithm, one call per stage (the paper's Alg 2). Read this first.
//!
//! ```text
//! scores -> measures -> sandwich -> bound before -> weights -> bound after -> calibration (thresholds, sets)
//! ```

use std::ops::ControlFlow;

use crate::calibration::{Calibration, Learned, Provenance, Rule, diagnose};
use crate::error::{Error, Result, require_finite, require_same_length, require_some};
use crate::interval::Interval;
use crate::learning::optimise::TracePoint;
use crate::level::Miscoverage;
use crate::measure::{Grid, WeightedEmpirical, Weights};
use crate::rows::Real;
use crate::sandwich::{Sandwich, min_max};
use crate::score::{CandidateScores, Labels, Probabilities, Score};
use crate::seed::Seed;
use crate::side_inputs::{Labeled, SideInputs};
use crate::sketch::Abscissae;
use crate::sketch::{SandwichSketch, SketchedLaws};
use crate::threshold::TestMass;

mod conclusion;
mod fit;
mod gathered;

pub use fit::{Fit, NextPass};

use crate::method::ot::{Problem, Weighted};
use crate::method::{Method, MethodName, ObjectiveChoice, SandwichChoice, TransportSettings};

/// Candidate scores kept one by one; more of them are sketched where that gives the same answer. As atoms with masses
/// they take 48 bytes each.
pub const MOST_CANDIDATES: usize = 1 << 21;

/// Target unlabeled side.
#[derive(Debug, Clone, Copy)]
pub enum TargetScores<'a> {
    /// The score of every label every point could have.
    Candidates(&'a CandidateScores),
    /// Two laws made elsewhere: a sketch of a file larger than memory, or the user's own.
    Sandwich(&'a Sandwich),
}

/// Turns labeled scores of the calibration data and unlabeled ones of the target data into a [`Calibration`].
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
    /// From probabilities: `(n, C)` labeled ones of the calibration data and `(m, C)` unlabeled ones of the target data.
    pub fn calibrate<T: Real, U: Real>(
        &self,
        labeled: &Probabilities<'_, T>,
        labels: &Labels,
        target: &Probabilities<'_, U>,
    ) -> Result<Calibration> {
        let beside = SideInputs::default();
        let labeled = Labeled { probabilities: labeled, labels, beside };
        self.calibrate_beside(&labeled, target, beside)
    }

    /// The same for methods that take more than probabilities of calibration and target points.
    pub fn calibrate_beside<T: Real, U: Real>(
        &self,
        labeled: &Labeled<'_, T>,
        target: &Probabilities<'_, U>,
        beside: SideInputs<'_>,
    ) -> Result<Calibration> {
        let mut fit = self.begin(labeled)?;
        fit.add(target.table(), beside)?;
        if fit.end_pass()? == NextPass::Again {
            fit.add(target.table(), beside)?;
        }
        fit.finish(&mut |_| ControlFlow::Continue(()))
    }

    /// An empty sketch for a table of more than [`MOST_CANDIDATES`] candidate scores, with the score function to add
    /// them by; none where the method needs every candidate.
    fn empty_sketch(
        &self,
        scores: &[f64],
        classes: usize,
    ) -> Result<Option<(SandwichSketch, Score)>> {
        let Some(laws) = self.sketchable_laws() else { return Ok(None) };
        let abscissae = self.abscissae(scores, self.score.range(classes))?;
        Ok(Some((SandwichSketch::new(abscissae, laws), self.score.with_draws_for("today"))))
    }

    /// The laws of a filled [`empty_sketch`](Self::empty_sketch).
    fn sketched_sandwich(&self, sketch: &SandwichSketch) -> Result<Sandwich> {
        match self.sketchable_laws() {
            Some(SketchedLaws::Extremes) => sketch.min_max(),
            _ => sketch.model_uniform(),
        }
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
            Method::OptimalTransport(settings) => settings,
            _ => TransportSettings::default(),
        };
        let mut further = Grid::new(range, settings.learning_grid)?.points().to_vec();
        further.extend(scores.iter().copied().reduce(f64::max));
        Abscissae::of_grid_and_points(&Grid::new(range, settings.bound_grid)?, &further)
    }

    /// From scores: `(n,)` of calibration labels, and target candidates or the laws around target scores. `range` must
    /// contain all of calibration scores; the grids cover it.
    pub fn calibrate_scores(
        &self,
        scores: &[f64],
        target: TargetScores<'_>,
        classes: usize,
        range: Interval,
    ) -> Result<Calibration> {
        self.calibrate_observed(scores, target, classes, range, &mut |_| ControlFlow::Continue(()))
    }

    /// The same; `observer` sees every recorded point of the optimisation and may end it.
    pub fn calibrate_observed(
        &self,
        scores: &[f64],
        target: TargetScores<'_>,
        classes: usize,
        range: Interval,
        observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
    ) -> Result<Calibration> {
        require_some("calibration scores", scores)?;
        require_finite("calibration scores", scores)?;
        if classes == 0 {
            return Err(Error::TooFew { what: "classes", found: 0, least: 1 });
        }
        if let TargetScores::Candidates(candidates) = target {
            require_same_length("candidate labels", candidates.labels(), "classes", classes)?;
        }
        let mut sorted = scores.to_vec();
        sorted.sort_by(f64::total_cmp);
        match self.method {
            Method::Uncorrected => {
                let n = sorted.len();
                let weights = (Weights::uniform(n)?, TestMass::exchangeable(n));
                self.given(sorted, weights, target, classes)
            }
            Method::OptimalTransport(settings) => {
                let problem = Problem { seed: self.seed, alpha: self.alpha, settings, range };
                let learned = problem.learn(sorted, target, observer)?;
                self.finish(self.method.name(), learned, Rule::Quantile, classes)
            }
            _ => Err(Error::Unsupported {
                what: "this method from scores alone",
                instead: "give calibration and target probabilities",
            }),
        }
    }

    /// Split conformal prediction from labeled scores alone, whatever the method: with target labels this is the
    /// oracle that other methods try to match without them.
    pub fn oracle(&self, scores: &[f64], classes: usize) -> Result<Calibration> {
        require_some("calibration scores", scores)?;
        require_finite("calibration scores", scores)?;
        let mut sorted = scores.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let weights = (Weights::uniform(n)?, TestMass::exchangeable(n));
        let weighted = Weighted::given(sorted, weights, None);
        self.finish(MethodName::Oracle, weighted, Rule::Quantile, classes)
    }

    /// The user's weights, and 1 for the test point (Barber et al. 2023).
    fn fixed(
        &self,
        scores: &[f64],
        weights: &[f64],
        target: TargetScores<'_>,
        classes: usize,
    ) -> Result<Calibration> {
        let order = increasing_order(scores);
        let in_order = |values: &[f64]| order.iter().map(|index| values[*index]).collect();
        let test_mass = TestMass::from_unnormalised(1.0, weights.iter().sum())?;
        let weights = Weights::normalised(in_order(weights))?;
        self.given(in_order(scores), (weights, test_mass), target, classes)
    }

    /// A calibration whose weights were not learned.
    fn given(
        &self,
        sorted: Vec<f64>,
        (weights, test_mass): (Weights, TestMass),
        target: TargetScores<'_>,
        classes: usize,
    ) -> Result<Calibration> {
        let sandwich = match target {
            TargetScores::Candidates(candidates) => min_max(candidates)?,
            TargetScores::Sandwich(sandwich) => sandwich.clone(),
        };
        let weighted = Weighted::given(sorted, (weights, test_mass), Some(sandwich));
        self.finish(self.method.name(), weighted, Rule::Quantile, classes)
    }

    /// Weights, thresholds and what a user should know about them.
    fn finish(
        &self,
        method: MethodName,
        weighted: Weighted,
        rule: Rule,
        classes: usize,
    ) -> Result<Calibration> {
        let law = WeightedEmpirical::new(&weighted.scores, &weighted.weights)?;
        let largest_score = weighted.scores.last().copied().unwrap_or(f64::NAN);
        let warnings = diagnose(
            &law,
            largest_score,
            weighted.test_mass,
            weighted.sandwich.as_ref(),
            self.alpha,
            (weighted.stopped, &weighted.trace),
        );
        let provenance =
            Provenance { method, score: self.score, classes, alpha: self.alpha, seed: self.seed };
        let learned = Learned {
            bound_before: weighted.bound_before,
            bound_after: weighted.bound_after,
            options: weighted.options,
            steps: weighted.steps,
            stopped: weighted.stopped,
            trace: weighted.trace,
            warnings,
            evidence: weighted.evidence,
        };
        let Weighted { scores, weights, test_mass, .. } = weighted;
        Calibration::new(provenance, scores, weights, test_mass, rule, learned)
    }
}

/// The order of increasing scores; equal ones by index.
fn increasing_order(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    order
}

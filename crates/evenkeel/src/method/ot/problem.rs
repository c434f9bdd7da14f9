//! The paper's method on one set of scores: sandwich, objective, descent, bounds.
//!
//! ```text
//! laws F_lo >= F_Q >= F_up -> objective -> its minimiser, or dL/dw -> Adam on theta -> w = softmax(theta)
//! test mass   minimiser  1 / (n + 1)
//!             free-form  1 / (1 + sum_k exp(theta_k))
//!             function   max_s w(s) / (sum_i w(s_i) + max_s w(s))
//! bounds      L, on the distance from the level, and that on the total gap, at uniform and at learned weights
//! ```

use crate::bound::{exact_gap_between, level_gap_between};
use crate::error::{Error, Result};
use crate::interval::Interval;
use crate::learning::network::Mlp;
use crate::learning::objective::{
    ExactObjective, FiniteSample, Objective, ObjectiveInputs, RestrictedObjective,
    WassersteinObjective, WeightedCdfObjective,
};
use crate::learning::optimise::{StopReason, Trace};
use crate::learning::{
    FreeFormSettings, Halves, WeightFunctionSettings, fit_free_form, fit_weight_function,
    free_form_test_mass, function_weights, initial_log_weights, minimise_exactly,
};
use crate::level::{FailureProbability, Miscoverage};
use crate::measure::{BANDWIDTH_FLOOR, Bandwidth, Grid, Support, WeightedEmpirical, Weights};
use crate::method::fit::{Context, Observer};
use crate::method::{
    Concluded, Learned, ObjectiveChoice, RecordedOptions, Rule, SandwichChoice, Search, Sorted,
    TargetScores, TransportSettings, WeightsChoice,
};
use crate::sandwich::{Order, Sandwich, min_max, model_uniform, model_uniform_sampled};
use crate::seed::Seed;
use crate::sketch::Abscissae;
use crate::threshold::TestMass;
use crate::warning::Warning;

/// Most points of a learning grid that nobody chose: finer ones cost steps and show nothing new.
const MOST_LEARNING_POINTS: usize = 4000;

/// What the pair of laws proves of one weighting of the scores.
#[derive(Debug, Clone, Copy)]
struct ExactBounds {
    /// `L`: on the distance of the target coverage from the level, averaged over levels.
    level: f64,
    /// On the total coverage gap: coverage on both data sets at the same threshold, averaged over levels.
    total_gap: f64,
}

/// The paper's method on one set of scores: what does not depend on the target data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Problem {
    /// Root of initial weights, halves and drawn labels.
    pub seed: Seed,
    /// Rate of the traced thresholds; the weights do not depend on it.
    pub alpha: Miscoverage,
    /// Sandwich, objective, optimiser and grids.
    pub settings: TransportSettings,
    /// Where scores can fall; grids cover it and kernels are mirrored at its ends.
    pub range: Interval,
    /// Points `K` of the learning grid, for the choices that have one.
    learning_points: Option<usize>,
}

impl Problem {
    /// The problem of these settings for calibration `scores`, shape `(n,)`.
    ///
    /// # Errors
    /// If a grid is needed and the scores give no bandwidth to lay it by.
    pub(crate) fn new(
        context: Context,
        settings: TransportSettings,
        range: Interval,
        scores: &[f64],
    ) -> Result<Self> {
        let Context { seed, alpha, .. } = context;
        let mut problem = Self { seed, alpha, settings, range, learning_points: None };
        if problem.has_grid() {
            problem.learning_points = Some(match settings.learning_grid {
                Some(points) => points,
                None => problem.fine_enough(problem.bandwidth(scores)?),
            });
        }
        Ok(problem)
    }

    /// Whether the answer looks at a grid: the exact bound does not, but a weight function takes its largest value there.
    fn has_grid(&self) -> bool {
        self.settings.objective != ObjectiveChoice::Exact
            || self.settings.weights == WeightsChoice::Function
            || self.settings.restriction.is_some()
    }

    /// Points of a grid whose spacing is at most half a bandwidth: no kernel falls between two of them.
    fn fine_enough(&self, bandwidth: Bandwidth) -> usize {
        let cells = (2.0 * self.range.width() / bandwidth.get()).ceil();
        // Compared before the cast: a huge range over a small bandwidth has more cells than a count can hold.
        if cells < (MOST_LEARNING_POINTS - 1) as f64 {
            cells as usize + 1
        } else {
            MOST_LEARNING_POINTS
        }
    }

    /// Where a sketch must know the two laws exactly: the calibration scores, and every grid.
    ///
    /// # Errors
    /// If a grid of the settings cannot be laid over the score's range.
    pub(crate) fn exact_at(&self, scores: &[f64]) -> Result<Abscissae> {
        let mut points = scores.to_vec();
        if self.has_grid() {
            points.extend(self.learning_grid()?.points());
        }
        Abscissae::of_grid_and_points(&Grid::new(self.range, self.settings.bound_grid)?, &points)
    }

    /// Learns weights of one kind or the other.
    ///
    /// # Errors
    /// If settings exclude each other, or a law, grid or bandwidth cannot be made.
    pub(crate) fn learn(
        &self,
        sorted: Sorted,
        target: TargetScores<'_>,
        observer: &mut Observer<'_>,
    ) -> Result<Concluded> {
        match (self.settings.search, self.settings.weights) {
            (Search::Minimiser, _) if !self.settings.has_minimiser() => Err(Error::Unsupported {
                what: "a minimiser in closed form of anything but the exact bound over free-form weights, without a finite-sample \
                       term, a range of rates or drawn labels",
                instead: "give a number of steps",
            }),
            (Search::Minimiser, _) => self.minimise(sorted, target),
            (Search::Descent, WeightsChoice::FreeForm) => {
                self.learn_free_form(sorted, target, observer)
            }
            (Search::Descent, WeightsChoice::Function) => {
                self.learn_function(&sorted, target, observer)
            }
        }
    }

    /// The weights at which the exact bound is smallest; no step is taken.
    ///
    /// The test point counts as one of `n + 1`, as in split conformal prediction, to which flat parts of the bound lean.
    fn minimise(&self, sorted: Sorted, target: TargetScores<'_>) -> Result<Concluded> {
        let sandwich = self.sandwich(target)?;
        let weights = minimise_exactly(&sorted.scores, &sandwich)?;
        let bounds = self.bounds(&sorted.scores, &weights, &sandwich)?;
        let learned =
            self.learned(bounds, &sandwich, None, (0, StopReason::NotIterative, Trace::default()));
        let test_mass = TestMass::exchangeable(sorted.scores.len());
        let rule = Rule::Quantile;
        Ok(Concluded {
            sorted,
            weights,
            test_mass,
            rule,
            learned,
            sandwich: Some(sandwich),
            label_law: None,
            fitted_law: None,
        })
    }

    /// A log-weight for each calibration point, all of which the threshold is taken from.
    ///
    /// The weights are fitted to the points that they weigh, which breaks exchangeability with the
    /// test point. Under a shift it is broken already; the paper argues so in its section 4.
    fn learn_free_form(
        &self,
        sorted: Sorted,
        target: TargetScores<'_>,
        observer: &mut Observer<'_>,
    ) -> Result<Concluded> {
        let sandwich = self.sandwich(target)?;
        let scores = &sorted.scores;
        let bandwidth = self.bandwidth_in_use(scores)?;
        let initial = match self.settings.objective {
            // A convex bound needs no luck at the start: equal weights, whatever the seed.
            ObjectiveChoice::Exact => vec![0.0; scores.len()],
            _ => initial_log_weights(scores.len(), self.seed),
        };
        let TransportSettings { adam, stopping, .. } = self.settings;
        let fit = fit_free_form(
            scores,
            self.objective(scores, &sandwich, bandwidth)?,
            &initial,
            FreeFormSettings { adam, stopping },
            self.alpha,
            &mut |step, objective| self.redraw(target, step, objective),
            observer,
        )?;
        // The test point's share is kept apart from the weights: bounds are about their law alone.
        let weights = Weights::softmax(fit.log_weights.clone())?;
        let bounds = self.bounds(scores, &weights, &sandwich)?;
        let learned =
            self.learned(bounds, &sandwich, bandwidth, (fit.steps, fit.stopped, fit.trace));
        let test_mass = free_form_test_mass(&fit.log_weights)?;
        let rule = Rule::Quantile;
        let (sandwich, label_law, fitted_law) = (Some(sandwich), None, None);
        Ok(Concluded { sorted, weights, test_mass, rule, learned, sandwich, label_law, fitted_law })
    }

    /// A function of the score, fitted on one half of the points; the threshold is the other
    /// half's.
    ///
    /// Needs twice the calibration points, and can weigh points that it has not seen: this is
    /// weighted split conformal prediction with a learned weight.
    fn learn_function(
        &self,
        sorted: &Sorted,
        target: TargetScores<'_>,
        observer: &mut Observer<'_>,
    ) -> Result<Concluded> {
        let sandwich = self.sandwich(target)?;
        // Points that shaped the function are not exchangeable with new ones; a threshold from them
        // would promise too much.
        let halves = Halves::new(sorted.scores.len(), self.seed)?;
        let (fitted, calibration) = (sorted.part(&halves.fit), sorted.part(&halves.calibrate));
        let grid = self.learning_grid()?;
        let TransportSettings { adam, stopping, .. } = self.settings;
        let fit = fit_weight_function(
            &fitted.scores,
            &calibration.scores,
            &grid,
            self.objective(&fitted.scores, &sandwich, self.bandwidth_in_use(&fitted.scores)?)?,
            Mlp::initialised(self.seed),
            WeightFunctionSettings { adam, stopping },
            self.alpha,
            &mut |step, objective| self.redraw(target, step, objective),
            observer,
        )?;
        let weighted = function_weights(&fit.network, &calibration.scores, &grid)?;
        // Of the half that the bound is about; the fit had one of its own.
        let bandwidth = self.bandwidth_in_use(&calibration.scores)?;
        let bounds = self.bounds(&calibration.scores, &weighted.weights, &sandwich)?;
        let learned =
            self.learned(bounds, &sandwich, bandwidth, (fit.steps, fit.stopped, fit.trace));
        Ok(Concluded {
            sorted: calibration,
            weights: weighted.weights,
            test_mass: weighted.test_mass,
            rule: Rule::Quantile,
            learned,
            sandwich: Some(sandwich),
            label_law: None,
            fitted_law: None,
        })
    }

    /// How the weights came about, for the record.
    fn learned(
        &self,
        (before, after): (ExactBounds, ExactBounds),
        sandwich: &Sandwich,
        bandwidth: Option<Bandwidth>,
        (steps, stopped, trace): (usize, StopReason, Trace),
    ) -> Learned {
        Learned {
            bound_before: Some(before.level),
            bound_after: Some(after.level),
            total_gap_bound_before: Some(before.total_gap),
            total_gap_bound_after: Some(after.total_gap),
            options: Some(self.recorded(sandwich, bandwidth)),
            steps,
            stopped,
            trace,
            warnings: self.warnings(),
            evidence: None,
        }
    }

    /// What the choices themselves call for.
    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.settings.sandwich == SandwichChoice::MinMax {
            warnings.push(Warning::LearnedFromExtremes);
        }
        if let (Some(points), false) = (self.settings.learning_grid, self.has_grid()) {
            warnings.push(Warning::GridNotUsed { points });
        }
        warnings
    }

    /// The laws around the target scores; for the sampled choice its exact expectation, which bounds are reported for.
    fn sandwich(&self, target: TargetScores<'_>) -> Result<Sandwich> {
        match (target, self.settings.sandwich) {
            (TargetScores::Sandwich(_), SandwichChoice::ModelUniformSampled) => {
                Err(Error::Unsupported {
                    what: "a sandwich drawn anew in each step from two fixed laws",
                    instead: "give the candidate scores, or choose the exact expectation",
                })
            }
            (TargetScores::Sandwich(sandwich), _) => Ok(sandwich.clone()),
            (TargetScores::Candidates(candidates), SandwichChoice::MinMax) => min_max(candidates),
            (TargetScores::Candidates(candidates), _) => model_uniform(candidates),
        }
    }

    /// Alg 1 draws labels in each step; the other sandwiches stay as they are.
    ///
    /// # Errors
    /// If the objective cannot be built from the drawn laws.
    fn redraw(
        &self,
        target: TargetScores<'_>,
        step: usize,
        objective: &mut Box<dyn Objective>,
    ) -> Result<()> {
        match (target, self.settings.sandwich) {
            (TargetScores::Candidates(candidates), SandwichChoice::ModelUniformSampled) => {
                let drawn = model_uniform_sampled(candidates, self.seed, step as u64)?;
                objective.set_sandwich(&drawn)
            }
            _ => Ok(()),
        }
    }

    /// The options in effect, for the record, in the words of files.
    ///
    /// Strings of their own and not those of the option table: a renamed option must leave files
    /// alone.
    fn recorded(&self, sandwich: &Sandwich, bandwidth: Option<Bandwidth>) -> RecordedOptions {
        let settings = &self.settings;
        let descends = settings.search == Search::Descent;
        RecordedOptions {
            sandwich: match settings.sandwich {
                SandwichChoice::ModelUniformSampled => "f-u sampled",
                _ => sandwich.construction().name(),
            }
            .to_owned(),
            order: match sandwich.order() {
                Order::Guaranteed => "guaranteed",
                Order::HoldsEmpirically => "assumed",
                Order::Violated { .. } => "violated",
            }
            .to_owned(),
            objective: match settings.objective {
                ObjectiveChoice::Exact => "exact",
                ObjectiveChoice::PaperGrid => "paper-grid",
                ObjectiveChoice::Wasserstein => "wasserstein",
            }
            .to_owned(),
            finite_sample_delta: settings.finite_sample.map(FailureProbability::get),
            restriction: settings.restriction.map(|range| range.ends().into()),
            weights: match settings.weights {
                WeightsChoice::FreeForm => "free-form",
                WeightsChoice::Function => "function",
            }
            .to_owned(),
            learning_rate: descends.then(|| settings.adam.learning_rate()),
            max_steps: descends.then(|| settings.stopping.max_steps()),
            learning_grid: self.learning_points,
            bound_grid: None,
            bandwidth_factor: bandwidth.map(|_| settings.bandwidth_factor),
            bandwidth: bandwidth.map(Bandwidth::get),
        }
    }

    /// `h = max(factor sd n^(-1/5), floor)` of unweighted scores: fixed while weights are learned.
    fn bandwidth(&self, scores: &[f64]) -> Result<Bandwidth> {
        // The floor is stated for scores of unit range.
        let floor = BANDWIDTH_FLOOR * self.range.width();
        Bandwidth::scott(scores, self.settings.bandwidth_factor, floor)
    }

    /// The bandwidth, if the objective has kernels.
    fn bandwidth_in_use(&self, scores: &[f64]) -> Result<Option<Bandwidth>> {
        match self.settings.objective {
            ObjectiveChoice::Exact => Ok(None),
            _ => self.bandwidth(scores).map(Some),
        }
    }

    /// The grid of the objective.
    fn learning_grid(&self) -> Result<Grid> {
        Grid::new(self.range, self.learning_points.unwrap_or(Grid::LEARNING_POINTS))
    }

    /// The range as the support of densities.
    fn support(&self) -> Support {
        Support::Bounded(self.range)
    }

    /// The bound to be minimised, as a function of the weights of increasing scores.
    ///
    /// ```text
    /// exact                       L over the atoms
    /// exact, restricted           Prop A.9 over the atoms
    /// paper-grid                  eq 7 on the learning grid
    /// wasserstein                 eq 8
    /// any, finite-sample          + sqrt(ln(2/d) / (2 n_w))
    /// ```
    ///
    /// # Errors
    /// `Unsupported` for a restricted range with eq 8, which has no such form.
    fn objective(
        &self,
        sorted: &[f64],
        sandwich: &Sandwich,
        bandwidth: Option<Bandwidth>,
    ) -> Result<Box<dyn Objective>> {
        let bound: Box<dyn Objective> = match (self.settings.objective, self.settings.restriction) {
            (ObjectiveChoice::Exact, None) => Box::new(ExactObjective::new(sorted, sandwich)?),
            (ObjectiveChoice::Exact | ObjectiveChoice::PaperGrid, Some(range)) => {
                Box::new(RestrictedObjective::new(sorted, sandwich, range)?)
            }
            (ObjectiveChoice::PaperGrid, None) => {
                let grid = self.learning_grid()?;
                let inputs = self.kernel_inputs(sorted, sandwich, &grid, bandwidth)?;
                Box::new(WeightedCdfObjective::new(inputs)?)
            }
            (ObjectiveChoice::Wasserstein, None) => {
                let grid = self.learning_grid()?;
                let inputs = self.kernel_inputs(sorted, sandwich, &grid, bandwidth)?;
                Box::new(WassersteinObjective::new(inputs)?)
            }
            (ObjectiveChoice::Wasserstein, Some(_)) => {
                return Err(Error::Unsupported {
                    what: "a restricted range of miscoverage rates with the Wasserstein objective",
                    instead: "use the exact objective",
                });
            }
        };
        // Around any of them: the term depends on the weights alone.
        Ok(match self.settings.finite_sample {
            None => bound,
            Some(d) => Box::new(FiniteSample::new(bound, d)),
        })
    }

    /// What the forms with a kernel density are built from.
    fn kernel_inputs<'a>(
        &self,
        sorted_scores: &'a [f64],
        sandwich: &'a Sandwich,
        grid: &'a Grid,
        bandwidth: Option<Bandwidth>,
    ) -> Result<ObjectiveInputs<'a>> {
        let bandwidth = match bandwidth {
            Some(bandwidth) => bandwidth,
            None => self.bandwidth(sorted_scores)?,
        };
        Ok(ObjectiveInputs { sorted_scores, sandwich, grid, bandwidth, support: self.support() })
    }

    /// Both exact bounds at uniform and at learned weights.
    ///
    /// The same bounds for every objective, over all rates and without the finite-sample term, so that runs compare; they
    /// hold with ties, which the form on a grid does not.
    fn bounds(
        &self,
        scores: &[f64],
        weights: &Weights,
        sandwich: &Sandwich,
    ) -> Result<(ExactBounds, ExactBounds)> {
        let bound = |weights: &Weights| -> Result<ExactBounds> {
            let law = WeightedEmpirical::new(scores, weights)?;
            let (level, total_gap) =
                (level_gap_between(&law, sandwich), exact_gap_between(&law, sandwich));
            Ok(ExactBounds { level, total_gap })
        };
        Ok((bound(&Weights::uniform(scores.len())?)?, bound(weights)?))
    }
}

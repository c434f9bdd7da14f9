//! The paper's method on one set of scores: sandwich, objective, descent, bounds.
//!
//! ```text
//! laws F_lo >= F_Q >= F_up -> objective L(w), dL/dw -> Adam on theta -> w = softmax(theta)
//! test mass   free-form  1 / (1 + sum_k exp(theta_k))
//!             function   max_s w(s) / (sum_i w(s_i) + max_s w(s))
//! bounds      eq 7 or eq 8 at uniform and at learned weights, on a grid of their own
//! ```

use crate::bound::{Integrator, integrated_gap_between, wasserstein_gap_between};
use crate::error::{Error, Result};
use crate::interval::Interval;
use crate::learning::network::Mlp;
use crate::learning::objective::{
    FiniteSample, Objective, ObjectiveInputs, RestrictedObjective, WassersteinObjective,
    WeightedCdfObjective,
};
use crate::learning::optimise::{StopReason, Trace};
use crate::learning::{
    FreeFormSettings, Halves, WeightFunctionSettings, fit_free_form, fit_weight_function,
    free_form_test_mass, function_weights, initial_log_weights,
};
use crate::level::{FailureProbability, Miscoverage};
use crate::measure::{
    BANDWIDTH_FLOOR, Bandwidth, Grid, SmoothedLaw, Support, WeightedEmpirical, Weights,
};
use crate::method::fit::Observer;
use crate::method::{
    Concluded, Learned, ObjectiveChoice, RecordedOptions, Rule, SandwichChoice, Sorted,
    TargetScores, TransportSettings, WeightsChoice,
};
use crate::sandwich::{Order, Sandwich, min_max, model_uniform, model_uniform_sampled};
use crate::seed::Seed;

/// The paper's method on one set of scores: what does not depend on the data.
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
}

impl Problem {
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
        match self.settings.weights {
            WeightsChoice::FreeForm => self.learn_free_form(sorted, target, observer),
            WeightsChoice::Function => self.learn_function(&sorted, target, observer),
        }
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
        let bandwidth = self.bandwidth(scores)?;
        let initial = initial_log_weights(scores.len(), self.seed);
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
        let bounds = self.bounds(scores, &weights, &sandwich, bandwidth)?;
        let learned =
            self.learned(bounds, &sandwich, bandwidth, (fit.steps, fit.stopped, fit.trace));
        let test_mass = free_form_test_mass(&fit.log_weights)?;
        let rule = Rule::Quantile;
        let (sandwich, label_law) = (Some(sandwich), None);
        Ok(Concluded { sorted, weights, test_mass, rule, learned, sandwich, label_law })
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
            self.objective(&fitted.scores, &sandwich, self.bandwidth(&fitted.scores)?)?,
            Mlp::initialised(self.seed),
            WeightFunctionSettings { adam, stopping },
            self.alpha,
            &mut |step, objective| self.redraw(target, step, objective),
            observer,
        )?;
        let weighted = function_weights(&fit.network, &calibration.scores, &grid)?;
        // Of the half that the bound is about; the fit had one of its own.
        let bandwidth = self.bandwidth(&calibration.scores)?;
        let bounds = self.bounds(&calibration.scores, &weighted.weights, &sandwich, bandwidth)?;
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
        })
    }

    /// How the weights came about, for the record.
    fn learned(
        &self,
        (before, after): (f64, f64),
        sandwich: &Sandwich,
        bandwidth: Bandwidth,
        (steps, stopped, trace): (usize, StopReason, Trace),
    ) -> Learned {
        Learned {
            bound_before: Some(before),
            bound_after: Some(after),
            options: Some(self.recorded(sandwich, bandwidth)),
            steps,
            stopped,
            trace,
            warnings: Vec::new(),
            evidence: None,
        }
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
    fn recorded(&self, sandwich: &Sandwich, bandwidth: Bandwidth) -> RecordedOptions {
        let settings = &self.settings;
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
                ObjectiveChoice::WeightedCdf => "weighted-cdf",
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
            learning_rate: settings.adam.learning_rate(),
            max_steps: settings.stopping.max_steps(),
            learning_grid: settings.learning_grid,
            bound_grid: settings.bound_grid,
            bandwidth_factor: settings.bandwidth_factor,
            bandwidth: bandwidth.get(),
        }
    }

    /// `h = max(factor sd n^(-1/5), floor)` of unweighted scores: fixed while weights are learned.
    fn bandwidth(&self, scores: &[f64]) -> Result<Bandwidth> {
        // The floor is stated for scores of unit range.
        let floor = BANDWIDTH_FLOOR * self.range.width();
        Bandwidth::scott(scores, self.settings.bandwidth_factor, floor)
    }

    /// The grid of the objective.
    fn learning_grid(&self) -> Result<Grid> {
        Grid::new(self.range, self.settings.learning_grid)
    }

    /// The range as the support of densities.
    fn support(&self) -> Support {
        Support::Bounded(self.range)
    }

    /// The bound to be minimised, as a function of the weights of increasing scores.
    ///
    /// ```text
    /// weighted-cdf                eq 7 on the learning grid
    /// weighted-cdf, restricted    Prop A.9 over the atoms
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
                Box::new(RestrictedObjective::new(inputs, range)?)
            }
            (ObjectiveChoice::Wasserstein, None) => Box::new(WassersteinObjective::new(inputs)?),
            (ObjectiveChoice::Wasserstein, Some(_)) => {
                return Err(Error::Unsupported {
                    what: "a restricted range of miscoverage rates with the Wasserstein objective",
                    instead: "use the weighted-CDF objective",
                });
            }
        };
        // Around any of them: the term depends on the weights alone.
        Ok(match self.settings.finite_sample {
            None => bound,
            Some(d) => Box::new(FiniteSample::new(bound, d)),
        })
    }

    /// The minimised bound at uniform and at learned weights, on the bound grid.
    ///
    /// Without the finite-sample term and over all rates, so that runs with other objectives
    /// compare.
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
        // Both at the same bandwidth and grid: the difference is what the weights did.
        Ok((bound(&Weights::uniform(scores.len())?)?, bound(weights)?))
    }
}

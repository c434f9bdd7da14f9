//! `theta -> w = softmax(l(theta)) -> L(w) -> dL/dtheta -> step`: the loop of Alg 1.
//!
//! ```text
//! repeat   before_step -> evaluate -> stop? -> record -> theta_old = theta -> step
//! ```
//! Every reason to stop is a value. A run that diverges or meets its floor goes back one step.

use std::ops::ControlFlow;

use super::adam::{Adam, AdamSettings};
use super::stopping::{StopReason, StoppingRule};
use super::trace::{Trace, TracePoint};
use crate::error::Result;
use crate::learning::objective::Objective;
use crate::numeric::simd::in_widest_registers;
use crate::numeric::{dot_in_lanes, softmax};
use crate::threshold::Threshold;

/// Where log-weights come from: a vector of them, or a network of the scores.
pub(crate) trait Parametrisation {
    /// What Adam moves: one slice, whatever the parametrisation.
    fn parameters(&mut self) -> &mut [f64];

    /// Writes the log-weight of every fitted score, in their order.
    fn log_weights(&mut self, out: &mut [f64]);

    /// Turns the derivative in the log-weights (at the last [`log_weights`](Self::log_weights)) into that in the
    /// parameters.
    fn gradient(&mut self, in_log_weights: &[f64], out: &mut [f64]) -> Result<()>;

    /// The threshold that the present parameters give, for the trace; `weights` is the softmax of `log_weights`.
    fn threshold(&mut self, log_weights: &[f64], weights: &[f64]) -> Threshold;
}

/// A descent ready to run; [`run`](Self::run) uses it up.
pub(crate) struct Descent<'a, O> {
    /// What is minimised over the weights.
    pub objective: O,
    /// Step size and memories of the optimiser.
    pub adam: AdamSettings,
    /// Most steps, and earlier ends.
    pub stopping: StoppingRule,
    /// Called before each step: the `sampled` sandwich draws its labels here.
    pub before_step: &'a mut dyn FnMut(usize, &mut O) -> Result<()>,
    /// Called at every recorded point: progress, and the caller's wish to stop.
    pub observer: &'a mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
}

/// How a descent ended: always with the last weights that were good.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Descended {
    /// Log-weights of the fitted scores at the final parameters.
    pub log_weights: Vec<f64>,
    /// Steps that led to them; a step that was taken back does not count.
    pub steps: usize,
    /// Why there were no more.
    pub stopped: StopReason,
    /// Start, about a hundred points, and end.
    pub trace: Trace,
}

impl<O: Objective> Descent<'_, O> {
    /// Runs to its end. The parametrisation is left at the final parameters.
    ///
    /// # Errors
    /// What `before_step` or the parametrisation returns. A diverged run is none.
    ///
    /// Allocates before the first step and not after it, but for the trace.
    pub(crate) fn run(mut self, parametrisation: &mut dyn Parametrisation) -> Result<Descended> {
        let n = self.objective.len();
        let count = parametrisation.parameters().len();
        let mut adam = Adam::new(self.adam, count);
        let mut state = State {
            log_weights: vec![0.0; n],
            weights: vec![0.0; n],
            slopes: vec![0.0; n],
            gradient: vec![0.0; count],
            last_good: parametrisation.parameters().to_vec(),
        };
        let interval = Trace::interval(self.stopping.max_steps());
        let floor = self.stopping.effective_sample_size_floor();
        let mut improving = self.stopping.improvement().map(Improving::new);
        let mut trace = Trace::default();
        let mut step = 0;
        let stopped = loop {
            // Before the value, not before the move: the value recorded is that of the laws of this
            // step.
            (self.before_step)(step, &mut self.objective)?;
            let value = state.evaluate(parametrisation, &mut self.objective);
            let effective = || 1.0 / dot_in_lanes(&state.weights, &state.weights);

            if !(value.is_finite() && state.gradient_is_finite()) {
                state.step_back(parametrisation);
                // Not even the start may be good; there is then no step to take back.
                step = step.saturating_sub(1);
                break StopReason::Diverged;
            }
            // Not before the first step: there would be nothing to go back to.
            if floor.is_some_and(|floor| step > 0 && effective() < floor) {
                state.step_back(parametrisation);
                step -= 1;
                break StopReason::EffectiveSampleSizeFloor;
            }
            let finished = step == self.stopping.max_steps();
            let converged = improving.as_mut().is_some_and(|rule| rule.is_over(value));
            if step % interval == 0 || finished || converged {
                let threshold = parametrisation.threshold(&state.log_weights, &state.weights);
                let effective_sample_size = effective();
                let point = TracePoint { step, objective: value, effective_sample_size, threshold };
                trace.push(point);
                if (self.observer)(&point).is_break() {
                    break StopReason::Interrupted;
                }
            }
            if finished {
                break StopReason::MaxSteps;
            }
            if converged {
                break StopReason::Converged;
            }
            // A diverged run and one at the floor go back to these parameters; the copy is a small part of a step.
            state.last_good.copy_from_slice(parametrisation.parameters());
            parametrisation.gradient(&state.slopes, &mut state.gradient)?;
            adam.step(parametrisation.parameters(), &state.gradient)?;
            step += 1;
        };
        // Two ways of stopping went back a step: the buffers and the trace must show the parameters that were kept.
        let objective = state.evaluate(parametrisation, &mut self.objective);
        if trace.last_step() != Some(step) && objective.is_finite() {
            let effective_sample_size = 1.0 / dot_in_lanes(&state.weights, &state.weights);
            let threshold = parametrisation.threshold(&state.log_weights, &state.weights);
            trace.push(TracePoint { step, objective, effective_sample_size, threshold });
        }
        Ok(Descended { log_weights: state.log_weights, steps: step, stopped, trace })
    }
}

/// The buffers of a run: all of them are made before the first step.
struct State {
    log_weights: Vec<f64>,
    /// Softmax of the log-weights, in the order of the scores.
    weights: Vec<f64>,
    /// Derivative in the log-weights, through the softmax.
    slopes: Vec<f64>,
    /// Derivative in the parameters, which the step follows.
    gradient: Vec<f64>,
    /// Parameters before the last step.
    last_good: Vec<f64>,
}

impl State {
    /// Objective at the present parameters; leaves the derivative in the log-weights in `slopes`.
    ///
    /// ```text
    /// w = softmax(l),   dL/dl_i = w_i (dL/dw_i - sum_k w_k dL/dw_k)
    /// ```
    fn evaluate(
        &mut self,
        parametrisation: &mut dyn Parametrisation,
        objective: &mut impl Objective,
    ) -> f64 {
        parametrisation.log_weights(&mut self.log_weights);
        softmax(&self.log_weights, &mut self.weights);
        let value = objective.value_and_gradient(&self.weights, &mut self.slopes);
        through_softmax(&self.weights, &mut self.slopes);
        value
    }

    /// Whether every slope is a finite number.
    fn gradient_is_finite(&self) -> bool {
        // One NaN or infinity makes the sum of squares so; squares of huge slopes may overflow, which is as bad.
        dot_in_lanes(&self.slopes, &self.slopes).is_finite()
    }

    /// Takes the last step back.
    fn step_back(&self, parametrisation: &mut dyn Parametrisation) {
        parametrisation.parameters().copy_from_slice(&self.last_good);
    }
}

/// Remembers the best value of a window ago.
struct Improving {
    rule: super::stopping::Improvement,
    /// Smallest value of the objective so far.
    best: f64,
    /// The same at the end of the window before.
    best_at_window: f64,
    /// Values seen, one a step.
    evaluations: usize,
}

impl Improving {
    /// A rule that has seen no value yet.
    fn new(rule: super::stopping::Improvement) -> Self {
        Self { rule, best: f64::INFINITY, best_at_window: f64::INFINITY, evaluations: 0 }
    }

    /// Takes note of a value; true when a window passed without enough improvement.
    fn is_over(&mut self, value: f64) -> bool {
        // The best, not the last: drawn labels make the value jump, and a jump up is no reason to
        // stop.
        self.best = self.best.min(value);
        self.evaluations += 1;
        if !self.evaluations.is_multiple_of(self.rule.window) {
            return false;
        }
        // The first window is compared with infinity, so that it never ends a run.
        let improvement = self.best_at_window - self.best;
        let over = improvement <= self.rule.relative * self.best.abs();
        self.best_at_window = self.best;
        over
    }
}

in_widest_registers! {
    /// `g_i <- w_i (g_i - sum_k w_k g_k)`.
    fn through_softmax[](weights: &[f64], gradient: &mut [f64]) -> () {
        let mean = dot_in_lanes(weights, gradient);
        for (slope, weight) in gradient.iter_mut().zip(weights) {
            *slope = weight * (*slope - mean);
        }
    }
}

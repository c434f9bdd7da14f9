//! `w = softmax(theta)`: free-form weights, one log-weight `theta_i` per calibration point (Alg 1).
//!
//! ```text
//! start       theta = log u,  u ~ U(0, 1)
//! step        theta <- Adam(dL/dtheta)
//! test mass   1 / (1 + sum_k exp(theta_k))
//! ```

use std::ops::ControlFlow;

use super::objective::Objective;
use super::optimise::{
    AdamSettings, Descended, Descent, Parametrisation, StoppingRule, TracePoint,
};
use crate::error::{Result, require_finite, require_increasing, require_same_length};
use crate::level::Miscoverage;
use crate::seed::Seed;
use crate::threshold::{TestMass, Threshold, threshold_of_sorted};

/// The paper's starting point: `theta_i = log u_i`, `u_i` uniform on `(0, 1)`; shape `(n,)`,
/// finite.
///
/// Not uniform weights: Alg 1 starts at random ones, and the seed is part of the result.
pub fn initial_log_weights(n: usize, seed: Seed) -> Vec<f64> {
    // The purpose names the stream: another word would start every stored fit elsewhere.
    let mut stream = seed.stream("free-form-weights");
    // A draw of exactly 0 has no logarithm; the smallest other one stands in for it.
    (0..n).map(|_| stream.uniform().max(f64::EPSILON / 2.0).ln()).collect()
}

/// The test point's share when its unnormalised weight is 1: `1 / (1 + sum_k exp(theta_k))`.
///
/// The paper follows \[BCRT23\]: the test point already comes from the target law, so it needs no correction.
///
/// # Errors
/// `NotFinite` for a log-weight that is NaN or infinite.
pub fn free_form_test_mass(log_weights: &[f64]) -> Result<TestMass> {
    require_finite("log-weights", log_weights)?;
    // 1 / (1 + e^L) with L = log sum exp: neither end overflows.
    // The scale of the weights matters here, unlike in a softmax: Adam moves it, and the test
    // point's 1 is measured against it.
    let largest = log_weights.iter().fold(f64::NEG_INFINITY, |largest, l| largest.max(*l));
    let sum: f64 = log_weights.iter().map(|l| (l - largest).exp()).sum();
    TestMass::new(1.0 / (1.0 + (largest + sum.ln()).exp()))
}

/// How free-form weights are learned.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FreeFormSettings {
    /// How large the optimiser's steps are and how long it remembers.
    pub adam: AdamSettings,
    /// After how many steps, or on which condition, to stop.
    pub stopping: StoppingRule,
}

/// Learned log-weights and how they came about. Their level counts: see [`free_form_test_mass`].
#[derive(Debug, Clone, PartialEq)]
pub struct FreeFormFit {
    /// `theta`, in the order of the sorted scores; shape `(n,)`, not normalised.
    pub log_weights: Vec<f64>,
    /// Number of steps that led to these log-weights.
    pub steps: usize,
    /// Why the run stopped: a diverged or interrupted fit is still returned.
    pub stopped: super::optimise::StopReason,
    /// Objective, effective sample size and threshold along the way.
    pub trace: super::optimise::Trace,
}

/// Minimises `objective` over the log-weights of `sorted_scores`, from `initial` (in the same order).
///
/// `before_step` may replace the objective's sandwich; `observer` sees every recorded point and may end the run. The
/// trace's thresholds are those at `alpha`.
///
/// # Errors
/// `Empty`, `NotFinite` or `NotIncreasing` for scores that are not increasing finite numbers, `LengthMismatch` unless
/// scores, objective and `initial` are equally long, `NotFinite` for an initial log-weight that is NaN or infinite, and
/// whatever `before_step` returns. A run that diverges is not an error: see [`FreeFormFit::stopped`].
pub fn fit_free_form<O: Objective>(
    sorted_scores: &[f64],
    objective: O,
    initial: &[f64],
    settings: FreeFormSettings,
    alpha: Miscoverage,
    before_step: &mut dyn FnMut(usize, &mut O) -> Result<()>,
    observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
) -> Result<FreeFormFit> {
    require_increasing("sorted scores", sorted_scores)?;
    require_same_length("scores", sorted_scores.len(), "the objective", objective.len())?;
    require_same_length("initial log-weights", initial.len(), "scores", sorted_scores.len())?;
    require_finite("initial log-weights", initial)?;
    let mut weights = FreeForm { log_weights: initial.to_vec(), sorted_scores, alpha };
    let FreeFormSettings { adam, stopping } = settings;
    let descent = Descent { objective, adam, stopping, before_step, observer };
    let Descended { log_weights, steps, stopped, trace } = descent.run(&mut weights)?;
    Ok(FreeFormFit { log_weights, steps, stopped, trace })
}

/// The parametrisation in which the parameters are the log-weights.
struct FreeForm<'a> {
    /// `theta`, which Adam moves; in the order of the scores.
    log_weights: Vec<f64>,
    /// For the traced threshold alone.
    sorted_scores: &'a [f64],
    /// Rate of the traced threshold.
    alpha: Miscoverage,
}

impl Parametrisation for FreeForm<'_> {
    fn parameters(&mut self) -> &mut [f64] {
        &mut self.log_weights
    }

    fn log_weights(&mut self, out: &mut [f64]) {
        out.copy_from_slice(&self.log_weights);
    }

    /// The identity: the parameters are the log-weights.
    fn gradient(&mut self, in_log_weights: &[f64], out: &mut [f64]) -> Result<()> {
        out.copy_from_slice(in_log_weights);
        Ok(())
    }

    /// With the test point's share that stopping here would give.
    fn threshold(&mut self, log_weights: &[f64], weights: &[f64]) -> Threshold {
        // Log-weights that are not numbers end the run as diverged; until then all labels is the cautious answer.
        free_form_test_mass(log_weights).map_or(Threshold::AllLabels, |test| {
            threshold_of_sorted(self.sorted_scores, weights, test, self.alpha)
        })
    }
}

//! `log w_i = network(s_i)`: a weight function, learned on one half of the calibration set (Alg 1).
//!
//! ```text
//! w(s)        exp(network(s)),   w_i = w(s_i) / sum_k w(s_k)
//! test mass   max_s w(s) / (sum_i w(s_i) + max_s w(s))
//! ```

use std::ops::ControlFlow;

use super::network::{Batch, Mlp};
use super::objective::Objective;
use super::optimise::{
    AdamSettings, Descended, Descent, Parametrisation, StopReason, StoppingRule, Trace, TracePoint,
};
use crate::error::{Error, Result, require_increasing, require_same_length, require_some};
use crate::level::Miscoverage;
use crate::measure::{Grid, Weights};
use crate::seed::Seed;
use crate::threshold::{TestMass, Threshold, threshold_of_sorted};

/// Calibration points split at random into one half to fit on and one to calibrate on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Halves {
    /// Indices of the points the function is fitted on, `floor(n / 2)` of them.
    pub fit: Vec<usize>,
    /// Indices of the points the threshold is taken from, the other `ceil(n / 2)`.
    pub calibrate: Vec<usize>,
}

impl Halves {
    /// Splits `n` points; at least two.
    ///
    /// # Errors
    /// `TooFew` for fewer than two points.
    pub(crate) fn new(n: usize, seed: Seed) -> Result<Self> {
        if n < 2 {
            return Err(Error::TooFew {
                what: "calibration points for a weight function",
                found: n,
                least: 2,
            });
        }
        // At random, not the first half: files are often sorted by class or by time, and the halves would differ in
        // law.
        let mut indices: Vec<usize> = (0..n).collect();
        // The purpose names the stream: another word would cut every stored fit elsewhere.
        let mut stream = seed.stream("calibration-halves");
        for i in (1..n).rev() {
            indices.swap(i, stream.below(i + 1));
        }
        let calibrate = indices.split_off(n / 2);
        Ok(Self { fit: indices, calibrate })
    }
}

/// How a weight function is learned.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WeightFunctionSettings {
    /// How large the optimiser's steps are and how long it remembers.
    pub adam: AdamSettings,
    /// After how many steps, or on which condition, to stop.
    pub stopping: StoppingRule,
}

/// A learned weight function and how it came about.
#[derive(Debug, Clone)]
pub struct WeightFunctionFit {
    /// The network at its final parameters; [`function_weights`] weighs any scores by it.
    pub network: Mlp,
    /// Number of steps that led to these parameters.
    pub steps: usize,
    /// Why the run stopped: a diverged or interrupted fit is still returned.
    pub stopped: StopReason,
    /// Objective, effective sample size and threshold along the way.
    pub trace: Trace,
}

/// The calibration half, weighted by a network.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionWeights {
    /// Normalised weights of the calibration scores, without the test point's share; shape `(n,)`.
    pub weights: Weights,
    /// The test point's share: `max_s w(s) / (sum_i w(s_i) + max_s w(s))` over the score range.
    pub test_mass: TestMass,
}

/// Weights `scores` by a network. The test point's weight is the largest over `grid`, a cautious stand-in for the
/// weight of its unknown score (\[TBC19\] would take one per candidate label).
///
/// # Errors
/// `Empty` for no scores, `NotFinite` for a score, or for a log-weight of a diverged network, that is NaN or infinite.
pub fn function_weights(network: &Mlp, scores: &[f64], grid: &Grid) -> Result<FunctionWeights> {
    require_some("scores", scores)?;
    let curve = network.curve();
    let mut log_weights = vec![0.0; scores.len()];
    curve.log_weights(scores, &mut log_weights)?;
    // Over the grid, not over the calibration scores: the test point may score where none of them
    // does.
    let largest =
        grid.points().iter().map(|t| curve.log_weight(*t)).fold(f64::NEG_INFINITY, f64::max);
    // Log-weights lie in [-20, 20], so their exponentials and sums are safe.
    let total: f64 = log_weights.iter().map(|l| l.exp()).sum();
    Ok(FunctionWeights {
        test_mass: TestMass::from_unnormalised(largest.exp(), total)?,
        weights: Weights::softmax(log_weights)?,
    })
}

/// Minimises `objective` (built on `sorted_fit`, increasing) over the network's parameters.
///
/// The trace's thresholds are those of `calibration_scores` (increasing too) at `alpha`, with test weights over `grid`.
/// `before_step` and `observer` are as in [`fit_free_form`](super::fit_free_form).
///
/// # Errors
/// `LengthMismatch` unless the objective has one weight per fit score, `Empty` or `NotFinite` for fit scores that are
/// missing or not finite, `NotIncreasing` for unsorted calibration scores, and whatever `before_step` returns. A run
/// that diverges is not an error: see [`WeightFunctionFit::stopped`].
#[expect(clippy::too_many_arguments, reason = "the inputs of Alg 1, each used once")]
pub fn fit_weight_function<O: Objective>(
    sorted_fit: &[f64],
    calibration_scores: &[f64],
    grid: &Grid,
    objective: O,
    initial: Mlp,
    settings: WeightFunctionSettings,
    alpha: Miscoverage,
    before_step: &mut dyn FnMut(usize, &mut O) -> Result<()>,
    observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
) -> Result<WeightFunctionFit> {
    require_same_length("fit scores", sorted_fit.len(), "the objective", objective.len())?;
    require_increasing("calibration scores", calibration_scores)?;
    let mut function = WeightFunction {
        batch: Batch::new(sorted_fit)?,
        network: initial,
        calibration_scores,
        grid,
        alpha,
    };
    let WeightFunctionSettings { adam, stopping } = settings;
    let descent = Descent { objective, adam, stopping, before_step, observer };
    let Descended { log_weights: _, steps, stopped, trace } = descent.run(&mut function)?;
    Ok(WeightFunctionFit { network: function.network, steps, stopped, trace })
}

/// The parametrisation in which the parameters are a network's.
struct WeightFunction<'a> {
    /// The fitted half, with all that a pass over it leaves.
    batch: Batch,
    /// The function itself; Adam moves its parameters.
    network: Mlp,
    /// The other half, for the traced threshold alone.
    calibration_scores: &'a [f64],
    /// Where the test point's weight is looked for.
    grid: &'a Grid,
    /// Rate of the traced threshold.
    alpha: Miscoverage,
}

impl Parametrisation for WeightFunction<'_> {
    fn parameters(&mut self) -> &mut [f64] {
        self.network.parameters_mut()
    }

    fn log_weights(&mut self, out: &mut [f64]) {
        out.copy_from_slice(self.batch.forward(&self.network).log_weights());
    }

    /// Back through the network, from the activations of the last pass.
    fn gradient(&mut self, in_log_weights: &[f64], out: &mut [f64]) -> Result<()> {
        // The descent moves parameters only after asking for the gradient, so the last pass is still theirs.
        self.batch.last_pass(&self.network).backward(in_log_weights, out)
    }

    /// Of the other half, with the test point's share that stopping here would give.
    fn threshold(&mut self, _: &[f64], _: &[f64]) -> Threshold {
        let weighted = function_weights(&self.network, self.calibration_scores, self.grid);
        // A network whose outputs are not numbers ends the run as diverged; until then all labels is the cautious
        // answer.
        weighted.map_or(Threshold::AllLabels, |FunctionWeights { weights, test_mass }| {
            let weights = weights.as_slice();
            threshold_of_sorted(self.calibration_scores, weights, test_mass, self.alpha)
        })
    }
}

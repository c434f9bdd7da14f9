//! One hidden layer between calibration and target data.
//!
//! ```text
//! loss = 1/2 mean over target of log(1 + exp(-l)) + 1/2 mean over calibration of log(1 + exp(l))
//! l(z) = v' relu(W z + b) + c  ->  log dQ/dP
//! ```

use std::f64::consts::LN_2;

use serde::{Deserialize, Serialize};

use super::estimator::NetworkSettings;
use super::evidence::RatioStop;
use super::newton::{axpy, dot, sigmoid, softplus};
use crate::error::{Result, require_finite, require_same_length};
use crate::learning::optimise::Adam;
use crate::seed::{Seed, Stream};

/// Units of the hidden layer, as in the paper's baseline.
pub(crate) const HIDDEN_UNITS: usize = 32;
/// Rows of either side in a step of Adam; the same number, so that the odds need no correction.
const BATCH_PER_SIDE: usize = 128;
/// One row in this many is held out to choose the step at which the network is kept.
const HELD_OUT: usize = 5;
/// Steps between two looks at the rows held out.
const LOOK_EVERY: usize = 25;

/// `log dQ/dP = v' relu(W z + b) + c` in standardised features `z`.
///
/// Every step sees as many rows of the target data as of the calibration data, so the odds are the ratio whatever `n` and `m`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct HiddenLayer {
    /// `[features][HIDDEN_UNITS]` weights, then biases, output weights, output bias.
    parameters: Vec<f64>,
}

/// A trained network and how it came about.
pub(super) struct Trained {
    /// The one with the smallest loss on the rows held out, or the ratio 1.
    pub(super) network: HiddenLayer,
    /// Steps up to it; 0 if none beat "no shift".
    pub(super) steps: usize,
    /// Its loss on the rows held out, at most `ln 2`.
    pub(super) loss: f64,
    /// All steps taken, or diverged before.
    pub(super) stopped: RatioStop,
}

/// `d H` weights, `H` biases, `H` output weights and an output bias.
fn parameter_count(features: usize) -> usize {
    (features + 2) * HIDDEN_UNITS + 1
}

impl HiddenLayer {
    /// Uniform on `[-1/sqrt(fan_in), 1/sqrt(fan_in))`, layer by layer.
    fn initial(features: usize, stream: &mut Stream) -> Self {
        let mut draw = |fan_in: usize, count: usize| -> Vec<f64> {
            let reach = 1.0 / (fan_in as f64).sqrt();
            (0..count).map(|_| reach * (2.0 * stream.uniform() - 1.0)).collect()
        };
        let mut parameters = draw(features, (features + 1) * HIDDEN_UNITS);
        parameters.extend(draw(HIDDEN_UNITS, HIDDEN_UNITS + 1));
        Self { parameters }
    }

    /// An error unless there is a finite parameter for each place; the numbers may be from a file.
    pub(super) fn check(&self, features: usize) -> Result<()> {
        let (found, expected) = (self.parameters.len(), parameter_count(features));
        require_same_length("network parameters", found, "the network's layers", expected)?;
        require_finite("network parameters", &self.parameters)
    }

    /// The network that says 0 everywhere: the ratio 1, "no shift".
    fn without_output(&self) -> Self {
        let mut parameters = self.parameters.clone();
        let outputs = parameters.len() - HIDDEN_UNITS - 1;
        parameters[outputs..].fill(0.0);
        Self { parameters }
    }

    /// `relu(W z + b)` of a standardised row: feature by feature, so that the inner loop runs over
    /// the 32 units.
    fn hidden(&self, z: &[f64], hidden: &mut [f64; HIDDEN_UNITS]) {
        let (weights, rest) = self.parameters.split_at(z.len() * HIDDEN_UNITS);
        hidden.copy_from_slice(&rest[..HIDDEN_UNITS]);
        for (value, weights) in z.iter().zip(weights.chunks_exact(HIDDEN_UNITS)) {
            axpy(*value, weights, hidden);
        }
        hidden.iter_mut().for_each(|unit| *unit = unit.max(0.0));
    }

    /// `v` and `c`, at the end of the parameters.
    fn output(&self) -> (&[f64], f64) {
        let last = self.parameters.len() - 1;
        (&self.parameters[last - HIDDEN_UNITS..last], self.parameters[last])
    }

    /// `v' relu(W z + b) + c` at a standardised row.
    pub(super) fn log_ratio(&self, z: &[f64]) -> f64 {
        let mut hidden = [0.0; HIDDEN_UNITS];
        self.hidden(z, &mut hidden);
        let (weights, bias) = self.output();
        dot(&hidden, weights) + bias
    }

    /// Adds `share` times the gradient of a row's logistic loss; returns the loss. `gradient` is
    /// laid out as the parameters.
    ///
    /// ```text
    /// dl = p - [target],   dv += dl h,   dc += dl,   dW += z (dl v [h > 0])',   db += dl v [h > 0]
    /// ```
    fn add_gradient(&self, z: &[f64], side: Side, share: f64, gradient: &mut [f64]) -> f64 {
        let mut hidden = [0.0; HIDDEN_UNITS];
        self.hidden(z, &mut hidden);
        let (weights, bias) = self.output();
        let logit = dot(&hidden, weights) + bias;
        // `softplus` and `sigmoid` of the sign that does not overflow: a logit of 1000 is a loss of
        // 1000.
        let (loss, slope) = match side {
            Side::Target => (softplus(-logit), sigmoid(logit) - 1.0),
            Side::Calibration => (softplus(logit), sigmoid(logit)),
        };
        let slope = share * slope;
        let mut in_hidden = [0.0; HIDDEN_UNITS];
        for ((slot, unit), weight) in in_hidden.iter_mut().zip(&hidden).zip(weights) {
            *slot = if *unit > 0.0 { slope * weight } else { 0.0 };
        }
        let (first, rest) = gradient.split_at_mut(z.len() * HIDDEN_UNITS);
        for (value, slots) in z.iter().zip(first.chunks_exact_mut(HIDDEN_UNITS)) {
            axpy(*value, &in_hidden, slots);
        }
        let (biases, last) = rest.split_at_mut(HIDDEN_UNITS);
        axpy(1.0, &in_hidden, biases);
        axpy(slope, &hidden, &mut last[..HIDDEN_UNITS]);
        last[HIDDEN_UNITS] += slope;
        loss
    }

    /// Trains on standardised rows, and keeps the parameters that were best on the rows held out: a network this size
    /// learns a few hundred rows by heart, and its ratios are then those of the noise. Unless it beats the loss `ln 2` of
    /// "no shift" there, the ratio is 1 everywhere.
    pub(super) fn train(
        labeled: &[f64],
        target: &[f64],
        features: usize,
        settings: NetworkSettings,
        seed: Seed,
    ) -> Result<Trained> {
        // The purposes of the streams are part of the result: renaming one changes every fit by
        // this seed.
        let mut network = Self::initial(features, &mut seed.stream("ratio-network-initialisation"));
        let mut order = seed.stream("ratio-network-batches");
        let labeled = Rows::split(labeled, features, &mut order);
        let target = Rows::split(target, features, &mut order);
        let mut adam = Adam::new(settings.adam, network.parameters.len());
        let mut gradient = vec![0.0; network.parameters.len()];
        // Either side counts half, however many rows it has: otherwise the larger would choose the
        // network.
        let held_out_loss = |network: &Self| {
            let loss = |rows: &Rows<'_>, side| rows.mean_held_out_loss(network, side);
            f64::midpoint(loss(&target, Side::Target), loss(&labeled, Side::Calibration))
        };
        // `ln 2` is what the ratio 1 loses. A network must beat it on rows it has not seen.
        let mut best = (LN_2, 0, network.without_output());
        for step in 1..=settings.steps {
            gradient.fill(0.0);
            for (rows, side) in [(&target, Side::Target), (&labeled, Side::Calibration)] {
                let batch = rows.fitted.len().min(BATCH_PER_SIDE);
                let share = 0.5 / batch as f64;
                // With replacement: nothing to shuffle, and either side may have more rows than the
                // other.
                for _ in 0..batch {
                    let row = rows.row(rows.fitted[order.below(rows.fitted.len())]);
                    network.add_gradient(row, side, share, &mut gradient);
                }
            }
            adam.step(&mut network.parameters, &gradient)?;
            if step % LOOK_EVERY == 0 || step == settings.steps {
                let loss = held_out_loss(&network);
                // Later steps only start from the NaN. What was best before is still an answer.
                if loss.is_nan() {
                    let (loss, steps, network) = best;
                    return Ok(Trained { network, steps, loss, stopped: RatioStop::Diverged });
                }
                if loss < best.0 {
                    best = (loss, step, network.clone());
                }
            }
        }
        let (loss, steps, network) = best;
        Ok(Trained { network, steps, loss, stopped: RatioStop::BestHeldOutLoss })
    }
}

/// Which data set a row is of: the sign of its loss.
#[derive(Debug, Clone, Copy)]
enum Side {
    /// Numerator: the logit should be large.
    Target,
    /// Denominator: the logit should be small.
    Calibration,
}

/// Rows of one side, some held out; with fewer than [`HELD_OUT`] rows all do both.
struct Rows<'a> {
    /// Standardised rows, one after the other.
    values: &'a [f64],
    /// Numbers of a row.
    features: usize,
    /// Rows that steps draw from.
    fitted: Vec<usize>,
    /// Rows that choose the network; a fifth.
    held_out: Vec<usize>,
}

impl<'a> Rows<'a> {
    /// Holds out a fifth of the rows, drawn at random: files are often sorted.
    fn split(values: &'a [f64], features: usize, stream: &mut Stream) -> Self {
        let rows = values.len() / features;
        let mut order: Vec<usize> = (0..rows).collect();
        for i in (1..rows).rev() {
            order.swap(i, stream.below(i + 1));
        }
        let held_out = order[..rows / HELD_OUT].to_vec();
        let fitted = order[rows / HELD_OUT..].to_vec();
        let held_out = if held_out.is_empty() { fitted.clone() } else { held_out };
        Self { values, features, fitted, held_out }
    }

    /// Row `index`; shape `(features,)`.
    fn row(&self, index: usize) -> &'a [f64] {
        &self.values[index * self.features..][..self.features]
    }

    /// Mean logistic loss of the rows held out, in nats.
    fn mean_held_out_loss(&self, network: &HiddenLayer, side: Side) -> f64 {
        let loss = |index: &usize| {
            let logit = network.log_ratio(self.row(*index));
            softplus(match side {
                Side::Target => -logit,
                Side::Calibration => logit,
            })
        };
        self.held_out.iter().map(loss).sum::<f64>() / self.held_out.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_agrees_with_finite_differences() {
        let mut stream = Seed::new(3).stream("network");
        let network = HiddenLayer::initial(3, &mut stream);
        for side in [Side::Target, Side::Calibration] {
            let z: Vec<f64> = (0..3).map(|_| 2.0 * stream.uniform() - 1.0).collect();
            let mut gradient = vec![0.0; network.parameters.len()];
            network.add_gradient(&z, side, 1.0, &mut gradient);
            let loss_at = |index: usize, by: f64| {
                let mut moved = network.clone();
                moved.parameters[index] += by;
                moved.add_gradient(&z, side, 1.0, &mut vec![0.0; gradient.len()])
            };
            for (index, slope) in gradient.iter().enumerate() {
                let found = (loss_at(index, 1e-6) - loss_at(index, -1e-6)) / 2e-6;
                assert!((found - slope).abs() < 1e-8, "{index}: {found} against {slope}");
            }
        }
    }

    /// Rows that are all alike have the loss of a constant, which is smallest at the ratio 1.
    #[test]
    fn without_anything_to_learn_the_ratio_is_one() {
        let (rows, settings) = ([0.0; 60], NetworkSettings::default());
        let trained = HiddenLayer::train(&rows, &rows[..30], 3, settings, Seed::new(1)).unwrap();
        assert_eq!((trained.steps, trained.loss), (0, LN_2));
        assert_eq!(trained.network.log_ratio(&[0.3, -2.0, 1.0]), 0.0);
    }

    #[test]
    fn a_fifth_is_held_out_unless_there_are_too_few() {
        let values = [0.0; 12];
        let rows = Rows::split(&values, 1, &mut Seed::new(1).stream("split"));
        assert_eq!((rows.fitted.len(), rows.held_out.len()), (10, 2));
        let rows = Rows::split(&values[..3], 1, &mut Seed::new(1).stream("split"));
        assert_eq!((rows.fitted.len(), rows.held_out.len()), (3, 3));
    }
}

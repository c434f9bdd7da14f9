//! The predictor: one hidden layer of 256 over four features, a probability for each of 50 bins of `y`.
//!
//! Regression as classification (Guha et al. 2024). The paper does not say how long its network was trained; the longer,
//! the sharper its bins and the further its coverage falls on the target data.

use evenkeel::rows::Rows;
use evenkeel::score::softmax_rows;
use evenkeel::seed::{Seed, Stream};

use super::world::FEATURES;
use crate::classifier::adam::Adam;
use crate::classifier::matrix::{Matrix, column_sums, multiply};
use crate::draws::permutation;
use crate::error::Result;

/// Units of the hidden layer.
pub const HIDDEN: usize = 256;

/// How the predictor learns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictorSettings {
    /// Points a step.
    pub batch: usize,
    /// Adam's learning rate.
    pub learning_rate: f64,
}

impl Default for PredictorSettings {
    fn default() -> Self {
        Self { batch: 64, learning_rate: 1e-3 }
    }
}

/// A network `FEATURES - HIDDEN - bins` with ReLU.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictor {
    /// First weights, first biases, second weights, second biases; weights are `(in, out)`, row-major.
    parameters: Vec<f32>,
    bins: usize,
}

/// Where the parameters of a layer start.
const FIRST_BIAS: usize = FEATURES * HIDDEN;
const SECOND: usize = FIRST_BIAS + HIDDEN;

impl Predictor {
    /// Before training: uniform in `+- 1/sqrt(inputs)`, as is usual for such layers.
    pub fn initialised(bins: usize, seed: Seed) -> Self {
        let stream = &mut seed.stream("predictor-initial");
        let mut parameters = Vec::with_capacity(SECOND + HIDDEN * bins + bins);
        for (count, inputs) in [(SECOND, FEATURES), (HIDDEN * bins + bins, HIDDEN)] {
            let bound = 1.0 / (inputs as f64).sqrt();
            parameters.extend((0..count).map(|_| ((2.0 * stream.uniform() - 1.0) * bound) as f32));
        }
        Self { parameters, bins }
    }

    fn second_bias(&self) -> usize {
        SECOND + HIDDEN * self.bins
    }

    /// Hidden activations and logits of rows of features.
    fn forward(&self, x: &[f32], hidden: &mut Vec<f32>, logits: &mut Vec<f32>) {
        let rows = x.len() / FEATURES;
        hidden.resize(rows * HIDDEN, 0.0);
        logits.resize(rows * self.bins, 0.0);
        let (first, bias) = self.parameters[..SECOND].split_at(FIRST_BIAS);
        multiply(Matrix::new(x, FEATURES), Matrix::new(first, HIDDEN), hidden);
        for row in hidden.chunks_exact_mut(HIDDEN) {
            row.iter_mut().zip(bias).for_each(|(value, bias)| *value = (*value + bias).max(0.0));
        }
        let (second, bias) = self.parameters[SECOND..].split_at(self.second_bias() - SECOND);
        multiply(Matrix::new(hidden, HIDDEN), Matrix::new(second, self.bins), logits);
        for row in logits.chunks_exact_mut(self.bins) {
            row.iter_mut().zip(bias).for_each(|(value, bias)| *value += bias);
        }
    }

    /// Bin probabilities of rows of features; shape `(rows, bins)`.
    pub fn probabilities(&self, x: &[f64]) -> Result<Vec<f64>> {
        let (mut hidden, mut logits) = (Vec::new(), Vec::new());
        self.forward(&single(x), &mut hidden, &mut logits);
        Ok(softmax_rows(Rows::new("logits", &logits, self.bins)?, 1.0)?)
    }
}

fn single(x: &[f64]) -> Vec<f32> {
    x.iter().map(|value| *value as f32).collect()
}

/// Training in progress: epochs can be added at will, and every stage is that of a training that ended there.
#[derive(Debug)]
pub struct Training {
    predictor: Predictor,
    settings: PredictorSettings,
    adam: Adam,
    order: Stream,
    epochs: usize,
    x: Vec<f32>,
    bins_of_y: Vec<usize>,
    buffers: Buffers,
}

#[derive(Debug, Default)]
struct Buffers {
    x: Vec<f32>,
    hidden: Vec<f32>,
    logits: Vec<f32>,
    to_hidden: Vec<f32>,
    gradient: Vec<f32>,
}

impl Training {
    /// Starts from rows of features and the bin of every row's level.
    pub fn new(
        x: &[f64],
        bins_of_y: Vec<usize>,
        bins: usize,
        settings: PredictorSettings,
        seed: Seed,
    ) -> Self {
        let predictor = Predictor::initialised(bins, seed);
        let adam = Adam::new(predictor.parameters.len());
        // One stream for all epochs: stopping and going on draws what training in one go would.
        let (x, order) = (single(x), seed.stream("predictor-order"));
        let buffers = Buffers::default();
        Self { predictor, settings, adam, order, epochs: 0, x, bins_of_y, buffers }
    }

    /// The predictor as it is now.
    pub fn predictor(&self) -> &Predictor {
        &self.predictor
    }

    /// Trains until so many epochs are done.
    pub fn train_to(&mut self, epochs: usize) {
        while self.epochs < epochs {
            let order = permutation(&mut self.order, self.bins_of_y.len());
            for batch in order.chunks(self.settings.batch.max(1)) {
                self.step(batch);
            }
            self.epochs += 1;
        }
    }

    /// One step of Adam on the mean cross-entropy of some rows.
    fn step(&mut self, batch: &[usize]) {
        let Self { predictor, buffers, .. } = self;
        let (bins, second_bias) = (predictor.bins, predictor.second_bias());
        let Buffers { x, hidden, logits, to_hidden, gradient } = buffers;
        x.clear();
        batch.iter().for_each(|row| x.extend(&self.x[row * FEATURES..][..FEATURES]));
        predictor.forward(x, hidden, logits);
        // d(mean cross-entropy)/d(logits) = (softmax - one hot) / rows.
        let share = 1.0 / batch.len() as f32;
        for (row, logits) in batch.iter().zip(logits.chunks_exact_mut(bins)) {
            // exp of f32 overflows above ~88; shifting by the maximum leaves the softmax unchanged.
            let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let mut total = 0.0;
            for value in logits.iter_mut() {
                *value = (*value - largest).exp();
                total += *value;
            }
            logits.iter_mut().for_each(|value| *value *= share / total);
            logits[self.bins_of_y[*row]] -= share;
        }
        gradient.resize(predictor.parameters.len(), 0.0);
        let (first, second) = gradient.split_at_mut(SECOND);
        let (second, bias) = second.split_at_mut(second_bias - SECOND);
        let to_logits = Matrix::new(logits, bins);
        multiply(Matrix::new(hidden, HIDDEN).transposed(), to_logits, second);
        column_sums(logits, bias);
        to_hidden.resize(hidden.len(), 0.0);
        let weights = Matrix::new(&predictor.parameters[SECOND..second_bias], bins);
        multiply(to_logits, weights.transposed(), to_hidden);
        for (slot, active) in to_hidden.iter_mut().zip(hidden.iter()) {
            // The ReLU passes no gradient where it gave zero.
            if *active <= 0.0 {
                *slot = 0.0;
            }
        }
        let (first, bias) = first.split_at_mut(FIRST_BIAS);
        let to_hidden = &to_hidden[..];
        multiply(Matrix::new(x, FEATURES).transposed(), Matrix::new(to_hidden, HIDDEN), first);
        column_sums(to_hidden, bias);
        self.adam.step(&mut predictor.parameters, gradient, self.settings.learning_rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> (Vec<f64>, Vec<usize>) {
        let mut stream = Seed::new(2).stream("data");
        let x: Vec<f64> = (0..40 * FEATURES).map(|_| 2.0 * stream.uniform() - 1.0).collect();
        let y = x.chunks_exact(FEATURES).map(|row| usize::from(row[0] > 0.0) + 1).collect();
        (x, y)
    }

    fn loss(predictor: &Predictor, x: &[f64], y: &[usize]) -> f64 {
        let probabilities = predictor.probabilities(x).unwrap();
        let rows = probabilities.chunks_exact(predictor.bins).zip(y);
        rows.map(|(row, y)| -row[*y].ln()).sum::<f64>() / y.len() as f64
    }

    /// A first step of Adam moves every parameter by the learning rate against the sign of its gradient; along that
    /// direction the loss must fall as the finite difference says.
    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let (x, y) = data();
        let settings = PredictorSettings { batch: y.len(), learning_rate: 1e-3 };
        let mut training = Training::new(&x, y.clone(), 3, settings, Seed::new(1));
        let before = training.predictor().clone();
        let rows: Vec<usize> = (0..y.len()).collect();
        training.step(&rows);
        let gradient = training.buffers.gradient.clone();
        let step = 2e-2;
        let mut checked = 0;
        for index in (0..gradient.len()).step_by(37) {
            let shifted = |by: f32| {
                let mut predictor = before.clone();
                predictor.parameters[index] += by;
                loss(&predictor, &x, &y)
            };
            let difference = (shifted(step) - shifted(-step)) / (2.0 * f64::from(step));
            let found = f64::from(gradient[index]);
            // Single precision, and a hinge may lie within the step.
            assert!((found - difference).abs() < 2e-3, "{index}: {found} {difference}");
            checked += usize::from(found.abs() > 5e-3);
        }
        assert!(checked > 5, "the test must see gradients that matter");
    }

    #[test]
    fn a_stage_is_the_end_of_a_shorter_training() {
        let (x, y) = data();
        let new = || {
            let settings = PredictorSettings { batch: 16, learning_rate: 1e-2 };
            Training::new(&x, y.clone(), 3, settings, Seed::new(3))
        };
        let (mut staged, mut direct) = (new(), new());
        staged.train_to(2);
        let early = loss(staged.predictor(), &x, &y);
        staged.train_to(30);
        direct.train_to(30);
        assert_eq!(staged.predictor(), direct.predictor());
        assert!(loss(direct.predictor(), &x, &y) < 0.5 * early);
    }
}

//! `theta <- theta - rate mean / (sqrt(square) + epsilon)`: Adam \[KB15\], as the paper uses it.

use crate::error::{Error, Result, require_same_length};
use crate::numeric::simd::in_widest_registers;

/// Step size of Alg 1 in classification; 0.1 in regression.
const PAPER_LEARNING_RATE: f64 = 1e-3;
/// Memory of the mean gradient, about ten steps.
const PAPER_BETA1: f64 = 0.9;
/// Memory of the mean square, about a thousand steps.
const PAPER_BETA2: f64 = 0.999;
/// Floor under the root of the mean square.
const PAPER_EPSILON: f64 = 1e-8;

/// How large Adam's steps are and how long it remembers.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `learning_rate` | 0.001 | size of a step; the paper takes 0.1 in regression | positive, finite |
/// | `beta1` | 0.9 | memory of the mean gradient | `[0, 1)` |
/// | `beta2` | 0.999 | memory of the mean squared gradient | `[0, 1)` |
/// | `epsilon` | 1e-8 | keeps the step finite where the gradient vanishes | positive, finite |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamSettings {
    /// Size of a step; positive, finite.
    learning_rate: f64,
    /// Memory of the mean gradient, in `[0, 1)`.
    beta1: f64,
    /// Memory of the mean squared gradient, in `[0, 1)`.
    beta2: f64,
    /// Floor under the root; positive, finite.
    epsilon: f64,
}

impl Default for AdamSettings {
    /// The paper's settings, which are those of \[KB15\].
    fn default() -> Self {
        Self {
            learning_rate: PAPER_LEARNING_RATE,
            beta1: PAPER_BETA1,
            beta2: PAPER_BETA2,
            epsilon: PAPER_EPSILON,
        }
    }
}

impl AdamSettings {
    /// The paper's settings at another learning rate.
    ///
    /// # Errors
    /// `OutOfRange` unless the learning rate is positive and finite.
    pub fn new(learning_rate: f64) -> Result<Self> {
        let learning_rate = positive("the learning rate", learning_rate)?;
        Ok(Self { learning_rate, ..Self::default() })
    }

    /// Size of a step: the largest move of a parameter in the first step.
    pub fn learning_rate(self) -> f64 {
        self.learning_rate
    }

    /// With other memories of the mean gradient and of the mean squared gradient.
    ///
    /// # Errors
    /// `OutOfRange` unless both are at least 0 and below 1.
    pub fn with_betas(self, beta1: f64, beta2: f64) -> Result<Self> {
        let beta1 = memory("beta1", beta1)?;
        let beta2 = memory("beta2", beta2)?;
        Ok(Self { beta1, beta2, ..self })
    }

    /// With another floor under the root of the mean squared gradient.
    ///
    /// # Errors
    /// `OutOfRange` unless it is positive and finite.
    pub fn with_epsilon(self, epsilon: f64) -> Result<Self> {
        Ok(Self { epsilon: positive("epsilon", epsilon)?, ..self })
    }
}

/// An error unless `0 <= value < 1`: at 1 the state would never move.
fn memory(what: &'static str, value: f64) -> Result<f64> {
    if (0.0..1.0).contains(&value) {
        Ok(value)
    } else {
        Err(Error::OutOfRange { what, value, expected: "at least 0 and below 1" })
    }
}

/// An error unless `value` is positive and finite; a NaN is refused too.
fn positive(what: &'static str, value: f64) -> Result<f64> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(Error::OutOfRange { what, value, expected: "positive and finite" })
    }
}

/// Adam's state for a fixed number of parameters.
///
/// ```text
/// mean    <- beta1 mean + (1 - beta1) g
/// square  <- beta2 square + (1 - beta2) g^2                      (both 0 at the start)
/// theta   <- theta - learning_rate (mean / (1 - beta1^r)) / (sqrt(square / (1 - beta2^r)) + epsilon)
/// ```
/// at step `r = 1, 2, ...` with gradient `g`.
#[derive(Debug, Clone)]
pub struct Adam {
    /// Step size and memories; they do not change while it runs.
    settings: AdamSettings,
    /// Running mean of the gradient, not yet corrected for its start at 0.
    mean: Vec<f64>,
    /// Running mean of its squares, likewise.
    square: Vec<f64>,
    /// `beta1^r` after `r` steps: what the mean lacks for having started at 0.
    beta1_power: f64,
    /// `beta2^r` after `r` steps, of the mean square likewise.
    beta2_power: f64,
}

impl Adam {
    /// The state before the first step on `parameters` parameters.
    pub fn new(settings: AdamSettings, parameters: usize) -> Self {
        Self {
            settings,
            mean: vec![0.0; parameters],
            square: vec![0.0; parameters],
            beta1_power: 1.0,
            beta2_power: 1.0,
        }
    }

    /// Moves `parameters` one step against `gradient`. Allocates nothing.
    ///
    /// # Errors
    /// `LengthMismatch` unless both slices have one entry per parameter of the state.
    pub fn step(&mut self, parameters: &mut [f64], gradient: &[f64]) -> Result<()> {
        let n = self.mean.len();
        require_same_length("the parameters", parameters.len(), "Adam's state", n)?;
        require_same_length("the gradient", gradient.len(), "Adam's state", n)?;
        // Multiplied step by step: `powi` of a large step count costs more, and may differ between
        // platforms.
        self.beta1_power *= self.settings.beta1;
        self.beta2_power *= self.settings.beta2;
        move_all(self, parameters, gradient);
        Ok(())
    }
}

in_widest_registers! {
    /// One step on every parameter; the lengths were checked.
    fn move_all[](adam: &mut Adam, parameters: &mut [f64], gradient: &[f64]) -> () {
        let AdamSettings { learning_rate, beta1, beta2, epsilon } = adam.settings;
        // Both corrections are the same for every parameter: taken out of the loop they leave it one division and
        // one square root, which is what it costs.
        let rate = learning_rate / (1.0 - adam.beta1_power);
        let correction = 1.0 / (1.0 - adam.beta2_power);
        let (keep, take) = ((beta1, beta2), (1.0 - beta1, 1.0 - beta2));
        let state = adam.mean.iter_mut().zip(&mut adam.square);
        for ((theta, g), (mean, square)) in parameters.iter_mut().zip(gradient).zip(state) {
            *mean = keep.0 * *mean + take.0 * g;
            *square = keep.1 * *square + take.1 * (g * g);
            *theta -= rate * *mean / ((*square * correction).sqrt() + epsilon);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The slow twin: one parameter, the formula as printed, powers from scratch.
    fn scalar_path(settings: AdamSettings, start: f64, gradients: &[f64]) -> f64 {
        let (mut theta, mut mean, mut square) = (start, 0.0, 0.0);
        for (r, g) in (1..).zip(gradients) {
            mean = settings.beta1 * mean + (1.0 - settings.beta1) * g;
            square = settings.beta2 * square + (1.0 - settings.beta2) * g * g;
            let corrected = mean / (1.0 - settings.beta1.powi(r));
            let scale = (square / (1.0 - settings.beta2.powi(r))).sqrt() + settings.epsilon;
            theta -= settings.learning_rate * corrected / scale;
        }
        theta
    }

    proptest! {
        #[test]
        fn every_parameter_follows_the_scalar_path(
            start in prop::collection::vec(-3.0..3.0f64, 1..20),
            steps in 1usize..60,
            learning_rate in 1e-4..0.5f64,
            beta1 in 0.0..0.99f64,
            beta2 in 0.0..0.9999f64,
            seed in any::<u64>(),
        ) {
            let settings = AdamSettings::new(learning_rate).unwrap();
            let settings = settings.with_betas(beta1, beta2).unwrap();
            let mut stream = crate::seed::Seed::new(seed).stream("gradients");
            let n = start.len();
            let gradients: Vec<f64> = (0..n * steps).map(|_| stream.uniform() - 0.5).collect();
            let mut adam = Adam::new(settings, n);
            let mut parameters = start.clone();
            for gradient in gradients.chunks_exact(n) {
                adam.step(&mut parameters, gradient).unwrap();
            }
            for (i, theta) in parameters.iter().enumerate() {
                let own: Vec<f64> = gradients.iter().skip(i).step_by(n).copied().collect();
                let expected = scalar_path(settings, start[i], &own);
                prop_assert!((theta - expected).abs() < 1e-11, "{theta} against {expected}");
            }
        }
    }

    #[test]
    fn a_zero_gradient_moves_nothing() {
        let mut adam = Adam::new(AdamSettings::default(), 2);
        let mut parameters = [1.0, -2.0];
        adam.step(&mut parameters, &[0.0, 0.0]).unwrap();
        assert_eq!(parameters, [1.0, -2.0]);
    }

    #[test]
    fn settings_and_lengths_are_checked() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(AdamSettings::new(rate).is_err());
        }
        let paper = AdamSettings::default();
        assert!(paper.with_betas(1.0, 0.5).is_err());
        assert!(paper.with_betas(0.5, -0.1).is_err());
        assert!(paper.with_epsilon(0.0).is_err());
        let mut adam = Adam::new(paper, 2);
        assert!(adam.step(&mut [0.0; 3], &[0.0; 3]).is_err());
        assert!(adam.step(&mut [0.0; 2], &[0.0; 3]).is_err());
    }
}

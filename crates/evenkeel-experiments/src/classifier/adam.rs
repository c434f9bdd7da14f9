//! Adam (Kingma & Ba, 2015) in single precision, with a learning rate that may change from step to step.

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// Adam's memory of the gradients.
///
/// ```text
/// mean    <- beta1 mean + (1 - beta1) g
/// square  <- beta2 square + (1 - beta2) g^2                      (both 0 at the start)
/// theta   <- theta - learning_rate (mean / (1 - beta1^r)) / (sqrt(square / (1 - beta2^r)) + epsilon)
/// ```
#[derive(Debug, Clone)]
pub(crate) struct Adam {
    mean: Vec<f32>,
    square: Vec<f32>,
    /// `beta1^r` and `beta2^r`, kept in `f64`: `1 - beta2` has only four digits in single precision.
    powers: [f64; 2],
}

impl Adam {
    /// The memory before the first step.
    pub(crate) fn new(parameters: usize) -> Self {
        Self { mean: vec![0.0; parameters], square: vec![0.0; parameters], powers: [1.0; 2] }
    }

    /// One step of the parameters against the gradient.
    pub(crate) fn step(&mut self, parameters: &mut [f32], gradient: &[f32], learning_rate: f64) {
        self.powers[0] *= f64::from(BETA1);
        self.powers[1] *= f64::from(BETA2);
        let rate = (learning_rate / (1.0 - self.powers[0])) as f32;
        let scale = (1.0 / (1.0 - self.powers[1])) as f32;
        for (((parameter, mean), square), gradient) in
            parameters.iter_mut().zip(&mut self.mean).zip(&mut self.square).zip(gradient)
        {
            *mean = BETA1 * *mean + (1.0 - BETA1) * gradient;
            *square = BETA2 * *square + (1.0 - BETA2) * gradient * gradient;
            // Epsilon stands outside the root, as in the paper: inside, 1e-4 of it would act.
            *parameter -= rate * *mean / ((*square * scale).sqrt() + EPSILON);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_size_of_the_learning_rate() {
        let mut parameters = [1.0, 1.0];
        Adam::new(2).step(&mut parameters, &[3.0, -0.01], 0.1);
        assert!((parameters[0] - 0.9).abs() < 1e-4 && (parameters[1] - 1.1).abs() < 1e-4);
    }

    #[test]
    fn a_parabola_is_descended() {
        let mut adam = Adam::new(1);
        let mut parameters = [2.0_f32];
        for _ in 0..500 {
            let gradient = [2.0 * (parameters[0] - 0.5)];
            adam.step(&mut parameters, &gradient, 0.02);
        }
        assert!((parameters[0] - 0.5).abs() < 1e-2, "{}", parameters[0]);
    }
}

//! One pass of a chunk of images through the network, forward and backward.

use super::architecture::{FEATURES, FIRST, HIDDEN, Layers, PARAMETER_COUNT, SECOND, range};
use super::layers::{Convolution, add_bias_and_rectify, rectify_backward};
use super::matrix::{Matrix, Scalar, column_sums, multiply, product};
use crate::fashion_mnist::CLASSES;

/// What a convolution leaves for the way back.
struct Convolved<T> {
    patches: Vec<T>,
    winners: Vec<u8>,
    /// After pool, bias and ReLU.
    output: Vec<T>,
}

fn convolve<T: Scalar>(
    convolution: &Convolution,
    input: &[T],
    weight: &[T],
    bias: &[T],
) -> Convolved<T> {
    let patches = convolution.patches(input);
    let responses = product(
        Matrix::new(&patches, convolution.patch()),
        Matrix::new(weight, convolution.outputs),
    );
    // Pooled before the bias and the ReLU, on a quarter of the numbers; see the module's head.
    let (mut output, winners) = convolution.max_pool(&responses);
    add_bias_and_rectify(&mut output, bias);
    Convolved { patches, winners, output }
}

/// All layers' outputs for a chunk of images.
struct Forward<T> {
    first: Convolved<T>,
    second: Convolved<T>,
    hidden: Vec<T>,
    logits: Vec<T>,
}

fn forward<T: Scalar>(layers: &Layers<'_, T>, pixels: &[T]) -> Forward<T> {
    let first = convolve(&FIRST, pixels, layers.weights[0], layers.biases[0]);
    let second = convolve(&SECOND, &first.output, layers.weights[1], layers.biases[1]);
    let mut hidden =
        product(Matrix::new(&second.output, FEATURES), Matrix::new(layers.weights[2], HIDDEN));
    add_bias_and_rectify(&mut hidden, layers.biases[2]);
    let mut logits = product(Matrix::new(&hidden, HIDDEN), Matrix::new(layers.weights[3], CLASSES));
    for row in logits.chunks_exact_mut(CLASSES) {
        for (logit, bias) in row.iter_mut().zip(layers.biases[3]) {
            *logit += *bias;
        }
    }
    Forward { first, second, hidden, logits }
}

/// Logits of the images whose pixels are given; shape `(images, CLASSES)`.
pub(super) fn logits<T: Scalar>(parameters: &[T], pixels: &[T]) -> Vec<T> {
    forward(&Layers::of(parameters), pixels).logits
}

/// Sums over the images of a chunk.
pub(super) struct LossAndGradient<T> {
    /// Sum of `-log f(y|x)`.
    pub(super) loss: f64,
    /// Images whose largest logit is their label's.
    pub(super) correct: usize,
    /// Gradient of the loss by the parameters.
    pub(super) gradient: Vec<T>,
}

/// Cross-entropy of a chunk of images, summed, and its gradient.
pub(super) fn loss_and_gradient<T: Scalar>(
    parameters: &[T],
    pixels: &[T],
    labels: &[usize],
) -> LossAndGradient<T> {
    let layers = Layers::of(parameters);
    let forward = forward(&layers, pixels);
    let (loss, correct, by_logits) = cross_entropy(&forward.logits, labels);
    let mut gradient = vec![T::ZERO; PARAMETER_COUNT];

    let mut by_hidden =
        dense_backward(&forward.hidden, &by_logits, layers.weights[3], 3, &mut gradient);
    rectify_backward(&mut by_hidden, &forward.hidden);
    let mut by_features =
        dense_backward(&forward.second.output, &by_hidden, layers.weights[2], 2, &mut gradient);

    let by_patches =
        convolve_backward(&SECOND, &forward.second, &mut by_features, 1, &mut gradient);
    let by_patches = product(
        Matrix::new(&by_patches, SECOND.outputs),
        Matrix::new(layers.weights[1], SECOND.outputs).transposed(),
    );
    let mut by_first = SECOND.patches_backward(&by_patches);
    convolve_backward(&FIRST, &forward.first, &mut by_first, 0, &mut gradient);
    LossAndGradient { loss, correct, gradient }
}

/// Writes the gradient of dense layer `layer` and returns that of its input.
fn dense_backward<T: Scalar>(
    input: &[T],
    by_output: &[T],
    weight: &[T],
    layer: usize,
    gradient: &mut [T],
) -> Vec<T> {
    let (inputs, outputs) = if layer == 3 { (HIDDEN, CLASSES) } else { (FEATURES, HIDDEN) };
    let by_output_rows = Matrix::new(by_output, outputs);
    let weight_gradient = &mut gradient[range(2 * layer)];
    multiply(Matrix::new(input, inputs).transposed(), by_output_rows, weight_gradient);
    column_sums(by_output, &mut gradient[range(2 * layer + 1)]);
    product(by_output_rows, Matrix::new(weight, outputs).transposed())
}

/// Writes the gradient of convolution `layer` and returns that of its responses before the pool. `by_output` is
/// changed on the way.
fn convolve_backward<T: Scalar>(
    convolution: &Convolution,
    convolved: &Convolved<T>,
    by_output: &mut [T],
    layer: usize,
    gradient: &mut [T],
) -> Vec<T> {
    rectify_backward(by_output, &convolved.output);
    column_sums(by_output, &mut gradient[range(2 * layer + 1)]);
    let by_responses = convolution.max_pool_backward(by_output, &convolved.winners);
    multiply(
        Matrix::new(&convolved.patches, convolution.patch()).transposed(),
        Matrix::new(&by_responses, convolution.outputs),
        &mut gradient[range(2 * layer)],
    );
    by_responses
}

/// Summed cross-entropy, correct answers, and the gradient by the logits, `softmax(logits) - [label]`.
fn cross_entropy<T: Scalar>(logits: &[T], labels: &[usize]) -> (f64, usize, Vec<T>) {
    let mut loss = 0.0;
    let mut correct = 0;
    let mut gradient = Vec::with_capacity(logits.len());
    for (row, label) in logits.chunks_exact(CLASSES).zip(labels) {
        // In double precision whatever the network runs in: the loss of a batch is a sum of many.
        let row: [f64; CLASSES] = std::array::from_fn(|class| row[class].into());
        let largest = row.into_iter().fold(f64::NEG_INFINITY, f64::max);
        // exp overflows above ~709; shifting every logit by the maximum leaves the softmax unchanged.
        let powers = row.map(|logit| (logit - largest).exp());
        let total: f64 = powers.iter().sum();
        loss += total.ln() - (row[*label] - largest);
        // Ties count as right; they do not happen once training has begun.
        correct += usize::from(row[*label] >= largest);
        gradient.extend(powers.iter().enumerate().map(|(class, power)| {
            T::from_f64(power / total - if class == *label { 1.0 } else { 0.0 })
        }));
    }
    (loss, correct, gradient)
}

#[cfg(test)]
mod tests {
    use super::super::architecture::{TENSORS, initialised};
    use super::*;
    use crate::image::PIXELS;
    use evenkeel::seed::Seed;

    /// In `f64`, where central differences are good to about nine digits.
    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let mut stream = Seed::new(11).stream("gradient-test");
        let pixels: Vec<f64> = (0..3 * PIXELS).map(|_| stream.uniform()).collect();
        let labels = [2, 9, 0];
        let mut parameters: Vec<f64> =
            initialised(Seed::new(4)).into_iter().map(f64::from).collect();
        // Biases other than zero, so that they matter.
        parameters.iter_mut().for_each(|value| *value += 0.02 * (stream.uniform() - 0.5));
        let gradient = loss_and_gradient(&parameters, &pixels, &labels).gradient;
        let step = 1e-6;
        for (index, tensor) in TENSORS.iter().enumerate() {
            let mut seen = 0.0_f64;
            for _ in 0..12 {
                let at = range(index).start + stream.below(tensor.len());
                let analytic = gradient[at];
                let here = parameters[at];
                let mut loss_at = |moved: f64| {
                    let before = std::mem::replace(&mut parameters[at], moved);
                    let loss = loss_and_gradient(&parameters, &pixels, &labels).loss;
                    parameters[at] = before;
                    loss
                };
                let difference = (loss_at(here + step) - loss_at(here - step)) / (2.0 * step);
                let tolerance = 1e-7 * (1.0 + analytic.abs());
                assert!(
                    (difference - analytic).abs() < tolerance,
                    "{}[{at}]: {difference} against {analytic}",
                    tensor.name
                );
                seen = seen.max(analytic.abs());
            }
            assert!(seen > 1e-6, "{} was only tested where nothing depends on it", tensor.name);
        }
    }

    #[test]
    fn single_precision_agrees_with_double() {
        let mut stream = Seed::new(12).stream("precision-test");
        let parameters = initialised(Seed::new(4));
        let pixels: Vec<f32> = (0..2 * PIXELS).map(|_| stream.uniform() as f32).collect();
        let wide = |values: &[f32]| values.iter().copied().map(f64::from).collect::<Vec<_>>();
        let single = loss_and_gradient(&parameters, &pixels, &[1, 7]);
        let double = loss_and_gradient(&wide(&parameters), &wide(&pixels), &[1, 7]);
        assert!((single.loss - double.loss).abs() < 1e-4);
        for (single, double) in single.gradient.iter().zip(&double.gradient) {
            assert!((f64::from(*single) - double).abs() < 1e-4 * (1.0 + double.abs()));
        }
    }
}

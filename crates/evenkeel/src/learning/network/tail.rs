//! `log w = 20 tanh((W4 relu(W3 a + b3) + b4) / 20)`: layers 3 and 4 and the bound on log-weights, point by point.

use super::parameters::{Layers, LayersMut};
use super::short_vector::{add_scaled, dot};

/// Log-weights stay within this distance of zero: no weight exceeds another by more than `exp(40)`.
pub const LOG_WEIGHT_LIMIT: f64 = 20.0;

/// What a point leaves behind for the way back: the outputs of the second and third layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Activations<const H2: usize, const H3: usize> {
    /// Outputs of the second layer, after its ReLU.
    second: [f64; H2],
    /// Outputs of the third layer; on the way back, its deltas.
    third: [f64; H3],
}

impl<const H2: usize, const H3: usize> Activations<H2, H3> {
    /// Room for a point that has not been visited.
    pub(super) const ZERO: Self = Self { second: [0.0; H2], third: [0.0; H3] };
}

/// From the inputs of the second layer's ReLU to the log-weight before the bound.
#[inline(always)]
pub(super) fn forward<const H2: usize, const H3: usize>(
    layers: &Layers<'_, H2, H3>,
    second_inputs: [f64; H2],
) -> (Activations<H2, H3>, f64) {
    let second = second_inputs.map(relu);
    let mut third = *layers.third_biases;
    for (activation, row) in second.iter().zip(layers.third_weights) {
        add_scaled(&mut third, *activation, row);
    }
    let third = third.map(relu);
    let z = layers.output_bias + dot(&third, layers.output_weights);
    (Activations { second, third }, z)
}

/// `20 tanh(z / 20)`: the identity near 0, and never beyond 20.
#[inline(always)]
pub(super) fn bounded(z: f64) -> f64 {
    LOG_WEIGHT_LIMIT * (z / LOG_WEIGHT_LIMIT).tanh()
}

/// Writes the gradient of layers 3 and 4 and of the second biases, and `dL/dz2` of every point into `deltas`, from
/// `slopes[i] = dL/dlog w(s_i)`. Uses the activations up.
///
/// ```text
/// d_out = slope (1 - (l / 20)^2)                   dW4 += d_out a3,   db4 += d_out
/// d3    = d_out W4 [a3 > 0]                        dW3 += a2 d3',     db3 += d3
/// d2    = W3 d3 [a2 > 0]  -> deltas                db2 += d2
/// ```
#[inline(always)]
pub(super) fn backward<const H2: usize, const H3: usize>(
    layers: &Layers<'_, H2, H3>,
    activations: &mut [Activations<H2, H3>],
    log_weights: &[f64],
    slopes: &[f64],
    deltas: &mut [[f64; H2]],
    gradient: &mut LayersMut<'_, H2, H3>,
) {
    // [out][in], so that the sum over outputs below runs along rows.
    let third_transposed: [[f64; H2]; H3] =
        std::array::from_fn(|l| std::array::from_fn(|k| layers.third_weights[k][l]));
    // Sums in registers, written to the gradient once: each point would otherwise wait for memory.
    let mut second_biases = [0.0; H2];
    let mut third_biases = [0.0; H3];
    let mut output_weights = [0.0; H3];
    let mut output_bias = 0.0;
    let points = activations.iter_mut().zip(log_weights).zip(slopes).zip(deltas);
    for (((point, log_weight), slope), delta) in points {
        // From the output that is kept, `tanh' = 1 - tanh^2`: a second tanh per point would be the slowest part of the
        // pass.
        let tanh = log_weight / LOG_WEIGHT_LIMIT;
        let to_output = slope * (1.0 - tanh * tanh);
        output_bias += to_output;
        add_scaled(&mut output_weights, to_output, &point.third);
        let to_third: [f64; H3] = std::array::from_fn(|l| {
            through_relu(point.third[l], to_output * layers.output_weights[l])
        });
        add_scaled(&mut third_biases, 1.0, &to_third);
        let mut behind_second = [0.0; H2];
        for (delta, row) in to_third.iter().zip(&third_transposed) {
            add_scaled(&mut behind_second, *delta, row);
        }
        let to_second: [f64; H2] =
            std::array::from_fn(|k| through_relu(point.second[k], behind_second[k]));
        add_scaled(&mut second_biases, 1.0, &to_second);
        *delta = to_second;
        // The activation has served; its place keeps the delta for the sums below.
        point.third = to_third;
    }
    let (pairs, last) = gradient.third_weights.as_chunks_mut();
    for (pair, rows) in pairs.iter_mut().enumerate() {
        *rows = third_gradient::<2, H2, H3>(activations, 2 * pair);
    }
    for row in last {
        [*row] = third_gradient(activations, H2 - 1);
    }
    *gradient.second_biases = second_biases;
    *gradient.third_biases = third_biases;
    *gradient.output_weights = output_weights;
    *gradient.output_bias = output_bias;
}

/// `ROWS` rows of the gradient of the third weights from row `first` on, once `third` holds deltas.
///
/// Two rows at a time: their sums stay in registers and do not wait for each other, where all rows at once would be
/// written back at every point.
#[inline(always)]
fn third_gradient<const ROWS: usize, const H2: usize, const H3: usize>(
    points: &[Activations<H2, H3>],
    first: usize,
) -> [[f64; H3]; ROWS] {
    let mut sums = [[0.0; H3]; ROWS];
    for point in points {
        for (row, sum) in sums.iter_mut().enumerate() {
            add_scaled(sum, point.second[first + row], &point.third);
        }
    }
    sums
}

/// `max(x, 0)` that lets a NaN through: `f64::max` would hide it.
#[inline(always)]
fn relu(x: f64) -> f64 {
    if x <= 0.0 { 0.0 } else { x }
}

/// The delta in front of a ReLU, from the delta behind it; its derivative at 0 is 0.
#[inline(always)]
fn through_relu(activation: f64, delta: f64) -> f64 {
    if activation <= 0.0 { 0.0 } else { delta }
}

//! `U(-1/sqrt(fan_in), 1/sqrt(fan_in))`: random parameters before the first step.

use super::parameters::{bias_index, weight_index};
use crate::seed::Seed;

/// Draws every layer's weights, then its biases, uniformly on `[-1/sqrt(fan_in), 1/sqrt(fan_in))`.
///
/// This is the default of PyTorch's `nn.Linear`, in its order (layer by layer, `[out][in]`); the numbers are those of
/// this library's own stream, not PyTorch's.
///
/// `shapes` are the inputs and outputs of each layer; the result is laid out as the network's own
/// flat vector.
pub(super) fn uniform_by_fan_in(shapes: &[(usize, usize); 4], seed: Seed) -> Vec<f64> {
    let mut stream = seed.stream("weight-function-initialisation");
    let total = shapes.iter().map(|(inputs, outputs)| (inputs + 1) * outputs).sum();
    let mut flat = vec![0.0; total];
    for (layer, (inputs, outputs)) in shapes.iter().copied().enumerate() {
        let reach = 1.0 / (inputs as f64).sqrt();
        // Drawn in the order of common libraries, stored in ours: the numbers do not depend on the
        // layout.
        let mut draw = || reach * (2.0 * stream.uniform() - 1.0);
        for to in 0..outputs {
            for from in 0..inputs {
                flat[weight_index(shapes, layer, to, from)] = draw();
            }
        }
        for to in 0..outputs {
            flat[bias_index(shapes, layer, to)] = draw();
        }
    }
    flat
}

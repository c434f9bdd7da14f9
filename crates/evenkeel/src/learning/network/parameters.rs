//! `W1 | b1 | W2, b2 | W3, b3, W4 | b4`: one flat vector of parameters, and the layers in it.

use crate::error::{Result, require_finite, require_same_length};

/// Weights and biases of the four layers as plain arrays, in the order of common network libraries: `weights[k]` is
/// `[out][in]`, row by row, `biases[k]` is `[out]`. Holds parameters or their gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerArrays {
    /// Weights of each layer, `[out][in]`.
    pub weights: [Vec<f64>; 4],
    /// Biases of each layer, `[out]`.
    pub biases: [Vec<f64>; 4],
}

/// Number of parameters of a network `1 - h1 - h2 - h3 - 1`.
pub(super) const fn count(h1: usize, h2: usize, h3: usize) -> usize {
    2 * h1 + (h1 + 1) * h2 + (h2 + 2) * h3 + 1
}

/// Inputs and outputs of the four layers.
pub(super) const fn shapes(h1: usize, h2: usize, h3: usize) -> [(usize, usize); 4] {
    [(1, h1), (h1, h2), (h2, h3), (h3, 1)]
}

/// The flat vector, seen as layers.
///
/// ```text
/// first.0 | first.1 | second, bias row last | third, bias row, output weights | output bias
/// h1        h1        (h1 + 1) x h2           (h2 + 2) x h3                      1
/// ```
/// Matrices are stored `[in][out]`: all that one unit sends to the next layer is one short array.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layers<'a, const H2: usize, const H3: usize> {
    /// `w_j` of the first layer; shape `(h1,)`.
    pub(super) first_weights: &'a [f64],
    /// `b_j` of the first layer; shape `(h1,)`.
    pub(super) first_biases: &'a [f64],
    /// `W2[j]`: what unit `j` sends to the second layer; shape `(h1, H2)`.
    pub(super) second_weights: &'a [[f64; H2]],
    /// Biases of the second layer.
    pub(super) second_biases: &'a [f64; H2],
    /// What unit `k` of the second layer sends to the third; shape `(H2, H3)`.
    pub(super) third_weights: &'a [[f64; H3]],
    /// Biases of the third layer.
    pub(super) third_biases: &'a [f64; H3],
    /// Weights of the output.
    pub(super) output_weights: &'a [f64; H3],
    /// Bias of the output.
    pub(super) output_bias: f64,
}

impl<'a, const H2: usize, const H3: usize> Layers<'a, H2, H3> {
    /// Layers of a flat vector of [`count`] parameters.
    /// Borrows only: a step looks at the same numbers as vector and as layers.
    pub(super) fn of(flat: &'a [f64], h1: usize) -> Self {
        let (first_weights, rest) = flat.split_at(h1);
        let (first_biases, rest) = rest.split_at(h1);
        let (second, rest) = rest.split_at((h1 + 1) * H2);
        let (third, output_bias) = rest.split_at((H2 + 2) * H3);
        let (second, third) = (second.as_chunks().0, third.as_chunks().0);
        Self {
            first_weights,
            first_biases,
            second_weights: &second[..h1],
            second_biases: &second[h1],
            third_weights: &third[..H2],
            third_biases: &third[H2],
            output_weights: &third[H2 + 1],
            output_bias: output_bias[0],
        }
    }
}

/// A flat gradient, seen as layers; laid out as [`Layers`].
#[derive(Debug)]
pub(super) struct LayersMut<'a, const H2: usize, const H3: usize> {
    /// `dL/dw_j`.
    pub(super) first_weights: &'a mut [f64],
    /// `dL/db_j`.
    pub(super) first_biases: &'a mut [f64],
    /// `dL/dW2[j]`.
    pub(super) second_weights: &'a mut [[f64; H2]],
    /// Gradient of the second biases.
    pub(super) second_biases: &'a mut [f64; H2],
    /// Gradient of the third weights.
    pub(super) third_weights: &'a mut [[f64; H3]],
    /// Gradient of the third biases.
    pub(super) third_biases: &'a mut [f64; H3],
    /// Gradient of the output weights.
    pub(super) output_weights: &'a mut [f64; H3],
    /// Gradient of the output bias.
    pub(super) output_bias: &'a mut f64,
}

impl<'a, const H2: usize, const H3: usize> LayersMut<'a, H2, H3> {
    /// Layers of a flat vector of [`count`] entries, cut into parts that do not overlap.
    pub(super) fn of(flat: &'a mut [f64], h1: usize) -> Self {
        let (first_weights, rest) = flat.split_at_mut(h1);
        let (first_biases, rest) = rest.split_at_mut(h1);
        let (second, rest) = rest.split_at_mut((h1 + 1) * H2);
        let (third, output_bias) = rest.split_at_mut((H2 + 2) * H3);
        let (second_weights, second_biases) = second.as_chunks_mut().0.split_at_mut(h1);
        let (third_weights, third) = third.as_chunks_mut().0.split_at_mut(H2);
        let (third_biases, output_weights) = third.split_at_mut(1);
        Self {
            first_weights,
            first_biases,
            second_weights,
            second_biases: &mut second_biases[0],
            third_weights,
            third_biases: &mut third_biases[0],
            output_weights: &mut output_weights[0],
            output_bias: &mut output_bias[0],
        }
    }
}

/// Position in the flat vector of layer `layer`'s weight from input `from` to output `to`.
pub(super) fn weight_index(
    shapes: &[(usize, usize); 4],
    layer: usize,
    to: usize,
    from: usize,
) -> usize {
    let (_, outputs) = shapes[layer];
    layer_start(shapes, layer) + from * outputs + to
}

/// Position in the flat vector of layer `layer`'s bias of output `to`.
pub(super) fn bias_index(shapes: &[(usize, usize); 4], layer: usize, to: usize) -> usize {
    let (inputs, outputs) = shapes[layer];
    layer_start(shapes, layer) + inputs * outputs + to
}

/// Position in the flat vector where a layer begins: its weights, then its biases.
fn layer_start(shapes: &[(usize, usize); 4], layer: usize) -> usize {
    shapes[..layer].iter().map(|(inputs, outputs)| (inputs + 1) * outputs).sum()
}

impl LayerArrays {
    /// The flat vector of a network with these layers.
    ///
    /// # Errors
    /// `LengthMismatch` for a layer of another shape, `NotFinite` for a parameter that is not a
    /// number.
    pub(super) fn flatten(&self, shapes: &[(usize, usize); 4]) -> Result<Vec<f64>> {
        let total = shapes.iter().map(|(inputs, outputs)| (inputs + 1) * outputs).sum();
        let mut flat = vec![0.0; total];
        for (layer, (inputs, outputs)) in shapes.iter().copied().enumerate() {
            let (weights, biases) = (&self.weights[layer], &self.biases[layer]);
            require_same_length("layer weights", weights.len(), "the layer", inputs * outputs)?;
            require_same_length("layer biases", biases.len(), "the layer", outputs)?;
            require_finite("layer weights", weights)?;
            require_finite("layer biases", biases)?;
            for to in 0..outputs {
                flat[bias_index(shapes, layer, to)] = biases[to];
                for from in 0..inputs {
                    flat[weight_index(shapes, layer, to, from)] = weights[to * inputs + from];
                }
            }
        }
        Ok(flat)
    }

    /// The layers of a flat vector; its length is the caller's duty.
    pub(super) fn unflatten(flat: &[f64], shapes: &[(usize, usize); 4]) -> Self {
        let weights = |layer: usize| {
            let (inputs, outputs) = shapes[layer];
            let entry = |k| flat[weight_index(shapes, layer, k / inputs, k % inputs)];
            (0..inputs * outputs).map(entry).collect()
        };
        let biases = |layer: usize| {
            let entry = |to| flat[bias_index(shapes, layer, to)];
            (0..shapes[layer].1).map(entry).collect()
        };
        Self { weights: [0, 1, 2, 3].map(weights), biases: [0, 1, 2, 3].map(biases) }
    }
}

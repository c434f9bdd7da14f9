//! Sizes of the layers, where each layer's parameters lie, and what they are before training.

use std::ops::Range;

use evenkeel::seed::Seed;

use super::layers::{Convolution, KERNEL};
use crate::draws::standard_normal;
use crate::fashion_mnist::CLASSES;
use crate::image::SIDE;

/// First convolution: 28 x 28 x 1 to 26 x 26 x 16, pooled to 13 x 13 x 16.
pub(super) const FIRST: Convolution = Convolution { side: SIDE, inputs: 1, outputs: 16 };
/// Second convolution: 13 x 13 x 16 to 11 x 11 x 32, pooled to 5 x 5 x 32.
pub(super) const SECOND: Convolution =
    Convolution { side: FIRST.pooled_side(), inputs: FIRST.outputs, outputs: 32 };
/// Numbers between the convolutions and the dense layers.
pub(super) const FEATURES: usize = SECOND.pooled_side() * SECOND.pooled_side() * SECOND.outputs;
/// Units of the hidden dense layer.
pub(super) const HIDDEN: usize = 128;

/// Name and shape of a tensor in the classifier's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tensor {
    pub(super) name: &'static str,
    pub(super) shape: &'static [usize],
}

impl Tensor {
    /// Number of entries.
    pub(super) const fn len(&self) -> usize {
        let mut entries = 1;
        let mut axis = 0;
        while axis < self.shape.len() {
            entries *= self.shape[axis];
            axis += 1;
        }
        entries
    }
}

/// All tensors in the order in which they lie in the parameter vector. Convolutions are
/// `(row, column, input channel, output channel)`, dense layers `(input, output)`.
pub(super) const TENSORS: [Tensor; 8] = [
    Tensor {
        name: "first_convolution.weight",
        shape: &[KERNEL, KERNEL, FIRST.inputs, FIRST.outputs],
    },
    Tensor { name: "first_convolution.bias", shape: &[FIRST.outputs] },
    Tensor {
        name: "second_convolution.weight",
        shape: &[KERNEL, KERNEL, SECOND.inputs, SECOND.outputs],
    },
    Tensor { name: "second_convolution.bias", shape: &[SECOND.outputs] },
    Tensor { name: "hidden.weight", shape: &[FEATURES, HIDDEN] },
    Tensor { name: "hidden.bias", shape: &[HIDDEN] },
    Tensor { name: "output.weight", shape: &[HIDDEN, CLASSES] },
    Tensor { name: "output.bias", shape: &[CLASSES] },
];

/// Where tensor `index` starts in the parameter vector.
const fn offset(index: usize) -> usize {
    let mut start = 0;
    let mut before = 0;
    while before < index {
        start += TENSORS[before].len();
        before += 1;
    }
    start
}

/// Number of parameters.
pub const PARAMETER_COUNT: usize = offset(TENSORS.len());

/// Where tensor `index` lies in the parameter vector.
pub(super) fn range(index: usize) -> Range<usize> {
    offset(index)..offset(index + 1)
}

/// Weights and biases by layer: the two convolutions, the hidden layer, the output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layers<'a, T> {
    pub(super) weights: [&'a [T]; 4],
    pub(super) biases: [&'a [T]; 4],
}

impl<'a, T> Layers<'a, T> {
    /// Cuts the parameter vector.
    pub(super) fn of(parameters: &'a [T]) -> Self {
        Self {
            weights: std::array::from_fn(|layer| &parameters[range(2 * layer)]),
            biases: std::array::from_fn(|layer| &parameters[range(2 * layer + 1)]),
        }
    }
}

/// Weights normal with variance `2 / fan_in` (He et al., 2015), biases zero.
pub(super) fn initialised(seed: Seed) -> Vec<f32> {
    // The name is part of the shipped classifier: another one draws other weights.
    let mut stream = seed.stream("classifier-initialisation");
    let mut parameters = vec![0.0; PARAMETER_COUNT];
    for layer in 0..4 {
        let tensor = TENSORS[2 * layer];
        let outputs = tensor.shape[tensor.shape.len() - 1];
        // `fan_in` is the entries of a tensor over its outputs, for both kinds of layers.
        let deviation = (2.0 * outputs as f64 / tensor.len() as f64).sqrt();
        for weight in &mut parameters[range(2 * layer)] {
            *weight = (deviation * standard_normal(&mut stream)) as f32;
        }
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_cover_the_parameters_without_gap() {
        assert_eq!(PARAMETER_COUNT, 160 + 4640 + 102_528 + 1290);
        let parameters: Vec<usize> = (0..PARAMETER_COUNT).collect();
        let layers = Layers::of(&parameters);
        let joined: Vec<usize> = (0..4)
            .flat_map(|layer| layers.weights[layer].iter().chain(layers.biases[layer]).copied())
            .collect();
        assert_eq!(joined, parameters);
    }

    #[test]
    fn weights_start_with_the_variance_of_their_fan_in() {
        let parameters = initialised(Seed::new(3));
        let hidden = Layers::of(&parameters).weights[2];
        let square = hidden.iter().map(|weight| f64::from(weight * weight)).sum::<f64>();
        let variance = square / hidden.len() as f64;
        assert!((variance * FEATURES as f64 / 2.0 - 1.0).abs() < 0.02, "{variance}");
        assert!(Layers::of(&parameters).biases.iter().all(|bias| bias.iter().all(|b| *b == 0.0)));
    }
}

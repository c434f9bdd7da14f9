//! `z(s) = W4 relu(W3 relu(W2 relu(W1 s + b1) + b2) + b3) + b4`: the network, a shape and its parameters.

use super::curve::Curve;
use super::initialisation::uniform_by_fan_in;
use super::parameters::{LayerArrays, Layers, count, shapes};
use crate::error::{Result, require_same_length};
use crate::seed::Seed;

/// A network from a score to a log-weight, `1 - H1 - H2 - H3 - 1`; by default the paper's `1 - 256 - 16 - 8 - 1`.
///
/// ```text
/// log w(s) = 20 tanh(z(s) / 20),   z(s) = W4 relu(W3 relu(W2 relu(W1 s + b1) + b2) + b3) + b4
/// ```
/// The parameters are one flat vector, so that an optimiser sees one slice. They may become anything while learning:
/// a parameter that is not a number makes every log-weight it touches not a number, and never panics.
///
/// ```
/// use evenkeel::learning::network::{Batch, Mlp};
/// use evenkeel::learning::optimise::{Adam, AdamSettings};
/// use evenkeel::seed::Seed;
///
/// # fn main() -> evenkeel::Result<()> {
/// // Teach the network that low scores weigh more: minimise the mean of (log w(s) - (1 - s))^2.
/// let scores = [0.1, 0.7, 0.4, 0.9];
/// let mut network: Mlp = Mlp::initialised(Seed::new(1));
/// let mut batch = Batch::new(&scores)?;
/// let mut adam = Adam::new(AdamSettings::default(), network.parameters().len());
/// let mut gradient = vec![0.0; network.parameters().len()];
/// for _ in 0..200 {
///     let pass = batch.forward(&network);
///     let slopes: Vec<f64> =
///         scores.iter().zip(pass.log_weights()).map(|(s, l)| 2.0 * (l - (1.0 - s))).collect();
///     pass.backward(&slopes, &mut gradient)?;
///     adam.step(network.parameters_mut(), &gradient)?;
/// }
/// assert!((network.curve().log_weight(0.4) - 0.6).abs() < 0.01);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mlp<const H1: usize = 256, const H2: usize = 16, const H3: usize = 8> {
    /// All layers in one vector, as `parameters.rs` lays them out.
    parameters: Vec<f64>,
}

impl<const H1: usize, const H2: usize, const H3: usize> Mlp<H1, H2, H3> {
    /// Number of parameters: `2 H1 + (H1 + 1) H2 + (H2 + 2) H3 + 1`, 4769 for the paper's shape.
    pub const PARAMETERS: usize = count(H1, H2, H3);

    /// Inputs and outputs of each layer.
    const SHAPES: [(usize, usize); 4] = shapes(H1, H2, H3);

    /// Parameters drawn uniformly on `[-1/sqrt(fan_in), 1/sqrt(fan_in))`, weights and biases alike: PyTorch's default
    /// for `nn.Linear`.
    pub fn initialised(seed: Seed) -> Self {
        Self { parameters: uniform_by_fan_in(&Self::SHAPES, seed) }
    }

    /// A network with given layers, which must have this network's shapes and be finite.
    ///
    /// # Errors
    /// `LengthMismatch` for a layer of another shape, `NotFinite` for a parameter that is NaN or infinite.
    pub fn from_layers(layers: &LayerArrays) -> Result<Self> {
        Ok(Self { parameters: layers.flatten(&Self::SHAPES)? })
    }

    /// Parameters, or their gradient, taken from the flat order to plain layers.
    ///
    /// # Errors
    /// `LengthMismatch` unless `flat` has [`PARAMETERS`](Self::PARAMETERS) entries.
    pub fn to_layers(flat: &[f64]) -> Result<LayerArrays> {
        require_same_length("the flat vector", flat.len(), "the network", Self::PARAMETERS)?;
        Ok(LayerArrays::unflatten(flat, &Self::SHAPES))
    }

    /// The parameters, in the order of the gradient that [`Pass::backward`](super::Pass::backward) writes.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// The parameters, for an optimiser. Anything may be written: what is not a number shows in the
    /// log-weights.
    pub fn parameters_mut(&mut self) -> &mut [f64] {
        &mut self.parameters
    }

    /// The function the network is now, ready to be evaluated at any number of scores.
    pub fn curve(&self) -> Curve<'_, H1, H2, H3> {
        Curve::new(self)
    }

    /// The parameters seen as layers.
    pub(super) fn layers(&self) -> Layers<'_, H2, H3> {
        Layers::of(&self.parameters, H1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_survive_the_round_trip() {
        let network = Mlp::<5, 4, 3>::initialised(Seed::new(3));
        let layers = Mlp::<5, 4, 3>::to_layers(network.parameters()).unwrap();
        assert_eq!(layers.weights[1].len(), 20);
        assert_eq!(Mlp::from_layers(&layers).unwrap(), network);
        assert!(Mlp::<5, 4, 2>::from_layers(&layers).is_err());
    }

    #[test]
    fn the_paper_s_network_has_4769_parameters_within_their_reach() {
        let network: Mlp = Mlp::initialised(Seed::new(0));
        assert_eq!(network.parameters().len(), 4769);
        let layers = <Mlp>::to_layers(network.parameters()).unwrap();
        let fan_ins = [1.0, 256.0, 16.0, 8.0_f64];
        for (k, fan_in) in fan_ins.into_iter().enumerate() {
            let reach = 1.0 / fan_in.sqrt();
            let drawn = layers.weights[k].iter().chain(&layers.biases[k]);
            let largest = drawn.fold(0.0_f64, |largest, value| largest.max(value.abs()));
            assert!(largest <= reach && largest > 0.5 * reach, "layer {k}: {largest}");
        }
    }
}

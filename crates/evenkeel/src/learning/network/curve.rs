//! `s -> log w(s)`: the fitted function at any number of scores.

use super::hinges::HingeTable;
use super::mlp::Mlp;
use super::parameters::Layers;
use super::tail;
use crate::error::{Result, require_finite, require_same_length};

/// The network as a function of the score.
///
/// Its first two layers are folded into a table once, of a size that depends on the network only; a score then costs
/// one bisection and two short layers, so millions of scores need no memory of their own. A score's log-weight has the
/// same bits alone, in a long list, or in a training [`Batch`](super::Batch): nothing is summed across scores.
#[derive(Debug, Clone)]
pub struct Curve<'a, const H1: usize = 256, const H2: usize = 16, const H3: usize = 8> {
    /// Layers 1 and 2 at the network's present parameters.
    table: HingeTable<H2>,
    /// Borrowed, so that the parameters cannot move under the table.
    layers: Layers<'a, H2, H3>,
}

impl<'a, const H1: usize, const H2: usize, const H3: usize> Curve<'a, H1, H2, H3> {
    /// Folds the first two layers; `O(H1 H2)`.
    pub(super) fn new(network: &'a Mlp<H1, H2, H3>) -> Self {
        let layers = network.layers();
        let mut table = HingeTable::new(H1);
        table.refresh(&layers);
        Self { table, layers }
    }

    /// `log w(s)`; not a number unless the score is finite.
    pub fn log_weight(&self, score: f64) -> f64 {
        let inputs = self.table.second_inputs(self.table.stretch(score), score);
        // The very functions of training: a fitted score must get the weight it was fitted with.
        tail::bounded(tail::forward(&self.layers, inputs).1)
    }

    /// Writes the log-weights of finite scores, in their order. Allocates nothing.
    ///
    /// # Errors
    /// `LengthMismatch` unless the slices are equally long, `NotFinite` for a score that is NaN or infinite.
    pub fn log_weights(&self, scores: &[f64], log_weights: &mut [f64]) -> Result<()> {
        require_same_length("the log-weights", log_weights.len(), "scores", scores.len())?;
        require_finite("scores", scores)?;
        for (score, log_weight) in scores.iter().zip(log_weights) {
            *log_weight = self.log_weight(*score);
        }
        Ok(())
    }
}

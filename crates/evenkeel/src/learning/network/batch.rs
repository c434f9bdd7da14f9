//! `log w(s_i)` and `dL/dparameters`: one pass over fixed scores, there and back.

use super::hinges::HingeTable;
use super::mlp::Mlp;
use super::parameters::LayersMut;
use super::tail::{self, Activations};
use crate::error::{Result, require_finite, require_same_length, require_some};
use crate::numeric::places_in_order;
use crate::numeric::simd::in_widest_registers;

/// Scores a network is trained on, sorted once, with room for all that a pass over them leaves behind.
///
/// Passes allocate nothing. The room is 45 numbers per score for the paper's network.
#[derive(Debug, Clone)]
pub struct Batch<const H1: usize = 256, const H2: usize = 16, const H3: usize = 8> {
    /// Increasing; shape `(n,)`.
    scores: Vec<f64>,
    /// `order[r]` is the given index of the `r`-th smallest score.
    order: Vec<usize>,
    /// Layers 1 and 2 as lines between breakpoints.
    table: HingeTable<H2>,
    /// What each point leaves for the way back.
    activations: Vec<Activations<H2, H3>>,
    /// `dL/dz2` of each point, on the way back.
    deltas: Vec<[f64; H2]>,
    /// In increasing order of the score.
    sorted_log_weights: Vec<f64>,
    /// `dL/dlog w` in increasing order of the score.
    sorted_slopes: Vec<f64>,
    /// In the order the scores were given.
    log_weights: Vec<f64>,
}

impl<const H1: usize, const H2: usize, const H3: usize> Batch<H1, H2, H3> {
    /// Prepares passes over finite scores, at least one, in any order.
    ///
    /// # Errors
    /// `Empty` for no scores, `NotFinite` for a score that is NaN or infinite.
    pub fn new(scores: &[f64]) -> Result<Self> {
        require_some("scores", scores)?;
        require_finite("scores", scores)?;
        let n = scores.len();
        // Sorted once: a pass then walks scores and hinges together instead of searching for each score.
        let order = places_in_order(scores);
        Ok(Self {
            scores: order.iter().map(|i| scores[*i]).collect(),
            order,
            table: HingeTable::new(H1),
            activations: vec![Activations::ZERO; n],
            deltas: vec![[0.0; H2]; n],
            sorted_log_weights: vec![0.0; n],
            sorted_slopes: vec![0.0; n],
            log_weights: vec![0.0; n],
        })
    }

    /// Number of scores, the length of log-weights and slopes.
    pub(crate) fn len(&self) -> usize {
        self.scores.len()
    }

    /// Runs the network over the scores. The pass holds on to the network, so that its parameters cannot move between
    /// the way there and the way back.
    pub fn forward<'a>(&'a mut self, network: &'a Mlp<H1, H2, H3>) -> Pass<'a, H1, H2, H3> {
        run_forward(self, network);
        Pass { batch: self, network }
    }

    /// The last pass again, for a way back that cannot follow at once. The network must be as it was then.
    pub(crate) fn last_pass<'a>(
        &'a mut self,
        network: &'a Mlp<H1, H2, H3>,
    ) -> Pass<'a, H1, H2, H3> {
        Pass { batch: self, network }
    }
}

/// A network's log-weights at a batch of scores, and the way back to its parameters.
#[derive(Debug)]
pub struct Pass<'a, const H1: usize = 256, const H2: usize = 16, const H3: usize = 8> {
    /// Activations of the way there.
    batch: &'a mut Batch<H1, H2, H3>,
    /// Borrowed, so that its parameters stay as they were.
    network: &'a Mlp<H1, H2, H3>,
}

impl<const H1: usize, const H2: usize, const H3: usize> Pass<'_, H1, H2, H3> {
    /// Log-weights in `[-20, 20]`, in the order the scores were given; shape `(n,)`.
    pub fn log_weights(&self) -> &[f64] {
        &self.batch.log_weights
    }

    /// Writes `dL/dparameters`, in the order of [`Mlp::parameters`], from `slopes[i] = dL/dlog w(s_i)`.
    ///
    /// # Errors
    /// `LengthMismatch` unless there is one slope per score and one gradient entry per parameter.
    pub fn backward(self, slopes: &[f64], gradient: &mut [f64]) -> Result<()> {
        let batch = self.batch;
        let parameters = Mlp::<H1, H2, H3>::PARAMETERS;
        require_same_length("the slopes", slopes.len(), "scores", batch.len())?;
        require_same_length("the gradient", gradient.len(), "the network", parameters)?;
        for (slope, i) in batch.sorted_slopes.iter_mut().zip(&batch.order) {
            *slope = slopes[*i];
        }
        run_backward(batch, self.network, gradient);
        Ok(())
    }
}

/// Log-weights of the batch, in both orders; leaves the activations for the way back.
#[inline(always)]
fn forward<const H1: usize, const H2: usize, const H3: usize>(
    batch: &mut Batch<H1, H2, H3>,
    network: &Mlp<H1, H2, H3>,
) {
    let layers = network.layers();
    batch.table.refresh(&layers);
    // Scores and hinges both increase: the stretch only moves on, and the pass is one walk.
    let mut stretch = 0;
    let points = batch.scores.iter().zip(&mut batch.activations);
    for ((score, activations), z) in points.zip(&mut batch.sorted_log_weights) {
        stretch = batch.table.stretch_from(stretch, *score);
        let inputs = batch.table.second_inputs(stretch, *score);
        (*activations, *z) = tail::forward(&layers, inputs);
    }
    // In a loop of its own: `tanh` is a call of the C library, which would empty the registers that
    // the loop above works in.
    for (i, log_weight) in batch.order.iter().zip(&mut batch.sorted_log_weights) {
        *log_weight = tail::bounded(*log_weight);
        batch.log_weights[*i] = *log_weight;
    }
}

/// The gradient, from the slopes sorted into the batch: layers 3 and 4 point by point, then 1 and 2
/// unit by unit.
#[inline(always)]
fn backward<const H1: usize, const H2: usize, const H3: usize>(
    batch: &mut Batch<H1, H2, H3>,
    network: &Mlp<H1, H2, H3>,
    gradient: &mut [f64],
) {
    let layers = network.layers();
    let mut gradient = LayersMut::of(gradient, H1);
    tail::backward(
        &layers,
        &mut batch.activations,
        &batch.sorted_log_weights,
        &batch.sorted_slopes,
        &mut batch.deltas,
        &mut gradient,
    );
    batch.table.backward(&layers, &batch.scores, &batch.deltas, &mut gradient);
}

in_widest_registers! {
    /// [`forward`], in the widest registers of the processor; the same bits in all of them.
    fn run_forward[const H1: usize, const H2: usize, const H3: usize](
        batch: &mut Batch<H1, H2, H3>,
        network: &Mlp<H1, H2, H3>,
    ) -> () {
        forward(batch, network);
    }
}

in_widest_registers! {
    /// [`backward`], likewise.
    fn run_backward[const H1: usize, const H2: usize, const H3: usize](
        batch: &mut Batch<H1, H2, H3>,
        network: &Mlp<H1, H2, H3>,
        gradient: &mut [f64],
    ) -> () {
        backward(batch, network, gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn register_width_changes_no_bit() {
        let mut stream = Seed::new(5).stream("points");
        let mut draw = || -> Vec<f64> { (0..301).map(|_| stream.uniform()).collect() };
        let (scores, slopes) = (draw(), draw());
        let network: Mlp = Mlp::initialised(Seed::new(5));
        let mut batch = Batch::new(&scores).unwrap();
        let mut dispatched = vec![0.0; <Mlp>::PARAMETERS];
        let pass = batch.forward(&network);
        let log_weights = pass.log_weights().to_vec();
        pass.backward(&slopes, &mut dispatched).unwrap();

        let mut plain = vec![0.0; <Mlp>::PARAMETERS];
        forward(&mut batch, &network);
        assert_eq!(batch.log_weights, log_weights);
        backward(&mut batch, &network, &mut plain);
        assert_eq!(plain, dispatched);
    }
}

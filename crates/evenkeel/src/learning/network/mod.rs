//! The small network behind the weight function: from a score to a log-weight.
//!
//! ```text
//! log w(s) = 20 tanh(z(s) / 20),   z: 1 -> 256 -> 16 -> 8 -> 1, ReLU after the three hidden layers
//! ```
//! All arithmetic is `f64`: the golden numbers ask for 1e-9 in the log-weights after 100 steps, which `f32` cannot
//! give.
//!
//! The input is one number, so every unit of the first layer is a hinge: zero on one side of its breakpoint, a line on
//! the other. Between two neighbouring breakpoints the inputs of the *second* layer are therefore lines in `s`, and one
//! table of those lines replaces the large matrix product of the network, forward and backward:
//! `O(n + 256)` vectors of 16 instead of `O(256 n)`. It is the same function with the same gradient, summed in another
//! order. One step runs:
//!
//! ```text
//! parameters  the flat vector Adam works on, seen as layers
//! hinges      layers 1 and 2: breakpoints in order, a line per stretch; and their gradient
//! tail        layers 3 and 4 and the bound, point by point; and their gradient
//! batch       one pass over fixed scores: log-weights out, gradient back
//! curve       the fitted function at any number of scores
//! ```

mod batch;
mod curve;
mod hinges;
mod initialisation;
mod mlp;
mod parameters;
mod short_vector;
mod tail;

pub use batch::{Batch, Pass};
pub use curve::Curve;
pub use mlp::Mlp;
pub use parameters::LayerArrays;
pub use tail::LOG_WEIGHT_LIMIT;

//! `ot`, the paper's method: weights on the calibration points that minimise a bound on the lost coverage.
//!
//! ```text
//! w = argmin 1/2 int p_w (|F_w - F_up| + |F_w - F_lo| + F_lo - F_up)                                    (eq 7)
//! w = argmin 1/2 sup p_w (W1(P_w, up) + W1(P_w, lo) + E_up[S] - E_lo[S])                                (eq 8)
//! ```
//! by Adam on log-weights, one for each calibration point or a network of the score. `F_lo >= F_Q >= F_up` are the CDFs of a
//! sandwich around the unseen scores of the target data.

mod fit;
mod problem;
mod settings;

pub(crate) use fit::{ABOUT, Learning, TransportFit, begin, from_scores};
pub use settings::{ObjectiveChoice, SandwichChoice, TransportSettings, WeightsChoice};

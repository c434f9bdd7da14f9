//! `ot`, the paper's method: weights on the calibration points that minimise a bound on the lost coverage.
//!
//! ```text
//! w = argmin 1/2 int (|u - F_up(t_u)| + |u - F_lo(t_u)| + F_lo(t_u) - F_up(t_u)) du,  t_u = F_w^-1(u)    (eq 7, exact)
//! w = argmin 1/2 int p_w (|F_w - F_up| + |F_w - F_lo| + F_lo - F_up)                          (eq 7 on the paper's grid)
//! w = argmin 1/2 sup p_w (W1(P_w, up) + W1(P_w, lo) + E_up[S] - E_lo[S])                                        (eq 8)
//! ```
//! The first has a minimiser in closed form. The others, and any of them for some steps, go by Adam on log-weights, one
//! for each calibration point or a network of the score. `F_lo >= F_Q >= F_up` are the CDFs of a sandwich around the
//! unseen scores of the target data.

mod fit;
mod problem;
mod settings;

pub(crate) use fit::{ABOUT, Learning, TransportFit, begin, from_scores};
pub use settings::{ObjectiveChoice, SandwichChoice, Search, TransportSettings, WeightsChoice};

//! Stage 2: probability measures on the line of scores.
//!
//! ```text
//! F(t)        = mass of the atoms <= t                      empirical
//! Q(q)        = smallest atom s with F(s) >= q              empirical
//! W1(A, B)    = integral |F_A - F_B|                        wasserstein
//! p(t)        = sum_i w_i phi((t - s_i) / h) / h            kde, bandwidth
//! A dominates B  iff  F_A <= F_B everywhere                 dominance
//! ```

mod bandwidth;
mod dominance;
mod empirical;
mod grid;
mod kde;
mod smoothed;
mod wasserstein;
mod weights;

pub use bandwidth::{
    BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FACTOR_REGRESSION, BANDWIDTH_FLOOR, Bandwidth,
};
pub use dominance::{Dominance, dominance};
pub(crate) use empirical::quantile_of_sorted;
pub use empirical::{QUANTILE_TOLERANCE, WeightedEmpirical};
pub use grid::Grid;
pub use kde::{GaussianKde, Support};
pub(crate) use kde::{INVERSE_SQRT_TWO_PI, largest};
pub use smoothed::SmoothedLaw;
pub use wasserstein::{TransportToFixed, wasserstein_1};
pub use weights::Weights;

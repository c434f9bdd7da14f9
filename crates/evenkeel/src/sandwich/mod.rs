//! Stage 3: two laws around the unseen law of the target scores, `F_upper <= F_Q <= F_lower`.
//!
//! ```text
//! min-max   lower = per-row minimum, upper = per-row maximum over the possible labels      (eq 9)   guaranteed
//! f-u       lower = label drawn from f, upper = label drawn uniformly                      (eq 10)  assumed
//! custom    any two laws the user believes in                                                       assumed
//! ```
//! `lower` is stochastically smaller: its CDF is the larger one. The order of the pair is measured, never assumed,
//! and travels with every result.

mod custom;
pub(crate) mod extremes;
mod model_uniform;
mod regression_grid;

pub use custom::{custom, custom_from_scores};
pub use extremes::min_max;
pub use model_uniform::{model_uniform, model_uniform_sampled};
pub use regression_grid::{LabelBins, residual_candidates};

use crate::measure::{Dominance, Grid, WeightedEmpirical, dominance};

/// How a sandwich was made, and so what its order rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Construction {
    /// Extremes over the possible labels: encloses the truth whatever it is.
    MinMax,
    /// Model and uniform labels, in exact expectation.
    ModelUniformExact,
    /// Model and uniform labels, one draw per row.
    ModelUniformSampled,
    /// Two laws given by the user, on the user's word.
    Custom,
}

impl Construction {
    /// The name used on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::MinMax => "min-max",
            Self::ModelUniformExact => "f-u",
            Self::ModelUniformSampled => "f-u sampled",
            Self::Custom => "custom",
        }
    }
}

/// What is known about `F_upper <= F_Q <= F_lower`. The three cases are all there are, so a match on them is complete.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Order {
    /// It holds for the unlabeled sample whatever its labels are.
    Guaranteed,
    /// The pair itself is ordered; that it encloses `Q` is an assumption no unlabeled data can verify.
    HoldsEmpirically,
    /// The pair itself is not ordered, so it cannot enclose any law.
    Violated {
        /// `max_t F_upper(t) - F_lower(t)`.
        largest: f64,
        /// Smallest score at which the violation is largest.
        at: f64,
    },
}

/// A pair of laws around the law of the target scores.
///
/// All that bounds and learning see of the target data: how the labels of single rows were treated
/// is behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sandwich {
    /// The law of the smaller scores.
    lower: WeightedEmpirical,
    /// The law of the larger scores.
    upper: WeightedEmpirical,
    /// How the two were made.
    construction: Construction,
    /// Whether the two are ordered, measured once when they were made.
    dominance: Dominance,
    /// `m`; atoms do not count, of which `f-u` has `C` for each point.
    sample_size: usize,
}

impl Sandwich {
    /// A pair made from `sample_size` unlabeled points; its order is measured here.
    pub(crate) fn new(
        lower: WeightedEmpirical,
        upper: WeightedEmpirical,
        construction: Construction,
        sample_size: usize,
    ) -> Self {
        let dominance = dominance(&lower, &upper);
        Self { lower, upper, construction, dominance, sample_size }
    }

    /// The same with a dominance measured elsewhere (a sketch knows its CDFs exactly only at its abscissae).
    pub(crate) fn with_dominance(
        lower: WeightedEmpirical,
        upper: WeightedEmpirical,
        construction: Construction,
        sample_size: usize,
        dominance: Dominance,
    ) -> Self {
        Self { lower, upper, construction, dominance, sample_size }
    }

    /// The stochastically smaller law: larger CDF, smaller scores.
    pub fn lower(&self) -> &WeightedEmpirical {
        &self.lower
    }

    /// The stochastically larger law: smaller CDF, larger scores.
    pub fn upper(&self) -> &WeightedEmpirical {
        &self.upper
    }

    /// How the pair was made, as results report it.
    pub fn construction(&self) -> Construction {
        self.construction
    }

    /// Whether `upper` dominates `lower`, and by how much it fails to.
    pub fn dominance(&self) -> Dominance {
        self.dominance
    }

    /// Number `m` of unlabeled points behind the pair.
    pub fn sample_size(&self) -> usize {
        self.sample_size
    }

    /// What is known about whether the pair encloses the law of the target scores.
    pub fn order(&self) -> Order {
        match (self.construction, self.dominance.at) {
            // Whatever the dominance says: each row's extremes are ordered, and a sketch that
            // rounds must not take the guarantee away.
            (Construction::MinMax, _) => Order::Guaranteed,
            (_, None) => Order::HoldsEmpirically,
            (_, Some(at)) => Order::Violated { largest: self.dominance.largest_violation, at },
        }
    }

    /// `(F_lower, F_upper)` at every grid point: all that the weighted-CDF objective needs of the
    /// target data.
    pub fn cdfs_on_grid(&self, grid: &Grid) -> (Vec<f64>, Vec<f64>) {
        (self.lower.cdf_on_grid(grid), self.upper.cdf_on_grid(grid))
    }
}

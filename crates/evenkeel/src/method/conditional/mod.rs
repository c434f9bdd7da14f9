//! Conditional conformal prediction: a cutoff for each test point, by kernel quantile regression
//! \[GCC25\].
//!
//! ```text
//! fit       g + b minimising  lambda/2 |g|^2 + 1/(n+1) sum_i pinball_(1-alpha)(s_i - g(x_i) - b)
//!           over the n calibration points and the test point with an imputed score S
//! cutoff    the largest S that the fit made with it admits:  S <= g_S(x) + b_S
//! ```
//! In the dual each point has a number `e_i` in `[-C alpha, C (1 - alpha)]`, `C = 1 / (lambda (n + 1))`. The test point's
//! grows with `S` and stands at its upper end exactly for the scores beyond the cutoff, where `S` no longer matters: one
//! program with the test dual fixed there gives the cutoff. `docs/methods/conditional.md` has the proof and the limits.
//!
//! ```
//! use evenkeel::method::conditional::{ConditionalModel, ConditionalSettings};
//! use evenkeel::level::Miscoverage;
//! use evenkeel::rows::Rows;
//!
//! # fn main() -> evenkeel::Result<()> {
//! // Scores are small on the left and large on the right: so are the cutoffs.
//! let features: Vec<f64> = (0..40).map(|i| f64::from(i) / 40.0).collect();
//! let scores: Vec<f64> = (0..40).map(|i| if i < 20 { 0.1 } else { 0.9 }).collect();
//! let features = Rows::new("features", &features, 1)?;
//! let model = ConditionalModel::fit(features, &scores, &ConditionalSettings::default())?;
//! let test = Rows::new("test features", &[0.1, 0.9], 1)?;
//! let cutoffs = model.cutoffs(test, Miscoverage::new(0.2)?)?;
//! assert!(cutoffs[0].get() < cutoffs[1].get());
//! # Ok(())
//! # }
//! ```

mod active_set;
mod at_rate;
mod choice;
mod cross_validation;
mod fit;
mod free_factor;
mod kernel;
mod ladder;
mod model;
mod program;
mod record;
mod rule;
mod run;
mod settings;

pub(crate) use choice::PENALTIES;
pub use choice::{ConditionalChoice, PenaltyChoice};
pub(crate) use fit::{ABOUT, ConditionalFit, begin};
pub use kernel::LARGEST_CALIBRATION;
pub use rule::ConditionalRule;
pub(crate) use settings::{DEFAULT_GAMMA, DEFAULT_LAMBDA};

// Hidden: the solver's stages, for our tests and benches. Users set `ConditionalChoice`.
#[doc(hidden)]
pub use at_rate::{ConditionalAtRate, ConditionalSolution};
#[doc(hidden)]
pub use model::ConditionalModel;
#[doc(hidden)]
pub use record::ConditionalRecord;
#[doc(hidden)]
pub use settings::{ConditionalSettings, FlatIntercept, LambdaChoice};

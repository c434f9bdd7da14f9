//! Regression that does no harm: weights on the scores of a regressor, and only where the data ask for them.
//!
//! ```text
//! scores, outputs and features of the calibration data, outputs and features of the target data
//!   -> covariate_test        did predictions, widths or features change?          no: split conformal, exactly
//!   -> neighbour_weights     `calibrated`: the law of the scores at x is kept     w_i = 1/m sum_j 1{i near j} / #near j
//!   -> shrunk ratios         `likelihood-ratio`: the same through dQ/dP           w_i ~ exp(b'z_i)
//!   -> shrinkage             u + strength (w - u), w the mean of both             strength = 1 - noise / change, at least 0
//!   -> threshold             smallest s with (1 - 1/(n_w + 1)) F_w(s) >= 1 - alpha
//! ```
//! Both readings say that the law of a score *given x* is what it was, which holds under covariate shift; they differ in how
//! they carry it over to the target data. A shift of the law given x shows in no unlabeled data: [`with_labels`] is for that.
//! `binned_plan_weights` is a third reading, which keeps the law of `y` in place of that of the score; no gate chooses it.

mod assessment;
mod fit;
mod label_plan;
mod label_pull;
mod neighbours;
mod shrinkage;

pub use assessment::{Assessment, CoverageReading, assess};
pub use fit::{
    Decision, GateSettings, ReadWeights, RegressionFit, RegressionReading, ScoredPoints,
};
pub use label_plan::binned_plan_weights;
pub use label_pull::{WithLabels, guaranteed_threshold, with_labels};
pub use neighbours::neighbour_weights;
pub use shrinkage::{Shrinkage, shrinkage};

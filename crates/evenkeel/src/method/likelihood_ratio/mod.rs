//! Likelihood ratios `dQ/dP` at every point, and the thresholds they give \[TBC19\].
//!
//! ```text
//! features of the calibration data (n, d), features of the target data (m, d)
//!   -> RatioEstimator::fit      logistic | network | telescoping
//!   -> RatioModel::log_ratios   log dQ/dP at any rows
//!   -> RatioThresholds          weights ratio_i / (sum_k ratio_k + ratio_test), a threshold per test point
//! ```
//! The features are any table of numbers: the vector of scores or probabilities by default, or what the user has. With
//! the true ratios the sets cover at least `1 - alpha` under covariate shift; with estimated ones they do so up to the
//! error of the estimate, which nothing in the data reveals. What can be seen - that a classifier tells the calibration data from
//! the target data without error, that few points carry all the weight - is in [`RatioEvidence`].

mod choice;
mod estimator;
mod evidence;
mod fit;
mod known;
mod logistic;
mod model;
mod network;
mod newton;
mod sampling;
mod shrunk;
mod standardisation;
mod telescoping;
mod thresholds;

pub use choice::RatioChoice;
pub use estimator::{NetworkSettings, RatioEstimator, RatioFit, TelescopingSettings};
pub use evidence::{Overlap, RatioEvidence, RatioStop};
pub(crate) use fit::{ABOUT, EstimatedRatioFit, KnownRatioFit, begin, described};
pub use known::KnownRatios;
pub use model::{LOG_RATIO_LIMIT, RatioModel};
pub(crate) use shrunk::shrunk_log_ratios;
pub use thresholds::RatioThresholds;

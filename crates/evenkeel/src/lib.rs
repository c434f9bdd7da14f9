//! # Evenkeel: conformal prediction sets that stay honest when the world changes
//!
//! A classifier is in production. There are `n` labeled examples from the world it was calibrated on (the *calibration
//! data*, the paper's `P`) and `m` unlabeled ones from the world it now works in (the *target data*, `Q`). Evenkeel answers,
//! without labels: how much coverage was lost, can it be regained, and when should the answer not be trusted. The method is
//! Correia & Louizos, "Non-exchangeable Conformal Prediction with Optimal Transport" (NeurIPS 2025); `docs/paper-map.md`
//! leads from its equations to this code.
//!
//! ```
//! use evenkeel::prelude::*;
//!
//! # fn main() -> evenkeel::Result<()> {
//! // Softmax outputs of a classifier with three classes: four labeled rows, and two of the target data.
//! let calibration = [0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.2, 0.2, 0.6, 0.5, 0.3, 0.2];
//! let target = [0.4, 0.3, 0.3, 0.2, 0.5, 0.3];
//! let (calibration, target) = (Probabilities::new(&calibration, 3)?, Probabilities::new(&target, 3)?);
//! let labels = Labels::new(vec![0, 1, 2, 1], 3)?;
//!
//! let fitted = ShiftCalibrator::new(0.3)?.calibrate(&calibration, &labels, &target)?;
//! let sets = fitted.predict_set(&target)?;
//! assert_eq!(sets.rows(), 2);
//! println!("{}", fitted.account().unwrap_or_default());      // what was done and why
//! # Ok(())
//! # }
//! ```
//!
//! The modules are the stages data flow through; `cargo test --test module_graph -- --nocapture` prints who uses whom.
//!
//! ```text
//!  1 score        probabilities, labels      -> scores s(x, y)
//!  2 measure      scores, weights            -> laws on the line: CDF, quantile, density, W1
//!  3 sandwich     candidate scores           -> two laws around the unseen law of the target scores
//!  4 bound        laws                       -> bounds on the lost coverage, coverage interval
//!  5 sketch       blocks of rows             -> what a pass keeps: bounded, mergeable, serialisable
//!  6 learning     a bound as an objective    -> weights on the calibration points; what methods share
//!    shift        predictions                -> did they change?
//!    label_law    outputs on unlabeled rows  -> how likely each label of a row is
//!    reading      label laws                 -> coverage at a threshold, with its range and a verdict
//!    certify      labels counted             -> what they prove about coverage
//!    conformal    scores, thresholds         -> prediction sets
//!  7 method       a room for every method    -> weights and a rule
//!  8 calibrator   calibration, target data   -> the whole, in one call or block by block
//!  9 calibration  its result                 -> thresholds, sets, file, warnings
//! 10 evaluation   sets, labels               -> coverage, set sizes, coverage gap
//! 11 check        both data sets             -> is there a shift, what is at risk, what to do
//! 12 regression   scores of a regressor      -> gate, readings, weights; what is at risk
//! 13 per_group    a fitted method, groups    -> coverage for each class or each group
//!    stream       batches of predictions     -> an alarm that is valid for the life of a reference
//! ```
//! The core computes and does nothing else: no files, clock, environment or printing.

#![deny(clippy::disallowed_types, clippy::disallowed_methods, clippy::disallowed_macros)]

pub mod bound;
pub mod calibration;
pub mod calibrator;
pub mod certify;
pub mod check;
pub mod conformal;
pub mod error;
pub mod evaluation;
pub mod interval;
mod label_law;
pub mod learning;
pub mod level;
pub mod measure;
pub mod method;
mod numeric;
pub mod per_group;
pub mod prelude;
pub mod reading;
pub mod regression;
pub mod rows;
pub mod sandwich;
pub mod score;
pub mod seed;
pub mod shift;
pub mod side_inputs;
pub mod sketch;
pub mod stream;
pub mod threshold;
pub mod warning;
// Hidden: for the jobs, which send evaluations over the same wire.
#[doc(hidden)]
pub mod wire;

pub use error::{Error, Result};

/// The Rust block of this crate's README, compiled and run as a test. `evenkeel-fuzz-targets` does so with that of the repository.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

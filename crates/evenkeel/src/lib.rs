//! # Evenkeel: conformal prediction sets that stay honest when the world changes
//!
//! A classifier is in production. There are `n` labeled examples from the world it was calibrated on (`P`) and `m`
//! unlabeled ones from the target world (`Q`). Evenkeel answers, without labels: how much coverage was lost, can it be
//! regained, and when should the answer not be trusted. The method is Correia & Louizos, "Non-exchangeable Conformal
//! Prediction with Optimal Transport" (NeurIPS 2025); `docs/paper-map.md` leads from its equations to this code.
//!
//! The modules are the stages data flows through:
//!
//! ```text
//! 1 score        probabilities, labels      -> scores s(x, y)
//! 2 measure      scores, weights            -> laws on the line: CDF, quantile, density, W1
//! 3 sandwich     candidate scores           -> two laws around the unseen law of target scores
//! 4 bound        laws                       -> bounds on the lost coverage, coverage interval
//! 5 reweighting  bound as an objective      -> weights on the calibration points
//! 6 conformal    weighted scores, alpha     -> threshold, prediction sets
//! 7 evaluation   sets, labels               -> coverage, set sizes, coverage gap
//!
//! calibrator     all of it, one call per stage: read first       calibration  its result: thresholds, sets, file
//! check          is there a shift, what is at risk, what to do   cells        many fits at once
//! auto           test first, correct only if it rejects, and say why
//! ```
//! The core computes and does nothing else: no files, clock, environment or printing.
//!
//! ```
//! use evenkeel::bound::{coverage_interval, integrated_gap_between, Integrator};
//! use evenkeel::conformal::{conformal_threshold, TestMass};
//! use evenkeel::level::Miscoverage;
//! use evenkeel::measure::WeightedEmpirical;
//! use evenkeel::sandwich::min_max;
//! use evenkeel::score::{Labels, Probabilities, Score};
//!
//! # fn main() -> evenkeel::Result<()> {
//! // The calibration data: three classes, labeled. The target data: the same classifier, no labels.
//! let calibration = [0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.2, 0.2, 0.6, 0.5, 0.3, 0.2];
//! let labels = Labels::new(vec![0, 1, 2, 1], 3)?;
//! let the target data = [0.4, 0.3, 0.3, 0.2, 0.5, 0.3];
//!
//! let scores = Score::Lac.label_scores(&Probabilities::new(&calibration, 3)?, &labels)?;
//! let p = WeightedEmpirical::uniform(&scores)?;
//! let threshold = conformal_threshold(&p, TestMass::exchangeable(4), Miscoverage::new(0.3)?);
//!
//! let sandwich = min_max(&Score::Lac.candidate_scores(&Probabilities::new(&the target data, 3)?)?)?;
//! let coverage = coverage_interval(&sandwich, threshold, None)?;
//! assert!(coverage.low <= coverage.high);
//! let gap = integrated_gap_between(&p, &sandwich, &Integrator::atoms(&p));
//! assert!(gap.value <= 1.0);
//! # Ok(())
//! # }
//! ```

#![deny(clippy::disallowed_types, clippy::disallowed_methods, clippy::disallowed_macros)]

pub mod bound;
pub mod calibration;
pub mod calibrator;
pub mod check;
pub mod conformal;
pub mod error;
pub mod evaluation;
pub mod interval;
pub mod learning;
pub mod level;
pub mod measure;
pub mod method;
mod numeric;
pub mod prelude;
pub mod rows;
pub mod sandwich;
pub mod score;
pub mod seed;
pub mod shift;
pub mod side_inputs;
pub mod sketch;
pub mod threshold;
pub mod warning;

pub use error::{Error, Result};

//! Did the stream change since its reference was fixed: an alarm without labels that stays valid when looked at every day.
//!
//! ```text
//! prediction_counts   predictions of rows      -> counts in cells: small, mergeable, a week is the merge of its days
//! smirnov             two counts of cells      -> exact p-value of the distance of two confidence laws
//! hypergeometric      two counts of classes    -> exact p-value of the class that moved most
//! window_test         counts, reference        -> both together
//! ranks               reference, earlier rows  -> smoothed rank of the next row
//! jumper              ranks                    -> the wealth of a gambler against "nothing changed"
//! alarm               batches in order         -> StreamAlarm: when to wake someone, and why
//! ```
//! All batches are compared with one reference, so that their p-values are not independent: one unlucky reference makes many of
//! them small. Two things are valid nevertheless, and both are used (`docs/guarantees.md` has the proofs).
//!
//! - Ranks among the reference *and all earlier rows* are independent and uniform as long as rows are exchangeable (Vovk), so
//!   bets on them multiply, and the wealth ever reaches `1/d` with probability at most `d` (Ville).
//! - A window (a batch, a day, a week, all since the reference was fixed) has an exact p-value on its own. The `k`-th window of
//!   its kind is tested at the level `6 d / (pi^2 k^2)`; the levels sum to `d`, so that any of them rejects falsely with
//!   probability at most `d`, however the windows depend on each other.
//!
//! ```
//! use evenkeel::level::FailureProbability;
//! use evenkeel::seed::Seed;
//! use evenkeel::shift::Prediction;
//! use evenkeel::stream::{Period, PredictionCounts, StreamAlarm};
//!
//! # fn main() -> evenkeel::Result<()> {
//! let said = |confidence: f64| Prediction { confidence, class: 0 };
//! let reference: Vec<Prediction> = (0..200).map(|i| said(0.9 + 0.0004 * f64::from(i))).collect();
//! let mut alarm = StreamAlarm::new(PredictionCounts::of(&reference), FailureProbability::FIVE_PERCENT, Seed::new(0))?;
//!
//! let step = alarm.advance(&vec![said(0.5); 50], Period { day: 1, week: 1 })?;
//! assert!(step.fired.is_some());
//! # Ok(())
//! # }
//! ```

mod alarm;
mod hypergeometric;
mod jumper;
mod prediction_counts;
mod ranks;
mod smirnov;
mod window_test;

pub use alarm::{Fired, Period, StreamAlarm, StreamRule, StreamStep, Window, WindowTested};
pub use prediction_counts::PredictionCounts;
pub use window_test::{WindowTest, window_test};

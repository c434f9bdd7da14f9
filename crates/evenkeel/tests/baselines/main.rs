//! The baselines: likelihood ratios, label shift, entropy scaling, quantile transfer. Simulations have known laws and
//! fixed seeds, and bands that follow from their sizes.

#![allow(missing_docs, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod confidence_rules;
mod draws;
mod estimators;
mod hostile;
mod label_shift;
mod ratio_thresholds;

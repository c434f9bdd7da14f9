//! Stage 5: weights for the calibration scores.

pub mod network;
pub mod optimise;

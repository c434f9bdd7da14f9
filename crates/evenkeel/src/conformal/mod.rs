//! Stage 6: from weighted calibration scores to thresholds and prediction sets.

mod threshold;

pub use threshold::{TestMass, Threshold, conformal_threshold};

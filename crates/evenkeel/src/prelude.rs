//! What most programs need, in one line: `use evenkeel::prelude::*;`

pub use crate::calibration::Calibration;
pub use crate::calibrator::ShiftCalibrator;
pub use crate::conformal::LabelSets;
pub use crate::method::{Method, MethodName};
pub use crate::rows::Rows;
pub use crate::score::{Labels, Probabilities, Score};

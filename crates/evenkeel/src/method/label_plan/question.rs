//! What a plan is asked beside its weights.

use crate::reading::ReadingName;

/// Which laws thresholds may be made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Aiming {
    /// That of the reading that was assumed, or of the accuracy that is known.
    #[default]
    Assumed,
    /// The same where the user chose it. Otherwise label-shift where it explains the outputs, and elsewhere class-shares or the
    /// mean law of calibrated and class-shares: which of the two follows from the laws.
    Policy,
    /// That of a certain reading.
    Reading(ReadingName),
}

/// What a plan is asked beside its weights.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlanQuestion {
    /// Which laws thresholds may be made of.
    pub aiming: Aiming,
    /// Thresholds, beside the calibration scores, at which coverages must be exact.
    pub thresholds: Vec<f64>,
}

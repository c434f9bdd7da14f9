//! What a plan rests on, as data.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::certificate::Certificate;
use crate::label_law::{PlanStop, ShiftStatistics, TransportPlan};

/// How a fixed point came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedPoint {
    /// Fixed-point iterations taken.
    pub iterations: usize,
    /// Why the iteration ended.
    pub stopped: PlanStop,
}

impl From<&TransportPlan> for FixedPoint {
    fn from(plan: &TransportPlan) -> Self {
        Self { iterations: plan.iterations, stopped: plan.stopped }
    }
}

/// Everything the method measured on its way to the weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanEvidence {
    /// Number of calibration points.
    pub n: usize,
    /// Number of target points.
    pub m: u64,
    /// Number of classes `C`.
    pub classes: usize,
    /// Temperature at which the calibration labels are most likely under the model; 1 leaves the model as it is.
    pub temperature: f64,
    /// Group of each class.
    pub group_of: Vec<usize>,
    /// Share of each group among calibration labels, smoothed.
    pub prior: Vec<f64>,
    /// Distances between the two data sets, mix and inflation.
    #[serde(flatten)]
    pub statistics: ShiftStatistics,
    /// The plan in the planned law.
    pub plan: FixedPoint,
    /// The plan at the cautious end of the certificate.
    pub balanced: FixedPoint,
    /// Unlabeled points that took part in the fixed points; all of them unless there are very many.
    pub planned_rows: usize,
    /// `n_w` of the weights.
    pub effective_sample_size: f64,
    /// The planned law at the largest calibration score.
    pub support_reached: f64,
    /// Total gap between the weights and the planned law, the smallest possible.
    pub estimated_gap: f64,
    /// Bound on the total gap to the true target law.
    pub certificate: Certificate,
}

impl fmt::Display for PlanEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "The label plan moved the threshold: it softens the model's probabilities to temperature {:.2} (1 = unchanged; {:.2} \
             fits the calibration data) and moves label frequencies {:.0} % of the way to those of the calibration data. The \
             weights rest on effectively {:.0} of {} calibration points. {}",
            self.temperature * self.statistics.inflation,
            self.temperature,
            100.0 * self.statistics.mix,
            self.effective_sample_size,
            self.n,
            self.certificate,
        )
    }
}

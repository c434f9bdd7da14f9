//! What a plan rests on, as data.
//!
//! Stored with the calibration and shown by every shell. Nothing here is needed for thresholds.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::certificate::Certificate;
use crate::label_law::{PlanStop, ShiftStatistics, TransportPlan};

/// How a fixed point came out: one that was cut short gives a plan, but not the one it is named
/// for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedPoint {
    /// Fixed-point iterations taken; 0 where the plan was not needed.
    pub iterations: usize,
    /// Why the iteration ended: converged, cut short, or not needed.
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
    /// Number `n` of calibration points.
    pub n: usize,
    /// Number `m` of target points, all of them.
    pub m: u64,
    /// Number `C` of classes; the groups may be fewer.
    pub classes: usize,
    /// Temperature at which the calibration labels are most likely under the model; 1 leaves the model as it is.
    pub temperature: f64,
    /// Group of each class, from 0; shape `(C,)`. Each its own where there are points enough.
    pub group_of: Vec<usize>,
    /// `pi`: share of each group among calibration labels, smoothed by one count; shape `(G,)`.
    pub prior: Vec<f64>,
    /// Distances between the two data sets, mix and inflation.
    #[serde(flatten)]
    pub statistics: ShiftStatistics,
    /// The semi-relaxed plan in the planned law.
    pub plan: FixedPoint,
    /// The balanced plan at the cautious end of the certificate.
    pub balanced: FixedPoint,
    /// Unlabeled points that took part in the fixed points; all of them unless there are very many.
    pub planned_rows: usize,
    /// `n_w = 1 / sum_i w_i^2` of the weights, in `[1, n]`.
    pub effective_sample_size: f64,
    /// `F(s_n)`, the planned law at the largest calibration score; below `1 - alpha` the threshold
    /// cannot be a calibration score.
    pub support_reached: f64,
    /// Total gap between the weights and the planned law, the smallest possible.
    pub estimated_gap: f64,
    /// Bound on the total gap to the true target law, while that lies between two laws.
    pub certificate: Certificate,
}

impl fmt::Display for PlanEvidence {
    /// Three sentences for people, the last of them the certificate's.
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

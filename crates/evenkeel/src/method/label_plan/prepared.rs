//! What stages 2 to 4 leave for the second pass.

use std::sync::Arc;

use super::class_groups::ClassGroups;
use super::passes::SecondPass;
use super::shift_statistics::ShiftStatistics;
use super::transport_plan::{TransportPlan, scale_row, tempered_softmax};
use crate::error::{Result, require_finite, require_same_length};
use crate::score::Score;
use crate::sketch::Abscissae;

/// Stages 2 to 4, ready for the second pass.
#[derive(Debug, Clone)]
pub struct PreparedPlan {
    pub(super) groups: ClassGroups,
    pub(super) statistics: ShiftStatistics,
    pub(super) plan: TransportPlan,
    pub(super) balanced: TransportPlan,
    /// `b` of each class in the planned law.
    pub(super) planned_scalings: Vec<f64>,
    /// `b` of each class at the cautious end of the certificate.
    pub(super) upper_scalings: Vec<f64>,
    pub(super) abscissae: Abscissae,
    pub(super) score: Option<Score>,
    pub(super) temperature: f64,
    pub(super) planned_rows: usize,
    pub(super) rows: u64,
}

impl PreparedPlan {
    /// An empty second pass.
    pub fn second_pass(self: Arc<Self>) -> SecondPass {
        SecondPass::new(self)
    }

    /// The classes' groups and their prior.
    pub fn groups(&self) -> &ClassGroups {
        &self.groups
    }

    /// Distances between the two days, mix and inflation.
    pub fn statistics(&self) -> &ShiftStatistics {
        &self.statistics
    }

    /// The plan of the planned law.
    pub fn plan(&self) -> &TransportPlan {
        &self.plan
    }

    /// `g(y)` of one row of logits; `f` at the inflated temperature where the plan is not needed.
    pub fn plan_row(&self, logits: &[f64]) -> Result<Vec<f64>> {
        let classes = self.groups.group_of.len();
        require_same_length("logits", logits.len(), "classes", classes)?;
        require_finite("logits", logits)?;
        let mut row = vec![0.0; classes];
        tempered_softmax(logits, 1.0 / self.planned_temperature(), &mut row);
        scale_row(&mut row, &self.planned_scalings);
        Ok(row)
    }

    /// `T inflation`.
    pub(super) fn planned_temperature(&self) -> f64 {
        self.temperature * self.statistics.inflation
    }

    /// `T (1 + 2 (inflation - 1))`.
    pub(super) fn upper_temperature(&self) -> f64 {
        self.temperature * (1.0 + 2.0 * (self.statistics.inflation - 1.0))
    }
}

//! What stages 2 to 4 leave for the second pass.
//!
//! ```text
//! f_j = softmax(logits_j / (T inflation)),   g_j(y) ~ f_j(y) b_group(y),   h = (1 - mix) f + mix g
//! ```
//! Sent to every worker of the second pass, so it holds what one row needs and no rows.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::second_pass::SecondPass;
use crate::error::{Error, Result, require_finite, require_same_length};
use crate::label_law::{
    ClassGroups, LARGEST_INFLATION, ShiftStatistics, TransportPlan, scale_row, tempered_softmax,
};
use crate::score::Score;
use crate::sketch::{Abscissae, MOST_ROWS, contradiction};

/// Stages 2 to 4, ready for the second pass.
///
/// Numbers that come from elsewhere are checked as a whole: the second pass indexes by group and
/// divides by scalings without looking again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct PreparedPlan {
    /// Group of each class, and the prior `pi`.
    pub(super) groups: ClassGroups,
    /// Distances between the data sets, `mix` and `inflation`.
    pub(super) statistics: ShiftStatistics,
    /// The semi-relaxed plan at `T inflation`; not needed where `mix` is 0.
    pub(super) plan: TransportPlan,
    /// The balanced plan at the cautious end's temperature.
    pub(super) balanced: TransportPlan,
    /// `b` of each class in the planned law; shape `(C,)`, positive.
    pub(super) planned_scalings: Vec<f64>,
    /// `b` of each class at the cautious end of the certificate; shape `(C,)`, positive.
    pub(super) upper_scalings: Vec<f64>,
    /// Where the laws are exact: the distinct calibration scores.
    pub(super) abscissae: Abscissae,
    /// What scores target rows; none where candidate scores come with them.
    pub(super) score: Option<Score>,
    /// `T`, fitted on the calibration labels, before any inflation.
    pub(super) temperature: f64,
    /// Rows that took part in the fixed points.
    pub(super) planned_rows: usize,
    /// Rows of the first pass; the second must see as many.
    pub(super) rows: u64,
}

/// As it is stored; checked when read back. Same fields, same order: postcard writes no names.
#[derive(Deserialize)]
struct Stored {
    groups: ClassGroups,
    statistics: ShiftStatistics,
    plan: TransportPlan,
    balanced: TransportPlan,
    planned_scalings: Vec<f64>,
    upper_scalings: Vec<f64>,
    abscissae: Abscissae,
    score: Option<Score>,
    temperature: f64,
    planned_rows: usize,
    rows: u64,
}

impl TryFrom<Stored> for PreparedPlan {
    type Error = Error;

    /// An error unless shapes fit each other and every number is in its range.
    fn try_from(stored: Stored) -> Result<Self> {
        let Stored { groups, statistics, plan, balanced, .. } = &stored;
        let (classes, count) = (groups.group_of.len(), groups.prior.len());
        // Before anything is indexed by a group of these bytes.
        let fits = classes > 0
            && groups.group_of.iter().all(|group| *group < count)
            && [plan, balanced].iter().all(|plan| plan.log_scalings.len() == count)
            && [&stored.planned_scalings, &stored.upper_scalings]
                .iter()
                .all(|scalings| scalings.len() == classes);
        if !fits {
            return Err(contradiction("its classes and groups do not fit each other"));
        }
        let positive = |value: &f64| value.is_finite() && *value > 0.0;
        let numbers = groups.prior.iter().all(positive)
            && stored.planned_scalings.iter().all(positive)
            && stored.upper_scalings.iter().all(positive)
            && (plan.log_scalings.iter().chain(&balanced.log_scalings)).all(|log| log.is_finite())
            && positive(&stored.temperature)
            // Outside of it (1 - mix) f + mix g would hold negative masses.
            && (0.0..=1.0).contains(&statistics.mix)
            && (1.0..=LARGEST_INFLATION).contains(&statistics.inflation)
            && stored.rows <= MOST_ROWS;
        if !numbers {
            return Err(contradiction("a number of the plan is out of its range"));
        }
        Ok(Self {
            groups: stored.groups,
            statistics: stored.statistics,
            plan: stored.plan,
            balanced: stored.balanced,
            planned_scalings: stored.planned_scalings,
            upper_scalings: stored.upper_scalings,
            abscissae: stored.abscissae,
            score: stored.score,
            temperature: stored.temperature,
            planned_rows: stored.planned_rows,
            rows: stored.rows,
        })
    }
}

impl PreparedPlan {
    /// An empty second pass, with places for the laws at every distinct calibration score.
    pub fn second_pass(&self) -> SecondPass {
        SecondPass::new(self)
    }

    /// SHA-256 of the plan's wire form: the name of the plan in the states of its second pass.
    pub(super) fn digest(&self) -> [u8; 32] {
        // Numbers and lists of them can always be written; a plan without bytes would only fail to tell plans apart.
        let bytes = postcard::to_allocvec(self).unwrap_or_default();
        Sha256::digest(&bytes).into()
    }

    /// The classes' groups and their prior `pi`.
    pub(crate) fn groups(&self) -> &ClassGroups {
        &self.groups
    }

    /// `g(y)` of one row of logits; `f` at the inflated temperature where the plan is not needed.
    ///
    /// # Errors
    /// If a logit is not finite, or there are not as many as classes.
    pub fn plan_row(&self, logits: &[f64]) -> Result<Vec<f64>> {
        let classes = self.groups.group_of.len();
        require_same_length("logits", logits.len(), "classes", classes)?;
        require_finite("logits", logits)?;
        let mut row = vec![0.0; classes];
        tempered_softmax(logits, 1.0 / self.planned_temperature(), &mut row);
        scale_row(&mut row, &self.planned_scalings);
        Ok(row)
    }

    /// `T inflation`: the less the confidences can be trusted, the softer the rows.
    pub(super) fn planned_temperature(&self) -> f64 {
        self.temperature * self.statistics.inflation
    }

    /// `T (1 + 2 (inflation - 1))`: twice the distance from `T`, for the cautious end.
    pub(super) fn upper_temperature(&self) -> f64 {
        self.temperature * (1.0 + 2.0 * (self.statistics.inflation - 1.0))
    }
}

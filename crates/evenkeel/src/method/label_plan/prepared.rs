//! What stages 2 to 4 leave for the second pass.
//!
//! ```text
//! f_j = softmax(logits_j / (T inflation)),   g_j(y) ~ f_j(y) b_group(y),   h = (1 - mix) f + mix g
//! ```
//! Sent to every worker of the second pass, so it holds what one row needs and no rows.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::evidence::{FixedPoint, MatchedEvidence};
use super::second_pass::SecondPass;
use crate::error::{Error, Result, require_finite, require_same_length};
use crate::label_law::{ClassGroups, LARGEST_INFLATION, LabelLawMap, PlanMixture, ShiftStatistics};
use crate::reading::ReadingName;
use crate::score::Score;
use crate::sketch::{Abscissae, LAWS, MOST_ROWS, contradiction};

/// Stages 2 to 4, ready for the second pass.
///
/// Numbers that come from elsewhere are checked as a whole: the second pass indexes by group and
/// divides by scalings without looking again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct PreparedPlan {
    /// The label laws, in the order of [`ReadingName::ALL`].
    pub(super) laws: [PlanMixture; LAWS],
    /// The reading whose law the weights aim at.
    pub(super) aim: ReadingName,
    pub(super) abscissae: Abscissae,
    /// Largest calibration score, one of the abscissae.
    pub(super) largest: f64,
    pub(super) score: Option<Score>,
    pub(super) rows: u64,
    pub(super) groups: ClassGroups,
    pub(super) evidence: PlanSummary,
}

/// What was found on the way, for the evidence.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PlanSummary {
    pub temperature: f64,
    pub statistics: ShiftStatistics,
    pub plan: FixedPoint,
    pub balanced: FixedPoint,
    pub planned_rows: usize,
    pub accuracy: MatchedEvidence,
}

/// As it is stored; checked when read back. Same fields, same order: postcard writes no names.
#[derive(Deserialize)]
struct Stored {
    laws: [PlanMixture; LAWS],
    aim: ReadingName,
    abscissae: Abscissae,
    largest: f64,
    score: Option<Score>,
    rows: u64,
    groups: ClassGroups,
    evidence: PlanSummary,
}

impl TryFrom<Stored> for PreparedPlan {
    type Error = Error;

    /// An error unless shapes fit each other and every number is in its range.
    fn try_from(stored: Stored) -> Result<Self> {
        let Stored { laws, aim, abscissae, largest, score, rows, groups, evidence } = stored;
        let (classes, count) = (groups.group_of.len(), groups.prior.len());
        // Before anything is indexed by a group of these bytes.
        let fits = classes > 0
            && groups.group_of.iter().all(|group| *group < count)
            && laws.iter().all(|law| law.scalings.len() == classes);
        if !fits {
            return Err(contradiction("its classes and groups do not fit each other"));
        }
        let positive = |value: &f64| value.is_finite() && *value > 0.0;
        let statistics = &evidence.statistics;
        let numbers = groups.prior.iter().all(positive)
            && laws.iter().all(|law| law.is_sound(classes))
            && positive(&evidence.temperature)
            && (0.0..=1.0).contains(&statistics.mix)
            && (1.0..=LARGEST_INFLATION).contains(&statistics.inflation)
            && evidence.accuracy.is_sound()
            && rows <= MOST_ROWS;
        if !numbers {
            return Err(contradiction("a number of the plan is out of its range"));
        }
        // Locating a number that is none, or lies outside, would say that all scores are below it.
        if abscissae.points().binary_search_by(|point| point.total_cmp(&largest)).is_err() {
            return Err(contradiction("its largest calibration score is none of its abscissae"));
        }
        Ok(Self { laws, aim, abscissae, largest, score, rows, groups, evidence })
    }
}

/// What scores labels under the plan score: the law that the weights aim at. None under any other score.
pub(super) fn label_law_of(
    score: Option<&Score>,
    laws: &[PlanMixture; LAWS],
    aim: ReadingName,
) -> Option<LabelLawMap> {
    (score == Some(&Score::Plan)).then(|| fitted_law_of(laws, aim))
}

/// The law that the weights aim at, as a function of a row.
fn fitted_law_of(laws: &[PlanMixture; LAWS], aim: ReadingName) -> LabelLawMap {
    LabelLawMap::of_mixture(&laws[aim.index()])
}

impl PreparedPlan {
    /// What scores labels under the plan score; none under any other.
    pub(super) fn label_law(&self) -> Option<LabelLawMap> {
        label_law_of(self.score.as_ref(), &self.laws, self.aim)
    }

    /// The law that the weights aim at, whatever the score.
    pub(super) fn fitted_law(&self) -> LabelLawMap {
        fitted_law_of(&self.laws, self.aim)
    }

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

    /// The accuracy of the matched reading, and what it was made of.
    pub fn accuracy(&self) -> &MatchedEvidence {
        &self.evidence.accuracy
    }

    /// `g(y)` of one row of logits in the planned law; `f` at the inflated temperature where the plan is not needed.
    ///
    /// # Errors
    /// If a logit is not finite, or there are not as many as classes.
    pub fn plan_row(&self, logits: &[f64]) -> Result<Vec<f64>> {
        let classes = self.groups.group_of.len();
        require_same_length("logits", logits.len(), "classes", classes)?;
        require_finite("logits", logits)?;
        Ok(self.laws[ReadingName::ClassShares.index()].plan_row(logits))
    }
}

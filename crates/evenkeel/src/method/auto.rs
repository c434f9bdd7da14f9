//! Test first, correct only if the test rejects, and say why.
//!
//! ```text
//! shift test not rejected   split conformal prediction, whose finite-sample guarantee is worth keeping
//! shift test rejected       the label plan, with its evidence and warnings
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Result, require_same_length};
use crate::level::{FailureProbability, Miscoverage};
use crate::measure::WeightedEmpirical;
use crate::method::label_plan::{
    LabelPlan, LabelPlanSettings, LabelPlanner, LabeledLogits, PlanEvidence, PlanWarning,
    TargetRows,
};
use crate::rows::Real;
use crate::score::{Labels, Probabilities, Score};
use crate::seed::Seed;
use crate::shift::{
    KEPT_PREDICTIONS, ShiftTest, permutations_for, predictions, sampled, shift_test,
};
use crate::threshold::{TestMass, Threshold, conformal_threshold};

/// How `auto` decides.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `level` | 0.05 | false-alarm rate of the shift test, failure probability of the certificate | `(0, 1)` |
/// | `permutations` | [`permutations_for`] the level | relabelings of the shift test | `>= 1` |
/// | `plan` | see [`LabelPlanSettings`] | how the plan is computed | |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AutoSettings {
    /// False-alarm rate of the shift test.
    pub level: FailureProbability,
    /// Relabelings of the shift test.
    pub permutations: usize,
    /// How the plan is computed.
    pub plan: LabelPlanSettings,
    /// Root of all randomness.
    pub seed: Seed,
}

impl AutoSettings {
    /// The defaults at this false-alarm rate, which is the failure probability of the certificate too, with the
    /// relabelings that a check at this level draws: what a check promises, `auto` delivers.
    pub fn new(level: FailureProbability, seed: Seed) -> Self {
        let (permutations, plan) = (permutations_for(level), LabelPlanSettings::new(level));
        Self { level, permutations, plan, seed }
    }
}

/// The method `auto` took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chosen {
    /// Split conformal prediction.
    Uncorrected,
    /// The label plan.
    LabelPlan,
}

impl Chosen {
    /// What the test says.
    pub fn by(test: &ShiftTest, level: FailureProbability) -> Self {
        if test.rejects(level) { Self::LabelPlan } else { Self::Uncorrected }
    }

    /// The name used on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uncorrected => "uncorrected",
            Self::LabelPlan => "label-plan",
        }
    }
}

/// What was done and why: the test, the choice, and the plan's evidence where it was used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Labeled points.
    pub n: usize,
    /// Unlabeled points.
    pub m: u64,
    /// Miscoverage rate the warnings and the words are about.
    pub alpha: f64,
    /// The shift test.
    pub test: ShiftTest,
    /// Its level.
    pub level: f64,
    /// Whether it rejected "nothing changed".
    pub rejected: bool,
    /// The method taken.
    pub chosen: Chosen,
    /// Evidence of the plan; none where it was not made.
    pub plan: Option<PlanEvidence>,
    /// What a user should know about the plan.
    pub warnings: Vec<PlanWarning>,
}

impl Decision {
    /// From a test, the sizes `(n, m)` of the two days, and the plan, if the test rejected and one was made.
    pub fn new(
        test: ShiftTest,
        level: FailureProbability,
        (n, m): (usize, u64),
        alpha: Miscoverage,
        plan: Option<&LabelPlan>,
    ) -> Self {
        Self {
            n,
            m,
            alpha: alpha.get(),
            test,
            level: level.get(),
            rejected: test.rejects(level),
            chosen: if plan.is_some() { Chosen::LabelPlan } else { Chosen::Uncorrected },
            plan: plan.map(|plan| plan.evidence().clone()),
            warnings: plan.map_or_else(Vec::new, |plan| plan.warnings(alpha)),
        }
    }
}

/// A decision with what it leads to: thresholds for any miscoverage rate.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoCalibrated {
    /// What was done and why.
    pub decision: Decision,
    /// The plan, if it was made.
    pub plan: Option<LabelPlan>,
    uncorrected: WeightedEmpirical,
}

impl AutoCalibrated {
    /// The threshold of the chosen method.
    pub fn threshold(&self, alpha: Miscoverage) -> Threshold {
        match &self.plan {
            Some(plan) => Threshold::Finite(plan.threshold(alpha).score),
            None => self.uncorrected_threshold(alpha),
        }
    }

    /// The threshold of split conformal prediction, for comparison.
    pub fn uncorrected_threshold(&self, alpha: Miscoverage) -> Threshold {
        let test = TestMass::exchangeable(self.decision.n);
        conformal_threshold(&self.uncorrected, test, alpha)
    }
}

/// Tests for a shift and calibrates accordingly: `(n, C)` labeled probabilities of the calibration data, `(m, C)` unlabeled ones of the target data.
pub fn auto<T: Real, U: Real>(
    labeled: &Probabilities<'_, T>,
    labels: &Labels,
    target: &Probabilities<'_, U>,
    score: &Score,
    alpha: Miscoverage,
    settings: &AutoSettings,
) -> Result<AutoCalibrated> {
    let classes = labeled.classes();
    require_same_length("target classes", target.classes(), "calibration classes", classes)?;
    let logits = LabeledLogits::of_probabilities(labeled, labels, score)?;
    let uncorrected = WeightedEmpirical::uniform(logits.scores())?;
    let AutoSettings { level, permutations, seed, .. } = *settings;
    let (before, after) = (predictions(labeled), sampled(predictions(target), seed));
    let test = shift_test(&before, &after, permutations, seed)?;
    let plan = match Chosen::by(&test, level) {
        Chosen::Uncorrected => None,
        Chosen::LabelPlan => {
            let planner = LabelPlanner::new(logits, *score, settings.plan, seed)?;
            Some(planner.plan(&TargetRows::Probabilities(target.table()))?)
        }
    };
    let sizes = (labeled.rows(), target.rows() as u64);
    let decision = Decision::new(test, level, sizes, alpha, plan.as_ref());
    Ok(AutoCalibrated { decision, plan, uncorrected })
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, m, test, level, .. } = self;
        let asked = 100.0 * (1.0 - self.alpha);
        let sample = if *n > KEPT_PREDICTIONS || *m > KEPT_PREDICTIONS as u64 {
            format!(", tested on a sample of at most {KEPT_PREDICTIONS} of each")
        } else {
            String::new()
        };
        let moved = format!(
            "the model's confidence differs by {:.3} (largest difference of shares) and its predicted classes by {:.3} (total \
             variation) between {n} labeled points and {m} unlabeled ones{sample}",
            test.confidence_distance, test.class_distance
        );
        let odds = format!("p = {:.3}, alarm at {level}", test.p_value);
        let Some(plan) = &self.plan else {
            let found = if self.rejected { "A change was found" } else { "No change was found" };
            return write!(
                f,
                "{found}: {moved} ({odds}). The threshold of split conformal prediction is kept, whose {asked:.0} % coverage \
                 is guaranteed as long as nothing changed. A change too small to be seen among so many points may remain."
            );
        };
        write!(
            f,
            "A change was found: {moved} ({odds}), so the {asked:.0} % of calibration threshold are no longer guaranteed. {plan}",
        )?;
        self.warnings.iter().try_for_each(|warning| write!(f, " Beware: {warning}."))
    }
}

//! Test first, correct only if the test rejects, and say why.
//!
//! ```text
//! shift test not rejected   split conformal prediction, whose finite-sample guarantee is worth keeping
//! shift test rejected       the label plan, with its evidence and warnings
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};

use super::fit::{Next, Open, Pass, Scored, Stage};
use super::label_plan::{
    self, FirstPass, LabelPlan, LabelPlanSettings, LabelPlanner, PlanEvidence, PlanFirstPass,
    PreparedPlan, SecondPass,
};
use super::{About, Concluded, Evidence, Needs, Rule, Sorted};
use crate::error::{Error, Result};
use crate::level::{FailureProbability, Miscoverage};
use crate::rows::{Real, RowKeys, Rows};
use crate::seed::Seed;
use crate::shift::{
    KEPT_PREDICTIONS, KeptPredictions, Prediction, ShiftTest, least_permutations, permutations_for,
    predictions, sampled, shift_test,
};
use crate::side_inputs::SideInputs;
use crate::warning::Warning;

pub(crate) const ABOUT: About = About {
    name: "auto",
    summary: "A shift test, then split conformal prediction or the label plan",
    assumption: "no shift or a label plan that fits",
    needs: Needs::NOTHING,
};

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
}

impl AutoSettings {
    /// The defaults at this false-alarm rate, which is the failure probability of the certificate too, with the
    /// relabelings that a check at this level draws: what a check promises, `auto` delivers.
    pub fn new(level: FailureProbability) -> Self {
        Self { level, permutations: permutations_for(level), plan: LabelPlanSettings::new(level) }
    }
}

/// The method `auto` took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Chosen {
    /// Split conformal prediction: the test did not reject.
    Uncorrected,
    /// The label plan: the test rejected.
    LabelPlan,
}

impl Chosen {
    /// What the test says.
    pub(crate) fn by(test: &ShiftTest, level: FailureProbability) -> Self {
        if test.rejects(level) { Self::LabelPlan } else { Self::Uncorrected }
    }
}

/// What was done and why: the test, the choice, and the plan's evidence where it was used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Number of calibration points.
    pub n: usize,
    /// Number of target points.
    pub m: u64,
    /// Miscoverage rate the warnings and the words are about.
    pub alpha: f64,
    /// The shift test that decided.
    pub test: ShiftTest,
    /// Level of the test: it rejects where the p-value is at most this.
    pub level: f64,
    /// Whether it rejected "nothing changed".
    pub rejected: bool,
    /// The method that was run after the test.
    pub chosen: Chosen,
    /// Evidence of the plan; none where it was not made.
    pub plan: Option<PlanEvidence>,
    /// What a user should know about the plan.
    pub warnings: Vec<Warning>,
}

impl Decision {
    /// From a test, the sizes `(n, m)` of the two data sets, and the plan, if the test rejected and one was made.
    pub(crate) fn new(
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

/// The calibration side, before the shift test.
#[derive(Debug)]
pub(crate) struct AutoFirst {
    planner: LabelPlanner,
    settings: AutoSettings,
    alpha: Miscoverage,
    seed: Seed,
    /// What the model says of the calibration points.
    before: Vec<Prediction>,
}

/// The calibration side, once the test has found a shift.
#[derive(Debug)]
pub(crate) struct AutoSecond {
    planner: LabelPlanner,
    settings: AutoSettings,
    alpha: Miscoverage,
    test: ShiftTest,
}

/// Reads the calibration predictions; the target rows are still to come.
pub(crate) fn begin<T: Real>(
    calibration: &Scored<'_, T>,
    settings: AutoSettings,
) -> Result<Open<AutoFirst>> {
    require_permutations(settings.level, settings.permutations)?;
    let planner = label_plan::planner(calibration, settings.plan)?;
    let seed = calibration.context.seed;
    let before = sampled(predictions(calibration.probabilities), seed)?;
    let pass = AutoFirstPass::new(&planner, seed);
    let alpha = calibration.context.alpha;
    Ok(Open::new(AutoFirst { planner, settings, alpha, seed, before }, pass))
}

/// An error if no p-value could ever reach the level: every shift would be called none.
pub(super) fn require_permutations(level: FailureProbability, found: usize) -> Result<()> {
    let least = least_permutations(level);
    if found < least {
        return Err(Error::TooFewPermutations { found, delta: level.get(), least });
    }
    Ok(())
}

impl Stage for AutoFirst {
    type Pass = AutoFirstPass;

    fn end_pass(self, _: AutoFirstPass, (kept, first): AutoFirstState, rows: u64) -> Result<Next> {
        let Self { planner, settings, alpha, seed, before } = self;
        let test = shift_test(&before, &kept.values()?, settings.permutations, seed)?;
        match Chosen::by(&test, settings.level) {
            Chosen::Uncorrected => {
                let scores = planner.labeled().scores();
                let sizes = (scores.len(), rows);
                let decision = Decision::new(test, settings.level, sizes, alpha, None);
                let split = Concluded::split(Sorted::new(scores), Rule::Quantile)?;
                Next::done(split.with_evidence(Evidence::Auto(Box::new(decision))))
            }
            Chosen::LabelPlan => {
                let prepared = planner.prepare(first)?;
                let stage = AutoSecond { planner, settings, alpha, test };
                Ok(Next::again(Open::new(stage, prepared)))
            }
        }
    }
}

impl Stage for AutoSecond {
    type Pass = PreparedPlan;

    fn end_pass(self, prepared: PreparedPlan, second: SecondPass, rows: u64) -> Result<Next> {
        let plan = self.planner.finish(&prepared, second)?;
        let sizes = (self.planner.labeled().len(), rows);
        let decision =
            Decision::new(self.test, self.settings.level, sizes, self.alpha, Some(&plan));
        let concluded = label_plan::concluded(&plan);
        Next::done(concluded.with_evidence(Evidence::Auto(Box::new(decision))))
    }
}

/// What the test needs, and what the plan needs should it find a shift.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AutoFirstPass {
    plan: PlanFirstPass,
    /// Empty.
    predictions: KeptPredictions,
}

/// Predictions for the test, and the first pass of the plan.
pub(crate) type AutoFirstState = (KeptPredictions, FirstPass);

impl AutoFirstPass {
    pub(super) fn new(planner: &LabelPlanner, seed: Seed) -> Self {
        let plan = PlanFirstPass { empty: planner.first_pass() };
        Self { plan, predictions: KeptPredictions::new(seed) }
    }
}

impl Pass for AutoFirstPass {
    type State = AutoFirstState;

    fn empty(&self) -> AutoFirstState {
        (self.predictions.clone(), self.plan.empty())
    }

    fn add<T: Real>(
        &self,
        (kept, first): AutoFirstState,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        side: &SideInputs<'_>,
    ) -> Result<AutoFirstState> {
        Ok((kept.add(keys, block)?, self.plan.add(first, keys, block, side)?))
    }

    fn merge(
        &self,
        (mut kept, first): AutoFirstState,
        other: AutoFirstState,
    ) -> Result<AutoFirstState> {
        kept.merge(other.0)?;
        Ok((kept, first.merge(other.1)?))
    }

    fn check(&self, (kept, first): &AutoFirstState) -> Result<()> {
        self.predictions.require_same(kept)?;
        self.plan.check(first)
    }

    fn classes(&self) -> usize {
        self.plan.classes()
    }
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
            "the model's confidence differs by {:.3} (KS distance) and its predicted classes by {:.3} (total variation) between {n} \
             calibration points and {m} target points{sample} (p = {:.3}, alarm at {level})",
            test.confidence_distance, test.class_distance, test.p_value
        );
        let Some(plan) = &self.plan else {
            let found = if self.rejected { "A change was found" } else { "No change was found" };
            return write!(
                f,
                "{found}: {moved}. The threshold of split conformal prediction is kept: its {asked:.0} % coverage is guaranteed as \
                 long as nothing changed. A change too small to be seen among so many points may remain."
            );
        };
        write!(
            f,
            "A change was found: {moved}, so the calibration threshold no longer guarantees {asked:.0} % coverage. {plan}",
        )
    }
}

//! Test first, read the rows next, correct only where coverage seems lost, and say why.
//!
//! ```text
//! shift test not rejected        split conformal prediction, whose finite-sample guarantee is worth keeping
//! rejected, verdict ok           split conformal prediction: no reading says that coverage was lost
//! rejected, verdict loss         the reading that was assumed, class-shares unless the user chose another
//! rejected, watch or unknown     the mean law of calibrated and class-shares; what the user chose, where there is a choice
//! rejected, and label shift      label-shift in place of both, where it explains the outputs and the user left the choice open
//! ```
//! The verdict is that of the readings at the threshold of split conformal prediction, at the miscoverage rate of the run.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::few_labels::Guarantee;
use super::fit::{Next, Open, Pass, Scored, Stage};
use super::label_plan::{
    self, Aiming, FirstPass, KnownAccuracy, LabelPlan, LabelPlanSettings, LabelPlanner,
    PlanEvidence, PlanFirstPass, PlanQuestion, PreparedPlan, ReadLaws, SecondPass,
};
use super::{About, Concluded, Evidence, Need, Needs, Rule, Sorted};
use crate::certify::{HalfWidth, label_budget};
use crate::error::{Error, Input, PointSet, Result, SideInput, User};
use crate::level::{FailureProbability, Miscoverage};
use crate::reading::{ReadingName, Readings, Verdict};
use crate::rows::{Real, RowKeys, Rows};
use crate::seed::Seed;
use crate::shift::{
    KEPT_PREDICTIONS, KeptPredictions, Prediction, ShiftTest, least_permutations, permutations_for,
    predictions, require_drawable, sampled, shift_decision,
};
use crate::side_inputs::SideInputs;
use crate::sketch::{RowMarks, marks_of_rows};
use crate::warning::Warning;

/// The room's entry in the list of methods; `auto` takes probabilities and nothing else.
pub(crate) const ABOUT: About = About {
    name: "auto",
    summary: "A shift test, then split conformal prediction or the label plan",
    assumption: "no shift or a label plan that fits",
    needs: Needs { second: Need::Optional, ..Needs::NOTHING },
};

/// Points within which labels should tell coverage, in warnings.
const USEFUL_HALF_WIDTH: f64 = 0.05;

/// How `auto` decides.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `level` | 0.05 | false-alarm rate of the shift test, failure probability of the certificate | `(0, 1)` |
/// | `permutations` | [`permutations_for`] the level | relabelings of the shift test | `>= 1` |
/// | `plan` | see [`LabelPlanSettings`] | how the plan is computed | |
/// | `guarantee` | none | what labels of target rows must guarantee; without labels nothing can be guaranteed | |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AutoSettings {
    /// False-alarm rate of the shift test, in `(0, 1)`: how often it may reject where nothing
    /// changed.
    pub level: FailureProbability,
    /// Relabelings `B` of the shift test; its smallest p-value is `1 / (B + 1)`.
    pub permutations: usize,
    /// How the plan is computed, should the test reject.
    pub plan: LabelPlanSettings,
    /// What labels of target rows are to guarantee.
    pub guarantee: Guarantee,
}

impl AutoSettings {
    /// The defaults at this false-alarm rate, which is the failure probability of the certificate too, with the
    /// relabelings that a check at this level draws: what a check promises, `auto` delivers.
    pub fn new(level: FailureProbability) -> Self {
        Self {
            level,
            permutations: permutations_for(level),
            plan: LabelPlanSettings::new(level),
            guarantee: Guarantee::None,
        }
    }
}

/// The method `auto` took after its test; the word stands in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Chosen {
    /// Split conformal prediction: the test did not reject, or no reading says that coverage was lost.
    Uncorrected,
    /// The label plan: the test rejected, and coverage seems lost.
    LabelPlan,
}

/// What to do at a verdict. The one place where readings become a method.
///
/// Not "which method looks better": without labels nothing could tell.
fn law_for(verdict: Verdict, prepared: &PreparedPlan) -> Option<ReadingName> {
    let preferred = prepared.preferred();
    match verdict {
        Verdict::Ok => None,
        Verdict::Loss => Some(preferred),
        // Where the preferred one is no choice of the user's, and does not explain the outputs, the truth may lie on either side.
        _ => Some(prepared.otherwise().unwrap_or(preferred)),
    }
}

/// What was done and why: the test, the choice, and the plan's evidence where it was used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Number `n` of calibration points, all of them, also where a sample of them was tested.
    pub n: usize,
    /// Number `m` of target points, all of them, also where a sample of them was tested.
    pub m: u64,
    /// Miscoverage rate the warnings and the words are about.
    pub alpha: f64,
    /// The shift test that decided, with both distances and its p-value.
    pub test: ShiftTest,
    /// Level of the test: it rejects where the p-value is at most this.
    pub level: f64,
    /// Whether it rejected "nothing changed".
    pub rejected: bool,
    /// The method that was run after the test.
    pub chosen: Chosen,
    /// Evidence of the plan; none where it was not made.
    pub plan: Option<PlanEvidence>,
    /// What a user should know about the plan at `alpha`; empty where none was made.
    pub warnings: Vec<Warning>,
    /// What the readings say of the threshold of split conformal prediction, where it was kept although the test rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Readings>,
}

impl Decision {
    /// From a test, the sizes `(n, m)` of the two data sets, and the plan, if the test rejected and
    /// one was made.
    ///
    /// The plan's evidence is copied: the plan itself goes on as weights and rule.
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
            plan: plan.map(|plan| plan.evidence_at(alpha)),
            warnings: plan.map_or_else(Vec::new, |plan| plan.warnings(alpha)),
            kept: None,
        }
    }
}

/// What follows from a test that rejected and from the laws of both passes.
///
/// # Errors
/// If the scores are not such as a calibration has, which no scores of rows are.
pub(crate) fn conclude(
    planner: &LabelPlanner,
    prepared: &PreparedPlan,
    read: &ReadLaws,
    (test, level): (ShiftTest, FailureProbability),
    alpha: Miscoverage,
) -> Result<Concluded> {
    let sizes = (read.sorted.scores.len(), read.laws.rows());
    let preferred = prepared.preferred();
    let readings = read.laws.readings_by(preferred, read.split(alpha), alpha.level());
    let Some(aim) = law_for(readings.verdict, prepared) else {
        let mut decision = Decision::new(test, level, sizes, alpha, None);
        decision.kept = Some(readings);
        let split = Concluded::split(read.sorted.clone(), Rule::Quantile)?;
        let split = split.with_label_law(read.label_law.clone());
        return Ok(split.with_evidence(Evidence::Auto(Box::new(decision))));
    };
    let plan = planner.aimed(prepared, read, aim)?;
    let mut decision = Decision::new(test, level, sizes, alpha, Some(&plan));
    if aim == ReadingName::Mean {
        let all = readings.readings.iter().map(|reading| reading.coverage);
        let ends = all.fold((1.0_f64, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
        let labels = HalfWidth::new(USEFUL_HALF_WIDTH)
            .map(|width| label_budget(width, alpha.level(), FailureProbability::FIVE_PERCENT));
        decision.warnings.insert(
            0,
            Warning::ReadingsDisagree {
                low: ends.0,
                high: ends.1,
                level: readings.level,
                labels: labels?,
            },
        );
    }
    Ok(label_plan::concluded(&plan).with_evidence(Evidence::Auto(Box::new(decision))))
}

/// The calibration side, before the shift test. The temperature is fitted already: it depends on
/// the calibration data alone, and the first pass needs it.
#[derive(Debug)]
pub(crate) struct AutoFirst {
    /// The calibration side of the plan, made whether or not it will be needed.
    planner: LabelPlanner,
    settings: AutoSettings,
    /// Rate that warnings and words are about; the test and the plan do not depend on it.
    alpha: Miscoverage,
    /// Root of the test's relabelings.
    seed: Seed,
    /// What the model says of the calibration points, or of a sample of them.
    before: Vec<Prediction>,
}

/// The calibration side, once the test has found a shift and the rows are read once more.
#[derive(Debug)]
pub(crate) struct AutoSecond {
    planner: LabelPlanner,
    settings: AutoSettings,
    alpha: Miscoverage,
    /// The test that rejected, kept for the evidence.
    test: ShiftTest,
}

/// Reads the calibration predictions; the target rows are still to come.
///
/// # Errors
/// If the test has too few relabelings to reach its level, or a setting of the plan is out of
/// range.
pub(crate) fn begin<T: Real>(
    calibration: &Scored<'_, T>,
    settings: AutoSettings,
) -> Result<Open<AutoFirst>> {
    if settings.guarantee != Guarantee::None {
        // With labels it is `few-labels`, and never comes here.
        let value = match settings.guarantee {
            Guarantee::Probability { .. } => "a probability",
            Guarantee::None | Guarantee::Average => "average",
        };
        let whose = User::MethodWith { method: ABOUT.name, option: "guarantee", value };
        return Err(Error::Missing {
            what: Input::Side(SideInput::Labels, PointSet::Target),
            whose,
        });
    }
    require_permutations(settings.level, settings.permutations)?;
    let planner = label_plan::planner(calibration, settings.plan)?;
    let seed = calibration.context.seed;
    // Sampled like the target side: the test costs what both samples cost, and sees what the
    // smaller one lets it see.
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
    require_drawable(found)
}

impl Stage for AutoFirst {
    type Pass = AutoFirstPass;

    /// The test, and with it the choice: done, or the same rows again for the laws of the plan.
    fn end_pass(self, _: AutoFirstPass, (kept, first): AutoFirstState, rows: u64) -> Result<Next> {
        let Self { planner, settings, alpha, seed, before } = self;
        // Only its decision is asked for: it may stop before all relabelings are drawn.
        let decided = (settings.level, settings.permutations);
        let test = shift_decision(&before, &kept.values()?, decided, seed)?;
        if !test.rejects(settings.level) {
            // What the first pass kept for the plan is dropped. Keeping it costs less than a pass
            // of its own, which every rejected test would need.
            let scores = planner.labeled().scores();
            let sizes = (scores.len(), rows);
            let mut decision = Decision::new(test, settings.level, sizes, alpha, None);
            let assumptions = settings.plan.assumptions;
            if assumptions.are_chosen() {
                let accuracy = assumptions.accuracy.map(KnownAccuracy::get);
                decision.warnings.push(Warning::AssumptionNotUsed { accuracy });
            }
            let split = Concluded::split(Sorted::new(scores), Rule::Quantile)?;
            return Next::done(split.with_evidence(Evidence::Auto(Box::new(decision))));
        }
        let question = PlanQuestion { aiming: Aiming::Policy, ..PlanQuestion::default() };
        let prepared = planner.prepare_for(&first, &question)?;
        let stage = AutoSecond { planner, settings, alpha, test };
        Ok(Next::again(Open::new(stage, prepared)))
    }
}

impl Stage for AutoSecond {
    type Pass = PreparedPlan;

    /// What the readings say decides; the decision is the evidence, in place of the plan's own.
    fn end_pass(self, prepared: PreparedPlan, second: SecondPass, _: u64) -> Result<Next> {
        let Self { planner, settings, alpha, test } = self;
        let read = planner.read(&prepared, second)?;
        Next::done(conclude(&planner, &prepared, &read, (test, settings.level), alpha)?)
    }
}

/// What the test needs, and what the plan needs should it find a shift: one reading serves both.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AutoFirstPass {
    /// Recipe of the plan's first pass.
    plan: PlanFirstPass,
    /// Empty: the seed and the size of the sample, which every worker must share.
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

    /// Both states before the first row.
    fn empty(&self) -> AutoFirstState {
        (self.predictions.emptied(), self.plan.empty())
    }

    /// Reads each row for the plan, which checks it, and those of the sample once more for the test.
    fn add<T: Real>(
        &self,
        (kept, first): AutoFirstState,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        side: &SideInputs<'_>,
    ) -> Result<AutoFirstState> {
        let first = self.plan.add(first, keys, block, side)?;
        Ok((kept.add(keys, block)?, first))
    }

    /// Joins both halves of two states.
    fn merge(
        &self,
        (mut kept, first): AutoFirstState,
        other: AutoFirstState,
    ) -> Result<AutoFirstState> {
        kept.merge(other.0)?;
        Ok((kept, first.merge(other.1)?))
    }

    /// An error unless both halves are of the samples and the planner of this pass.
    fn check(&self, (kept, first): &AutoFirstState) -> Result<()> {
        self.predictions.require_same(kept)?;
        self.plan.check(first)
    }

    fn classes(&self) -> usize {
        self.plan.classes()
    }

    fn empty_of(&self, rows: u64) -> AutoFirstState {
        (self.predictions.emptied().one_of_many(rows), self.plan.empty_of(rows))
    }

    fn marks<T: Real>(&self, keys: RowKeys<'_>, block: Rows<'_, T>) -> RowMarks {
        marks_of_rows(keys, block)
    }
}

impl fmt::Display for Decision {
    /// A paragraph for people: what moved, what was done about it, and what that assumes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, m, test, level, .. } = self;
        let asked = 100.0 * (1.0 - self.alpha);
        // Said only where it is so: otherwise a reader would take `n` and `m` for the sizes of the
        // test.
        let sample = if *n > KEPT_PREDICTIONS || *m > KEPT_PREDICTIONS as u64 {
            format!(", tested on a sample of at most {KEPT_PREDICTIONS} of each")
        } else {
            String::new()
        };
        // As small as 999 relabelings can tell: none of them came near.
        let p = if test.p_value <= 0.001 * (1.0 + 1e-9) {
            "p < 0.001".to_owned()
        } else {
            format!("p = {:.3}", test.p_value)
        };
        let moved = format!(
            "the model's confidence differs by {:.3} (KS distance) and its predicted classes by {:.3} (total variation) between {n} \
             calibration points and {m} target points{sample} ({p}, alarm at {level})",
            test.confidence_distance, test.class_distance
        );
        if let Some(kept) = &self.kept {
            return write!(
                f,
                "A change was found: {moved}. No reading of the target data says that coverage was lost (about {:.0} %, {:.0}-{:.0}), \
                 so the threshold of split conformal prediction is kept. That is assumed, not guaranteed: it takes one of the \
                 readings to be right.",
                100.0 * kept.coverage_estimate.value,
                100.0 * kept.coverage_estimate.low,
                100.0 * kept.coverage_estimate.high,
            );
        }
        // A decision read from a file may hold a rejection without a plan; the words must not then
        // say that nothing was found.
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

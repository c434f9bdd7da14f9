//! `label-plan` as a method: one pass for the statistics and the fixed points, one for the laws.
//!
//! ```text
//! calibration data -> T -> pass 1 -> groups, mix, inflation, b -> pass 2 -> three laws -> weights
//! ```
//! Two passes, because the laws need `b`, and `b` needs the statistics of all rows.

use serde::{Deserialize, Serialize};

use super::{
    FirstPass, LabelPlan, LabelPlanSettings, LabelPlanner, LabeledLogits, PreparedPlan, SecondPass,
    TargetRows,
};
use crate::error::Result;
use crate::label_law::Unsampled;
use crate::method::fit::{Next, Open, Pass, Scored, Stage};
use crate::method::{About, Concluded, Evidence, Need, Needs, Rule, Sorted};
use crate::rows::{Real, RowKeys, Rows, Share};
use crate::side_inputs::SideInputs;
use crate::sketch::{RowMarks, marks_of_rows};
use crate::threshold::TestMass;

/// The room's entry in the list of methods.
pub(crate) const ABOUT: About = About {
    name: "label-plan",
    summary: "Weights from the target points transported onto the class frequencies of the calibration data",
    assumption: "label marginal nearly kept",
    needs: Needs { second: Need::Optional, ..Needs::NOTHING },
};

/// The calibration side, before the first pass: the temperature is fitted, nothing else is known.
#[derive(Debug)]
pub(crate) struct PlanFirst {
    /// Logits, scores and temperature of the calibration data.
    planner: LabelPlanner,
    /// Rate that warnings are about.
    alpha: crate::level::Miscoverage,
}

/// The calibration side, before the second pass; the plan itself is the pass's recipe.
#[derive(Debug)]
pub(crate) struct PlanSecond {
    planner: LabelPlanner,
    alpha: crate::level::Miscoverage,
}

/// Fits the temperature: what every method that may end as a plan starts with.
///
/// # Errors
/// If a setting is out of its range.
pub(crate) fn planner<T: Real>(
    calibration: &Scored<'_, T>,
    settings: LabelPlanSettings,
) -> Result<LabelPlanner> {
    let logits = LabeledLogits::of_scored(
        calibration.probabilities,
        calibration.labels,
        calibration.scores.to_vec(),
    )?;
    let context = calibration.context;
    let planner = LabelPlanner::new(logits, context.score, settings, context.seed)?;
    planner
        .with_probabilities(calibration.probabilities)
        .with_second(calibration.side.second, calibration.labels)
}

/// Fits the temperature; the target rows are still to come, twice.
///
/// # Errors
/// If a setting is out of its range.
pub(crate) fn begin<T: Real>(
    calibration: &Scored<'_, T>,
    settings: LabelPlanSettings,
) -> Result<Open<PlanFirst>> {
    let planner = planner(calibration, settings)?;
    let pass = PlanFirstPass { empty: planner.first_pass() };
    Ok(Open::new(PlanFirst { planner, alpha: calibration.context.alpha }, pass))
}

impl Stage for PlanFirst {
    type Pass = PlanFirstPass;

    /// Groups, statistics and fixed points, from what all rows left behind.
    fn end_pass(self, _: PlanFirstPass, first: FirstPass, _: u64) -> Result<Next> {
        let prepared = self.planner.prepare(&first)?;
        let stage = PlanSecond { planner: self.planner, alpha: self.alpha };
        Ok(Next::again(Open::new(stage, prepared)))
    }
}

impl Stage for PlanSecond {
    type Pass = PreparedPlan;

    /// The laws become weights, thresholds and a certificate.
    fn end_pass(self, prepared: PreparedPlan, second: SecondPass, _: u64) -> Result<Next> {
        let plan = self.planner.finish(&prepared, second)?;
        Next::done(concluded_at(&plan, self.alpha))
    }
}

/// The weights and thresholds of a plan, with its evidence at a miscoverage rate.
pub(crate) fn concluded_at(plan: &LabelPlan, alpha: crate::level::Miscoverage) -> Concluded {
    concluded(plan).with_evidence(Evidence::LabelPlan {
        plan: Box::new(plan.evidence_at(alpha)),
        warnings: plan.warnings(alpha),
    })
}

/// The weights and thresholds of a plan; the evidence is the caller's to add.
pub(crate) fn concluded(plan: &LabelPlan) -> Concluded {
    let thresholds = plan.thresholds().clone();
    let scores = thresholds.scores().to_vec();
    let sorted = Sorted { order: plan.order().to_vec(), scores };
    let rule = Rule::Planned { thresholds };
    // No share for the test point: the weights stand for a law of the target data itself, which has
    // no n + 1 exchangeable points to be one of.
    let mut concluded = Concluded::given(sorted, plan.weights().clone(), TestMass::NONE, rule)
        .with_label_law(plan.label_law().cloned())
        .with_fitted_law(plan.fitted_law().clone());
    // Before has no meaning here: nothing was minimised step by step.
    concluded.learned.bound_after = Some(plan.evidence().certificate.value);
    concluded
}

/// Counts predicted classes and confidences, and keeps rows for the fixed points.
///
/// A state that has seen nothing is the recipe: it holds the temperature, the seed and the sizes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PlanFirstPass {
    /// No rows yet; every worker starts from a copy.
    pub empty: FirstPass,
}

impl PlanFirstPass {
    /// [`add`](Pass::add), where another reader of the same block may have found its rows sound.
    pub(crate) fn add_rows<T: Real>(
        &self,
        state: FirstPass,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        side: &SideInputs<'_>,
        unsampled: Unsampled,
    ) -> Result<FirstPass> {
        // Parts of a block are states of their own and merged like those of other processes: there
        // is one way to add rows, and it is tested for any cut.
        let beside = SideInputs { second: side.second, ..SideInputs::default() };
        block.add_in_shares(
            keys,
            state,
            FirstPass::emptied,
            |pass, Share { first, keys, rows }| {
                let second = beside.of_rows(first..first + rows.rows())?.second;
                pass.add_rows_with(keys, &TargetRows::Probabilities(rows), unsampled, second)
            },
            FirstPass::merge,
        )
    }
}

impl Pass for PlanFirstPass {
    type State = FirstPass;

    /// A copy of the recipe itself.
    fn empty(&self) -> FirstPass {
        self.empty.emptied()
    }

    /// Adds a block by shares of rows, one thread each.
    fn add<T: Real>(
        &self,
        state: FirstPass,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        side: &SideInputs<'_>,
    ) -> Result<FirstPass> {
        self.add_rows(state, keys, block, side, Unsampled::Read)
    }

    fn merge(&self, state: FirstPass, other: FirstPass) -> Result<FirstPass> {
        state.merge(other)
    }

    /// An error unless temperature, classes and sample are those of this planner.
    fn check(&self, state: &FirstPass) -> Result<()> {
        self.empty.require_same(state)
    }

    fn classes(&self) -> usize {
        self.empty.classes()
    }

    fn empty_of(&self, rows: u64) -> FirstPass {
        self.empty.emptied().one_of_many(rows)
    }

    fn marks<T: Real>(&self, keys: RowKeys<'_>, block: Rows<'_, T>) -> RowMarks {
        marks_of_rows(keys, block)
    }
}

// The prepared plan is the recipe of the second pass: rows are read by its scalings.
impl Pass for PreparedPlan {
    type State = SecondPass;

    /// Sums of zero under this plan's digest.
    fn empty(&self) -> SecondPass {
        self.second_pass()
    }

    /// Adds the three laws of a block, by shares of rows, one thread each.
    fn add<T: Real>(
        &self,
        state: SecondPass,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        _: &SideInputs<'_>,
    ) -> Result<SecondPass> {
        block.add_in_shares(
            keys,
            state,
            SecondPass::emptied,
            |pass, Share { keys, rows, .. }| pass.add(self, keys, &TargetRows::Probabilities(rows)),
            SecondPass::merge,
        )
    }

    fn merge(&self, state: SecondPass, other: SecondPass) -> Result<SecondPass> {
        state.merge(other)
    }

    /// An error unless the sums were begun with this very plan.
    fn check(&self, state: &SecondPass) -> Result<()> {
        state.require_plan(self)
    }

    fn classes(&self) -> usize {
        self.groups().group_of.len()
    }

    fn marks<T: Real>(&self, keys: RowKeys<'_>, block: Rows<'_, T>) -> RowMarks {
        marks_of_rows(keys, block)
    }
}

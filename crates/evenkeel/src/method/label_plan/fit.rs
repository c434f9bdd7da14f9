//! `label-plan` as a method: one pass for the statistics and the fixed points, one for the laws.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    FirstPass, LabelPlan, LabelPlanSettings, LabelPlanner, LabeledLogits, PreparedPlan, SecondPass,
    TargetRows,
};
use crate::error::Result;
use crate::method::fit::{Next, Open, Pass, Scored, Stage};
use crate::method::{About, Concluded, Evidence, Needs, Rule, Sorted};
use crate::rows::{Real, RowKeys, Rows};
use crate::side_inputs::SideInputs;
use crate::threshold::TestMass;

pub(crate) const ABOUT: About = About {
    name: "label-plan",
    summary: "Weights from the target points transported onto the class frequencies of the calibration data",
    assumption: "label marginal nearly kept",
    needs: Needs::NOTHING,
};

/// Rows of a block that a thread takes at a time.
const SHARE_ROWS: usize = 1 << 12;

/// The calibration side, before the first pass.
#[derive(Debug)]
pub(crate) struct PlanFirst {
    planner: LabelPlanner,
    alpha: crate::level::Miscoverage,
}

/// The calibration side, before the second.
#[derive(Debug)]
pub(crate) struct PlanSecond {
    planner: LabelPlanner,
    alpha: crate::level::Miscoverage,
}

/// Fits the temperature.
pub(crate) fn planner<T: Real>(
    calibration: &Scored<'_, T>,
    settings: LabelPlanSettings,
) -> Result<LabelPlanner> {
    let logits = LabeledLogits::of_scored(
        calibration.probabilities,
        calibration.labels,
        calibration.scores.to_vec(),
    )?;
    LabelPlanner::new(logits, calibration.context.score, settings, calibration.context.seed)
}

/// Fits the temperature; the target rows are still to come.
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

    fn end_pass(self, _: PlanFirstPass, first: FirstPass, _: u64) -> Result<Next> {
        let prepared = self.planner.prepare(first)?;
        let stage = PlanSecond { planner: self.planner, alpha: self.alpha };
        Ok(Next::again(Open::new(stage, prepared)))
    }
}

impl Stage for PlanSecond {
    type Pass = PreparedPlan;

    fn end_pass(self, prepared: PreparedPlan, second: SecondPass, _: u64) -> Result<Next> {
        let plan = self.planner.finish(&prepared, second)?;
        let evidence = Evidence::LabelPlan {
            plan: Box::new(plan.evidence_at(self.alpha)),
            warnings: plan.warnings(self.alpha),
        };
        Next::done(concluded(&plan).with_evidence(evidence))
    }
}

/// The weights and thresholds of a plan.
pub(crate) fn concluded(plan: &LabelPlan) -> Concluded {
    let thresholds = plan.thresholds().clone();
    let scores = thresholds.scores().to_vec();
    let sorted = Sorted { order: plan.order().to_vec(), scores };
    let rule = Rule::Planned { thresholds };
    let mut concluded = Concluded::given(sorted, plan.weights().clone(), TestMass::NONE, rule);
    concluded.learned.bound_after = Some(plan.evidence().certificate.value);
    concluded
}

/// Counts predicted classes and confidences, and keeps rows for the fixed points.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PlanFirstPass {
    pub empty: FirstPass,
}

impl Pass for PlanFirstPass {
    type State = FirstPass;

    fn empty(&self) -> FirstPass {
        self.empty.clone()
    }

    fn add<T: Real>(
        &self,
        state: FirstPass,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        _: &SideInputs<'_>,
    ) -> Result<FirstPass> {
        let shares = block.shares(keys, SHARE_ROWS);
        let added = shares
            .map(|(keys, part)| self.empty.clone().add(keys, &TargetRows::Probabilities(part)))
            .try_reduce(|| self.empty.clone(), FirstPass::merge)?;
        state.merge(added)
    }

    fn merge(&self, state: FirstPass, other: FirstPass) -> Result<FirstPass> {
        state.merge(other)
    }

    fn check(&self, state: &FirstPass) -> Result<()> {
        self.empty.require_same(state)
    }

    fn classes(&self) -> usize {
        self.empty.classes()
    }
}

impl Pass for PreparedPlan {
    type State = SecondPass;

    fn empty(&self) -> SecondPass {
        self.second_pass()
    }

    fn add<T: Real>(
        &self,
        state: SecondPass,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        _: &SideInputs<'_>,
    ) -> Result<SecondPass> {
        let empty = self.second_pass();
        let shares = block.shares(keys, SHARE_ROWS);
        let added = shares
            .map(|(keys, part)| empty.clone().add(self, keys, &TargetRows::Probabilities(part)))
            .try_reduce(|| empty.clone(), SecondPass::merge)?;
        state.merge(added)
    }

    fn merge(&self, state: SecondPass, other: SecondPass) -> Result<SecondPass> {
        state.merge(other)
    }

    fn check(&self, state: &SecondPass) -> Result<()> {
        state.require_plan(self)
    }

    fn classes(&self) -> usize {
        self.groups().group_of.len()
    }
}

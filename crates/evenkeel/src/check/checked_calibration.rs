//! The calibration side of a check: what is known before a target row is seen, and what is made of the rows in the end.

use super::answer::{Evidence, answer};
use super::job::Checked;
use super::of_calibration::OfCalibration;
use super::passes::FirstCheckPass;
use super::settings::{CheckSettings, Stopping, ThresholdInQuestion};
use super::target_laws::{TargetLaws, TargetLawsRecipe};
use crate::error::{Error, Result, User};
use crate::label_law::{LabelLawMap, LabeledLogits};
use crate::measure::WeightedEmpirical;
use crate::method::auto;
use crate::method::label_plan::{
    Aiming, ENOUGH_ROWS, FirstPass, LabelPlanner, PlanFirstPass, PlanQuestion, PreparedPlan,
    SecondPass,
};
use crate::reading::{Belief, belief, belief_by};
use crate::rows::{Real, Rows};
use crate::score::{Labels, Score};
use crate::shift::{Prediction, ShiftTest, predictions, sampled, shift_decision, shift_test};
use crate::side_inputs::{Labeled, SideInputs};
use crate::sketch::state::{JobHeader, digest_of};
use crate::threshold::{TestMass, Threshold, conformal_threshold};

/// The calibration side, shared by clones of a check: a service answers for many batches.
#[derive(Debug)]
pub(super) struct CheckedCalibration {
    pub planner: LabelPlanner,
    pub labels: Labels,
    /// Confidences and predicted classes, sampled where they are many.
    pub predictions: Vec<Prediction>,
    pub belief: Belief,
    /// The threshold in question.
    pub threshold: Threshold,
    pub score: Score,
    /// What scores labels in place of the score function: the law that a calibration in use keeps.
    law: Option<LabelLawMap>,
    pub settings: CheckSettings,
    /// Probabilities of second models, as they name the job, and their columns.
    second: Option<(Vec<f64>, usize)>,
    /// What answers need of all this alone.
    pub alone: OfCalibration,
}

impl CheckedCalibration {
    pub(super) fn new<T: Real>(
        labeled: &Labeled<'_, T>,
        (score, law): (&Score, Option<&LabelLawMap>),
        settings: &CheckSettings,
    ) -> Result<Self> {
        let Labeled { probabilities, labels, beside } = *labeled;
        settings.check()?;
        beside.check(probabilities.rows())?;
        if *score == Score::Plan && law.is_none() {
            // A check asks about a threshold before any law is fitted.
            let (whose, scores) = (User::Check, Score::OF_PROBABILITIES);
            return Err(Error::WrongScore { whose, scores });
        }
        let CheckSettings { alpha, delta, seed, .. } = *settings;
        let labeled = LabeledLogits::of_probabilities(probabilities, labels, score)?;
        let planner = LabelPlanner::new(labeled, *score, settings.plan(), seed)?
            .with_second(beside.second, labels)?;
        let planner = match law {
            None => planner,
            Some(law) => planner.with_probabilities(probabilities).scored_by(law.clone())?,
        };
        let scores = planner.labeled().scores();
        let (scored, n) = (WeightedEmpirical::uniform(scores)?, scores.len());
        let split = conformal_threshold(&scored, TestMass::exchangeable(n), alpha);
        let belief = match law {
            None => {
                let drawn = score.with_draws_for("calibration");
                belief(probabilities, &drawn, scores, split, delta)?
            }
            Some(law) => {
                let mut room = Vec::new();
                let score_row = |_: u64, row: &[f64], scores: &mut [f64]| {
                    law.scores(row.len(), row, &mut room, scores);
                };
                belief_by(probabilities, score_row, scores, split, delta)?
            }
        };
        Ok(Self {
            planner,
            labels: labels.clone(),
            predictions: sampled(predictions(probabilities), seed)?,
            belief,
            threshold: match settings.threshold {
                ThresholdInQuestion::Split => split,
                ThresholdInQuestion::Given(threshold) => threshold,
            },
            score: *score,
            law: law.cloned(),
            settings: *settings,
            second: beside.second.map(|table| (table.values().to_vec(), table.columns())),
            alone: OfCalibration::default(),
        })
    }

    pub(super) fn first_pass(&self) -> Result<FirstCheckPass> {
        let CheckSettings { bound_grid, seed, .. } = self.settings;
        let classes = self.planner.labeled().classes();
        let mut exact = self.planner.labeled().scores().to_vec();
        let range = self.score.range(classes);
        exact.extend(Some(self.threshold.get()).filter(|threshold| range.contains(*threshold)));
        // The name of the draws is part of the bits of every check with a randomised score.
        let score = self.score.with_draws_for("today");
        Ok(FirstCheckPass {
            laws: TargetLawsRecipe::new(&exact, score, classes, bound_grid, seed)?
                .scored_by(self.law.clone()),
            plan: PlanFirstPass { empty: self.planner.first_pass() },
        })
    }

    /// The shift test, of the predictions on both data sets.
    pub(super) fn test(&self, laws: &TargetLaws) -> Result<ShiftTest> {
        let CheckSettings { delta, permutations, seed, stopping, .. } = self.settings;
        let (before, now) = (&self.predictions, &laws.predictions);
        match stopping {
            Stopping::AfterAll => shift_test(before, now, permutations, seed),
            Stopping::WhenClear => shift_decision(before, now, (delta, permutations), seed),
        }
    }

    /// Whether the rows that the first pass kept give the readings.
    pub(super) fn is_answered_by(&self, first: &FirstPass, test: &ShiftTest) -> bool {
        let kept = first.kept_rows();
        kept == first.rows() || (kept >= ENOUGH_ROWS && !test.rejects(self.settings.delta))
    }

    pub(super) fn prepare(&self, first: &FirstPass) -> Result<PreparedPlan> {
        let thresholds = Some(self.threshold.get()).filter(|threshold| threshold.is_finite());
        let thresholds = thresholds.into_iter().collect();
        self.planner.prepare_for(first, &PlanQuestion { aiming: Aiming::Policy, thresholds })
    }

    pub(super) fn finish(
        &self,
        (laws, test): (TargetLaws, ShiftTest),
        prepared: &PreparedPlan,
        second: SecondPass,
    ) -> Result<Checked> {
        let read = self.planner.read(prepared, second)?;
        let plan = self.planner.aimed(prepared, &read, prepared.preferred())?;
        let evidence = Evidence { calibration: self, laws: &laws, plan: &plan, test: &test };
        let report = answer(&evidence)?;
        let CheckSettings { alpha, delta, .. } = self.settings;
        // Under the plan score `auto` would score by a law of its own, and not by that of the calibration in use.
        let auto = match test.rejects(delta) && self.law.is_none() {
            true => {
                let found = auto::conclude(&self.planner, prepared, &read, (test, delta), alpha)?;
                Some(Box::new(found))
            }
            false => None,
        };
        Ok(Checked { report, laws, plan, auto })
    }

    /// The name of the job and the pass on the wire.
    pub(super) fn header(&self, pass: u8, rows: Option<u64>) -> Result<JobHeader> {
        let mut settings = vec![("score".to_owned(), format!("{:?}", self.score))];
        settings.extend(self.settings.listed());
        let scores = self.planner.labeled().scores();
        let second = match &self.second {
            None => None,
            Some((values, columns)) => Some(Rows::new("second models", values, *columns)?),
        };
        let side = SideInputs { second, ..SideInputs::default() };
        let calibration = digest_of(scores, &self.labels, &side);
        Ok(JobHeader { method: "check".to_owned(), settings, pass, rows, calibration })
    }
}

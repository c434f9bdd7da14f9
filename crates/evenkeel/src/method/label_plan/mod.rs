//! The label plan: weights from a planned law that transports target points onto calibration labels.
//!
//! ```text
//! 1 temperature       T: calibration labels most likely under softmax(logits / T)
//! 2 class_groups      classes, or groups of them where unlabeled points are few; prior pi
//! 3 shift_statistics  how far confidences and predicted groups moved -> mix, inflation
//! 4 transport_plan    g_j(y) ~ f_j(y) b_group(y), f at temperature T inflation, label marginal pulled toward pi
//! 5 planned_law        F = law of the scores under (1 - mix) f + mix g
//!   projection        weights on the calibration scores closest to F, in closed form
//! 6 certificate       bound on the total gap between the model's own law and the balanced plan's
//! ```
//! Corruption makes a classifier collapse on few classes and lose confidence, while the label marginal is known from
//! the calibration data. That is the assumption: **labels are as frequent as in the calibration data**, up to the
//! slack of the semi-relaxed plan. Under label shift the plan errs toward large sets; a model that stays confident
//! and is wrong is not found out.
//!
//! Scores are those of the raw probabilities throughout; temperatures only shape plausibilities. Target rows are read
//! twice ([`FirstPass`], [`SecondPass`]) in blocks of any size; a table in memory takes the same way, so both give the
//! same bits.
//!
//! ```
//! use evenkeel::level::{FailureProbability, Miscoverage};
//! use evenkeel::method::label_plan::{LabelPlanSettings, LabelPlanner, LabeledLogits, TargetRows};
//! use evenkeel::rows::Rows;
//! use evenkeel::score::{Labels, Score};
//! use evenkeel::seed::Seed;
//!
//! # fn main() -> evenkeel::Result<()> {
//! let logits = [2.0, 0.0, 1.5, 0.3, 0.1, 1.9, 0.2, 0.4];
//! let labels = Labels::new(vec![0, 0, 1, 1], 2)?;
//! let calibration = LabeledLogits::of_logits(Rows::new("logits", &logits, 2)?, &labels, &Score::Lac)?;
//! let settings = LabelPlanSettings::new(FailureProbability::new(0.05)?);
//! let planner = LabelPlanner::new(calibration, Score::Lac, settings, Seed::new(0))?;
//!
//! let target = [0.9, 0.8, 0.7, 0.9, 1.0, 0.2];
//! let plan = planner.plan(&TargetRows::Logits(Rows::new("logits", &target, 2)?))?;
//! let threshold = plan.threshold(Miscoverage::new(0.2)?);
//! assert!(threshold.score > 0.0);
//! # Ok(())
//! # }
//! ```

mod certificate;
mod evidence;
mod fit;
mod plan;
mod prepared;
mod second_pass;
mod settings;
mod thresholds;
mod warning;

use rayon::prelude::*;

pub use crate::label_law::PlanStop;
pub use certificate::{Certificate, Standing};
pub use evidence::{FixedPoint, PlanEvidence};
pub(crate) use fit::{ABOUT, PlanFirst, PlanFirstPass, PlanSecond, begin, concluded, planner};
pub use settings::LabelPlanSettings;
pub use thresholds::{PlanThreshold, PlanThresholds, ThresholdSource};

// Hidden: the plan's stages one by one, for our tests and benches. Users set `Method::LabelPlan` and read `PlanEvidence`.
#[doc(hidden)]
pub use crate::label_law::{
    ClassGroups, FirstPass, LabeledLogits, ShiftStatistics, TargetRows, TransportPlan,
};
#[doc(hidden)]
pub use crate::sketch::{PlannedLaws, TailAtom};
#[doc(hidden)]
pub use plan::LabelPlan;
#[doc(hidden)]
pub use prepared::PreparedPlan;
#[doc(hidden)]
pub use second_pass::SecondPass;

use crate::bound::dkw_half_width;
use crate::error::{Error, Result};
use crate::interval::Interval;
use crate::label_law::{
    GroupTable, Iterating, Marginal, PredictedCalibration, best_temperature, confidence, fit_plan,
    in_blocks, predicted, shift_statistics,
};
use crate::learning::projection::project;
use crate::rows::{Real, RowKeys};
use crate::score::Score;
use crate::seed::Seed;
use crate::sketch::{Abscissae, contradiction};

/// Calibration side of the method, ready for target rows.
// Hidden: see the seam above.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct LabelPlanner {
    labeled: LabeledLogits,
    score: Option<Score>,
    range: Interval,
    settings: LabelPlanSettings,
    seed: Seed,
    temperature: f64,
}

impl LabelPlanner {
    /// Fits the temperature. `score` scores target rows and must be the one that scored the calibration rows; `seed`
    /// chooses the rows of very large tables that take part in the fixed points.
    ///
    /// # Errors
    /// If a setting is out of its range.
    pub fn new(
        labeled: LabeledLogits,
        score: Score,
        settings: LabelPlanSettings,
        seed: Seed,
    ) -> Result<Self> {
        let range = score.range(labeled.classes());
        Self::with(labeled, Some(score.with_draws_for("today")), range, settings, seed)
    }

    /// The same for the user's own scores, which lie in `range`.
    ///
    /// # Errors
    /// If a setting is out of its range.
    pub fn for_candidates(
        labeled: LabeledLogits,
        range: Interval,
        settings: LabelPlanSettings,
        seed: Seed,
    ) -> Result<Self> {
        Self::with(labeled, None, range, settings, seed)
    }

    fn with(
        labeled: LabeledLogits,
        score: Option<Score>,
        range: Interval,
        settings: LabelPlanSettings,
        seed: Seed,
    ) -> Result<Self> {
        settings.check()?;
        let temperature = best_temperature(&labeled);
        Ok(Self { labeled, score, range, settings, seed, temperature })
    }

    /// The labeled side.
    pub(crate) fn labeled(&self) -> &LabeledLogits {
        &self.labeled
    }

    /// `T`, the temperature of the calibration labels.
    pub(crate) fn temperature(&self) -> f64 {
        self.temperature
    }

    /// An empty first pass.
    pub fn first_pass(&self) -> FirstPass {
        let classes = self.labeled.classes();
        let kept_rows = (self.settings.kept_cells / classes).max(1);
        let seed = self.seed.child("label-plan-rows", 0).get();
        FirstPass::new(classes, self.temperature, seed, kept_rows)
    }

    /// Stages 2 to 4, after the first pass over all target rows.
    ///
    /// # Errors
    /// If no row was added, two rows have one key, or the pass was cut or made up.
    pub fn prepare(&self, first: FirstPass) -> Result<PreparedPlan> {
        if first.rows == 0 {
            return Err(Error::Empty { what: "target table" });
        }
        let groups = ClassGroups::new(&self.labeled, first.rows);
        let mut target_counts = vec![0; groups.len()];
        for (count, group) in first.predicted.iter().zip(&groups.group_of) {
            target_counts[*group] += count;
        }
        let predicted = self.predicted_calibration(&groups);
        let statistics = shift_statistics(&predicted, &target_counts, &first.confidences);

        // What was seen is in the sample, up to its capacity; a state that was cut or made up may say otherwise.
        let sampled = first.rows.min(first.kept.capacity() as u64);
        let rows = first.kept.into_values()?;
        if rows.len() as u64 != sampled {
            return Err(contradiction("its sample does not hold as many rows as were seen"));
        }
        let mut prepared = PreparedPlan {
            plan: TransportPlan::not_needed(groups.len()),
            balanced: TransportPlan::not_needed(groups.len()),
            planned_scalings: Vec::new(),
            upper_scalings: Vec::new(),
            abscissae: self.abscissae()?,
            score: self.score,
            temperature: self.temperature,
            planned_rows: rows.len(),
            rows: first.rows,
            groups,
            statistics,
        };
        let LabelPlanSettings { tolerance, most_iterations, .. } = self.settings;
        let iterating = Iterating { tolerance, most_iterations };
        let fit = |temperature: f64, marginal: Marginal| {
            let logits = rows.iter().map(|row| &row[..]);
            let table = GroupTable::new(logits, &prepared.groups, temperature);
            fit_plan(&table, &prepared.groups.prior, marginal, iterating)
        };
        let balanced = fit(prepared.upper_temperature(), Marginal::Balanced);
        if statistics.mix > 0.0 {
            prepared.plan = fit(prepared.planned_temperature(), Marginal::SemiRelaxed);
        }
        prepared.balanced = balanced;
        prepared.planned_scalings = prepared.plan.class_scalings(&prepared.groups);
        prepared.upper_scalings = prepared.balanced.class_scalings(&prepared.groups);
        Ok(prepared)
    }

    /// Stages 5 and 6, after the second pass over the same rows.
    ///
    /// # Errors
    /// If the second pass belongs to another plan, or saw another number of rows than the first.
    pub fn finish(&self, prepared: &PreparedPlan, second: SecondPass) -> Result<LabelPlan> {
        second.require_plan(prepared)?;
        let SecondPass { sums, .. } = second;
        if sums.rows != prepared.rows {
            return Err(Error::LengthMismatch {
                what: "the second pass",
                found: sums.rows as usize,
                other: "the first pass",
                expected: prepared.rows as usize,
            });
        }
        let given = self.labeled.scores();
        // A stable sort: equal scores keep the order of the input, so that stored weights can be given back to their rows.
        let mut order: Vec<usize> = (0..given.len()).collect();
        order.sort_by(|a, b| given[*a].total_cmp(&given[*b]));
        let sorted: Vec<f64> = order.iter().map(|index| given[*index]).collect();

        let (laws, tail) = sums.finish(&sorted, &prepared.abscissae);
        let projected = project(&sorted, &laws.planned)?;
        let reached = laws.planned.last().copied().unwrap_or(f64::NAN);
        let value = certificate::enclosed_gap(&laws.upper, &laws.lower, &projected.cumulative);
        let delta = self.settings.delta;
        let certificate = Certificate {
            value,
            // No gap exceeds one.
            with_confidence: (value + dkw_half_width(prepared.rows as f64, delta)?).min(1.0),
            delta: delta.get(),
            standing: Standing::Assumed,
        };
        let evidence = PlanEvidence {
            n: given.len(),
            m: prepared.rows,
            classes: self.labeled.classes(),
            temperature: self.temperature,
            group_of: prepared.groups.group_of.clone(),
            prior: prepared.groups.prior.clone(),
            statistics: prepared.statistics,
            plan: FixedPoint::from(&prepared.plan),
            balanced: FixedPoint::from(&prepared.balanced),
            planned_rows: prepared.planned_rows,
            effective_sample_size: projected.weights.effective_sample_size(),
            support_reached: reached,
            estimated_gap: projected.gap,
            certificate,
        };
        let thresholds = PlanThresholds::new(sorted, projected.cumulative, reached, tail)?;
        Ok(LabelPlan { thresholds, order, weights: projected.weights, laws, evidence })
    }

    /// Both passes over a table in memory, read by the threads of the current rayon pool.
    ///
    /// # Errors
    /// If a row does not hold finite values of the right number, or there is none.
    pub fn plan<T: Real>(&self, target: &TargetRows<'_, T>) -> Result<LabelPlan> {
        let empty = self.first_pass().expecting(target.rows());
        let keys = |first_row: usize| RowKeys::From(first_row as u64);
        let first = in_blocks(target, |row, block| empty.clone().add(keys(row), block))
            .try_reduce(|| empty.clone(), FirstPass::merge)?;
        let prepared = self.prepare(first)?;
        let empty = prepared.second_pass();
        let second = in_blocks(target, |row, block| empty.clone().add(&prepared, keys(row), block))
            .try_reduce(|| empty.clone(), SecondPass::merge)?;
        self.finish(&prepared, second)
    }

    /// Predicted groups and confidences of the labeled points.
    pub(crate) fn predicted_calibration(&self, groups: &ClassGroups) -> PredictedCalibration {
        let rows = self.labeled.logits().chunks_exact(self.labeled.classes());
        let (groups, confidences) = rows
            .map(|row| (groups.group_of[predicted(row)], confidence(row, 1.0 / self.temperature)))
            .unzip();
        PredictedCalibration { groups, confidences }
    }

    /// The distinct calibration scores.
    fn abscissae(&self) -> Result<Abscissae> {
        let mut points = self.labeled.scores().to_vec();
        points.sort_unstable_by(f64::total_cmp);
        points.dedup();
        let low = points.first().map_or(self.range.low(), |first| first.min(self.range.low()));
        let high = points.last().map_or(self.range.high(), |last| last.max(self.range.high()));
        Ok(Abscissae::of_points(Interval::new(low, high)?, points))
    }
}

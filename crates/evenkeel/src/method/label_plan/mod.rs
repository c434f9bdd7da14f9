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
    /// Logits, labels and scores of the calibration points.
    labeled: LabeledLogits,
    /// What scores target rows, with draws of their own; none where candidate scores are given.
    score: Option<Score>,
    /// Where scores can fall; the tail of the planned law ends at its high end.
    range: Interval,
    /// How exactly the fixed points are computed.
    settings: LabelPlanSettings,
    /// Chooses the rows of very large tables that take part in them.
    seed: Seed,
    /// `T`, positive: fitted on the calibration labels.
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
        // Draws of their own, or a target row would share that of the calibration row with its
        // number. The word is part of the draws: another one would change the bits of stored
        // calibrations.
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

    /// Checks the settings and fits the temperature.
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

    /// The calibration points as they were given, with their scores.
    pub(crate) fn labeled(&self) -> &LabeledLogits {
        &self.labeled
    }

    /// An empty first pass. Rows beyond `kept_cells / C` are sampled for the fixed points.
    pub fn first_pass(&self) -> FirstPass {
        let classes = self.labeled.classes();
        // At least one, also of a million classes: a fixed point over no rows is no plan.
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
        // Only now: how many groups the classes fall into depends on the number of target rows.
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
        // With plans that change nothing: their temperatures follow from the statistics, which the
        // fixed points below ask this value for.
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
        // Always, also where nothing is mixed: the certificate needs its cautious end.
        let balanced = fit(prepared.upper_temperature(), Marginal::Balanced);
        if statistics.mix > 0.0 {
            prepared.plan = fit(prepared.planned_temperature(), Marginal::SemiRelaxed);
        }
        prepared.balanced = balanced;
        // The exponentials are taken once here, not for every row of the second pass.
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
        // `sums.finish` gives one value for each score, and there is at least one.
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

    /// Predicted group and confidence of every calibration point, at the fitted temperature.
    fn predicted_calibration(&self, groups: &ClassGroups) -> PredictedCalibration {
        let rows = self.labeled.logits().chunks_exact(self.labeled.classes());
        let (groups, confidences) = rows
            .map(|row| (groups.group_of[predicted(row)], confidence(row, 1.0 / self.temperature)))
            .unzip();
        PredictedCalibration { groups, confidences }
    }

    /// The distinct calibration scores: where the three laws must be exact, and need no more.
    fn abscissae(&self) -> Result<Abscissae> {
        let mut points = self.labeled.scores().to_vec();
        points.sort_unstable_by(f64::total_cmp);
        points.dedup();
        // A score of the user's own may lie outside the range that was stated; no bin may lose it.
        let low = points.first().map_or(self.range.low(), |first| first.min(self.range.low()));
        let high = points.last().map_or(self.range.high(), |last| last.max(self.range.high()));
        Ok(Abscissae::of_points(Interval::new(low, high)?, points))
    }
}

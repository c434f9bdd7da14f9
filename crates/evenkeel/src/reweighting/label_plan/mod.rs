//! The label plan: weights from a target law that transports today's points onto yesterday's labels.
//!
//! ```text
//! 1 temperature       T: yesterday's labels most likely under softmax(logits / T)
//! 2 class_groups      classes, or groups of them where unlabeled points are few; prior pi
//! 3 shift_statistics  how far confidences and predicted groups moved -> mix, inflation
//! 4 transport_plan    g_j(y) ~ f_j(y) b_group(y), f at temperature T inflation, label marginal pulled toward pi
//! 5 target_law        F = law of the scores under (1 - mix) f + mix g
//!   projection        weights on the calibration scores closest to F, in closed form
//! 6 certificate       bound on the total gap between the model's own law and the balanced plan's
//! ```
//! Corruption makes a classifier collapse on few classes and lose confidence, while the label marginal is known from
//! yesterday. That is the assumption: **labels are as frequent as yesterday**, up to the slack of the semi-relaxed
//! plan. Under label shift the plan errs toward large sets; a model that stays confident and is wrong is not found out.
//!
//! Scores are those of the raw probabilities throughout; temperatures only shape plausibilities. Today's rows are read
//! twice ([`FirstPass`], [`SecondPass`]) in blocks of any size; a table in memory takes the same way, so both give the
//! same bits.
//!
//! ```
//! use evenkeel::level::{FailureProbability, Miscoverage};
//! use evenkeel::reweighting::label_plan::{LabelPlanSettings, LabelPlanner, TodayRows, Yesterday};
//! use evenkeel::rows::Rows;
//! use evenkeel::score::{Labels, Score};
//! use evenkeel::seed::Seed;
//!
//! # fn main() -> evenkeel::Result<()> {
//! let logits = [2.0, 0.0, 1.5, 0.3, 0.1, 1.9, 0.2, 0.4];
//! let labels = Labels::new(vec![0, 0, 1, 1], 2)?;
//! let yesterday = Yesterday::of_logits(Rows::new("logits", &logits, 2)?, &labels, &Score::Lac)?;
//! let settings = LabelPlanSettings::new(FailureProbability::new(0.05)?);
//! let planner = LabelPlanner::new(yesterday, Score::Lac, settings, Seed::new(0))?;
//!
//! let today = [0.9, 0.8, 0.7, 0.9, 1.0, 0.2];
//! let plan = planner.plan(&TodayRows::Logits(Rows::new("logits", &today, 2)?))?;
//! let threshold = plan.threshold(Miscoverage::new(0.2)?);
//! assert!(threshold.score > 0.0);
//! # Ok(())
//! # }
//! ```

mod certificate;
mod class_groups;
mod confidence_sketch;
mod evidence;
mod passes;
mod settings;
mod shift_statistics;
mod target_law;
mod temperature;
mod thresholds;
mod today_rows;
mod transport_plan;
mod warning;
mod yesterday;

use std::sync::Arc;

use rayon::prelude::*;

pub use certificate::{Certificate, Standing};
pub use class_groups::ClassGroups;
pub use evidence::{FixedPoint, PlanEvidence};
pub use passes::{FirstPass, SecondPass};
pub use settings::LabelPlanSettings;
pub use shift_statistics::ShiftStatistics;
pub use target_law::{TailAtom, TargetLaws};
pub use thresholds::{PlanThreshold, PlanThresholds, ThresholdSource};
pub use today_rows::TodayRows;
pub use transport_plan::{PlanStop, TransportPlan};
pub use warning::PlanWarning;
pub use yesterday::{PROBABILITY_FLOOR, Yesterday};

use crate::bound::dkw_half_width;
use crate::error::{Error, Result};
use crate::level::Miscoverage;
use crate::measure::{Interval, Weights};
use crate::reweighting::projection::project;
use crate::rows::{Real, Rows};
use crate::sandwich::Abscissae;
use crate::score::Score;
use crate::seed::Seed;
use passes::confidence;
use shift_statistics::{PredictedYesterday, shift_statistics};
use temperature::best_temperature;
use today_rows::predicted;
use transport_plan::{GroupTable, Iterating, Marginal, fit_plan};

/// Rows of a table in memory that a thread takes at a time.
const BLOCK_ROWS: usize = 1 << 12;

/// Yesterday's side of the method, ready for today's rows.
#[derive(Debug, Clone)]
pub struct LabelPlanner {
    yesterday: Yesterday,
    score: Option<Score>,
    range: Interval,
    settings: LabelPlanSettings,
    seed: Seed,
    temperature: f64,
}

impl LabelPlanner {
    /// Fits the temperature. `score` scores today's rows and must be the one that scored yesterday's; `seed` chooses the rows
    /// of very large tables that take part in the fixed points.
    pub fn new(
        yesterday: Yesterday,
        score: Score,
        settings: LabelPlanSettings,
        seed: Seed,
    ) -> Result<Self> {
        let range = score.range(yesterday.classes());
        Self::with(yesterday, Some(score.with_draws_for("today")), range, settings, seed)
    }

    /// The same for the user's own scores, which lie in `range`.
    pub fn for_candidates(
        yesterday: Yesterday,
        range: Interval,
        settings: LabelPlanSettings,
        seed: Seed,
    ) -> Result<Self> {
        Self::with(yesterday, None, range, settings, seed)
    }

    fn with(
        yesterday: Yesterday,
        score: Option<Score>,
        range: Interval,
        settings: LabelPlanSettings,
        seed: Seed,
    ) -> Result<Self> {
        settings.check()?;
        let temperature = best_temperature(&yesterday);
        Ok(Self { yesterday, score, range, settings, seed, temperature })
    }

    /// The labeled side.
    pub fn yesterday(&self) -> &Yesterday {
        &self.yesterday
    }

    /// The fitted temperature.
    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// An empty first pass.
    pub fn first_pass(&self) -> FirstPass {
        let classes = self.yesterday.classes();
        let kept_rows = (self.settings.kept_cells / classes).max(1);
        let seed = self.seed.child("label-plan-rows", 0).get();
        FirstPass::new(classes, self.temperature, seed, kept_rows)
    }

    /// Stages 2 to 4, after the first pass over all of today's rows.
    pub fn prepare(&self, first: FirstPass) -> Result<PreparedPlan> {
        if first.rows == 0 {
            return Err(Error::Empty { what: "today's table" });
        }
        let groups = ClassGroups::new(&self.yesterday, first.rows);
        let mut today_counts = vec![0; groups.len()];
        for (count, group) in first.predicted.iter().zip(&groups.group_of) {
            today_counts[*group] += count;
        }
        let predicted = self.predicted_yesterday(&groups);
        let statistics = shift_statistics(&predicted, &today_counts, &first.confidences);

        let rows = first.kept.into_values();
        let mut prepared = PreparedPlan {
            plan: TransportPlan::not_needed(groups.len()),
            balanced: TransportPlan::not_needed(groups.len()),
            target_scalings: Vec::new(),
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
            prepared.plan = fit(prepared.target_temperature(), Marginal::SemiRelaxed);
        }
        prepared.balanced = balanced;
        prepared.target_scalings = prepared.plan.class_scalings(&prepared.groups);
        prepared.upper_scalings = prepared.balanced.class_scalings(&prepared.groups);
        Ok(prepared)
    }

    /// Stages 5 and 6, after the second pass over the same rows.
    pub fn finish(&self, second: SecondPass) -> Result<LabelPlan> {
        let SecondPass { prepared, sums } = second;
        if sums.rows != prepared.rows {
            return Err(Error::LengthMismatch {
                what: "the second pass",
                found: sums.rows as usize,
                other: "the first pass",
                expected: prepared.rows as usize,
            });
        }
        let given = self.yesterday.scores();
        let mut order: Vec<usize> = (0..given.len()).collect();
        order.sort_by(|a, b| given[*a].total_cmp(&given[*b]));
        let sorted: Vec<f64> = order.iter().map(|index| given[*index]).collect();

        let (laws, tail) = sums.finish(&sorted, &prepared.abscissae);
        let projected = project(&sorted, &laws.target)?;
        let reached = laws.target.last().copied().unwrap_or(f64::NAN);
        let value = certificate::enclosed_gap(&laws.upper, &laws.lower, &projected.cumulative);
        let delta = self.settings.delta;
        let certificate = Certificate {
            value,
            with_confidence: value + dkw_half_width(prepared.rows as f64, delta)?,
            delta: delta.get(),
            standing: Standing::Assumed,
        };
        let evidence = PlanEvidence {
            n: given.len(),
            m: prepared.rows,
            classes: self.yesterday.classes(),
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
    pub fn plan<T: Real>(&self, today: &TodayRows<'_, T>) -> Result<LabelPlan> {
        let empty = self.first_pass();
        let first = in_blocks(today, |row, block| empty.clone().add(row, block))
            .try_reduce(|| empty.clone(), |merged, part| merged.merge(&part))?;
        let empty = Arc::new(self.prepare(first)?).second_pass();
        let second = in_blocks(today, |row, block| empty.clone().add(row, block))
            .try_reduce(|| empty.clone(), |merged, part| merged.merge(&part))?;
        self.finish(second)
    }

    fn predicted_yesterday(&self, groups: &ClassGroups) -> PredictedYesterday {
        let rows = self.yesterday.logits().chunks_exact(self.yesterday.classes());
        let (groups, confidences) = rows
            .map(|row| (groups.group_of[predicted(row)], confidence(row, 1.0 / self.temperature)))
            .unzip();
        PredictedYesterday { groups, confidences }
    }

    /// The distinct calibration scores.
    fn abscissae(&self) -> Result<Abscissae> {
        let mut points = self.yesterday.scores().to_vec();
        points.sort_unstable_by(f64::total_cmp);
        points.dedup();
        let low = points.first().map_or(self.range.low(), |first| first.min(self.range.low()));
        let high = points.last().map_or(self.range.high(), |last| last.max(self.range.high()));
        Ok(Abscissae::of_points(Interval::new(low, high)?, points))
    }
}

/// Stages 2 to 4, ready for the second pass.
#[derive(Debug, Clone)]
pub struct PreparedPlan {
    groups: ClassGroups,
    statistics: ShiftStatistics,
    plan: TransportPlan,
    balanced: TransportPlan,
    /// `b` of each class in the target law.
    target_scalings: Vec<f64>,
    /// `b` of each class at the cautious end of the certificate.
    upper_scalings: Vec<f64>,
    abscissae: Abscissae,
    score: Option<Score>,
    temperature: f64,
    planned_rows: usize,
    rows: u64,
}

impl PreparedPlan {
    /// An empty second pass.
    pub fn second_pass(self: Arc<Self>) -> SecondPass {
        SecondPass::new(self)
    }

    /// The classes' groups and their prior.
    pub fn groups(&self) -> &ClassGroups {
        &self.groups
    }

    /// Distances between the two days, mix and inflation.
    pub fn statistics(&self) -> &ShiftStatistics {
        &self.statistics
    }

    /// The plan of the target law.
    pub fn plan(&self) -> &TransportPlan {
        &self.plan
    }

    /// `g(y)` of one row of logits; `f` at the inflated temperature where the plan is not needed.
    pub fn plan_row(&self, logits: &[f64]) -> Result<Vec<f64>> {
        let classes = self.groups.group_of.len();
        crate::error::require_same_length("logits", logits.len(), "classes", classes)?;
        crate::error::require_finite("logits", logits)?;
        let mut row = vec![0.0; classes];
        transport_plan::tempered_softmax(logits, 1.0 / self.target_temperature(), &mut row);
        transport_plan::scale_row(&mut row, &self.target_scalings);
        Ok(row)
    }

    /// `T inflation`.
    fn target_temperature(&self) -> f64 {
        self.temperature * self.statistics.inflation
    }

    /// `T (1 + 2 (inflation - 1))`.
    fn upper_temperature(&self) -> f64 {
        self.temperature * (1.0 + 2.0 * (self.statistics.inflation - 1.0))
    }
}

/// Weights on the calibration points, thresholds for any miscoverage rate, and the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelPlan {
    thresholds: PlanThresholds,
    order: Vec<usize>,
    weights: Weights,
    laws: TargetLaws,
    evidence: PlanEvidence,
}

impl LabelPlan {
    /// The threshold at a miscoverage rate, and where it comes from.
    pub fn threshold(&self, alpha: Miscoverage) -> PlanThreshold {
        self.thresholds.threshold(alpha)
    }

    /// All that thresholds need; serialises.
    pub fn thresholds(&self) -> &PlanThresholds {
        &self.thresholds
    }

    /// Weights in increasing order of the scores.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// `order()[k]` is the position in the input of the `k`-th smallest score.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Weights in the order in which the calibration points were given.
    pub fn weights_as_given(&self) -> Vec<f64> {
        let mut given = vec![0.0; self.order.len()];
        for (weight, index) in self.weights.as_slice().iter().zip(&self.order) {
            given[*index] = *weight;
        }
        given
    }

    /// The three laws at the sorted calibration scores.
    pub fn laws(&self) -> &TargetLaws {
        &self.laws
    }

    /// What was measured on the way.
    pub fn evidence(&self) -> &PlanEvidence {
        &self.evidence
    }

    /// What a user should know at a miscoverage rate.
    pub fn warnings(&self, alpha: Miscoverage) -> Vec<PlanWarning> {
        warning::warnings(&self.evidence, self.threshold(alpha), alpha)
    }
}

/// Applies a function to blocks of a table, in parallel; candidates are one block.
fn in_blocks<'a, T: Real, P: Send>(
    today: &'a TodayRows<'a, T>,
    add: impl Fn(usize, &TodayRows<'_, T>) -> Result<P> + Sync + Send + 'a,
) -> impl ParallelIterator<Item = Result<P>> + 'a
where
    P: 'a,
{
    let rows = today.rows();
    let starts: Vec<usize> = match today {
        TodayRows::Candidates(_) => vec![0],
        _ => (0..rows).step_by(BLOCK_ROWS).collect(),
    };
    let part = move |table: &Rows<'a, T>, start: usize| {
        let end = rows.min(start + BLOCK_ROWS);
        let values = &table.values()[start * table.columns()..end * table.columns()];
        Rows::new(table.what(), values, table.columns())
    };
    starts.into_par_iter().map(move |start| match today {
        TodayRows::Probabilities(table) => {
            add(start, &TodayRows::Probabilities(part(table, start)?))
        }
        TodayRows::Logits(table) => add(start, &TodayRows::Logits(part(table, start)?)),
        TodayRows::Candidates(candidates) => add(0, &TodayRows::Candidates(candidates)),
    })
}
